//! What cannot be enforced is refused, by name, and nothing runs.

use std::fs;

use bestow::{
    Permission,
    sandbox::{Command, Profile, ProfileError, Sandbox, SandboxError},
};

use super::ground::{everywhere, scope, with_bubblewrap, with_landlock};

fn refused(answer: Result<bestow::sandbox::Finished, SandboxError>) -> String {
    match answer {
        Err(SandboxError::Unavailable(missing)) => missing.join("; "),
        other => panic!("{other:?}"),
    }
}

#[test]
fn landlock_alone_refuses_what_it_cannot_express_and_names_each_thing() {
    with_landlock(|ground| {
        let workspace = Permission::write(ground.world.workspace().parse().unwrap());
        let hidden = ground.world.text("outside/secret");
        let absent = ground.world.text("workspace/later.toml");
        let scope = scope(&ground.world.workspace(), &[workspace]);
        let profile = Profile::of(&scope, [hidden.parse().unwrap(), absent.parse().unwrap()]).unwrap();
        let touch = Command::new("touch").arg("ran");
        let named = refused(ground.sandbox.run(&profile, &touch));
        for thing in [&hidden, &absent, &ground.world.workspace(), "bubblewrap"] {
            assert!(named.contains(thing), "{named}");
        }
        assert!(!ground.world.exists("workspace/ran"));
        assert_eq!(vec![named], ground.sandbox.cannot_enforce(&profile));
    });
}

#[test]
fn without_a_helper_nothing_runs() {
    let answer = Sandbox::with_helper("/no/such/helper").without_bubblewrap();
    let profile = Profile::of(&scope("/", &[]), []).unwrap();
    assert!(refused(answer.run(&profile, &Command::new("true"))).contains("/no/such/helper"));
}

#[test]
fn a_helper_that_does_not_confine_itself_gets_no_command_to_run() {
    everywhere(|ground| {
        // Runs, but is no helper: it knows nothing of the control socket.
        let sandbox = Sandbox::with_helper("/bin/true");
        let sandbox = if ground.over == "landlock" { sandbox.without_bubblewrap() } else { sandbox };
        refused(sandbox.run(&ground.profile(), &Command::new("touch").arg("ran")));
        assert!(!ground.world.exists("workspace/ran"));
    });
}

#[test]
fn a_root_that_is_another_directory_by_now_is_not_opened() {
    everywhere(|ground| {
        let profile = ground.profile();
        fs::rename(ground.path("workspace"), ground.path("moved")).unwrap();
        fs::rename(ground.path("outside"), ground.path("workspace")).unwrap();
        let answer = ground.sandbox.run(&profile, &Command::new("touch").arg("ran"));
        assert!(refused(answer).contains("granted"), "{ground}");
        assert!(!ground.world.exists("workspace/ran"));
        fs::rename(ground.path("workspace"), ground.path("outside")).unwrap();
        fs::rename(ground.path("moved"), ground.path("workspace")).unwrap();
    });
}

#[test]
fn a_sensitive_name_that_is_a_link_is_refused() {
    with_bubblewrap(|ground| {
        fs::remove_dir_all(ground.path("workspace/.git")).unwrap();
        ground.world.link("f", "workspace/.git");
        let answer = ground.sandbox.run(&ground.profile(), &Command::new("true"));
        assert!(matches!(answer, Err(SandboxError::Profile(ProfileError::SensitiveLink(_)))), "{answer:?}");
    });
}

#[test]
fn roots_that_hold_the_machine_or_are_not_there_are_refused() {
    let of = |path: &str| Profile::of(&scope("/", &[Permission::write(path.parse().unwrap())]), []);
    assert!(matches!(of("/"), Err(ProfileError::TooWide(_))));
    if let Ok(home) = std::env::var("HOME") {
        assert!(matches!(of(&home), Err(ProfileError::TooWide(_))));
    }
    assert!(matches!(of("/no/such/root"), Err(ProfileError::NotThere(..))));
}

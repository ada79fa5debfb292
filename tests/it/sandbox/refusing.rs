//! Tests that a profile that cannot be enforced is refused with the reason, and that the command does not run.

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

/// These tests are a program whose `main` does not begin as a helper's has to.
#[test]
fn a_program_that_does_not_become_its_own_helper_is_told_what_its_main_lacks() {
    let lacks = "bestow::sandbox::enter_if_asked()";
    let why = Sandbox::with_this_program().unwrap_err().to_string();
    assert!(why.contains(lacks) && why.contains("main"), "{why}");
    with_bubblewrap(|ground| {
        let sandbox = Sandbox::with_helper(std::env::current_exe().unwrap());
        let named = refused(sandbox.run(&ground.profile(), &Command::new("true")));
        assert!(named.contains(lacks) && named.contains("main"), "{named}");
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
        // The program runs, but it is no helper: it does not know the control socket.
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
fn a_sensitive_name_that_is_a_link_stays_one_with_what_it_leads_to_and_other_programs_cannot_say_that() {
    with_bubblewrap(|ground| {
        fs::remove_dir_all(ground.path("workspace/.git")).unwrap();
        ground.world.link("repo", "workspace/.git");
        for line in ["rm .git", "ln -sfn f .git", "mv .git g", "echo x > repo/config", "mv repo r"] {
            ground.cannot(line);
        }
        assert_eq!(fs::read_link(ground.path("workspace/.git")).unwrap(), std::path::Path::new("repo"), "{ground}");
        let why = ground.profile().export(bestow::sandbox::Format::Bubblewrap).unwrap_err().to_string();
        assert!(why.contains("a link"), "{ground}: {why}");
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

#[cfg(target_arch = "x86_64")]
const LANDLOCK_CREATE_RULESET: i64 = 444;

/// Makes the system call fail on this thread and its children.
#[cfg(target_arch = "x86_64")]
fn without_call(number: i64, errno: u32) {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};
    let arch: TargetArch = std::env::consts::ARCH.try_into().unwrap();
    let rules = std::collections::BTreeMap::from([(number, vec![])]);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno), arch).unwrap();
    apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
}

/// Makes Landlock appear to be missing in the kernel.
#[cfg(target_arch = "x86_64")]
pub(super) fn without_landlock() {
    const ENOSYS: u32 = 38;
    without_call(LANDLOCK_CREATE_RULESET, ENOSYS);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn without_landlock_nothing_runs_alone_and_the_facts_of_bubblewrap_say_that_it_is_missing() {
    everywhere(|ground| {
        crate::fs::process::on_own_thread(|| {
            without_landlock();
            let answer = ground.sandbox.run(&ground.profile(), &Command::new("touch").arg("ran"));
            if ground.over == "landlock" {
                assert!(refused(answer).contains("Landlock"), "{ground}");
                assert!(!ground.world.exists("workspace/ran"), "{ground}");
            } else {
                assert_eq!(answer.unwrap().facts.landlock_abi, None, "{ground}");
            }
        });
    });
}

#[cfg(target_arch = "x86_64")]
#[test]
fn where_namespaces_are_forbidden_bubblewrap_does_not_stand_and_nothing_runs() {
    with_bubblewrap(|ground| {
        crate::fs::process::on_own_thread(|| {
            const EPERM: u32 = 1;
            // bubblewrap needs `mount` for its namespaces. Without it there are none.
            without_call(165, EPERM);
            let why = refused(ground.sandbox.run(&ground.profile(), &Command::new("touch").arg("ran")));
            assert!(why.contains("bwrap"), "{ground}: {why}");
            assert!(!ground.world.exists("workspace/ran"), "{ground}");
        });
    });
}

#[test]
fn an_older_landlock_is_named_where_it_is_not_enough_and_used_where_it_is() {
    everywhere(|ground| {
        for version in 1..6 {
            let sandbox = ground.sandbox.clone().with_landlock_at_most(version);
            let answer = sandbox.run(&ground.profile(), &Command::new("sh").args(["-c", "echo x > ran-$0"]));
            if ground.over == "landlock" {
                let why = refused(answer);
                assert!(why.contains("ABI 6") && why.contains(&format!("ABI {version}:")), "{ground}: {why}");
                assert!(!ground.world.exists("workspace/ran-sh"), "{ground}");
                continue;
            }
            let done = answer.unwrap();
            assert_eq!((done.code, done.facts.landlock_abi), (Some(0), Some(version)), "{ground}: {done:?}");
            for line in ["echo x > .git/config", "echo x > $O/secret", "python3 -c 'import socket; socket.socket()'"] {
                let command = Command::new("sh").args(["-c", line]).env("O", ground.world.text("outside"));
                assert_ne!(
                    sandbox.run(&ground.profile(), &command).unwrap().code,
                    Some(0),
                    "{ground}: {version}: {line}"
                );
            }
        }
    });
}

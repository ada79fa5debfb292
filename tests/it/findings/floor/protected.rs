//! The floor of every engine (A6): an engine without a file is as safe as one with an empty file.

use bestow::{
    Engine, InitialGrants, Kind, Policy, Profile, Settings,
    decision::{Check, Refusal},
    grant::{Access, PermissionRef, Reads},
    host::{DiskPaths, ManualClock},
    policy::Floor,
};
use std::sync::Arc;

use crate::support::{START, id, profile, refusal, settings, tag, tags, why};

/// Returns the home of the user of this process, from the password database and not from `HOME`.
fn home() -> String {
    let user = rustix::process::geteuid().as_raw().to_string();
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap();
    let mut lines = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>());
    lines.find(|fields| fields[2] == user).map(|fields| fields[5].to_owned()).unwrap()
}

fn on_disk() -> Engine {
    Engine::new(Settings::default()).unwrap()
}

#[tokio::test]
async fn an_engine_without_a_file_reads_anywhere_above_the_floor() {
    let engine = on_disk();
    let agent = engine.register(profile("a", "you", Kind::Subagent), InitialGrants::nothing()).await.unwrap();
    for path in ["/etc/hosts", "/usr/share", "/proc/meminfo", "/dev/null"] {
        assert_eq!(agent.check(PermissionRef::read(path)), Check::Held, "{path}");
    }
    let ssh = format!("{}/.ssh/id_ed25519", home());
    for path in ["/etc/shadow", "/etc/sudoers.d/x", "/etc/ssh/ssh_host_rsa_key", "/dev/sda", "/dev/mem", &ssh] {
        assert_eq!(agent.check(PermissionRef::read(path)), Check::NotHeld, "{path}");
        assert!(agent.resolve(Access::Read, path).await.is_err(), "{path}");
        assert!(agent.fs().read(path).await.is_err(), "{path}");
    }
}

#[tokio::test]
async fn what_is_on_the_floor_is_never_given_by_the_host_program_a_person_or_an_agent() {
    let engine = Engine::on(Settings::default(), Arc::new(ManualClock::at(START)), Arc::new(DiskPaths)).unwrap();
    let all =
        engine.register(profile("all", "you", Kind::Subagent), InitialGrants::of(tags(&["@write:/"]))).await.unwrap();
    engine.register(profile("b", "you", Kind::Subagent), InitialGrants::nothing()).await.unwrap();
    let person = engine.approver("you", "ann", "terminal");
    for path in ["/etc/shadow", "/etc/sudoers.d", "/dev/sda", "/proc", "/proc/1", "/proc/1/environ"] {
        let permission = tag(&format!("@write:{path}"));
        assert_eq!(all.check(&permission), Check::NotHeld, "{path}");
        let holding = InitialGrants::of([permission.clone()]);
        let given = engine.register(profile("c", "you", Kind::Subagent), holding).await;
        assert_eq!(refusal(given), Refusal::Protected(permission.clone()), "{path}");
        let passed_on = all.grant(&id("b"), permission.clone(), why()).await;
        assert_eq!(refusal(passed_on), Refusal::Protected(permission.clone()), "{path}");
        assert!(person.give(&id("b"), permission, bestow::grant::Scope::Always, why()).await.is_err(), "{path}");
    }
}

#[tokio::test]
async fn nothing_empties_the_floor() {
    let engine = on_disk();
    let agent = engine.register(profile("a", "you", Kind::Subagent), InitialGrants::nothing()).await.unwrap();
    let nothing = settings(|settings| {
        settings.protected = Arc::default();
        settings.reads = Reads::Anywhere;
    });
    let policy = Policy { settings: nothing, agents: Default::default(), left_out: Vec::new() };
    engine.configure(policy).await.unwrap();
    assert_eq!(agent.check(PermissionRef::read("/etc/shadow")), Check::NotHeld);
    assert_eq!(agent.check(PermissionRef::read("/etc/hosts")), Check::Held);
}

#[tokio::test]
async fn the_floor_can_be_read() {
    let protected = on_disk().protected().unwrap();
    for path in ["/proc", "/etc/shadow", &format!("{}/.ssh", home())] {
        assert!(protected.contains(&path.parse().unwrap()), "{path}");
    }
    let floor = Floor::of_this_machine();
    assert!(floor.protected().iter().all(|path| protected.iter().any(|one| one.contains(path))));
}

#[tokio::test]
async fn a_rehearsal_and_paths_that_are_as_written_have_the_floor_too() {
    let world = crate::support::World::with(|settings| settings.reads = Reads::Anywhere);
    let agent = world.worker("a", &["@write:/"]).await;
    for path in ["/etc/shadow", "/proc/1/mem", "/dev/sda1", "/sys/kernel/debug/x"] {
        assert_eq!(agent.check(PermissionRef::read(path)), Check::NotHeld, "{path}");
        assert_eq!(agent.check(PermissionRef::write(path)), Check::NotHeld, "{path}");
    }
    let stand = Profile::new(id("a"), "you".parse().unwrap(), Kind::Subagent, "/".parse().unwrap());
    let spec = bestow::policy::AgentPolicy { profile: stand, permissions: Vec::new(), rules: Arc::default() };
    let policy = Policy { settings: Settings::default(), agents: [(id("a"), spec)].into(), left_out: Vec::new() };
    let rehearsal = bestow::policy::DryRun::of(policy).unwrap();
    let explained = rehearsal.explain(&id("a"), &bestow::Action::read("/etc/shadow")).unwrap();
    assert_eq!(explained.decision.verdict(), bestow::decision::Verdict::Deny, "{explained}");
}

/// The finding: the state directory was an entry of the settings, and a policy applied by the host removed it.
#[cfg(all(feature = "journal", feature = "config"))]
#[tokio::test]
async fn a_policy_that_is_taken_over_by_hand_does_not_open_the_state_directory() {
    let ground = tempfile::tempdir().unwrap();
    let ground = crate::support::real(ground.path());
    let state = ground.join("state");
    let engine = Engine::durable(Settings::default(), &state).await.unwrap();
    let agent = engine.register(profile("a", "you", Kind::Subagent), InitialGrants::nothing()).await.unwrap();
    let control = state.join("control");
    let policy = Policy { settings: Settings::default(), agents: Default::default(), left_out: Vec::new() };
    engine.configure(policy).await.unwrap();
    assert_eq!(agent.check(PermissionRef::read(control.to_str().unwrap())), Check::NotHeld);
    engine.shutdown().await;
}

//! Tests of processes and the kernel's own files (A1): they are denied by name and by the type of the object.

use bestow::{
    Action, Agent, Engine, InitialGrants, Kind, Settings,
    decision::{Check, Verdict},
    grant::{Access, PermissionRef},
};

use crate::{
    fs::process,
    support::{id, profile, tag, tags, why},
};

/// Registers an agent with these permissions in an unconfigured engine on this machine.
async fn agent(holds: &[&str]) -> Agent {
    let engine = Engine::new(Settings::default()).unwrap();
    engine.register(profile("a", "you", Kind::Subagent), InitialGrants::of(tags(holds))).await.unwrap()
}

/// Asserts that the agent cannot read, write or list the path by any call.
async fn reaches_nothing_at(agent: &Agent, path: &str) {
    assert_eq!(agent.check(PermissionRef::write(path)), Check::NotHeld, "write {path}");
    for access in [Access::Read, Access::Write] {
        assert!(agent.resolve(access, path).await.is_err(), "{access:?} {path}");
    }
    assert!(agent.fs().read(path).await.is_err(), "read {path}");
    assert!(agent.fs().list(path).await.is_err(), "list {path}");
    assert!(agent.fs().write(path, "x").await.is_err(), "write {path}");
    for action in [Action::read(path), Action::write(path)] {
        assert_eq!(agent.verdict(&action).unwrap(), Verdict::Deny, "{path}");
    }
}

/// Returns the numbers of this process, of its parent, and of each of its threads. Linux answers for all of them.
fn processes() -> Vec<String> {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let threads = threads.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let parent = rustix::process::getppid().unwrap().as_raw_nonzero().to_string();
    threads.chain([std::process::id().to_string(), parent, "self".to_owned(), "thread-self".to_owned()]).collect()
}

#[tokio::test]
async fn no_process_is_read_by_the_name_of_any_of_its_threads() {
    let other_thread = std::thread::spawn(std::thread::park);
    for holds in [&[] as &[&str], &["@write:/"]] {
        let agent = agent(holds).await;
        for process in processes() {
            for file in ["", "/environ", "/mem", "/cmdline", "/maps", "/root/etc/hostname", "/cwd/x", "/fd", "/fd/0"] {
                let path = format!("/proc/{process}{file}");
                assert_eq!(agent.check(PermissionRef::read(&path)), Check::NotHeld, "{path}");
                reaches_nothing_at(&agent, &path).await;
            }
        }
    }
    other_thread.thread().unpark();
}

#[tokio::test]
async fn no_other_way_leads_to_a_process() {
    let agent = agent(&["@write:/"]).await;
    for path in ["/dev/fd", "/dev/fd/0", "/dev/stdin", "/proc/self/task", "/proc/self/root/proc/1/environ"] {
        assert!(agent.fs().read(path).await.is_err(), "{path}");
        assert!(agent.fs().list(path).await.is_err(), "{path}");
        assert!(agent.resolve(Access::Read, path).await.is_err(), "{path}");
    }
    let ground = tempfile::tempdir().unwrap();
    let link = ground.path().join("innocent");
    std::os::unix::fs::symlink(format!("/proc/{}/environ", std::process::id()), &link).unwrap();
    reaches_nothing_at_once_followed(&agent, link.to_str().unwrap()).await;
}

async fn reaches_nothing_at_once_followed(agent: &Agent, path: &str) {
    assert!(agent.fs().read(path).await.is_err(), "{path}");
    assert!(agent.fs().write(path, "x").await.is_err(), "{path}");
    assert_eq!(agent.verdict(&Action::read(path)).unwrap(), Verdict::Deny, "{path}");
}

#[tokio::test]
async fn system_wide_files_of_proc_are_read_and_never_written() {
    let agent = agent(&["@write:/"]).await;
    for path in ["/proc/cpuinfo", "/proc/meminfo", "/proc/sys/kernel/osrelease"] {
        assert_eq!(agent.check(PermissionRef::read(path)), Check::Held, "{path}");
        assert!(!agent.fs().read(path).await.unwrap().is_empty(), "{path}");
        assert_eq!(agent.check(PermissionRef::write(path)), Check::NotHeld, "{path}");
        assert!(agent.fs().write(path, "x").await.is_err(), "{path}");
    }
    for path in ["/proc/kcore", "/proc/cmdline", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger"] {
        reaches_nothing_at(&agent, path).await;
    }
}

#[tokio::test]
async fn a_line_of_a_file_that_names_a_process_opens_it_to_nobody() {
    let path = format!("/proc/{}/environ", std::process::id());
    let engine = Engine::new(Settings::default()).unwrap();
    let listed = bestow::policy::PolicyPermission {
        pinned: tag(&format!("@write:{path}")).into(),
        hold: bestow::grant::Hold::Use,
        place: bestow::grant::Place { file: "agents.toml".into(), line: 1 },
    };
    let spec = bestow::policy::AgentPolicy {
        profile: profile("a", "you", Kind::Subagent),
        permissions: vec![listed],
        rules: std::sync::Arc::default(),
    };
    let agents = [(id("a"), spec)].into();
    let policy = bestow::Policy { settings: Settings::default(), agents, left_out: Vec::new() };
    engine.configure(policy).await.unwrap();
    let agent = engine.agent(id("a")).unwrap();
    assert_eq!(agent.check(PermissionRef::read(&path)), Check::NotHeld);
    reaches_nothing_at(&agent, &path).await;
}

/// A proc file system is mounted in a second place. An engine that starts later knows it by its path. An older engine
/// knows it by the type of the object.
#[test]
fn an_object_of_proc_is_known_wherever_it_is_mounted() {
    process::alone(
        "findings::floor::proc::an_object_of_proc_is_known_wherever_it_is_mounted",
        process::WITH_MOUNTS,
        || {
            let ground = tempfile::tempdir().unwrap();
            let ground = crate::support::real(ground.path());
            let (ground, environ) =
                (ground.to_str().unwrap(), format!("{}/{}/environ", ground.display(), std::process::id()));
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let before = agent(&["@write:/"]).await;
                std::fs::write(format!("{ground}/file"), "of a disk").unwrap();
                assert!(before.fs().read(&format!("{ground}/file")).await.is_ok());
                process::run("mount", &["--rbind", "/proc", ground]);
                assert_eq!(std::fs::read(&environ).unwrap(), std::fs::read("/proc/self/environ").unwrap());
                reaches_nothing_at_once_followed(&before, &environ).await;
                reaches_nothing_at_once_followed(&before, &format!("{ground}/meminfo")).await;
                assert!(before.grant(&id("a"), tag(&format!("@read:{environ}")), why()).await.is_err());
                let after = agent(&["@write:/"]).await;
                assert_eq!(after.check(PermissionRef::read(&environ)), Check::NotHeld);
                reaches_nothing_at(&after, &environ).await;
            });
            process::run("umount", &["--lazy", ground]);
        },
    );
}

/// The path is resolved before another file system is mounted there, and opened after it. The engine checks the type of
/// the opened object.
#[test]
fn what_is_opened_is_compared_and_not_what_was_found_before() {
    let name = "findings::floor::proc::what_is_opened_is_compared_and_not_what_was_found_before";
    process::alone(name, process::WITH_MOUNTS, || {
        let ground = tempfile::tempdir().unwrap();
        let ground = crate::support::real(ground.path());
        let file = format!("{}/file", ground.display());
        std::fs::write(&file, "of a disk").unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let found = agent(&[]).await.resolve(Access::Read, &file).await.unwrap();
            process::run("mount", &["--bind", "/proc/self/environ", &file]);
            let opened = found.open();
            assert!(opened.is_err(), "{opened:?}");
        });
        process::run("umount", &["--lazy", &file]);
    });
}

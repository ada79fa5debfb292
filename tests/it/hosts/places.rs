//! The directory of a call: relative names begin there, and not in the directory of the session's first call.

use std::{fs, path::Path};

use bestow::{
    Agent, Engine, InitialGrants, Kind, Permission, Profile, Settings,
    grant::Reads,
    host::{DiskPaths, SystemClock},
};
use bestow_hosts::{Answer, Caller, Failure, OwnSessions, Sessions as _};
use serde_json::json;
use std::sync::Arc;
use tempfile::TempDir;

use super::stage::{bash, call, denied, is_allowed, session, waits};

/// Sessions on the real disk. The host may write below `mine`.
struct Disk {
    directory: TempDir,
    sessions: OwnSessions,
}

impl Disk {
    async fn new() -> Disk {
        let directory = tempfile::tempdir().unwrap();
        for name in ["mine/sub", "theirs"] {
            fs::create_dir_all(directory.path().join(name)).unwrap();
        }
        let mut settings = Settings::default();
        settings.reads = Reads::Anywhere;
        let engine = Engine::on(settings, Arc::new(SystemClock::new()), Arc::new(DiskPaths)).unwrap();
        let mine = crate::support::real(&directory.path().join("mine"));
        let home = mine.to_str().unwrap().parse().unwrap();
        let profile = Profile::new("claude".parse().unwrap(), "you".parse().unwrap(), Kind::Permanent, home);
        let held: Permission = format!("@write:{}", mine.display()).parse().unwrap();
        let host: Agent = engine.register(profile, InitialGrants::of([held])).await.unwrap();
        Disk { directory, sessions: OwnSessions::new(engine, host) }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join(name)
    }

    fn at(&self, name: &str) -> Caller {
        Caller { working_dir: self.path(name), ..session("s") }
    }

    async fn writes(&self, at: &str, path: &str) -> Answer {
        let input = json!({ "file_path": path, "content": "x" });
        self.sessions.call(call(self.at(at), "Write", input)).await.unwrap()
    }
}

#[tokio::test]
async fn a_relative_path_begins_in_the_directory_of_its_call() {
    let disk = Disk::new().await;
    assert!(is_allowed(&disk.writes("mine", "a").await));
    assert!(is_allowed(&disk.writes("mine/sub", "a").await));
    assert!(waits(&disk.writes("theirs", "a").await), "the session began elsewhere");
    assert!(waits(&disk.writes("mine/sub", "../../theirs/a").await));
}

#[tokio::test]
async fn a_directory_behind_a_link_is_refused_with_its_real_name() {
    let disk = Disk::new().await;
    std::os::unix::fs::symlink(disk.path("mine/sub"), disk.path("mine/link")).unwrap();
    let real = crate::support::real(&disk.path("mine/sub"));
    let why = disk.sessions.call(bash(disk.at("mine/link"), "cd .. && ls")).await.unwrap_err().to_string();
    assert!(why.contains(&format!("start the session in `{}`", real.display())), "{why}");
    assert!(is_allowed(&disk.writes("mine", "a").await));
}

#[tokio::test]
async fn a_command_is_judged_in_the_directory_of_its_call() {
    let disk = Disk::new().await;
    disk.sessions.begin(disk.at("mine")).await.unwrap();
    let remove = |at: &str| bash(disk.at(at), "rm -rf .");
    let in_sub = disk.sessions.call(remove("mine/sub")).await.unwrap();
    let in_mine = disk.sessions.call(remove("mine")).await.unwrap();
    for answer in [in_sub, in_mine] {
        assert!(!is_allowed(&answer), "{answer:?}");
    }
    let Answer::Waits { id: here, .. } = disk.sessions.call(bash(disk.at("mine"), "make")).await.unwrap() else {
        panic!("it waits")
    };
    let Answer::Waits { id: there, .. } = disk.sessions.call(bash(disk.at("theirs"), "make")).await.unwrap() else {
        panic!("it waits")
    };
    assert_ne!(here, there, "an approval of one is none of the other");
}

#[tokio::test]
async fn a_directory_that_cannot_be_the_place_of_a_call_denies_it() {
    let disk = Disk::new().await;
    for wrong in ["relative", "", "/a/../b", "/a\0b", "/x\u{1}"] {
        let caller = Caller { working_dir: Path::new(wrong).to_owned(), ..session("s") };
        let refused = disk.sessions.call(bash(caller, "ls")).await;
        assert!(matches!(refused, Err(Failure::Directory(_))), "{wrong:?}: {refused:?}");
    }
    let caller = Caller { working_dir: "/proc/self".into(), ..session("s") };
    disk.sessions.begin(disk.at("mine")).await.unwrap();
    match disk.sessions.call(bash(caller, "ls")).await {
        Ok(answer) => assert!(denied(&answer).contains("directory"), "{answer:?}"),
        Err(why) => assert!(matches!(why, Failure::Directory(_)), "{why:?}"),
    }
}

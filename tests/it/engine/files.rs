//! Tests of the file calls of an agent: `agent.fs()`.

use std::{fs, io::ErrorKind, io::Read, sync::Arc};

use bestow::{
    Agent, Answer, Engine, Error, InitialGrants, Kind, Permission, PermissionRequest, Profile, Settings,
    decision::Refusal,
    event::Timestamp,
    grant::{Reads, Scope},
    host::{DiskPaths, ManualClock},
};

use crate::fs::world::{SECRET, World};

fn write(path: &str) -> Permission {
    Permission::write(path.parse().unwrap())
}

struct Host {
    engine: Engine,
    agent: Agent,
}

async fn host(world: &World, settings: Settings, held: impl IntoIterator<Item = Permission>) -> Host {
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_000)));
    let engine = Engine::on(settings, clock, Arc::new(DiskPaths)).unwrap();
    let stands = world.text("workspace").parse().unwrap();
    let profile = Profile::new("worker".parse().unwrap(), "you".parse().unwrap(), Kind::Permanent, stands);
    let agent = engine.register(profile, InitialGrants::of(held)).await.unwrap();
    Host { engine, agent }
}

async fn writer(world: &World) -> Host {
    host(world, Settings::default(), [write(&world.workspace())]).await
}

impl Host {
    /// Requests `permission` for the agent, and approves it as a person.
    async fn given(&self, permission: Permission, scope: Scope) {
        let ask = PermissionRequest::new(permission, "to test").at_most(scope);
        let ticket = self.agent.request(ask).await.unwrap();
        let you = self.engine.approver("you", "ann", "terminal");
        you.answer(ticket.id(), Answer::allow()).await.unwrap();
    }
}

#[tokio::test]
async fn an_agent_reads_writes_lists_creates_and_removes_below_its_root() {
    let world = World::new();
    let files = writer(&world).await.agent.fs();
    files.create_dir_all(&world.text("workspace/new/deep")).await.unwrap();
    files.write(&world.text("workspace/new/deep/f"), "hello").await.unwrap();
    assert_eq!(files.read(&world.text("workspace/new/deep/f")).await.unwrap(), b"hello");
    let entries = files.list(&world.text("workspace/new")).await.unwrap();
    assert_eq!(entries.iter().map(|entry| entry.name.to_str().unwrap()).collect::<Vec<_>>(), ["deep"]);
    let mut text = String::new();
    files.open_read(&world.text("workspace/f")).await.unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "inside");
    files.remove_file(&world.text("workspace/new/deep/f")).await.unwrap();
    files.remove_dir(&world.text("workspace/new/deep")).await.unwrap();
    assert!(!world.exists("workspace/new/deep"));
}

#[tokio::test]
async fn what_is_not_held_is_refused_and_nothing_is_created() {
    let world = World::new();
    world.link(world.path("outside"), "workspace/out");
    world.link("../outside/not-there", "workspace/dangling");
    let files = writer(&world).await.agent.fs();
    for path in ["outside/new", "workspace/out/new", "workspace/dangling", "workspace/../outside/new", "workspace-evil"]
    {
        let path = world.text(path);
        for refused in [
            files.write(&path, "x").await,
            files.open_write(&path).await.map(drop),
            files.create_dir_all(&path).await,
            files.remove_file(&path).await,
            files.remove_dir(&path).await,
        ] {
            assert!(matches!(refused, Err(Error::Refused(Refusal::NotHeld { .. }))), "{path}: {refused:?}");
        }
    }
    assert!(!world.exists("outside/new") && !world.exists("outside/not-there") && !world.exists("workspace-evil"));
    assert_eq!(world.content("outside/secret"), SECRET);
}

#[tokio::test]
async fn where_reads_are_granted_an_unheld_file_is_not_read() {
    let world = World::new();
    let settings = with_reads(Reads::Granted);
    let files = host(&world, settings, [write(&world.workspace())]).await.agent.fs();
    assert!(matches!(files.read(&world.text("outside/secret")).await, Err(Error::Refused(_))));
    assert!(matches!(files.list(&world.text("outside")).await, Err(Error::Refused(_))));
    assert_eq!(files.read(&world.text("workspace/f")).await.unwrap(), b"inside");
}

fn with_reads(reads: Reads) -> Settings {
    let mut settings = Settings::default();
    settings.reads = reads;
    settings
}

#[tokio::test]
async fn what_is_protected_is_neither_read_nor_written_however_it_is_reached() {
    let world = World::new();
    world.link(world.path("workspace/a"), "workspace/alias");
    let mut settings = Settings::default();
    settings.protected = [world.text("workspace/a/f").parse().unwrap()].into();
    let files = host(&world, settings, [write(&world.workspace())]).await.agent.fs();
    for path in ["workspace/a/f", "workspace/alias/f", "workspace/a/b/../f"] {
        assert!(matches!(files.read(&world.text(path)).await, Err(Error::Refused(_))), "{path}");
        assert!(matches!(files.write(&world.text(path), "x").await, Err(Error::Refused(_))), "{path}");
    }
    assert_eq!(world.content("workspace/a/f"), "inside");
}

#[tokio::test]
async fn a_sensitive_file_is_read_and_written_only_by_who_was_given_it_by_name() {
    let world = World::new();
    world.file("workspace/.git/hooks/pre-commit", "old");
    let host = writer(&world).await;
    let (files, hook) = (host.agent.fs(), world.text("workspace/.git/hooks/pre-commit"));
    assert_eq!(files.read(&hook).await.unwrap(), b"old");
    for path in [".git/hooks/pre-commit", ".git/index", ".GIT/config", ".git", ".bashrc", ".env.local", "a/.vscode/x"] {
        let path = world.text(&format!("workspace/{path}"));
        let refused = files.write(&path, "x").await;
        assert!(matches!(refused, Err(Error::Refused(Refusal::Sensitive { .. }))), "{path}: {refused:?}");
    }
    host.given(write(&world.text("workspace/.git")), Scope::Session).await;
    files.write(&world.text("workspace/.git/index"), "x").await.unwrap();
    assert!(matches!(files.write(&hook, "x").await, Err(Error::Refused(Refusal::Sensitive { .. }))));
    host.given(write(&world.text("workspace/.git/hooks")), Scope::Session).await;
    files.write(&hook, "new").await.unwrap();
    assert_eq!(world.content("workspace/.git/hooks/pre-commit"), "new");
}

#[tokio::test]
async fn names_that_the_settings_add_are_sensitive_too() {
    let world = World::new();
    world.file("workspace/deploy.key.enc", "old");
    let mut settings = Settings::default();
    settings.sensitive = ["*.key.enc".parse().unwrap()].into();
    let host = host(&world, settings, [write(&world.workspace())]).await;
    let (files, key) = (host.agent.fs(), world.text("workspace/deploy.key.enc"));
    assert_eq!(files.read(&key).await.unwrap(), b"old");
    assert!(matches!(files.write(&key, "x").await, Err(Error::Refused(Refusal::Sensitive { .. }))));
    host.given(write(&key), Scope::Session).await;
    files.write(&key, "new").await.unwrap();
    assert_eq!(world.content("workspace/deploy.key.enc"), "new");
}

#[tokio::test]
async fn a_sensitive_file_given_once_is_written_once_and_another_one_shot_permission_is_left_alone() {
    let world = World::new();
    let host = host(&world, Settings::default(), []).await;
    let files = host.agent.fs();
    host.given(write(&world.workspace()), Scope::Once).await;
    assert!(matches!(files.write(&world.text("workspace/.env"), "x").await, Err(Error::Refused(_))));
    host.given(write(&world.text("workspace/.env")), Scope::Once).await;
    files.write(&world.text("workspace/.env"), "x").await.unwrap();
    assert!(matches!(files.write(&world.text("workspace/.env"), "y").await, Err(Error::Refused(_))));
    files.write(&world.text("workspace/f"), "one shot").await.unwrap();
    assert!(matches!(files.write(&world.text("workspace/f"), "two").await, Err(Error::Refused(_))));
    assert_eq!((world.content("workspace/.env"), world.content("workspace/f")), ("x".into(), "one shot".into()));
}

#[tokio::test]
async fn a_one_shot_permission_is_good_for_one_call_of_a_hundred_at_once() {
    let world = World::new();
    let host = host(&world, Settings::default(), []).await;
    host.given(write(&world.text("workspace/f")), Scope::Once).await;
    let calls: Vec<_> = (0..100)
        .map(|call| {
            let (files, path) = (host.agent.fs(), world.text("workspace/f"));
            tokio::spawn(async move { files.write(&path, call.to_string()).await })
        })
        .collect();
    let mut done = 0;
    for call in calls {
        match call.await.unwrap() {
            Ok(()) => done += 1,
            Err(refused) => assert!(matches!(refused, Error::Refused(_)), "{refused:?}"),
        }
    }
    assert_eq!(done, 1);
}

#[tokio::test]
async fn a_root_that_is_another_directory_now_is_replaced_and_not_refused() {
    let world = World::new();
    let files = writer(&world).await.agent.fs();
    fs::rename(world.path("workspace"), world.path("moved")).unwrap();
    world.dir("workspace");
    let answer = files.write(&world.text("workspace/new"), "x").await;
    assert!(matches!(answer, Err(Error::Replaced { .. })), "{answer:?}");
    assert!(!world.exists("workspace/new"));
}

#[tokio::test]
async fn a_permission_for_what_does_not_exist_creates_nothing_above_it() {
    let world = World::new();
    let files = host(&world, Settings::default(), [write(&world.text("gone/dir"))]).await.agent.fs();
    let answer = files.create_dir_all(&world.text("gone/dir/sub")).await;
    assert!(matches!(&answer, Err(Error::File(why)) if why.kind() == ErrorKind::NotFound), "{answer:?}");
    assert!(!world.exists("gone"));
    world.dir("gone");
    files.create_dir_all(&world.text("gone/dir/sub")).await.unwrap();
    assert!(world.exists("gone/dir/sub"));
}

#[tokio::test]
async fn the_file_systems_no_is_not_the_engines_no() {
    let world = World::new();
    let files = writer(&world).await.agent.fs();
    let kind = |answer: Result<(), Error>| match answer {
        Err(Error::File(why)) => why.kind(),
        other => panic!("{other:?}"),
    };
    assert_eq!(kind(files.read(&world.text("workspace/none")).await.map(drop)), ErrorKind::NotFound);
    assert_eq!(kind(files.write(&world.text("workspace/a"), "x").await), ErrorKind::InvalidInput);
    assert_eq!(kind(files.remove_dir(&world.text("workspace/a")).await), ErrorKind::DirectoryNotEmpty);
    let short = files.reading_at_most(3).read(&world.text("workspace/f")).await.map(drop);
    assert_eq!(kind(short), ErrorKind::FileTooLarge);
}

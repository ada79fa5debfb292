//! Tests of an engine on a policy file.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use bestow::{Engine, Event, decision::Check, grant::PermissionRef, policy::OpenError};

fn save(directory: &Path, text: &str) {
    let new = directory.join("new");
    fs::write(&new, text).unwrap();
    fs::set_permissions(&new, fs::Permissions::from_mode(0o600)).unwrap();
    fs::rename(new, directory.join("agents.toml")).unwrap();
}

const ONE: &str =
    "agents.a = { kind = \"cron\", owner = \"you\", working_dir = \"/\", permissions = [\"@network\"] }\n";

#[tokio::test]
async fn a_file_that_is_wrong_opens_nothing() {
    let directory = tempfile::tempdir().unwrap();
    save(directory.path(), "agents = 1");
    let error = Engine::open(directory.path().join("agents.toml")).await.unwrap_err();
    assert!(matches!(error, OpenError::Config(_)), "{error}");
}

#[tokio::test]
async fn the_engine_follows_its_file_and_ends_with_its_last_handle() {
    let directory = tempfile::tempdir().unwrap();
    save(directory.path(), ONE);
    let engine = Engine::open(directory.path().join("agents.toml")).await.unwrap();
    let mut events = engine.subscribe();
    assert_eq!(engine.check("a", PermissionRef::Network), Check::Held);
    save(directory.path(), &ONE.replace("@network", "@events"));
    while !matches!(events.next().await.unwrap().event, Event::ConfigReloaded { .. }) {}
    assert_eq!(engine.check("a", PermissionRef::Network), Check::NotHeld);
    assert_eq!(engine.check("a", PermissionRef::Events), Check::Held);
    drop(engine);
    while events.next().await.is_ok() {}
}

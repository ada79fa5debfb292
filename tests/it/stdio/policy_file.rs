//! Tests of the effects of a change of agents.toml on bots.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use bestow::{Engine, stdio::Bot};

use super::{Wire, id};

const FILE: &str = r#"
[engine]
confirm_widening = true
[defaults]
owner = "you"
working_dir = "workspace"
[agents.lead]
kind = "foreground"
[agents.worker]
kind = "subagent"
"#;

fn save(directory: &Path, text: &str) {
    let new = directory.join("new");
    fs::write(&new, text).unwrap();
    fs::set_permissions(&new, fs::Permissions::from_mode(0o600)).unwrap();
    fs::rename(new, directory.join("agents.toml")).unwrap();
}

#[tokio::test]
async fn the_user_hears_that_a_file_gives_more_and_agrees() {
    let directory = tempfile::tempdir().unwrap();
    save(directory.path(), FILE);
    let engine = Engine::open(directory.path().join("agents.toml")).await.unwrap();
    let mut worker = Wire::open(Bot::agent(&engine, &id("worker")).unwrap());
    let by = "ann".parse().unwrap();
    let mut user = Wire::open(Bot::connector(&engine, &id("lead")).unwrap().answering_as(by));
    worker.read_type("hello").await;
    user.read_type("hello").await;
    user.write(r#"{"type":"agree_to_widening","change":1,"requestId":"early"}"#).await;
    assert_eq!(user.read().await["code"], "REFUSED");

    save(directory.path(), &format!("{FILE}permissions = [\"@network\"]\n"));
    let notice = user.read_type("notice").await;
    assert_eq!(notice["notice"], "config_held_back");
    assert!(notice["text"].as_str().unwrap().ends_with(": worker @network"));
    worker.write(r#"{"type":"agree_to_widening","change":1}"#).await;
    assert_eq!(worker.read().await["code"], "FORBIDDEN");
    user.write(r#"{"type":"agree_to_widening","change":1}"#).await;
    assert_eq!(worker.read_type("policy_updated").await["permissions"][0], "@network");
}

#[tokio::test]
async fn the_user_does_not_hear_what_other_owners_agents_would_get() {
    let directory = tempfile::tempdir().unwrap();
    save(directory.path(), FILE);
    let engine = Engine::open(directory.path().join("agents.toml")).await.unwrap();
    let mut user = Wire::open(Bot::connector(&engine, &id("lead")).unwrap());
    user.read_type("hello").await;
    let theirs = "[agents.spy]\nkind = \"cron\"\nowner = \"them\"\npermissions = [\"@network\"]\n";
    save(directory.path(), &format!("{FILE}permissions = [\"@events\"]\n{theirs}"));
    let notice = user.read_type("notice").await;
    assert!(notice["text"].as_str().unwrap().ends_with("of a person: worker @events"), "{notice}");
}

#[tokio::test]
async fn the_user_hears_that_a_file_is_wrong_and_nobody_loses_anything() {
    let directory = tempfile::tempdir().unwrap();
    save(directory.path(), FILE);
    let engine = Engine::open(directory.path().join("agents.toml")).await.unwrap();
    let mut user = Wire::open(Bot::connector(&engine, &id("lead")).unwrap());
    user.read_type("hello").await;
    let before = engine.grants().unwrap();
    save(directory.path(), "[agents.lead]\nkind = \"forground\"\n");
    let notice = user.read_type("notice").await;
    assert_eq!(notice["notice"], "config_rejected");
    assert!(notice["text"].as_str().unwrap().contains("agents.toml:2"), "{notice}");
    assert_eq!(engine.grants().unwrap(), before);
    assert_eq!(engine.agents().unwrap().len(), 2);
}

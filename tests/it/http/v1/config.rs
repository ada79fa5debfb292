//! Tests of the policy file as people see it.

use std::fs;

use serde_json::json;

use super::super::daemon::Daemon;
use crate::support::World;

#[tokio::test]
async fn a_person_of_all_agents_sees_the_file_and_its_mistakes_at_their_lines() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("agents.toml");
    fs::write(
        &file,
        "[defaults]\nowner = \"you\"\nworking_dir = \".\"\n[agents.bot]\nkind = \"subagent\"\npermisions = []\n",
    )
    .unwrap();
    let path = file.clone();
    let daemon = Daemon::of(World::new(), bestow_http::Limits::default(), |options| options.config = Some(path)).await;
    let (operator, you) = (daemon.operator(), daemon.approver("you"));
    let shown = daemon.get(&operator, "/v1/config").await.json;
    assert_eq!(shown["path"], json!(file));
    assert!(shown["text"].as_str().unwrap().contains("permisions"), "{shown}");
    let problem = &shown["problems"][0];
    assert_eq!(problem["line"], 6, "{shown}");
    assert!(problem["help"].as_str().unwrap().contains("permissions"), "{problem}");
    let hidden = daemon.get(&you, "/v1/config").await.json;
    assert!(hidden.get("text").is_none() && hidden["hidden"].is_string(), "an agent of another owner is there");
    assert_eq!(hidden["problems"][0]["line"], 6);
    assert!(!hidden.to_string().contains("permisions"), "{hidden}");
    assert_eq!(daemon.get(&daemon.agent("bot"), "/v1/config").await.status, 403);
}

/// A named pipe would keep the reader waiting, and with it a thread of the server.
#[tokio::test]
async fn a_named_pipe_in_the_place_of_the_file_is_told_and_stops_nothing() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("agents.toml");
    rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    let path = file.clone();
    let daemon = Daemon::of(World::new(), bestow_http::Limits::default(), |options| options.config = Some(path)).await;
    let shown = daemon.get(&daemon.operator(), "/v1/config").await.json;
    assert!(shown["hidden"].as_str().unwrap().contains("not a regular file"), "{shown}");
    assert_eq!(shown["problems"].as_array().unwrap().len(), 1, "{shown}");
}

#[tokio::test]
async fn a_server_without_a_policy_file_says_so() {
    let daemon = Daemon::start().await;
    assert_eq!(daemon.get(&daemon.operator(), "/v1/config").await.status, 404);
}

/// The engine has only agents of one owner, and the file on the disk has more: with a mistake, while its change waits,
/// or not read yet.
#[tokio::test]
async fn a_file_that_names_another_owner_is_hidden_before_the_engine_has_read_it() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("agents.toml");
    let path = file.clone();
    let world = World::new();
    let daemon = Daemon::of(world, bestow_http::Limits::default(), |options| options.config = Some(path)).await;
    daemon.world.engine.retire("theirs").await.unwrap();
    let you = daemon.approver("you");
    let own = "[defaults]\nowner = \"you\"\nworking_dir = \".\"\n[agents.bot]\nkind = \"subagent\"\n";
    fs::write(&file, own).unwrap();
    assert_eq!(daemon.get(&you, "/v1/config").await.json["text"], own);
    for more in [
        "[agents.secret]\nowner = \"bob\"\n",
        "[agents.secret]\nowner='bob'\nbogus = 1\n",
        "[agents.secret]\n\"owner\" = \"bob\"\n",
        "[agents.secret]\n\"own\\u0065r\" = \"bob\"\n",
        "agents.secret = { kind = \"subagent\", owner   =   \"bob\" }\n",
        "[agents.secret]\nowner = \"you\" # bob\nowner = \"bob\"\n",
    ] {
        fs::write(&file, format!("{own}{more}")).unwrap();
        let shown = daemon.get(&you, "/v1/config").await.json;
        assert!(shown.get("text").is_none() && !shown.to_string().contains("secret"), "{more}: {shown}");
        assert!(daemon.get(&daemon.operator(), "/v1/config").await.json["text"].is_string(), "{more}");
    }
}

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

#[tokio::test]
async fn a_server_without_a_policy_file_says_so() {
    let daemon = Daemon::start().await;
    assert_eq!(daemon.get(&daemon.operator(), "/v1/config").await.status, 404);
}

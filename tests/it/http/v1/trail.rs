//! The audit trail and the tasks of `bestow serve`.
#![cfg(feature = "cli")]

use std::fs;

use serde_json::{Value, json};

use super::super::project::Project;

fn operator(project: &Project) -> String {
    project.token(&["--role", "operator"])
}

/// Returns the records of an export. Its body comes in chunks, and each record is one line.
fn records(body: &str) -> Vec<Value> {
    body.lines().filter(|line| line.starts_with('{')).map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn an_operator_exports_the_trail_and_verifies_it() {
    let mut project = Project::new();
    let (bot, operator) = (project.agent(), operator(&project));
    project.serve();
    project.classify(&bot, "node a.js").await;
    let reply = project.get(&operator, "/v1/audit").await;
    assert!(reply.status == 200 && reply.head.contains("content-type: application/jsonl"), "{reply:?}");
    let all = records(&reply.body);
    let sequences: Vec<_> = all.iter().map(|record| record["sequence"].as_u64().unwrap()).collect();
    assert_eq!(sequences, (1..=u64::try_from(all.len()).unwrap()).collect::<Vec<_>>());
    assert!(all.iter().any(|record| record["type"] == "permission.evaluated"), "{all:?}");
    let some = records(&project.get(&operator, "/v1/audit?agentId=nobody").await.body);
    assert_eq!(some, Vec::<Value>::new());
    let head = project.get(&operator, "/v1/audit/head").await.json;
    assert_eq!((&head["intact"], &head["first"]), (&json!(true), &json!(1)));
    let noted = head["head"].as_str().unwrap().to_owned();
    project.classify(&bot, "node b.js").await;
    let expected = project.get(&operator, &format!("/v1/audit/head?expect={noted}")).await.json;
    assert_eq!(expected["intact"], true);
    assert_ne!(expected["head"], *noted);
    let other = noted.replace(|digit: char| digit.is_ascii_alphabetic(), "0");
    let expected = project.get(&operator, &format!("/v1/audit/head?expect={other}")).await.json;
    assert_eq!(expected["intact"], false, "{expected}");
    assert_eq!(project.get(&operator, "/v1/audit/head?expect=x").await.status, 400);
    assert_eq!(project.get(&operator, "/v1/audit?since=yesterday").await.status, 400);
    assert_eq!(project.get(&bot, "/v1/audit").await.status, 403);
    assert_eq!(project.get(&project.approver(), "/v1/audit/head").await.status, 403);
}

#[tokio::test]
async fn an_altered_trail_is_found() {
    let mut project = Project::new();
    let (bot, operator) = (project.agent(), operator(&project));
    project.serve();
    project.classify(&bot, "node a.js").await;
    let state = fs::read_dir(project.path().join("state")).unwrap().map(|entry| entry.unwrap().path());
    let segment = state.into_iter().find(|path| path.to_string_lossy().contains("journal-")).unwrap();
    let text = fs::read_to_string(&segment).unwrap();
    fs::write(&segment, text.replacen("node a.js", "node b.js", 1)).unwrap();
    let head = project.get(&operator, "/v1/audit/head").await.json;
    assert_eq!(head["intact"], false);
    assert!(head["problem"].as_str().unwrap().contains("altered"), "{head}");
}

#[tokio::test]
async fn a_person_sees_the_tasks_of_the_owners_agents() {
    let mut project = Project::new();
    let policy = "\
[defaults]
owner = \"you\"
working_dir = \".\"

[tasks]
dir = \"tasks\"
agents = [\"bot\"]

[agents.bot]
kind = \"subagent\"

[agents.night]
kind = \"cron\"
owner = \"them\"
";
    fs::write(project.path().join("agents.toml"), policy).unwrap();
    for (name, text) in [
        ("own", "---\nschedule: \"0 9 * * *\"\nagent: bot\n---\nLook.\n"),
        ("theirs", "---\nschedule: \"0 9 * * *\"\n---\nLook.\n"),
        ("broken", "---\nschedule: never\n---\nLook.\n"),
    ] {
        let directory = project.path().join("tasks/cron").join(name);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("TASK.md"), text).unwrap();
    }
    let (you, operator, bot) = (project.approver(), operator(&project), project.agent());
    project.serve();
    let files = |json: Value| -> Vec<String> {
        json["tasks"].as_array().unwrap().iter().map(|task| task["file"].as_str().unwrap().to_owned()).collect()
    };
    let seen = project.get(&you, "/v1/tasks").await.json;
    assert_eq!(files(seen.clone()), ["cron/own/TASK.md"], "{seen}");
    assert_eq!((&seen["tasks"][0]["agentId"], &seen["tasks"][0]["enabled"]), (&json!("bot"), &json!(true)));
    let all = project.get(&operator, "/v1/tasks").await.json;
    assert_eq!(files(all.clone()), ["cron/broken/TASK.md", "cron/own/TASK.md", "cron/theirs/TASK.md"], "{all}");
    assert!(!all["tasks"][0]["problems"].as_array().unwrap().is_empty());
    assert_eq!(project.get(&bot, "/v1/tasks").await.status, 403);
}

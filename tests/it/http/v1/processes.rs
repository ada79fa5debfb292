//! Long-running processes over the native API, in the sandbox of a server.

use serde_json::{Value, json};

use super::super::{daemon::Daemon, project::Project};

const POLICY: &str = "\
[defaults]
owner = \"you\"
working_dir = \".\"

[agents.bot]
kind = \"subagent\"

[agents.other]
kind = \"subagent\"
";

fn project() -> (Project, String, String) {
    let mut project = Project::new();
    project.policy(POLICY);
    let (bot, you) = (project.agent(), project.approver());
    project.serve();
    (project, bot, you)
}

/// Reads the output of a process until it has this text.
async fn output(project: &Project, token: &str, process: &str, wanted: &str) -> Value {
    loop {
        let read = project.get(token, &format!("/v1/processes/{process}/output")).await;
        assert_eq!(read.status, 200, "{}", read.body);
        if read.json["text"].as_str().is_some_and(|text| text.contains(wanted)) {
            return read.json;
        }
        assert_eq!(read.json["end"], false, "{}", read.json);
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn an_agent_starts_a_process_talks_to_it_and_stops_it() {
    let (project, bot, you) = project();
    let started = project.post(&bot, "/v1/processes", &json!({ "command": ["cat"] })).await;
    assert_eq!(started.status, 201, "{}", started.body);
    let id = started.json["processId"].as_str().unwrap().to_owned();
    let written = project.post(&bot, &format!("/v1/processes/{id}/input"), &json!({ "text": "hello\n" })).await;
    assert_eq!((written.status, &written.json), (200, &json!({ "written": 6 })));
    let read = output(&project, &bot, &id, "hello\n").await;
    assert_eq!((&read["from"], &read["next"], &read["dropped"]), (&json!(0), &json!(6), &json!(0)));
    let rest = project.get(&bot, &format!("/v1/processes/{id}/output?from=3&max=2&stream=stdout")).await;
    assert_eq!(rest.json["text"], "lo");
    for token in [&bot, &you] {
        let listed = project.get(token, "/v1/processes").await.json;
        assert_eq!(
            (&listed["processes"][0]["processId"], &listed["processes"][0]["command"]),
            (&json!(id), &json!("cat"))
        );
    }
    let restarted = project.post(&bot, &format!("/v1/processes/{id}/restart"), &json!({})).await;
    assert_eq!((restarted.status, &restarted.json["processId"]), (200, &json!(id)), "{}", restarted.body);
    let reason = json!({ "graceMs": 100, "reason": "enough" });
    assert_eq!(project.post(&bot, &format!("/v1/processes/{id}/stop"), &reason).await.status, 400);
    assert_eq!(project.post(&you, &format!("/v1/processes/{id}/stop"), &reason).await.status, 200);
    loop {
        let listed = project.get(&bot, "/v1/processes").await.json;
        if listed["processes"][0]["exit"].is_object() {
            break;
        }
        tokio::task::yield_now().await;
    }
    let over = project.post(&bot, &format!("/v1/processes/{id}/input"), &json!({ "text": "more" })).await;
    assert_eq!((over.status, &over.json["code"]), (410, &json!("process_ended")));
}

#[tokio::test]
async fn a_process_is_hidden_from_other_agents_and_its_start_is_decided() {
    let (project, bot, you) = project();
    let other = project.token(&["--role", "agent", "--agent", "other"]);
    let started = project.post(&bot, "/v1/processes", &json!({ "command": ["cat"] })).await;
    let id = started.json["processId"].as_str().unwrap().to_owned();
    for (method, path, body) in [
        ("GET", format!("/v1/processes/{id}/output"), json!({})),
        ("POST", format!("/v1/processes/{id}/input"), json!({ "text": "a" })),
        ("POST", format!("/v1/processes/{id}/stop"), json!({})),
        ("POST", format!("/v1/processes/{id}/restart"), json!({})),
    ] {
        let reply = match method {
            "GET" => project.get(&other, &path).await,
            _ => project.post(&other, &path, &body).await,
        };
        assert_eq!(reply.status, 404, "{method} {path}: {}", reply.body);
    }
    assert_eq!(project.get(&other, "/v1/processes").await.json, json!({ "processes": [] }));
    let start = json!({ "command": ["node", "server.js"] });
    let asked = project.post(&bot, "/v1/processes", &start).await;
    assert_eq!((asked.status, &asked.json["decision"]), (202, &json!("ask")), "{}", asked.body);
    assert_eq!(project.pending(&you).await.len(), 1, "a person sees it");
    let lacking = json!({ "command": ["cat"], "permissions": ["@network"] });
    let refused = project.post(&bot, "/v1/processes", &lacking).await;
    assert_eq!((refused.status, &refused.json["code"]), (403, &json!("not_held")), "{}", refused.body);
    for body in [json!({ "command": [] }), json!({}), json!({ "command": "cat" })] {
        assert_eq!(project.post(&bot, "/v1/processes", &body).await.status, 400, "{body}");
    }
    assert_eq!(project.post(&you, "/v1/processes", &json!({ "command": ["cat"] })).await.status, 403);
}

#[tokio::test]
async fn a_server_without_a_sandbox_starts_no_process() {
    let daemon = Daemon::start().await;
    let reply = daemon.send(&daemon.agent("bot"), "POST", "/v1/processes", &json!({ "command": ["cat"] })).await;
    assert_eq!((reply.status, &reply.json["code"]), (503, &json!("sandbox_unavailable")));
    assert_eq!(daemon.get(&daemon.approver("you"), "/v1/processes").await.json, json!({ "processes": [] }));
}

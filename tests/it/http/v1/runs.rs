//! Runs, tools, messages and the use of permissions over the native API.

use serde_json::{Value, json};

use super::super::{client::Socket, daemon::Daemon};

async fn begin(daemon: &Daemon, token: &str, agents: &[&str]) -> String {
    let reply = daemon.send(token, "POST", "/v1/runs", &json!({ "agents": agents })).await;
    assert_eq!(reply.status, 201, "{}", reply.body);
    reply.json["runId"].as_str().unwrap().to_owned()
}

fn run_of(daemon: &Daemon, agent: &str) -> String {
    daemon.world.engine.run_of(&agent.parse().unwrap()).unwrap().to_string()
}

/// The whole way of a tool host that is no child of the server: the host program opens a run with its own credential,
/// the tool host asks with that of its agent, and a decision unblocks it. What was allowed ends with the run.
#[tokio::test]
async fn a_program_from_outside_opens_a_run_asks_in_it_and_is_unblocked_by_a_decision() {
    let daemon = Daemon::start().await;
    let (host, bot, you) = (daemon.operator(), daemon.agent("bot"), daemon.approver("you"));
    let opened = daemon.send(&host, "POST", "/v1/runs?ownerId=you", &json!({ "agents": ["bot"] })).await;
    assert_eq!(opened.status, 201, "{}", opened.body);
    let run = opened.json["runId"].as_str().unwrap().to_owned();
    assert_eq!(run_of(&daemon, "bot"), run);
    let authorized = format!("Bearer {bot}");
    let mut tool = Socket::open(daemon.address, "/ws", &[("authorization", &authorized)]).await.unwrap();
    tool.next().await.unwrap();
    let wanted = json!({ "type": "authorize", "operation": "command.execute", "resource": "node a.js" }).to_string();
    tool.say(&wanted).await;
    assert_eq!(tool.next().await.unwrap()["decision"], "ask");
    let waiting = daemon.get(&you, "/v1/requests").await.json["requests"][0].clone();
    assert_eq!(waiting["runId"].as_str().or(waiting["question"]["runId"].as_str()), Some(&*run), "{waiting}");
    let path = format!("/v1/requests/{}/answer", waiting["id"].as_str().unwrap());
    let answer = json!({ "decision": "allow", "scope": "session" });
    assert_eq!(daemon.send(&you, "POST", &path, &answer).await.status, 200);
    assert_eq!(tool.next().await.unwrap()["outcome"], "granted");
    tool.say(&wanted).await;
    assert_eq!(tool.next().await.unwrap()["decision"], "allow");
    assert_eq!(daemon.delete(&host, &format!("/v1/runs/{run}?ownerId=you")).await.status, 204);
    assert_ne!(run_of(&daemon, "bot"), run);
    tool.say(&wanted).await;
    assert_eq!(tool.next().await.unwrap()["decision"], "ask", "the answer was for the run");
}

/// Beginning and ending a run would rid an agent of its denials.
#[tokio::test]
async fn no_credential_of_an_agent_changes_a_run() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let run = begin(&daemon, &you, &["bot"]).await;
    let before = daemon.world.view();
    for (method, path, body) in [
        ("POST", "/v1/runs".to_owned(), json!({ "agents": ["bot"] })),
        ("POST", format!("/v1/runs/{run}/join"), json!({ "agentId": "bot" })),
        ("POST", format!("/v1/runs/{run}/start"), json!({})),
        ("DELETE", format!("/v1/runs/{run}"), json!({})),
        ("PUT", "/v1/tools".to_owned(), json!({ "tools": [] })),
    ] {
        let reply = daemon.send(&bot, method, &path, &body).await;
        assert_eq!((reply.status, &reply.json["code"]), (403, &json!("forbidden")), "{method} {path}");
    }
    assert_eq!(daemon.get(&bot, "/v1/runs").await.status, 403);
    assert_eq!(daemon.world.view(), before);
}

#[tokio::test]
async fn a_run_has_the_agents_that_a_person_puts_into_it_and_is_hidden_from_other_owners() {
    let daemon = Daemon::start().await;
    let (you, them, operator) = (daemon.approver("you"), daemon.approver("them"), daemon.operator());
    let run = begin(&daemon, &you, &["bot"]).await;
    let joined = daemon.send(&you, "POST", &format!("/v1/runs/{run}/join"), &json!({ "agentId": "other" })).await;
    assert_eq!((joined.status, &joined.json["agents"]), (200, &json!(["bot", "other"])));
    assert_eq!(run_of(&daemon, "other"), run);
    let listed = daemon.get(&you, "/v1/runs").await.json;
    let wanted = json!({ "runId": run, "ownerId": "you", "agents": ["bot", "other"], "isRunning": false });
    assert_eq!(listed, json!({ "runs": [wanted] }));
    for (method, path, body) in [
        ("POST", format!("/v1/runs/{run}/join"), json!({ "agentId": "theirs" })),
        ("POST", format!("/v1/runs/{run}/start"), json!({})),
        ("DELETE", format!("/v1/runs/{run}"), json!({})),
    ] {
        assert_eq!(daemon.send(&them, method, &path, &body).await.status, 404, "{method} {path}");
    }
    assert_eq!(daemon.send(&them, "POST", "/v1/runs", &json!({ "agents": ["bot"] })).await.status, 409);
    let foreign = daemon.send(&you, "POST", &format!("/v1/runs/{run}/join"), &json!({ "agentId": "theirs" })).await;
    assert_eq!(foreign.status, 409, "{}", foreign.body);
    assert_eq!(daemon.send(&operator, "POST", "/v1/runs", &json!({ "agents": ["bot"] })).await.status, 400, "whose?");
    assert_eq!(daemon.send(&you, "POST", "/v1/runs?ownerId=them", &json!({})).await.status, 403);
    let start = daemon.send(&you, "POST", &format!("/v1/runs/{run}/start"), &json!({})).await;
    assert_eq!((start.status, &start.json["code"]), (409, &json!("start_failed")), "no agent has a command");
    assert_eq!(daemon.delete(&you, &format!("/v1/runs/{run}")).await.status, 204);
    assert_eq!(daemon.delete(&you, &format!("/v1/runs/{run}")).await.status, 404);
}

/// An order about the runs of one owner waits for nobody else.
#[tokio::test]
async fn people_of_two_owners_begin_runs_at_the_same_time() {
    let daemon = Daemon::start().await;
    let (you, them) = (daemon.approver("you"), daemon.approver("them"));
    for _ in 0..20 {
        tokio::join!(begin(&daemon, &you, &["bot", "other"]), begin(&daemon, &them, &["theirs"]));
    }
    assert_eq!(run_of(&daemon, "bot"), run_of(&daemon, "other"));
    assert_ne!(run_of(&daemon, "bot"), run_of(&daemon, "theirs"));
}

#[tokio::test]
async fn a_use_is_an_action_that_consumes_a_permission_for_one_use() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let body = json!({ "agentId": "bot", "permissions": ["@events"], "reason": "r", "scope": "once" });
    assert_eq!(daemon.send(&you, "POST", "/v1/grants", &body).await.status, 201);
    let used = json!({ "permission": "@events" });
    let first = daemon.send(&bot, "POST", "/v1/use", &used).await;
    assert_eq!((first.status, &first.json), (200, &used));
    let second = daemon.send(&bot, "POST", "/v1/use", &used).await;
    assert_eq!(second.status, 403, "{}", second.body);
    for _ in 0..2 {
        assert_eq!(daemon.send(&bot, "POST", "/v1/use", &json!({ "permission": "@network" })).await.status, 200);
    }
    assert_eq!(daemon.send(&you, "POST", "/v1/use", &used).await.status, 403, "a person is no agent");
    let mode = json!({ "mode": "plan" });
    assert_eq!(daemon.send(&you, "PUT", "/v1/agents/bot/mode", &mode).await.status, 200);
    let planned = daemon.send(&bot, "POST", "/v1/use", &json!({ "permission": "@network" })).await;
    assert_eq!((planned.status, &planned.json["code"]), (403, &json!("not_allowed")), "the mode applies");
}

#[tokio::test]
async fn messages_stay_within_an_owner_and_carry_no_permission() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let inbox = daemon.world.engine.agent("other").unwrap().mailbox();
    let send = async |token: &str, body: Value| daemon.send(token, "POST", "/v1/messages", &body).await;
    assert_eq!(send(&bot, json!({ "agentId": "other", "text": "hello" })).await.status, 204);
    assert_eq!(inbox.next().await.unwrap().to_string(), "bot: hello");
    assert_eq!(send(&you, json!({ "agentId": "other", "text": "go on" })).await.status, 204);
    assert!(inbox.next().await.unwrap().to_string().contains("go on"));
    assert_eq!(send(&bot, json!({ "agentId": "theirs", "text": "hello" })).await.status, 404);
    assert_eq!(send(&you, json!({ "agentId": "theirs", "text": "hello" })).await.status, 404);
    assert_eq!(send(&bot, json!({ "agentId": "nobody", "text": "hello" })).await.status, 404);
    let nobody = send(&bot, json!({ "text": "hello" })).await;
    assert_eq!((nobody.status, &nobody.json["code"]), (409, &json!("no_user")));
    assert_eq!(send(&you, json!({ "text": "hello" })).await.status, 400);
    let long = json!({ "agentId": "other", "text": "a".repeat((64 << 10) + 1) });
    assert_eq!(send(&bot, long).await.status, 400);
}

#[tokio::test]
async fn a_person_declares_tools_for_the_agents_of_one_owner() {
    let daemon = Daemon::start().await;
    let (you, them) = (daemon.approver("you"), daemon.approver("them"));
    let tools = json!({ "tools": [{ "name": "save_page", "operation": "fs.write", "path": "page.file" }] });
    let declared = daemon.send(&you, "PUT", "/v1/tools", &tools).await;
    assert_eq!((declared.status, &declared.json), (200, &json!({ "tools": ["save_page"] })), "{}", declared.body);
    let listed = daemon.get(&you, "/v1/tools").await.json;
    assert_eq!(
        (&listed["declarations"][0]["by"], &listed["declarations"][0]["tools"][0]["name"]),
        (&json!("ann"), &json!("save_page"))
    );
    assert_eq!(daemon.get(&them, "/v1/tools").await.json, json!({ "declarations": [] }));
    let operators = daemon.get(&daemon.operator(), "/v1/tools?ownerId=you").await;
    assert_eq!(operators.json, listed);
    let wrong = json!({ "tools": [{ "name": "save_page", "operation": "fs.write", "pth": "page.file" }] });
    assert_eq!(daemon.send(&you, "PUT", "/v1/tools", &wrong).await.status, 400);
    assert_eq!(daemon.get(&you, "/v1/tools").await.json, listed, "nothing has changed");
    assert_eq!(daemon.send(&you, "PUT", "/v1/tools", &json!({ "tools": [] })).await.status, 200);
    assert_eq!(daemon.get(&you, "/v1/tools").await.json, json!({ "declarations": [] }));
}

#[tokio::test]
async fn the_health_of_a_server_has_counts_for_a_client_with_a_credential_only() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    assert_eq!(daemon.classify(&bot, "node a.js").await.json["allow"], false);
    let anybody = super::super::client::call(daemon.address, "GET", "/health", &[], "").await;
    assert_eq!(anybody.json.as_object().unwrap().len(), 2, "{}", anybody.json);
    daemon.world.clock.advance(std::time::Duration::from_secs(90));
    let own = daemon.get(&you, "/health").await.json;
    let counts = [("uptimeSeconds", 90), ("agents", 2), ("pendingRequests", 1), ("processes", 0), ("runningRuns", 0)];
    for (name, count) in counts {
        assert_eq!(own[name], count, "{name}");
    }
    assert_eq!(daemon.get(&daemon.operator(), "/health").await.json["agents"], 3);
    assert_eq!(daemon.get(&daemon.approver("them"), "/health").await.json["pendingRequests"], 0);
    let invalid = daemon.get("bestow_000000000000_0", "/health").await;
    assert_eq!(invalid.status, 401);
}

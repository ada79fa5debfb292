//! A person, and the host program: agents, modes, provenance, saved decisions, policies and changes of the file.

use bestow::{Action, action::Authorization, agent::RunId, policy::Widening};
use serde_json::json;

use super::super::daemon::Daemon;
use crate::support::policy;

#[tokio::test]
async fn a_person_sees_the_agents_of_one_owner_and_an_operator_sees_all() {
    let daemon = Daemon::start().await;
    let (you, operator) = (daemon.approver("you"), daemon.operator());
    let ids = |json: serde_json::Value| -> Vec<String> {
        json["agents"].as_array().unwrap().iter().map(|agent| agent["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(daemon.get(&you, "/v1/agents").await.json), ["bot", "other"]);
    assert_eq!(ids(daemon.get(&operator, "/v1/agents").await.json), ["bot", "other", "theirs"]);
    assert_eq!(daemon.get(&you, "/v1/agents/bot").await.json["state"]["run"], json!(run(&daemon, "bot")));
    let (theirs, nobody) = (daemon.get(&you, "/v1/agents/theirs").await, daemon.get(&you, "/v1/agents/nobody").await);
    assert_eq!((theirs.status, &theirs.json), (404, &nobody.json));
    assert_eq!(daemon.get(&daemon.agent("bot"), "/v1/agents").await.status, 403);
    assert_eq!(daemon.get(&daemon.agent("bot"), "/v1/agents/bot").await.status, 403);
}

fn run(daemon: &Daemon, agent: &str) -> String {
    daemon.world.engine.run_of(&agent.parse().unwrap()).unwrap().to_string()
}

#[tokio::test]
async fn a_person_sets_the_mode_of_an_own_agent() {
    let daemon = Daemon::start().await;
    let you = daemon.approver("you");
    let mode = json!({ "mode": "plan" });
    assert_eq!(daemon.send(&you, "PUT", "/v1/agents/bot/mode", &mode).await.json["mode"], "plan");
    assert_eq!(daemon.send(&you, "PUT", "/v1/agents/theirs/mode", &mode).await.status, 404);
    assert_eq!(daemon.send(&daemon.agent("bot"), "PUT", "/v1/agents/bot/mode", &mode).await.status, 403);
    assert_eq!(daemon.send(&you, "PUT", "/v1/agents/bot/mode", &json!({ "mode": "free" })).await.status, 400);
    assert_eq!(daemon.send(&daemon.operator(), "PUT", "/v1/agents/theirs/mode", &mode).await.json["mode"], "plan");
    assert_eq!(daemon.send(&you, "POST", "/v1/agents/bot/mode", &mode).await.status, 405);
}

#[tokio::test]
async fn a_permission_has_a_provenance() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let body = json!({ "agentId": "other", "permissions": ["@write:/ws/a"], "reason": "r" });
    assert_eq!(daemon.send(&bot, "POST", "/v1/grants", &body).await.status, 201);
    let chain = daemon.get(&you, "/v1/agents/other/why?permission=%40write%3A%2Fws%2Fa").await.json["chain"].clone();
    assert!(chain.as_array().unwrap().iter().all(|link| link["kind"] == "grant"), "{chain}");
    assert_eq!(daemon.get(&you, "/v1/agents/other/why?permission=@write:/else").await.json, json!({ "chain": [] }));
    assert_eq!(daemon.get(&you, "/v1/agents/theirs/why?permission=@network").await.status, 404);
    assert_eq!(daemon.get(&you, "/v1/agents/other/why?permission=nonsense").await.status, 400);
    assert_eq!(daemon.get(&you, "/v1/agents/other/why").await.status, 400);
}

#[tokio::test]
async fn a_saved_decision_is_listed_and_revoked_by_a_person_of_its_owner() {
    let daemon = Daemon::start().await;
    let (bot, you, them) = (daemon.agent("bot"), daemon.approver("you"), daemon.approver("them"));
    let action = json!({ "toolName": "bash", "toolInput": { "command": "rm -rf /" } });
    assert_eq!(daemon.send(&bot, "POST", "/v1/authorize", &action).await.json["decision"], "deny");
    let body = json!({ "action": action, "reason": "it is old" });
    for (token, agent, status) in [(&bot, "bot", 403), (&them, "bot", 404), (&you, "theirs", 404)] {
        let path = format!("/v1/agents/{agent}/enable");
        assert_eq!(daemon.send(token, "POST", &path, &body).await.status, status);
    }
    let enabled = daemon.send(&you, "POST", "/v1/agents/bot/enable", &body).await.json;
    let id = enabled["savedDecisionId"].as_str().unwrap().to_owned();
    let listed = daemon.get(&you, "/v1/decisions").await.json["savedDecisions"].clone();
    assert_eq!((&listed[0]["id"], &listed[0]["scope"], &listed[0]["by"]), (&json!(id), &json!("once"), &json!("ann")));
    assert_eq!(daemon.get(&them, "/v1/decisions").await.json, json!({ "savedDecisions": [] }));
    let path = format!("/v1/decisions/{id}");
    assert_eq!(daemon.delete(&them, &path).await.status, 404);
    assert_eq!(daemon.delete(&bot, &path).await.status, 403);
    assert_eq!(daemon.delete(&you, &path).await.status, 200);
    assert_eq!(daemon.delete(&you, &path).await.status, 404);
    assert_eq!(daemon.send(&bot, "POST", "/v1/authorize", &action).await.json["decision"], "deny");
}

#[tokio::test]
async fn the_policies_of_a_run_are_seen_and_added_to_by_its_owner() {
    let daemon = Daemon::start().await;
    let (bot, you, them, operator) =
        (daemon.agent("bot"), daemon.approver("you"), daemon.approver("them"), daemon.operator());
    let night: RunId = "night".parse().unwrap();
    daemon.world.engine.begin_run(&"bot".parse().unwrap(), night).await.unwrap();
    let path = "/v1/runs/night/policies";
    let update = json!({ "mode": "write", "deny": ["secrets/**"], "tool": "wriet_file" });
    assert_eq!(daemon.send(&you, "PATCH", path, &update).await.status, 422, "nobody declared the tool");
    let update = json!({ "mode": "write", "deny": ["secrets/**"] });
    assert_eq!(daemon.send(&you, "PATCH", path, &update).await.status, 200);
    let write = json!({ "operation": "fs.write", "resource": "/ws/secrets/key" });
    assert_eq!(daemon.send(&bot, "POST", "/v1/authorize", &write).await.json["decision"], "deny");
    let seen = daemon.get(&you, path).await.json;
    assert!(seen["tools"][0]["names"].as_array().unwrap().contains(&json!("write-path-policy")), "{seen}");
    assert_eq!(seen["laterTools"]["names"], json!(["write-path-policy"]), "{seen}");
    assert_eq!(seen["laterTools"]["policies"], seen["tools"][0]["policies"], "{seen}");
    for (token, path, status) in [
        (&bot, path, 403),
        (&them, path, 404),
        (&them, "/v1/runs/night/policies?ownerId=you", 403),
        (&operator, path, 400),
        (&operator, "/v1/runs/night/policies?ownerId=them", 404),
        (&operator, "/v1/runs/night/policies?ownerId=you", 200),
        (&you, "/v1/runs/day/policies", 404),
    ] {
        assert_eq!(daemon.get(token, path).await.status, status, "{path}");
        assert_eq!(daemon.send(token, "PATCH", path, &json!({ "mode": "read" })).await.status, status, "{path}");
    }
    assert_eq!(daemon.send(&you, "PATCH", path, &json!({ "mode": "read", "allow": ["["] })).await.status, 422);
    assert_eq!(daemon.send(&you, "PATCH", path, &json!({ "mode": "read", "run": "day" })).await.status, 400);
}

/// A run remembers a limited number of tools by use alone. The others are bound all the same, and a person sees it.
#[tokio::test]
async fn the_policies_of_a_tool_that_came_later_are_seen() {
    let daemon = Daemon::start().await;
    let you = daemon.approver("you");
    let night: RunId = "night".parse().unwrap();
    daemon.world.engine.begin_run(&"bot".parse().unwrap(), night).await.unwrap();
    let path = "/v1/runs/night/policies";
    let bot = daemon.world.engine.agent("bot").unwrap();
    let seen = daemon.get(&you, path).await.json;
    assert_eq!(seen["laterTools"], json!({ "names": [], "policies": {} }), "{seen}");
    let update = json!({ "mode": "write", "deny": ["/ws/secrets/**"] });
    assert_eq!(daemon.send(&you, "PATCH", path, &update).await.status, 200);
    let write = |tool: &str| Action::write("/ws/secrets/key").by_tool(tool.parse().unwrap());
    for number in 0..300 {
        let answer = bot.authorize(write(&format!("tool{number:03}"))).await.unwrap();
        assert!(matches!(answer, Authorization::Denied(_)), "{answer:?}");
    }
    let seen = daemon.get(&you, path).await.json;
    let tools: Vec<_> = seen["tools"].as_array().unwrap().iter().map(|tool| &tool["tool"]).collect();
    assert!(tools.contains(&&json!("tool000")) && !tools.contains(&&json!("tool299")), "{tools:?}");
    assert_eq!(seen["laterTools"]["names"], json!(["write-path-policy"]), "{seen}");
}

#[tokio::test]
async fn a_change_of_the_file_that_gives_more_waits_for_a_person_of_its_owner() {
    let daemon = Daemon::with(bestow_http::Limits::default(), |_| {}).await;
    let (bot, you, them, operator) =
        (daemon.agent("bot"), daemon.approver("you"), daemon.approver("them"), daemon.operator());
    let settings = || {
        let mut settings = (*daemon.world.engine.settings().unwrap()).clone();
        settings.widening = Widening::Confirm;
        settings
    };
    daemon.world.engine.configure(policy(settings(), &[("filed", "you", &[])])).await.unwrap();
    assert_eq!(daemon.get(&you, "/v1/config/change").await.json, json!({ "change": null }));
    daemon.world.engine.configure(policy(settings(), &[("filed", "you", &["@network"])])).await.unwrap();
    let change = daemon.get(&you, "/v1/config/change").await.json["change"].clone();
    assert_eq!(change["wouldGain"], json!([{ "agentId": "filed", "permission": "@network" }]), "{change}");
    assert_eq!(daemon.get(&them, "/v1/config/change").await.json, json!({ "change": null }));
    assert_eq!(daemon.get(&operator, "/v1/config/change").await.json["change"], change);
    assert_eq!(daemon.get(&bot, "/v1/config/change").await.status, 403);
    let number = change["number"].as_u64().unwrap();
    let path = |number: u64| format!("/v1/config/change/{number}/agree");
    let empty = json!({});
    assert_eq!(daemon.send(&bot, "POST", &path(number), &empty).await.status, 403);
    assert_eq!(daemon.send(&them, "POST", &path(number), &empty).await.status, 404);
    assert_eq!(daemon.send(&you, "POST", &path(number + 1), &empty).await.status, 409);
    assert_eq!(daemon.send(&you, "POST", &path(number), &empty).await.status, 200);
    assert_eq!(daemon.send(&you, "POST", &path(number), &empty).await.status, 404, "nothing waits");
}

/// A person agrees to what that person is shown, and the other owner's part goes on waiting.
#[tokio::test]
async fn each_owner_agrees_to_an_own_part_of_a_change() {
    let daemon = Daemon::with(bestow_http::Limits::default(), |_| {}).await;
    let mut settings = (*daemon.world.engine.settings().unwrap()).clone();
    settings.widening = Widening::Confirm;
    for gains in [&[][..], &["@network"]] {
        let agents = [("ours", "you", gains), ("foreign", "them", gains)];
        daemon.world.engine.configure(policy(settings.clone(), &agents)).await.unwrap();
    }
    let shown = async |token: &str| daemon.get(token, "/v1/config/change").await.json["change"].clone();
    let holds = |agent: &str| daemon.world.engine.agent(agent).unwrap().permissions().unwrap().iter().count();
    let tokens = [daemon.approver("you"), daemon.approver("them")];
    let [number, same] = [shown(&tokens[0]).await["number"].clone(), shown(&tokens[1]).await["number"].clone()];
    assert_eq!(number, same);
    let path = format!("/v1/config/change/{number}/agree");
    for (token, agent, held) in [(&tokens[1], "foreign", [0, 1]), (&tokens[0], "ours", [1, 1])] {
        assert_eq!(shown(token).await["wouldGain"], json!([{ "agentId": agent, "permission": "@network" }]));
        assert_eq!(daemon.send(token, "POST", &path, &json!({})).await.status, 200, "{agent}");
        assert_eq!([holds("ours"), holds("foreign")], held, "{agent}");
        assert_eq!(daemon.send(token, "POST", &path, &json!({})).await.status, 404, "{agent}: nothing of it waits");
    }
    assert_eq!(shown(&daemon.operator()).await, json!(null));
}

#[tokio::test]
async fn a_server_without_tasks_or_a_trail_says_so() {
    let daemon = Daemon::start().await;
    let (you, operator) = (daemon.approver("you"), daemon.operator());
    assert_eq!(daemon.get(&you, "/v1/tasks").await.json, json!({ "tasks": [] }));
    for path in ["/v1/audit", "/v1/audit/head"] {
        assert_eq!(daemon.get(&operator, path).await.status, 404, "{path}");
        for token in [&you, &daemon.agent("bot")] {
            assert_eq!(daemon.get(token, path).await.status, 403, "{path}");
        }
    }
}

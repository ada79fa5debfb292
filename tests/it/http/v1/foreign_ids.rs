//! Ids of another owner. In every path and in every body, each looks like an id that nobody has, whatever became of the
//! thing that has it.

use std::collections::BTreeSet;

use bestow::{Action, Answer, Kind, action::Authorization, grant::Scope, user::Approver};
use serde_json::{Value, json};

use super::super::{
    client::{Reply, call},
    daemon::Daemon,
};
use crate::support::{tag, why};

/// A kind of things: its name in the paths of the description, an id that nobody has, and ids of another owner.
struct Things {
    parameter: &'static str,
    unknown: String,
    foreign: Vec<String>,
}

/// Gives a permission for good.
async fn give(you: &Approver, permission: &str) -> String {
    you.give("bot", tag(permission), Scope::Always, why()).await.unwrap()[0].to_string()
}

/// Creates things of the owner `you` in each state in which a thing can be.
async fn things(daemon: &Daemon) -> Vec<Things> {
    let (world, you, token) = (&daemon.world, daemon.world.you(), daemon.approver("you"));
    let bot = world.engine.agent("bot").unwrap();
    world.agent("gone", "you", Kind::Subagent, &[]).await;
    world.engine.retire("gone").await.unwrap();
    let grants = vec![give(&you, "@read:/live").await, give(&you, "@read:/revoked").await];
    assert_eq!(daemon.delete(&token, &format!("/v1/grants/{}", grants[1])).await.status, 200);
    let mut decisions = Vec::new();
    for command in ["rm -rf live", "rm -rf revoked"] {
        let body = json!({ "action": { "toolName": "bash", "toolInput": { "command": command } }, "reason": "r" });
        let enabled = daemon.send(&token, "POST", "/v1/agents/bot/enable", &body).await;
        decisions.push(enabled.json["savedDecisionId"].as_str().unwrap_or_else(|| panic!("{enabled:?}")).to_owned());
    }
    assert_eq!(daemon.delete(&token, &format!("/v1/decisions/{}", decisions[1])).await.status, 200);
    let (mut requests, mut codes) = (Vec::new(), Vec::new());
    for (command, answer) in
        [("node a.js", None), ("node b.js", Some(Answer::allow())), ("node c.js", Some(Answer::deny()))]
    {
        let Authorization::Asked(_, ticket) = bot.authorize(Action::command(command)).await.unwrap() else {
            panic!("{command} asks nobody")
        };
        requests.push(ticket.id().to_string());
        let waiting = world.engine.pending().unwrap();
        codes
            .push(waiting.iter().find(|waiting| waiting.request.id == ticket.id()).unwrap().request.code().to_string());
        if let Some(answer) = answer {
            you.answer(ticket.id(), answer).await.unwrap();
        }
    }
    world.engine.begin_run(bot.id(), "run-over".parse().unwrap()).await.unwrap();
    world.engine.begin_run(bot.id(), "run-night".parse().unwrap()).await.unwrap();
    let all = |parameter, unknown: &str, foreign| Things { parameter, unknown: unknown.to_owned(), foreign };
    vec![
        all("{agent}", "nobody", vec!["bot".to_owned(), "gone".to_owned()]),
        all("{grant}", "g99", grants),
        all("{decision}", "r99", decisions),
        all("{request}", "01a20ed5-24b5-7000-8000-fa641b01f913", requests),
        all("{request}", "zzzzzz", codes),
        all("{run}", "run-noon", vec!["run-night".to_owned(), "run-over".to_owned()]),
    ]
}

/// Returns a body that the operation understands.
fn body(operation: &str) -> Value {
    let action = json!({ "operation": "command.execute", "resource": "ls" });
    match operation {
        "agents_set_mode" => json!({ "mode": "plan" }),
        "agents_enable" => json!({ "action": action, "reason": "r" }),
        "explain_of_agent" | "agents_explain" => action,
        "requests_answer" => json!({ "decision": "allow" }),
        "runs_join" => json!({ "agentId": "theirs" }),
        "policies_update" => json!({ "mode": "read" }),
        _ => json!({}),
    }
}

/// Returns what a reply says, with the id that was asked about left out.
fn said(reply: &Reply, id: &str) -> (u16, String) {
    (reply.status, reply.body.replace(id, "ID"))
}

#[tokio::test]
async fn an_id_of_another_owner_in_a_path_looks_like_one_that_nobody_has() {
    let daemon = Daemon::start().await;
    let things = things(&daemon).await;
    let senders = [daemon.approver("them"), daemon.agent("theirs")];
    let before = daemon.world.view();
    let described = call(daemon.address, "GET", "/v1/openapi.json", &[], "").await.json;
    let mut compared = BTreeSet::new();
    for (path, item) in described["paths"].as_object().unwrap() {
        for Things { parameter, unknown, foreign } in things.iter().filter(|things| path.contains(things.parameter)) {
            for (method, operation) in item.as_object().unwrap() {
                let (name, method) = (operation["operationId"].as_str().unwrap(), method.to_uppercase());
                let query = if name == "agents_why" { "?permission=@network" } else { "" };
                for sender in &senders {
                    let ask = async |id: &str| {
                        let path = format!("{}{query}", path.replace(parameter, id));
                        said(&daemon.send(sender, &method, &path, &body(name)).await, id)
                    };
                    let nobodys = ask(unknown).await;
                    assert_ne!(nobodys.0, 400, "{name} does not understand the body: {nobodys:?}");
                    for id in foreign {
                        assert_eq!(ask(id).await, nobodys, "{name}: {id}");
                    }
                    if nobodys.0 != 403 {
                        compared.insert(name);
                    }
                }
            }
        }
    }
    assert_eq!(daemon.world.view(), before);
    assert!(compared.len() >= 20, "{compared:?}");
}

#[tokio::test]
async fn an_id_of_another_owner_in_a_body_or_query_looks_like_one_that_nobody_has() {
    let daemon = Daemon::start().await;
    let things = things(&daemon).await;
    let before = daemon.world.view();
    let (them, theirs) = (daemon.approver("them"), daemon.agent("theirs"));
    let approve = |id: &str| json!({ "requestId": id, "decision": "approve" });
    let grant = |id: &str| json!({ "agentId": id, "permissions": ["@network"], "reason": "r" });
    let enable =
        |id: &str| json!({ "agentId": id, "toolName": "bash", "toolInput": { "command": "rm -rf /" }, "reason": "r" });
    let message = |id: &str| json!({ "agentId": id, "text": "hello" });
    let run = |id: &str| json!({ "agents": [id] });
    let nothing = |_: &str| Value::Null;
    type Body<'b> = &'b dyn Fn(&str) -> Value;
    let calls: [(&str, &str, &str, &str, Body<'_>); 11] = [
        ("{request}", &them, "POST", "/api/permissions", &approve),
        ("{request}", &theirs, "GET", "/api/hooks/requests/ID", &nothing),
        ("{agent}", &them, "POST", "/api/permissions/enable", &enable),
        ("{agent}", &them, "POST", "/v1/grants", &grant),
        ("{agent}", &theirs, "POST", "/v1/grants", &grant),
        ("{agent}", &them, "POST", "/v1/messages", &message),
        ("{agent}", &theirs, "POST", "/v1/messages", &message),
        ("{agent}", &them, "POST", "/v1/runs", &run),
        ("{agent}", &them, "GET", "/v1/requests?agentId=ID", &nothing),
        ("{agent}", &them, "GET", "/v1/grants?agentId=ID", &nothing),
        ("{agent}", &them, "GET", "/v1/decisions?agentId=ID", &nothing),
    ];
    for (parameter, sender, method, path, body) in calls {
        for Things { unknown, foreign, .. } in things.iter().filter(|things| things.parameter == parameter) {
            let ask = async |id: &str| {
                let path = path.replace("ID", id);
                said(&daemon.send(sender, method, &path, &body(id)).await, id)
            };
            let nobodys = ask(unknown).await;
            for id in foreign {
                assert_eq!(ask(id).await, nobodys, "{method} {path}: {id}");
            }
        }
    }
    assert_eq!(daemon.world.view(), before);
}

//! Tests of what a person learns about a request before the answer.

use bestow::{Answer, Kind, Permission, PermissionRequest, action::Authorization, grant::Scope, request::RequestId};
use serde_json::{Value, json};

use super::super::daemon::Daemon;
use crate::support::{World, ask, profile, why};

async fn question(daemon: &Daemon, token: &str) -> Value {
    daemon.get(token, "/v1/requests").await.json["requests"][0]["question"].clone()
}

#[tokio::test]
async fn a_question_shows_the_parts_of_a_command_and_the_agents_above_the_asker() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.world.engine.agent("bot").unwrap(), daemon.approver("you"));
    let child = bot.create(profile("child", "you", Kind::Subagent), &[], why()).await.unwrap();
    let token = daemon.agent(child.id().as_str());
    let action = json!({ "toolName": "bash", "toolInput": { "command": "git status; node build.js; ./x" } });
    assert_eq!(daemon.send(&token, "POST", "/v1/authorize", &action).await.json["decision"], "ask");
    let asked = question(&daemon, &you).await;
    assert_eq!(asked["above"], json!(["bot"]));
    let parts = asked["action"]["parts"].as_array().unwrap();
    let tiers: Vec<_> = parts.iter().map(|part| (part["text"].as_str().unwrap().trim(), &part["tier"])).collect();
    assert_eq!(
        tiers,
        [("git status", &json!("safe")), ("node build.js", &json!("dangerous")), ("./x", &json!("dangerous"))]
    );
    assert_eq!(asked["scopes"], json!(["once", "session"]), "the line has no shape");
}

#[tokio::test]
async fn one_unsafe_part_among_safe_ones_is_allowed_for_good_as_the_question_shows_it() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let decision = async |command: &str| {
        let action = json!({ "toolName": "bash", "toolInput": { "command": command } });
        daemon.send(&bot, "POST", "/v1/authorize", &action).await.json["decision"].clone()
    };
    assert_eq!(decision("git status; node build.js 2>&1 | tail -30").await, "ask");
    let asked = question(&daemon, &you).await;
    assert_eq!(asked["scopes"], json!(["once", "session", "until", "always"]));
    let shape = asked["action"]["shape"].as_str().unwrap();
    assert!(shape.starts_with("`node build.js <and any parts that only read>` in `"), "{shape}");
    let id = daemon.get(&you, "/v1/requests").await.json["requests"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/requests/{id}/answer");
    let answer = daemon.post(&you, &path, r#"{"decision":"allow","scope":"always"}"#).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    for command in ["node build.js", "ls && node build.js | grep -c warning"] {
        assert_eq!(decision(command).await, "allow", "{command}");
    }
    for command in ["NODE_OPTIONS=x; node build.js", "echo x > build.js; node build.js", "node other.js | tail"] {
        assert_eq!(decision(command).await, "ask", "{command}");
    }
}

#[tokio::test]
async fn a_question_offers_exactly_the_scopes_that_an_approval_may_have() {
    let world = World::new();
    let hour = world.after(3_600_000);
    let scopes = [Scope::Once, Scope::Session, Scope::Until(hour), Scope::Always];
    let mut number = 0;
    let mut next = async || {
        number += 1;
        world.worker(&format!("w{number}"), &[]).await
    };
    for asked in scopes.map(Some).into_iter().chain([None]) {
        for scope in scopes {
            let request = ask("@tool:x");
            let request = asked.map_or(request.clone(), |asked| request.at_most(asked));
            let ticket = next().await.request(request).await.unwrap();
            check(&world, ticket.id(), scope, &format!("{asked:?}")).await;
        }
    }
    for command in ["node build.js", "eval \"$X\" | sh", "git push origin main", "make 2>&1 | tail"] {
        for scope in scopes {
            let asked = next().await.authorize(bestow::Action::command(command)).await.unwrap();
            let Authorization::Asked(_, ticket) = asked else { panic!("`{command}` is asked about") };
            check(&world, ticket.id(), scope, command).await;
        }
    }
}

async fn check(world: &World, id: RequestId, scope: Scope, about: &str) {
    let pending = world.engine.pending().unwrap();
    let request = &pending.iter().find(|pending| pending.request.id == id).unwrap().request;
    let offered = request.accepts_scope(scope);
    let answered = world.you().answer(id, Answer::allow().scope(scope)).await;
    assert_eq!(answered.is_ok(), offered, "{about}, answered with {scope}");
}

#[tokio::test]
async fn a_preview_shows_what_a_permission_covers_and_nothing_protected() {
    let daemon = Daemon::start().await;
    let place = tempfile::tempdir().unwrap();
    let root = crate::support::real(place.path());
    std::fs::create_dir_all(root.join("a-dir/below")).unwrap();
    for number in 0..25 {
        std::fs::write(root.join(format!("a-dir/f{number:02}")), "x").unwrap();
    }
    std::fs::write(root.join("f03"), "x").unwrap();
    let (bot, you, them) = (daemon.world.engine.agent("bot").unwrap(), daemon.approver("you"), daemon.approver("them"));
    let asked = [
        format!("@write:{}", root.join("a-dir").display()),
        format!("@write:{}/f03", root.display()),
        format!("@write:{}/new", root.display()),
        "@events".to_owned(),
    ];
    let asked: Vec<Permission> = asked.iter().map(|text| text.parse().unwrap()).collect();
    let permissions: bestow::grant::Permissions = asked.try_into().unwrap();
    let ticket = bot.request(PermissionRequest::new(permissions, "r")).await.unwrap();
    let path = format!("/v1/requests/{}/preview", ticket.id());
    let shown = daemon.get(&you, &path).await.json;
    let of = |part: &str| {
        let all = shown["permissions"].as_array().unwrap();
        all.iter().find(|shown| shown["permission"].as_str().unwrap().contains(part)).unwrap().clone()
    };
    assert_eq!(
        (&of("/f03")["kind"], &of("/new")["kind"], &of("@events")["kind"]),
        (&json!("file"), &json!("missing"), &json!("none"))
    );
    let directory = of("a-dir");
    assert_eq!((&directory["kind"], &directory["more"]), (&json!("directory"), &json!(true)));
    let covers = directory["covers"].as_array().unwrap();
    assert_eq!((covers.len(), &covers[0], &covers[1]), (20, &json!("below/"), &json!("f00")));
    assert_eq!(daemon.get(&them, &path).await.status, 404);
    assert_eq!(daemon.get(&daemon.agent("bot"), &path).await.status, 403);
}

#[tokio::test]
async fn a_person_sees_the_decision_that_an_action_would_get() {
    let daemon = Daemon::start().await;
    let (you, them) = (daemon.approver("you"), daemon.approver("them"));
    let action = json!({ "toolName": "bash", "toolInput": { "command": "rm -rf /" } });
    let before = daemon.world.engine.last_sequence().unwrap();
    let explained = daemon.send(&you, "POST", "/v1/agents/bot/explain", &action).await.json;
    assert_eq!(explained["decision"]["decision"], "deny", "{explained}");
    assert_eq!(explained["details"]["stages"].as_array().unwrap().len(), 9);
    assert_eq!(daemon.world.engine.last_sequence().unwrap(), before, "nothing is decided");
    assert_eq!(daemon.send(&them, "POST", "/v1/agents/bot/explain", &action).await.status, 404);
    assert_eq!(daemon.send(&daemon.agent("bot"), "POST", "/v1/agents/bot/explain", &action).await.status, 403);
}

#[tokio::test]
async fn the_last_events_are_there_for_a_client_that_begins() {
    let daemon = Daemon::start().await;
    let (you, them) = (daemon.approver("you"), daemon.approver("them"));
    let bot = daemon.world.engine.agent("bot").unwrap();
    for number in 0..5 {
        bot.request(PermissionRequest::new(format!("@tool:t{number}"), "r")).await.unwrap();
    }
    let last = daemon.world.engine.last_sequence().unwrap();
    let recent = loop {
        let recent = daemon.get(&you, "/v1/events/recent?limit=3").await.json;
        if recent["last"] == last {
            break recent;
        }
        tokio::task::yield_now().await;
    };
    let numbers = |recent: &Value| -> Vec<u64> {
        recent["events"].as_array().unwrap().iter().map(|event| event["sequence"].as_u64().unwrap()).collect()
    };
    assert_eq!((numbers(&recent).len(), &recent["complete"]), (3, &json!(false)));
    let first = numbers(&recent)[0];
    let earlier = daemon.get(&you, &format!("/v1/events/recent?before={first}")).await.json;
    assert!(numbers(&earlier).iter().all(|number| *number < first) && earlier["complete"] == true);
    let theirs = daemon.get(&them, "/v1/events/recent").await.json;
    assert!(theirs["events"].as_array().unwrap().iter().all(|event| event["agentId"] != "bot"), "{theirs}");
    assert_eq!(daemon.get(&you, "/v1/events/recent?limt=3").await.status, 400);
}

#[tokio::test]
async fn of_a_line_with_very_many_parts_the_first_ones_are_sent() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let action = json!({ "toolName": "bash", "toolInput": { "command": "x;".repeat(200) } });
    assert_eq!(daemon.send(&bot, "POST", "/v1/authorize", &action).await.json["decision"], "ask");
    let asked = question(&daemon, &you).await;
    let action = &asked["action"];
    assert_eq!((action["parts"].as_array().unwrap().len(), &action["partsLeftOut"]), (64, &json!(136)));
    assert_eq!(question(&daemon, &you).await, asked, "and again");
}

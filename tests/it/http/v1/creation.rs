//! The creation and the end of agents.

use bestow::{Permission, grant::PermissionRef};
use serde_json::{Value, json};

use super::super::daemon::Daemon;

async fn create(daemon: &Daemon, token: &str, body: Value) -> super::super::client::Reply {
    daemon.send(token, "POST", "/v1/agents", &body).await
}

#[tokio::test]
async fn an_agent_creates_a_child_with_what_it_holds_and_nothing_else() {
    let daemon = Daemon::start().await;
    let bot = daemon.agent("bot");
    let child = json!({
        "agentId": "bot:child",
        "name": "Helper",
        "workingDir": "/ws/part",
        "permissions": ["@write:/ws/part", "@network"],
        "reason": "to help",
    });
    let created = create(&daemon, &bot, child).await;
    assert_eq!(created.status, 201, "{}", created.body);
    let wanted = [("id", "bot:child"), ("ownerId", "you"), ("kind", "subagent"), ("parent", "bot"), ("name", "Helper")];
    for (field, value) in wanted {
        assert_eq!(created.json[field], value, "{field}");
    }
    let child = daemon.world.engine.agent("bot:child").unwrap();
    assert!(child.check(PermissionRef::Network).is_held());
    assert!(!child.check(&"@write:/ws".parse::<Permission>().unwrap()).is_held());
    let without = create(&daemon, &bot, json!({ "agentId": "bot:bare", "reason": "to wait" })).await;
    assert_eq!((without.status, &without.json["workingDir"]), (201, &created_in(&daemon, "bot")));
}

fn created_in(daemon: &Daemon, agent: &str) -> Value {
    json!(daemon.world.engine.agent(agent).unwrap().profile().unwrap().working_dir)
}

/// All permissions are checked against the creator before the agent exists, and no field gives more than a child has.
#[tokio::test]
async fn a_child_that_would_have_more_than_its_creator_is_not_created() {
    let daemon = Daemon::start().await;
    let bot = daemon.agent("bot");
    let before = daemon.world.view();
    for (body, status, code) in [
        (json!({ "permissions": ["@network", "@write:/etc"], "reason": "r" }), 403, "not_held"),
        (json!({ "permissions": ["@events"], "reason": "r" }), 403, "not_held"),
        (json!({ "ownerId": "them", "reason": "r" }), 403, "forbidden"),
        (json!({ "kind": "foreground", "reason": "r" }), 422, "no_child_kind"),
        (json!({ "kind": "system", "reason": "r" }), 422, "no_child_kind"),
        (json!({}), 400, "invalid_body"),
        (json!({ "mode": "bypass", "reason": "r" }), 400, "invalid_body"),
        (json!({ "command": ["sh"], "reason": "r" }), 400, "invalid_body"),
        (json!({ "workingDir": "part", "reason": "r" }), 400, "invalid_body"),
        (json!({ "permissions": vec!["@network"; 1_001], "reason": "r" }), 400, "invalid_body"),
    ] {
        let mut body = body;
        body["agentId"] = "bot:child".into();
        let reply = create(&daemon, &bot, body.clone()).await;
        assert_eq!((reply.status, &reply.json["code"]), (status, &json!(code)), "{body}: {}", reply.body);
    }
    assert_eq!(daemon.world.view(), before);
    let own = json!({ "agentId": "bot:one", "reason": "r" });
    assert_eq!(create(&daemon, &bot, own.clone()).await.status, 201);
    let taken = create(&daemon, &bot, own).await;
    assert_eq!((taken.status, &taken.json["code"]), (409, &json!("agent_exists")));
}

/// An id of another owner and one that nobody has get the same answer, and none of them can be taken.
#[tokio::test]
async fn an_agent_neither_learns_nor_takes_ids_of_another_owner() {
    let daemon = Daemon::start().await;
    let bot = daemon.agent("bot");
    let answer = async |id: &str| {
        let reply = create(&daemon, &bot, json!({ "agentId": id, "reason": "r" })).await;
        (reply.status, reply.body.replace(id, "ID"))
    };
    let free = answer("nobody").await;
    assert_eq!(free.0, 422, "{free:?}");
    assert!(free.1.contains("bot:helper"), "it names the way out: {}", free.1);
    for id in ["theirs", "theirs:Plan", "claude:Plan", "bots:x"] {
        assert_eq!(answer(id).await, free, "{id}");
    }
    assert_eq!(answer("bot:helper").await.0, 201);
    for id in ["theirs", "nobody"] {
        let body = json!({ "agentId": id, "permissions": ["@network"], "reason": "r" });
        let given = daemon.send(&bot, "POST", "/v1/grants", &body).await;
        assert_eq!(given.status, 404, "{id}: {}", given.body);
    }
}

/// A child does not escape the mode and the denials of its creator, and its creator cannot retire it.
#[tokio::test]
async fn a_child_is_bound_by_what_binds_its_creator() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let mode = json!({ "mode": "plan" });
    assert_eq!(daemon.send(&you, "PUT", "/v1/agents/bot/mode", &mode).await.status, 200);
    let body = json!({ "agentId": "bot:child", "permissions": ["@write:/ws"], "reason": "r" });
    let created = create(&daemon, &bot, body).await;
    assert_eq!((created.status, &created.json["mode"]), (201, &json!("plan")));
    let child = daemon.agent("bot:child");
    let write = json!({ "operation": "fs.write", "resource": "/ws/a" });
    assert_eq!(daemon.send(&child, "POST", "/v1/authorize", &write).await.json["decision"], "deny");
    for token in [&bot, &child, &you] {
        assert_eq!(daemon.delete(token, "/v1/agents/bot:child").await.status, 403);
    }
}

#[tokio::test]
async fn an_operator_adds_agents_of_any_owner_and_retires_them() {
    let daemon = Daemon::start().await;
    let (operator, you) = (daemon.operator(), daemon.approver("you"));
    let new = json!({
        "agentId": "front",
        "ownerId": "them",
        "kind": "foreground",
        "workingDir": "/ws",
        "permissions": ["@write:/ws", "@events"],
    });
    assert_eq!(create(&daemon, &you, new.clone()).await.status, 403, "a person adds it to the file");
    let created = create(&daemon, &operator, new).await;
    assert_eq!((created.status, &created.json["kind"]), (201, &json!("foreground")));
    assert!(daemon.world.engine.agent("front").unwrap().check(PermissionRef::Events).is_held());
    for missing in [json!({ "workingDir": "/ws" }), json!({ "ownerId": "you" })] {
        let mut body = missing;
        body["agentId"] = "second".into();
        assert_eq!(create(&daemon, &operator, body).await.status, 400);
    }
    let protected = json!({ "agentId": "p", "ownerId": "you", "workingDir": "/ws", "permissions": ["@write:/proc"] });
    assert_eq!(create(&daemon, &operator, protected).await.json["code"], "protected");
    let gone = daemon.delete(&operator, "/v1/agents/front").await;
    assert_eq!((gone.status, gone.json), (200, json!({ "agentId": "front" })));
    assert_eq!(daemon.delete(&operator, "/v1/agents/front").await.status, 404);
    assert_eq!(daemon.delete(&operator, "/v1/agents/nobody").await.status, 404);
}

#[tokio::test]
async fn a_repeated_creation_with_a_key_creates_once() {
    let daemon = Daemon::start().await;
    let headers = [
        ("authorization", &*format!("Bearer {}", daemon.agent("bot"))),
        ("content-type", "application/json"),
        ("idempotency-key", "one"),
    ];
    let body = json!({ "agentId": "bot:child", "reason": "r" }).to_string();
    for _ in 0..2 {
        let reply = super::super::client::call(daemon.address, "POST", "/v1/agents", &headers, &body).await;
        assert_eq!(reply.status, 201, "{}", reply.body);
    }
}

//! Grants: an agent passes them on, a person gives them, looks at what would end, and revokes them.

use serde_json::{Value, json};

use super::super::{client::Reply, daemon::Daemon};

async fn give(daemon: &Daemon, token: &str, to: &str, permission: &str) -> Reply {
    let body = json!({ "agentId": to, "permissions": [permission], "reason": "to build" });
    daemon.send(token, "POST", "/v1/grants", &body).await
}

async fn given(daemon: &Daemon, token: &str, to: &str, permission: &str) -> String {
    let reply = give(daemon, token, to, permission).await;
    assert_eq!(reply.status, 201, "{reply:?}");
    reply.json["grantIds"][0].as_str().unwrap().to_owned()
}

fn ids(grants: &Value) -> Vec<&str> {
    grants.as_array().unwrap().iter().map(|grant| grant["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn an_agent_passes_on_what_it_holds_and_nothing_else() {
    let daemon = Daemon::start().await;
    let (bot, other) = (daemon.agent("bot"), daemon.agent("other"));
    let id = given(&daemon, &bot, "other", "@write:/ws/site").await;
    let seen = daemon.get(&other, &format!("/v1/grants/{id}")).await.json;
    assert_eq!(seen["origin"], json!({ "kind": "agent", "agentId": "bot" }));
    let refused = give(&daemon, &bot, "other", "@write:/else").await;
    assert_eq!((refused.status, &refused.json["code"]), (403, &json!("not_held")));
    assert_eq!(refused.json["facts"], json!({ "agentId": "bot", "permission": "@write:/else" }));
    let crossing = give(&daemon, &bot, "theirs", "@write:/ws/site").await;
    let nobody = give(&daemon, &bot, "nobody", "@write:/ws/site").await;
    assert_eq!((crossing.status, &crossing.json), (404, &nobody.json));
    let body = json!({ "agentId": "other", "permissions": ["@network"], "reason": "r", "hold": "pass_on" });
    assert_eq!(daemon.send(&bot, "POST", "/v1/grants", &body).await.status, 403);
}

#[tokio::test]
async fn an_agent_revokes_what_it_gave_or_holds_and_nothing_else() {
    let daemon = Daemon::start().await;
    let (bot, other, theirs) = (daemon.agent("bot"), daemon.agent("other"), daemon.agent("theirs"));
    let id = given(&daemon, &bot, "other", "@write:/ws/site").await;
    let path = format!("/v1/grants/{id}");
    let (strange, none) = (daemon.delete(&theirs, &path).await, daemon.delete(&theirs, "/v1/grants/g999").await);
    assert_eq!((strange.status, &strange.json), (404, &none.json));
    assert_eq!(daemon.delete(&bot, &format!("{path}?reason=done")).await.status, 200);
    assert_eq!(daemon.delete(&other, &path).await.status, 404, "it is gone");
    let own = daemon.get(&other, "/v1/grants").await.json;
    let own = ids(&own["grants"])[0];
    assert_eq!(daemon.delete(&other, &format!("/v1/grants/{own}")).await.status, 200, "given up");
    assert_eq!(daemon.get(&other, "/v1/grants?agentId=bot").await.status, 403);
}

#[tokio::test]
async fn what_would_end_is_what_ends() {
    let daemon = Daemon::start().await;
    let (bot, other, you) = (daemon.agent("bot"), daemon.agent("other"), daemon.approver("you"));
    let root = given(&daemon, &you, "bot", "@write:/new").await;
    let first = given(&daemon, &bot, "other", "@write:/new/a").await;
    let back = given(&daemon, &other, "bot", "@write:/new/a").await;
    let kept = given(&daemon, &bot, "other", "@write:/ws/b").await;
    let twice = given(&daemon, &bot, "other", "@write:/new/c").await;
    given(&daemon, &you, "bot", "@write:/new/c").await;
    let before = daemon.world.view();
    let shown = daemon.get(&you, &format!("/v1/grants/{root}/cascade")).await.json;
    assert_eq!(daemon.world.view(), before, "nothing changes");
    assert_eq!(shown["grant"]["id"], *root);
    assert_eq!(ids(&shown["wouldEnd"]), [&*first, &*back], "a circle, and not {kept} and {twice}");
    let ended = daemon.delete(&you, &format!("/v1/grants/{root}")).await.json;
    assert_eq!(ids(&ended["alsoEnded"]), ids(&shown["wouldEnd"]));
    let agents = daemon.get(&bot, &format!("/v1/grants/{root}/cascade")).await;
    assert_eq!(agents.status, 403);
}

#[tokio::test]
async fn a_person_acts_for_one_owner_and_an_operator_for_all() {
    let daemon = Daemon::start().await;
    let (you, them, operator) = (daemon.approver("you"), daemon.approver("them"), daemon.operator());
    let id = given(&daemon, &them, "theirs", "@write:/new").await;
    for path in [format!("/v1/grants/{id}"), format!("/v1/grants/{id}/cascade")] {
        let unknown = daemon.get(&you, &path.replace(&id, "g999")).await;
        let theirs = daemon.get(&you, &path).await;
        assert_eq!((theirs.status, &theirs.json), (404, &unknown.json), "{path}");
        assert_eq!(daemon.get(&operator, &path).await.status, 200, "{path}");
    }
    let (theirs, unknown) =
        (daemon.delete(&you, &format!("/v1/grants/{id}")).await, daemon.delete(&you, "/v1/grants/g999").await);
    assert_eq!((theirs.status, &theirs.json), (404, &unknown.json));
    let (theirs, unknown) =
        (give(&daemon, &you, "theirs", "@network").await, give(&daemon, &you, "nobody", "@network").await);
    assert_eq!((theirs.status, &theirs.json), (404, &unknown.json));
    let all = |json: Value| json["grants"].as_array().unwrap().iter().map(|grant| grant["agentId"].clone()).collect();
    let seen: Vec<Value> = all(daemon.get(&you, "/v1/grants").await.json);
    assert!(!seen.contains(&json!("theirs")) && seen.contains(&json!("bot")), "{seen:?}");
    let seen: Vec<Value> = all(daemon.get(&operator, "/v1/grants").await.json);
    assert!(seen.contains(&json!("theirs")) && seen.contains(&json!("bot")), "{seen:?}");
    assert_eq!(daemon.delete(&operator, &format!("/v1/grants/{id}")).await.status, 200);
    given(&daemon, &operator, "theirs", "@write:/operators").await;
}

#[tokio::test]
async fn a_person_gives_for_passing_on_only() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let body =
        json!({ "agentId": "bot", "permissions": ["@write:/n"], "reason": "r", "hold": "pass_on", "scope": "session" });
    let id = daemon.send(&you, "POST", "/v1/grants", &body).await.json["grantIds"][0].as_str().unwrap().to_owned();
    let grant = daemon.get(&bot, &format!("/v1/grants/{id}")).await.json;
    assert_eq!((&grant["hold"], &grant["scope"]), (&json!("pass_on"), &json!("session")));
    let check = daemon.post(&bot, "/v1/check", r#"{"permissions":["@write:/n"]}"#).await.json;
    assert_eq!(check["results"][0]["held"], "not_held");
}

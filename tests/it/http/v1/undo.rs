//! The undoing of a revocation: by the credential that revoked, once, and for exactly what ended.

use serde_json::{Value, json};

use super::super::daemon::Daemon;

async fn give(daemon: &Daemon, token: &str, agent: &str, permission: &str) -> String {
    let body = json!({ "agentId": agent, "permissions": [permission], "reason": "r" });
    let given = daemon.send(token, "POST", "/v1/grants", &body).await;
    assert_eq!(given.status, 201, "{given:?}");
    given.json["grantIds"][0].as_str().unwrap().to_owned()
}

/// Returns what the agents of `you` hold: the agent, the permission and the giver.
async fn held(daemon: &Daemon, you: &str) -> Vec<(String, String, Value)> {
    let grants = daemon.get(you, "/v1/grants").await.json["grants"].clone();
    let text = |grant: &Value, field: &str| grant[field].as_str().unwrap().to_owned();
    let all = grants.as_array().unwrap().clone();
    let mut held: Vec<_> = all
        .iter()
        .map(|grant| (text(grant, "agentId"), text(grant, "permission"), grant["origin"]["kind"].clone()))
        .collect();
    held.sort_by_key(|(agent, permission, _)| (agent.clone(), permission.clone()));
    held
}

#[tokio::test]
async fn only_the_credential_that_revoked_can_undo_and_only_once() {
    let daemon = Daemon::start().await;
    let (bot, you, them) = (daemon.agent("bot"), daemon.approver("you"), daemon.approver("them"));
    let (same_name, operator) = (daemon.approver("you"), daemon.operator());
    let root = give(&daemon, &you, "bot", "@write:/srv/undo").await;
    give(&daemon, &bot, "other", "@write:/srv/undo/part").await;
    let before = held(&daemon, &you).await;

    assert_eq!(daemon.send(&you, "POST", &format!("/v1/grants/{root}/undo"), &json!({})).await.status, 404);
    let revoked = daemon.delete(&you, &format!("/v1/grants/{root}")).await;
    assert_eq!(revoked.json["alsoEnded"].as_array().unwrap().len(), 1, "{revoked:?}");
    let after = held(&daemon, &you).await;
    assert_eq!(after.len(), before.len() - 2);
    let undo = format!("/v1/grants/{root}/undo");
    for (token, status) in [(&bot, 403), (&them, 404), (&same_name, 409), (&operator, 409)] {
        let refused = daemon.send(token, "POST", &undo, &json!({})).await;
        assert_eq!(refused.status, status, "{refused:?}");
        assert_eq!(held(&daemon, &you).await, after);
    }
    let undone = daemon.send(&you, "POST", &undo, &json!({})).await;
    assert_eq!((undone.status, undone.json["grantIds"].as_array().unwrap().len()), (201, 2), "{undone:?}");
    assert_eq!(held(&daemon, &you).await, before);
    assert_eq!(daemon.send(&you, "POST", &undo, &json!({})).await.status, 404, "once");
    assert_eq!(held(&daemon, &you).await, before);
    let again = undone.json["grantIds"][0].as_str().unwrap();
    let gone = daemon.delete(&you, &format!("/v1/grants/{again}")).await;
    assert_eq!(gone.json["alsoEnded"].as_array().unwrap().len(), 1, "what came back rests on it again: {gone:?}");
}

#[tokio::test]
async fn a_revocation_by_an_agent_is_not_undone() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let root = give(&daemon, &you, "bot", "@write:/srv/undo").await;
    assert_eq!(daemon.delete(&bot, &format!("/v1/grants/{root}")).await.status, 200);
    assert_eq!(daemon.send(&you, "POST", &format!("/v1/grants/{root}/undo"), &json!({})).await.status, 404);
}

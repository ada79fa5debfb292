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
    assert_eq!(daemon.send(&bot, "POST", &undo, &json!({})).await.status, 403);
    for token in [&them, &same_name, &operator] {
        let refused = daemon.send(token, "POST", &undo, &json!({})).await;
        let unknown = daemon.send(token, "POST", "/v1/grants/g999/undo", &json!({})).await;
        assert_eq!((refused.status, &refused.json), (404, &unknown.json), "it looks as if there was no revocation");
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

/// Other people ask for the undoing of what is not theirs, at the same moment. The revocation stays where its person
/// finds it.
#[tokio::test]
async fn nobody_else_can_keep_a_revocation_from_being_undone() {
    let daemon = Daemon::start().await;
    let (you, them) = (daemon.approver("you"), daemon.approver("them"));
    let own = give(&daemon, &you, "bot", "@write:/srv/undo").await;
    assert_eq!(daemon.delete(&you, &format!("/v1/grants/{own}")).await.status, 200);
    let (undo, empty) = (format!("/v1/grants/{own}/undo"), json!({}));
    let mut undone = 0;
    for _ in 0..4 {
        let all = tokio::join!(
            daemon.send(&them, "POST", &undo, &empty),
            daemon.send(&you, "POST", &undo, &empty),
            daemon.send(&them, "POST", &undo, &empty),
        );
        undone += usize::from(all.1.status == 201);
        assert_eq!((all.0.status, all.2.status), (404, 404));
    }
    assert_eq!(undone, 1);
}

#[tokio::test]
async fn a_revocation_by_an_agent_is_not_undone() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let root = give(&daemon, &you, "bot", "@write:/srv/undo").await;
    assert_eq!(daemon.delete(&bot, &format!("/v1/grants/{root}")).await.status, 200);
    assert_eq!(daemon.send(&you, "POST", &format!("/v1/grants/{root}/undo"), &json!({})).await.status, 404);
}

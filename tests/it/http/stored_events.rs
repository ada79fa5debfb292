//! The stream of events over a restart of the server: the trail holds what happened before.
#![cfg(feature = "cli")]

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{
    client::{Events, Reply},
    project::Project,
};

/// An agent of one owner, and one of another.
fn policy(owner: &str) -> String {
    let agent = |name: &str, owner: &str| format!("\n[agents.{name}]\nkind = \"subagent\"\nowner = \"{owner}\"\n");
    ["[defaults]\nowner = \"you\"\nworking_dir = \".\"\n", &agent("bot", owner), &agent("other", "them")].concat()
}

async fn stream(project: &Project, token: &str, after: u64) -> Result<Events, Reply> {
    let headers = [("authorization", &*format!("Bearer {token}")), ("last-event-id", &*after.to_string())];
    Events::open(project.address(), "/v1/events", &headers).await
}

async fn opened(project: &Project, token: &str, after: u64) -> Events {
    stream(project, token, after).await.unwrap_or_else(|reply| panic!("{reply:?}"))
}

async fn give(project: &Project, operator: &str, agent: &str, permission: &str) {
    let grant = json!({ "agentId": agent, "permissions": [permission], "reason": "r", "scope": "always" });
    assert_eq!(project.post(operator, "/v1/grants", &grant).await.status, 201);
}

/// Returns the permissions of the next events up to the one that gives `last`.
async fn given(events: &mut Events, last: &str) -> Vec<String> {
    let mut given = Vec::new();
    while given.last().is_none_or(|given| given != last) {
        let (_, event) = events.next().await.unwrap();
        if event["type"] == "grant.issued" {
            given.push(event["payload"]["grant"]["right"]["permission"].as_str().unwrap().to_owned());
        }
    }
    given
}

async fn last(project: &Project, operator: &str) -> u64 {
    project.get(operator, "/v1/events/recent?limit=1").await.json["last"].as_u64().unwrap()
}

#[tokio::test]
async fn a_client_goes_on_after_a_kill_of_the_server_without_a_gap() {
    let mut project = Project::new();
    project.policy(&policy("you"));
    let (you, operator) = (project.approver(), project.token(&["--role", "operator"]));
    let them = project.token(&["--role", "approver", "--owner", "them", "--by", "tom"]);
    project.serve();
    give(&project, &operator, "bot", "@write:/1").await;
    let seen = last(&project, &operator).await;
    give(&project, &operator, "other", "@write:/2").await;
    give(&project, &operator, "bot", "@write:/3").await;
    project.end(Signal::KILL);
    project.serve();
    let mut all = opened(&project, &operator, seen).await;
    let mut numbers = Vec::new();
    let mut own = opened(&project, &you, seen).await;
    let mut theirs = opened(&project, &them, seen).await;
    give(&project, &operator, "other", "@write:/4").await;
    give(&project, &operator, "bot", "@write:/5").await;
    assert_eq!(given(&mut own, "@write:/5").await, ["@write:/3", "@write:/5"]);
    assert_eq!(given(&mut theirs, "@write:/4").await, ["@write:/2", "@write:/4"]);
    let end = last(&project, &operator).await;
    while numbers.last().is_none_or(|number| *number < end) {
        numbers.push(all.next().await.unwrap().0.parse::<u64>().unwrap());
    }
    assert_eq!(numbers, (seen + 1..=end).collect::<Vec<_>>(), "an operator gets every event, once and in order");
    let recent = project.get(&you, "/v1/events/recent").await.json;
    let text = recent["events"].to_string();
    assert!(text.contains("@write:/1") && text.contains("@write:/5") && !text.contains("@write:/2"), "{text}");
    assert_eq!(stream(&project, &you, end + 1).await.err().map(|reply| reply.status), Some(410));
}

/// An agent of another owner had the id before. Its events belong to its owner, also after a restart.
#[tokio::test]
async fn stored_events_belong_to_the_owner_that_their_agent_had_then() {
    let mut project = Project::new();
    project.policy(&policy("you"));
    let (bot, you, operator) = (project.agent(), project.approver(), project.token(&["--role", "operator"]));
    let them = project.token(&["--role", "approver", "--owner", "them", "--by", "tom"]);
    project.serve();
    give(&project, &operator, "bot", "@write:/secret").await;
    project.end(Signal::KILL);
    for owner in [None, Some("them")] {
        project.policy(&owner.map_or_else(|| policy("you").replace("agents.bot", "agents.bat"), policy));
        project.serve();
        if owner.is_none() {
            project.end(Signal::TERM);
        }
    }
    give(&project, &operator, "bot", "@write:/end").await;
    assert_eq!(
        given(&mut opened(&project, &operator, 0).await, "@write:/end").await,
        ["@write:/secret", "@write:/end"]
    );
    // The credential ended with the agent of the owner before.
    assert_eq!(stream(&project, &bot, 0).await.err().map(|reply| reply.status), Some(401));
    let bot = project.agent();
    for token in [&them, &bot] {
        assert_eq!(given(&mut opened(&project, token, 0).await, "@write:/end").await, ["@write:/end"]);
    }
    let own = project.get(&you, "/v1/events/recent").await.json["events"].to_string();
    assert!(own.contains("/secret") && !own.contains("/end"), "{own}");
}

/// The log keeps a limited number of events. A client that lags further begins anew.
#[tokio::test]
async fn a_client_that_lags_too_far_begins_anew_after_a_restart() {
    let mut project = Project::new();
    let more: String =
        (0..5).map(|number| format!("\n[agents.more{number}]\nkind = \"subagent\"\nowner = \"you\"\n")).collect();
    project.policy(&format!("[engine]\nmax_changes_per_minute = 100000\n\n{}{more}", policy("you")));
    let operator = project.token(&["--role", "operator"]);
    project.serve();
    for agent in 0..5 {
        for number in 0..28 {
            let grants: Vec<String> = (0..32).map(|part| format!("@write:/{number}/{part}")).collect();
            let agent = format!("more{agent}");
            let grant = json!({ "agentId": agent, "permissions": grants, "reason": "r", "scope": "always" });
            let reply = project.post(&operator, "/v1/grants", &grant).await;
            assert_eq!(reply.status, 201, "{reply:?}");
        }
    }
    project.end(Signal::KILL);
    project.serve();
    let end = last(&project, &operator).await;
    let refused = stream(&project, &operator, 1).await.err().unwrap();
    assert_eq!((refused.status, &refused.json["code"]), (410, &json!("events_gone")));
    let kept = refused.json["facts"]["keptAfter"].as_u64().unwrap();
    assert_eq!(end - kept, 4_096, "{refused:?}");
    let mut events = opened(&project, &operator, kept).await;
    let first: (String, Value) = events.next().await.unwrap();
    assert_eq!(first.0, (kept + 1).to_string());
}

//! Events: as a stream, and over WebSocket.

use bestow::{grant::Scope, text::Reason};
use bestow_http::credentials::{Issued, Role};
use serde_json::{Value, json};

use super::super::{
    client::{Events, Reply, Socket},
    daemon::Daemon,
};
use crate::support::{tag, why};

async fn stream(daemon: &Daemon, token: &str, query: &str) -> Result<Events, Reply> {
    let headers = [("authorization", &*format!("Bearer {token}"))];
    Events::open(daemon.address, &format!("/v1/events{query}"), &headers).await
}

async fn socket(daemon: &Daemon, token: &str, query: &str) -> Result<Socket, u16> {
    let headers = [("authorization", &*format!("Bearer {token}"))];
    Socket::open(daemon.address, &format!("/v1/events/ws{query}"), &headers).await
}

async fn give(daemon: &Daemon, owner: &str, agent: &str, permission: &str) {
    daemon.world.approver(owner).give(agent, tag(permission), Scope::Always, why()).await.unwrap();
}

fn about(event: &Value) -> (&str, &str) {
    (event["type"].as_str().unwrap(), event["agentId"].as_str().unwrap_or(""))
}

#[tokio::test]
async fn each_client_gets_the_events_that_it_may_see_and_no_others() {
    let daemon = Daemon::start().await;
    let mut bot = stream(&daemon, &daemon.agent("bot"), "").await.unwrap_or_else(|reply| panic!("{reply:?}"));
    let mut you = stream(&daemon, &daemon.approver("you"), "").await.unwrap_or_else(|reply| panic!("{reply:?}"));
    let mut operator = stream(&daemon, &daemon.operator(), "").await.unwrap_or_else(|reply| panic!("{reply:?}"));
    give(&daemon, "them", "theirs", "@write:/1").await;
    give(&daemon, "you", "other", "@write:/2").await;
    give(&daemon, "you", "bot", "@write:/3").await;
    for (events, wanted) in
        [(&mut bot, &["bot"][..]), (&mut you, &["other", "bot"]), (&mut operator, &["theirs", "other", "bot"])]
    {
        for wanted in wanted {
            let (id, event) = events.next().await.unwrap();
            assert_eq!(about(&event), ("grant.issued", *wanted));
            assert_eq!(event["sequence"].to_string(), id);
        }
    }
}

/// An agent tries to reach an agent of another owner. The refusal tells that this agent exists.
#[tokio::test]
async fn a_refusal_that_names_another_owner_goes_to_operators_only() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let mut all = stream(&daemon, &daemon.operator(), "").await.unwrap_or_else(|reply| panic!("{reply:?}"));
    let mut own = stream(&daemon, &bot, "").await.unwrap_or_else(|reply| panic!("{reply:?}"));
    let mut seen = stream(&daemon, &you, "").await.unwrap_or_else(|reply| panic!("{reply:?}"));
    let body = json!({ "agentId": "theirs", "permissions": ["@network"], "reason": "r" });
    assert_eq!(daemon.send(&bot, "POST", "/v1/grants", &body).await.status, 404);
    give(&daemon, "you", "bot", "@write:/end").await;
    assert_eq!(all.next().await.unwrap().1["type"], "permission.refused");
    for events in [&mut own, &mut seen] {
        assert_eq!(events.next().await.unwrap().1["type"], "grant.issued", "and no refusal before it");
    }
}

#[tokio::test]
async fn a_client_goes_on_after_the_last_event_that_it_has() {
    let daemon = Daemon::start().await;
    let you = daemon.approver("you");
    let mut first = stream(&daemon, &you, "").await.unwrap_or_else(|reply| panic!("{reply:?}"));
    give(&daemon, "you", "bot", "@write:/1").await;
    let (id, _) = first.next().await.unwrap();
    drop(first);
    give(&daemon, "them", "theirs", "@write:/2").await;
    give(&daemon, "you", "bot", "@write:/3").await;
    let query = format!("?lastEventId={id}");
    let mut again = stream(&daemon, &you, &query).await.unwrap_or_else(|reply| panic!("{reply:?}"));
    let mut frames = socket(&daemon, &you, &query).await.unwrap_or_else(|status| panic!("{status}"));
    let headers = [("authorization", &*format!("Bearer {you}")), ("last-event-id", &*id)];
    let mut header =
        Events::open(daemon.address, "/v1/events", &headers).await.unwrap_or_else(|reply| panic!("{reply:?}"));
    let (_, event) = again.next().await.unwrap();
    assert_eq!(event["payload"]["grant"]["right"]["permission"], "@write:/3", "{event}");
    assert_eq!(frames.next().await, Ok(event.clone()), "a frame is the data of an event");
    assert_eq!(header.next().await.unwrap().1, event);
    give(&daemon, "you", "bot", "@write:/4").await;
    let live = again.next().await.unwrap().1;
    assert_eq!(live["payload"]["grant"]["right"]["permission"], "@write:/4", "without a gap and once");
    assert_eq!(frames.next().await, Ok(live));
}

#[tokio::test]
async fn events_that_are_not_kept_are_gone() {
    let daemon = Daemon::start().await;
    let you = daemon.approver("you");
    let mut events = stream(&daemon, &you, "").await.unwrap_or_else(|reply| panic!("{reply:?}"));
    give(&daemon, "you", "bot", "@write:/1").await;
    let last: u64 = events.next().await.unwrap().0.parse().unwrap();
    assert!(stream(&daemon, &you, &format!("?lastEventId={last}")).await.is_ok());
    for number in [0, last + 1, u64::MAX] {
        let Err(reply) = stream(&daemon, &you, &format!("?lastEventId={number}")).await else { panic!("{number}") };
        assert_eq!((reply.status, &reply.json["code"]), (410, &json!("events_gone")));
        assert_eq!(reply.json["facts"]["last"], last);
        assert_eq!(socket(&daemon, &you, &format!("?lastEventId={number}")).await.err(), Some(410));
    }
    for wrong in ["?lastEventId=x", "?since=1"] {
        let Err(reply) = stream(&daemon, &you, wrong).await else { panic!("{wrong}") };
        assert_eq!(reply.status, 400);
    }
}

#[tokio::test]
async fn an_event_belongs_to_the_owner_that_its_agent_had_then() {
    let daemon = Daemon::start().await;
    let (you, them) = (daemon.approver("you"), daemon.approver("them"));
    let mut events = stream(&daemon, &you, "").await.unwrap_or_else(|reply| panic!("{reply:?}"));
    give(&daemon, "you", "bot", "@write:/secret").await;
    let after: u64 = events.next().await.unwrap().0.parse::<u64>().unwrap() - 1;
    daemon.world.engine.retire("bot").await.unwrap();
    daemon.world.agent("bot", "them", bestow::Kind::Subagent, &[]).await;
    give(&daemon, "them", "bot", "@write:/end").await;
    for token in [&them, &daemon.agent("bot")] {
        let mut replayed =
            stream(&daemon, token, &format!("?lastEventId={after}")).await.unwrap_or_else(|reply| panic!("{reply:?}"));
        loop {
            let (_, event) = replayed.next().await.unwrap();
            assert!(!event.to_string().contains("/secret"), "{event}");
            if event.to_string().contains("/end") {
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_stream_ends_when_its_credential_is_revoked() {
    let daemon = Daemon::start().await;
    let owner = |owner: &str| Role::Approver { owner: owner.parse().unwrap(), by: "ann".parse().unwrap() };
    let Issued { token, credential, .. } = daemon.issue(owner("you"));
    let mut events = stream(&daemon, &token, "").await.unwrap_or_else(|reply| panic!("{reply:?}"));
    let mut frames = socket(&daemon, &token, "").await.unwrap_or_else(|status| panic!("{status}"));
    daemon.credentials.revoke(&credential.id).unwrap();
    give(&daemon, "you", "bot", "@write:/1").await;
    let (_, end) = events.next().await.unwrap();
    assert_eq!(end["code"], "unauthorized", "no event is told any more");
    assert_eq!(events.next().await, None);
    assert_eq!(frames.next().await, Err(4001));
    assert_eq!(stream(&daemon, &token, "").await.err().map(|reply| reply.status), Some(401));
    assert_eq!(socket(&daemon, &token, "").await.err(), Some(401));
}

#[tokio::test]
async fn the_end_of_the_engine_ends_every_stream() {
    let daemon = Daemon::start().await;
    let you = daemon.approver("you");
    let mut events = stream(&daemon, &you, "").await.unwrap_or_else(|reply| panic!("{reply:?}"));
    let mut frames = socket(&daemon, &you, "").await.unwrap_or_else(|status| panic!("{status}"));
    daemon.world.engine.shutdown().await;
    let end = loop {
        let (_, event) = events.next().await.unwrap();
        if event["code"].is_string() {
            break event;
        }
    };
    assert_eq!(end["code"], "unavailable");
    let closed = loop {
        if let Err(code) = frames.next().await {
            break code;
        }
    };
    assert_eq!(closed, 1001, "and not 4001, after which a client would forget its credential");
}

#[tokio::test]
async fn a_credential_has_a_limited_number_of_streams() {
    let daemon = Daemon::start().await;
    let you = daemon.approver("you");
    let mut open = Vec::new();
    for _ in 0..32 {
        open.push(stream(&daemon, &you, "").await.unwrap_or_else(|reply| panic!("{reply:?}")));
    }
    let refused = stream(&daemon, &you, "").await.err().unwrap();
    assert_eq!((refused.status, &refused.json["code"]), (429, &json!("too_many_sockets")));
    assert_eq!(socket(&daemon, &you, "").await.err(), Some(429));
    assert!(stream(&daemon, &daemon.approver("you"), "").await.is_ok(), "another credential has its own");
}

/// A client that does not read is cut off with a reason, and the engine does not wait for it.
#[tokio::test]
async fn a_client_that_reads_too_slowly_is_cut_off() {
    let daemon = Daemon::start().await;
    let you = daemon.approver("you");
    let mut events = stream(&daemon, &you, "").await.unwrap_or_else(|reply| panic!("{reply:?}"));
    let long: Reason = "r".repeat(500).parse().unwrap();
    for number in 0..6_000 {
        let permission = tag(&format!("@write:/{number}"));
        let given = daemon.world.you().give("other", permission, Scope::Always, long.clone()).await.unwrap();
        daemon.world.you().revoke(given[0], None).await.unwrap();
    }
    let mut got = 0;
    let end = loop {
        match events.next().await {
            Some((_, event)) if event["code"].is_string() => break Some(event["code"].clone()),
            Some(_) => got += 1,
            None => break None,
        }
    };
    assert!(got < 12_000, "{got}");
    assert_eq!(end, Some(json!("events_missed")));
}

#[tokio::test]
async fn a_socket_of_events_only_tells() {
    let daemon = Daemon::start().await;
    let you = daemon.approver("you");
    let mut frames = socket(&daemon, &you, "").await.unwrap_or_else(|status| panic!("{status}"));
    frames.say(r#"{"type":"decision"}"#).await;
    assert_eq!(frames.next().await, Err(1003));
    assert_eq!(daemon.get(&you, "/v1/events/ws").await.status, 426);
}

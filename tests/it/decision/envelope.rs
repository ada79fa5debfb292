//! Tests of the events in the envelope form for other programs.

use std::collections::BTreeSet;

use bestow::{Action, Answer, Kind, event::Envelope, grant::Scope};
use serde_json::Value;

use super::{asked, dangerous, decided};
use crate::support::{World, ask, heard, profile, settings, tag, why};

/// Runs enough of an agent's life to produce most kinds of events.
async fn life(world: &World) -> Vec<Envelope> {
    let mut events = world.engine.subscribe();
    let ann = world.worker("ann", &["@network"]).await;
    let _lead = world.lead("lead", &[]).await;
    ann.create(profile("kid", "you", Kind::Subagent), &[tag("@network")], why()).await.unwrap();
    let (_, ticket) = asked(&ann, dangerous().as_call("call-1".parse().unwrap())).await;
    world.you().answer(ticket.id(), Answer::allow()).await.unwrap();
    decided(&ann, dangerous()).await;
    decided(&ann, Action::command("rm -rf /")).await;
    let ticket = ann.request(ask("@events")).await.unwrap();
    world.you().answer(ticket.id(), Answer::allow().scope(Scope::Once)).await.unwrap();
    ann.spend(&tag("@events")).await.unwrap();
    assert!(ann.spend(&tag("@events")).await.is_err());
    let some_agents: &[&str] = &["@events"];
    world
        .engine
        .configure(crate::support::policy(settings(|_| {}), &[("some_agent", "you", some_agents)]))
        .await
        .unwrap();
    world.engine.begin_run(ann.id(), "next".parse().unwrap()).await.unwrap();
    world.engine.retire(ann.id()).await.unwrap();
    heard(&mut events).iter().map(|recorded| world.engine.envelope(recorded)).collect()
}

#[tokio::test]
async fn everything_is_numbered_without_gaps_and_named_once() {
    let (one, two) = (World::new(), World::new());
    let (first, second) = (life(&one).await, life(&two).await);
    for told in [&first, &second] {
        let kinds: BTreeSet<_> = told.iter().map(|envelope| envelope.kind.clone()).collect();
        assert!(kinds.len() > 12, "{kinds:?}");
        assert!(told.windows(2).all(|pair| pair[0].sequence + 1 == pair[1].sequence));
        assert!(told.windows(2).all(|pair| pair[0].runtime_id == pair[1].runtime_id));
    }
    let names: BTreeSet<_> = first.iter().chain(&second).map(|envelope| envelope.event_id.clone()).collect();
    assert_eq!(names.len(), first.len() + second.len(), "not even another engine has the same");
    assert_ne!(first[0].runtime_id, second[0].runtime_id);
}

/// The required fields exist, in camel case. A field that does not apply is left out, never guessed.
#[tokio::test]
async fn names_are_in_camel_case_all_the_way_down() {
    let world = World::new();
    for envelope in life(&world).await {
        let value = serde_json::to_value(&envelope).unwrap();
        for required in ["type", "eventId", "timestamp", "sequence", "schemaVersion", "runtimeId", "payload"] {
            assert!(value.get(required).is_some(), "{required}: {value}");
        }
        assert!(value["payload"].is_object() && value["timestamp"].as_str().unwrap().ends_with('Z'));
        assert!(value.get("grantId").is_some() == envelope.kind.starts_with("grant."), "{value}");
        snakes(&value);
    }
}

/// Asserts that no name has an underscore. The names of agents are exempt: agents choose them.
fn snakes(value: &Value) {
    match value {
        Value::Object(object) => object.iter().for_each(|(name, value)| {
            assert!(!name.contains('_') || name == "some_agent", "{name}");
            snakes(value);
        }),
        Value::Array(list) => list.iter().for_each(snakes),
        _ => {}
    }
}

#[tokio::test]
async fn it_is_read_back_in_either_case_and_holds_the_event() {
    let world = World::new();
    let mut events = world.engine.subscribe();
    let ann = world.worker("ann", &[]).await;
    decided(&ann, Action::command("rm -rf /")).await;
    for recorded in heard(&mut events) {
        let envelope = world.engine.envelope(&recorded);
        let text = serde_json::to_string(&envelope).unwrap();
        assert_eq!(serde_json::from_str::<Envelope>(&text).unwrap(), envelope);
        assert_eq!(envelope.recorded().unwrap(), recorded, "nothing is lost in it");
        let mut snake = text;
        for (camel, other) in [
            ("eventId", "event_id"),
            ("schemaVersion", "schema_version"),
            ("runtimeId", "runtime_id"),
            ("agentId", "agent_id"),
            ("runId", "run_id"),
            ("ownerId", "owner_id"),
            ("decisionId", "decision_id"),
            ("decisionSource", "decision_source"),
            ("workingDir", "working_dir"),
        ] {
            snake = snake.replace(camel, other);
        }
        assert_eq!(serde_json::from_str::<Envelope>(&snake).unwrap(), envelope);
    }
    let mut odd = serde_json::to_value(world.engine.envelope(&last(&world).await)).unwrap();
    odd["type"] = "no.such".into();
    assert!(serde_json::from_value::<Envelope>(odd).unwrap().recorded().is_err());
    assert!(serde_json::from_str::<Envelope>("{}").is_err());
}

async fn last(world: &World) -> bestow::event::Recorded {
    let mut events = world.engine.subscribe();
    world.worker("last", &[]).await;
    heard(&mut events).pop().unwrap()
}

#[tokio::test]
async fn what_binds_and_what_spoke_is_referred_to() {
    let world = World::new();
    let mut events = world.engine.subscribe();
    let ann = world.worker("ann", &[]).await;
    let (decision, ticket) = asked(&ann, dangerous().as_call("call-1".parse().unwrap())).await;
    world.you().answer(ticket.id(), Answer::deny().scope(Scope::Session)).await.unwrap();
    let denied = decided(&ann, dangerous()).await;
    let told: Vec<_> = heard(&mut events).iter().map(|recorded| world.engine.envelope(recorded)).collect();
    let about_the_call: Vec<_> =
        told.iter().filter(|envelope| envelope.ids.tool_call_id.is_some()).map(|envelope| &*envelope.kind).collect();
    assert_eq!(
        about_the_call,
        ["permission.evaluated", "permission.requested", "permission.routed", "permission.resolved"]
    );
    for envelope in told.iter().filter(|envelope| envelope.ids.tool_call_id.is_some()) {
        assert!(envelope.refs.iter().any(|one| &*one.kind == "input" && *one.id == decision.action.input.to_string()));
        assert_eq!(envelope.ids.request_id, Some(ticket.id()));
    }
    let last = told.last().unwrap();
    assert_eq!(last.ids.decision_id, denied.id);
    assert!(last.refs.iter().any(|one| &*one.kind == "rule" && one.id.starts_with('r')), "{last:?}");
}

//! Agents of sessions and subagents: who creates them, what they hold, and when they end.

use bestow::{Event, Kind, agent::Mode, decision::Ruled, grant::Scope};
use bestow_hosts::{Failure, Sessions as _};

use super::stage::{Stage, bash, denied, is_allowed, session, subagent, waits, write};

#[tokio::test]
async fn a_session_is_a_child_of_its_host_with_what_the_host_may_use() {
    let stage = Stage::new().await;
    assert!(is_allowed(&stage.ask(write(session("s1"), "/ws/a")).await));
    assert!(waits(&stage.ask(write(session("s1"), "/elsewhere")).await));
    let profile = stage.agent("claude:s1").profile().unwrap();
    assert_eq!(profile.parent.as_ref(), Some(stage.host.id()));
    assert_eq!((profile.kind, profile.owner.as_str()), (Kind::Subagent, "you"));
    assert_eq!(profile.name.as_ref().unwrap().to_string(), "\"claude in ws\"");
    stage.sessions.begin(session("s1")).await.unwrap();
    assert_eq!(stage.world.engine.agents().unwrap().len(), 2, "it begins once");
}

#[tokio::test]
async fn subagents_of_two_sessions_with_one_id_are_two_agents() {
    let stage = Stage::new().await;
    for of in ["s1", "s2"] {
        assert!(is_allowed(&stage.ask(write(subagent(of, "a", None), "/ws/a")).await));
    }
    let person = stage.world.you();
    person.give("claude:s1:a", "@write:/more", Scope::Always, "for it").await.unwrap();
    assert!(is_allowed(&stage.ask(write(subagent("s1", "a", None), "/more/a")).await));
    assert!(waits(&stage.ask(write(subagent("s2", "a", None), "/more/a")).await));
}

#[tokio::test]
async fn a_permission_that_a_person_gives_to_a_session_reaches_no_subagent_and_the_reverse() {
    let stage = Stage::new().await;
    stage.sessions.begin(subagent("s", "before", None)).await.unwrap();
    let person = stage.world.you();
    let give = async |to: &str, path: &str| {
        person.give(to, path, Scope::Always, "for it").await.unwrap();
    };
    give("claude:s", "@write:/of-session").await;
    give("claude:s:before", "@write:/of-subagent").await;
    for id in ["before", "after"] {
        assert!(waits(&stage.ask(write(subagent("s", id, None), "/of-session/a")).await), "{id}");
        assert!(is_allowed(&stage.ask(write(subagent("s", id, None), "/ws/a")).await), "{id}");
    }
    assert!(is_allowed(&stage.ask(write(session("s"), "/of-session/a")).await));
    assert!(waits(&stage.ask(write(session("s"), "/of-subagent/a")).await));
}

#[tokio::test]
async fn a_type_limits_its_subagents_to_what_both_hold() {
    let stage = Stage::holding(&["@write:/ws", "@network"]).await;
    stage.world.agent("claude:Explore", "you", Kind::Permanent, &["@read:/ws/docs", "@write:/other"]).await;
    stage.world.agent("claude:Coder", "you", Kind::Permanent, &["@write:/", "@network"]).await;
    let held = async |id: &str, kind: &str| {
        let agent = stage.sessions.begin(subagent("s", id, Some(kind))).await.unwrap();
        let held = stage.agent(agent.as_str()).permissions().unwrap();
        held.iter().map(|permission| permission.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(held("a", "Explore").await, ["@read:/ws/docs"]);
    assert_eq!(held("b", "Coder").await, ["@network", "@write:/ws"]);
    assert_eq!(held("c", "unknown").await, ["@network", "@write:/ws"]);
}

#[tokio::test]
async fn what_the_mode_of_a_type_denies_is_denied_to_its_subagents() {
    let stage = Stage::new().await;
    stage.world.agent("claude:Explore", "you", Kind::Permanent, &["@write:/ws"]).await;
    stage.world.engine.set_mode(&"claude:Explore".parse().unwrap(), Mode::Plan).await.unwrap();
    let mut events = stage.world.engine.subscribe();
    let answer = stage.ask(write(subagent("s", "a", Some("Explore")), "/ws/a")).await;
    assert!(denied(&answer).contains("claude:Explore"), "{answer:?}");
    let mut recorded = Vec::new();
    while let Ok(Some(event)) = events.try_next() {
        if let Event::Evaluated { decision } = &event.event {
            recorded.push((decision.agent.to_string(), decision.decision));
        }
    }
    assert_eq!(recorded, [("claude:Explore".to_owned(), Ruled::Deny)], "the trail has the denial");
    assert!(is_allowed(&stage.ask(bash(subagent("s", "a", Some("Explore")), "ls")).await));
    assert!(is_allowed(&stage.ask(write(session("s"), "/ws/a")).await), "its session is not limited");
}

#[tokio::test]
async fn a_type_that_belongs_to_another_owner_is_no_limit_and_no_permission() {
    let stage = Stage::new().await;
    stage.world.agent("claude:Spy", "them", Kind::Permanent, &["@write:/"]).await;
    let refused = stage.sessions.call(write(subagent("s", "a", Some("Spy")), "/ws/a")).await;
    assert!(matches!(refused, Err(Failure::OtherOwner(_))), "{refused:?}");
}

#[tokio::test]
async fn an_id_that_belongs_to_another_agent_is_refused() {
    let stage = Stage::new().await;
    stage.world.agent("claude:Explore", "you", Kind::Permanent, &["@write:/"]).await;
    let refused = stage.sessions.call(write(session("Explore"), "/etc/x")).await;
    assert!(matches!(refused, Err(Failure::Taken(_))), "{refused:?}");
    let ended = stage.sessions.end("Explore".parse().unwrap(), None).await;
    assert!(matches!(ended, Err(Failure::Taken(_))) && stage.is_there("claude:Explore"));
}

#[tokio::test]
async fn no_two_ids_of_a_host_become_the_id_of_one_agent() {
    let stage = Stage::new().await;
    let ids =
        ["a", "A", "a:b", "a.3ab", "a b", "a/b", "a%20b", "ä", "a\u{300}", ".", "..", "a\n", "\u{202e}", ":", "a_b"];
    let mut agents = std::collections::BTreeSet::new();
    for id in ids {
        let agent = stage.sessions.begin(session(id)).await.unwrap();
        assert!(agents.insert(agent.to_string()), "{id:?} became {agent}");
    }
    // A session whose id looks like that of a subagent, and the subagent itself.
    agents.insert(stage.sessions.begin(subagent("a", "b", None)).await.unwrap().to_string());
    assert_eq!(agents.len(), ids.len() + 1);
    for wrong in ["", &"x".repeat(65)] {
        wrong.parse::<bestow_hosts::SessionId>().unwrap_err();
    }
    let long = "\u{202e}".repeat(20);
    assert!(matches!(stage.sessions.begin(subagent(&long, &long, None)).await, Err(Failure::Id(_))), "too long");
}

#[tokio::test]
async fn the_end_of_a_session_retires_its_subagents_and_cancels_its_requests() {
    let stage = Stage::new().await;
    assert!(waits(&stage.ask(bash(subagent("s", "a", None), "make")).await));
    assert!(waits(&stage.ask(bash(session("s"), "make")).await));
    stage.sessions.begin(session("other")).await.unwrap();
    stage.sessions.end("s".parse().unwrap(), None).await.unwrap();
    assert!(!stage.is_there("claude:s") && !stage.is_there("claude:s:a") && stage.is_there("claude:other"));
    assert!(stage.world.engine.pending().unwrap().is_empty());
    stage.sessions.end("s".parse().unwrap(), None).await.unwrap();
    stage.sessions.end("s".parse().unwrap(), Some("a".parse().unwrap())).await.unwrap();
}

#[tokio::test]
async fn the_end_of_a_subagent_leaves_its_session() {
    let stage = Stage::new().await;
    stage.sessions.begin(subagent("s", "a", None)).await.unwrap();
    stage.sessions.begin(subagent("s", "b", None)).await.unwrap();
    stage.sessions.end("s".parse().unwrap(), Some("a".parse().unwrap())).await.unwrap();
    assert!(!stage.is_there("claude:s:a") && stage.is_there("claude:s:b") && stage.is_there("claude:s"));
}

#[tokio::test]
async fn what_cannot_be_passed_on_is_left_out_of_a_session() {
    let stage = Stage::holding(&["@write:/ws"]).await;
    let person = stage.world.you();
    person.give_to_pass_on("claude", "@write:/only-to-pass-on", Scope::Always, "why").await.unwrap();
    assert!(is_allowed(&stage.ask(write(session("s"), "/ws/a")).await));
    assert!(waits(&stage.ask(write(session("s"), "/only-to-pass-on/a")).await));
}

#[tokio::test]
async fn a_permission_that_the_host_loses_ends_in_its_sessions() {
    let stage = Stage::new().await;
    assert!(is_allowed(&stage.ask(write(subagent("s", "a", None), "/ws/a")).await));
    let grant = stage.host.grants().unwrap()[0].id;
    stage.world.engine.revoke(grant, None).await.unwrap();
    assert!(waits(&stage.ask(write(subagent("s", "a", None), "/ws/a")).await));
    assert!(waits(&stage.ask(write(session("s"), "/ws/a")).await));
}

/// The host's own token ends a session. It ends no denial: the session with that id is denied again.
#[tokio::test]
async fn the_end_of_a_session_does_not_shed_a_denial() {
    let stage = Stage::new().await;
    let deny = async |scope: Scope| {
        let answer = stage.ask(bash(session("s"), "make all")).await;
        assert!(waits(&answer), "{answer:?}");
        let pending = stage.world.engine.pending().unwrap();
        let no = bestow::Answer::deny().scope(scope);
        stage.world.you().answer(pending[0].request.id, no).await.unwrap();
    };
    deny(Scope::Session).await;
    for _ in 0..2 {
        stage.sessions.end("s".parse().unwrap(), None).await.unwrap();
        let answer = stage.ask(bash(session("s"), "make all")).await;
        assert!(denied(&answer).contains("a person denied it"), "{answer:?}");
    }
    assert!(waits(&stage.ask(bash(session("other"), "make all")).await), "another session may ask");
    let day = 24 * 60 * 60 * 1000;
    stage.world.later(day + 1).await;
    stage.sessions.end("s".parse().unwrap(), None).await.unwrap();
    assert!(waits(&stage.ask(bash(session("s"), "make all")).await), "and so may this one after a day");
}

//! The number of sessions of a host.

use bestow_hosts::Sessions as _;

use super::stage::{Stage, session, subagent};

#[tokio::test]
async fn the_longest_unused_session_makes_room_for_the_257th() {
    let stage = Stage::new().await;
    for number in 0..256 {
        stage.sessions.begin(session(&format!("s{number}"))).await.unwrap();
    }
    stage.sessions.begin(session("s0")).await.unwrap();
    stage.sessions.begin(session("new")).await.unwrap();
    assert!(stage.is_there("claude:s0") && stage.is_there("claude:new") && !stage.is_there("claude:s1"));
    assert_eq!(stage.world.engine.agents().unwrap().len(), 257, "256 sessions and their host");
}

#[tokio::test]
async fn a_session_with_a_call_in_progress_is_not_retired_for_another_one() {
    let stage = Stage::new().await;
    let in_use = stage.sessions.member(&session("s0")).await.unwrap();
    for number in 1..=256 {
        stage.sessions.begin(session(&format!("s{number}"))).await.unwrap();
    }
    assert!(stage.is_there("claude:s0") && !stage.is_there("claude:s1"));
    drop(in_use);
    stage.sessions.begin(session("last")).await.unwrap();
    assert!(!stage.is_there("claude:s0"));
}

#[tokio::test]
async fn another_agent_that_the_host_created_is_no_session() {
    let stage = Stage::new().await;
    let profile = crate::support::profile("helper", "you", bestow::Kind::Subagent);
    stage.host.create(profile, &[], "it helps").await.unwrap();
    for number in 0..256 {
        stage.sessions.begin(session(&format!("s{number}"))).await.unwrap();
    }
    stage.sessions.begin(session("new")).await.unwrap();
    assert!(stage.is_there("helper") && stage.is_there("claude:new"));
}

#[tokio::test]
async fn many_subagents_make_room_in_other_sessions_first_and_then_in_their_own() {
    let stage = Stage::new().await;
    stage.sessions.begin(session("idle")).await.unwrap();
    for number in 0..300 {
        stage.sessions.begin(subagent("busy", &format!("a{number}"), None)).await.unwrap();
    }
    assert!(!stage.is_there("claude:idle") && !stage.is_there("claude:busy:a0"));
    assert!(stage.is_there("claude:busy") && stage.is_there("claude:busy:a299"));
}

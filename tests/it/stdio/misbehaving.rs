//! Tests of bots that write nonsense, never read, or die.

use std::sync::Arc;

use bestow::{
    Error, Event, PermissionRequest,
    decision::{Check, Refusal},
    grant::PermissionRef,
    request::Route,
    stdio::{Bot, Ended, Limits},
    user::{Delivery, Prompt},
};
use tokio::io::AsyncWriteExt;

use super::{Wire, engine, id, soon, write};
use crate::support::futures_now;

fn ask() -> PermissionRequest {
    PermissionRequest::new(write("/ws/site"), "to build")
}

const CHECK: &str = r#"{"type":"check_permission","permission":"@network"}"#;

#[tokio::test]
async fn bytes_that_are_not_utf8_are_answered_and_survived() {
    let engine = engine().await;
    let mut bot = Wire::open(Bot::agent(&engine, &id("worker")).unwrap());
    bot.read_type("hello").await;
    bot.writer.write_all(b"{\"type\":\"\xff\"}\n").await.unwrap();
    assert_eq!(bot.read().await["code"], "PARSE_ERROR");
    bot.write(CHECK).await;
    bot.read_type("check_result").await;
}

#[tokio::test]
async fn a_line_that_is_cut_off_by_the_end_is_not_obeyed() {
    let engine = engine().await;
    let mut bot = Wire::open(Bot::agent(&engine, &id("lead")).unwrap());
    bot.read_type("hello").await;
    let give = r#"{"type":"grant_permission","agentId":"worker","permission":"@write:/ws/site","reason":"your"#;
    bot.writer.write_all(give.as_bytes()).await.unwrap();
    bot.writer.shutdown().await.unwrap();
    assert_eq!(bot.ended().await, Ended::Closed);
    assert_eq!(engine.check(&id("worker"), PermissionRef::write("/ws/site")), Check::NotHeld);
}

#[tokio::test]
async fn a_line_without_end_ends_the_connection() {
    let engine = engine().await;
    let mut limits = Limits::default();
    limits.line = 1024;
    let mut bot = Wire::open(Bot::agent(&engine, &id("worker")).unwrap().limits(limits));
    let flood = vec![b'x'; 4096];
    while bot.writer.write_all(&flood).await.is_ok() {}
    assert_eq!(bot.ended().await, Ended::TooManyBadLines);
}

/// Only the runtime's clock moves here. It advances when all tasks wait.
#[tokio::test(start_paused = true)]
async fn a_connector_that_never_reads_counts_as_gone_and_its_questions_go_on() {
    let engine = engine().await;
    let mut events = engine.subscribe();
    let second = Wire::open(Bot::connector(&engine, &id("second")).unwrap());
    let stuck = Wire::with_pipe(Bot::connector(&engine, &id("lead")).unwrap(), 16);
    soon("both connectors", async {
        let mut there = 0;
        while there < 2 {
            there += usize::from(matches!(events.next().await.unwrap().event, Event::CarrierConnected { .. }));
        }
    })
    .await;
    engine.user_active(&id("lead")).await.unwrap();
    engine.agent(id("worker")).unwrap().request(ask()).await.unwrap();
    let mut ways = Vec::new();
    while ways.len() < 2 {
        if let Event::Routed { route, .. } = soon("a route", events.next()).await.unwrap().event {
            ways.push(route);
        }
    }
    assert_eq!(ways, [Route::Carrier(id("lead")), Route::Carrier(id("second"))]);
    assert_eq!(stuck.ended().await, Ended::NotReading);
    drop(second);
}

#[tokio::test(start_paused = true)]
async fn a_bot_that_asks_without_end_and_never_reads_is_not_listened_to_without_end() {
    let engine = engine().await;
    let mut limits = Limits::default();
    limits.outgoing = 1024;
    let mut bot = Wire::with_pipe(Bot::agent(&engine, &id("worker")).unwrap().limits(limits), 256);
    let mut written = 0;
    while bot.writer.write_all(format!("{CHECK}\n").as_bytes()).await.is_ok() {
        written += 1;
        assert!(written < 10_000, "the engine keeps answering into the void");
    }
    assert_eq!(bot.ended().await, Ended::NotReading);
}

#[tokio::test(start_paused = true)]
async fn more_to_read_gives_nobody_more_time_to_read_it() {
    let engine = engine().await;
    let stuck = Wire::with_pipe(Bot::agent(&engine, &id("worker")).unwrap(), 16);
    for _ in 0..4 {
        tokio::time::sleep(std::time::Duration::from_secs(10)).await;
        engine.message(&id("worker"), None, "and another thing").await.unwrap();
    }
    assert!(stuck.served.is_finished(), "40 seconds without reading anything");
    assert_eq!(stuck.ended().await, Ended::NotReading);
}

#[tokio::test]
async fn the_bot_of_an_agent_that_is_retired_is_told_goodbye() {
    let engine = engine().await;
    let mut bot = Wire::open(Bot::agent(&engine, &id("worker")).unwrap());
    bot.read_type("hello").await;
    engine.retire(&id("worker")).await.unwrap();
    bot.read_type("bye").await;
    assert_eq!(bot.ended().await, Ended::Superseded);
}

#[tokio::test]
async fn when_the_engine_closes_the_conversation_ends_and_nothing_more_is_done() {
    let engine = engine().await;
    let mut bot = Wire::open(Bot::agent(&engine, &id("worker")).unwrap());
    bot.read_type("hello").await;
    engine.shutdown().await;
    let late = r#"{"type":"request_permission","permission":"@network","reason":"late"}"#;
    // The bot may receive `bye` before it has sent this line.
    let _ = bot.writer.write_all(format!("{late}\n").as_bytes()).await;
    loop {
        let told = bot.read().await;
        match told["type"].as_str().unwrap() {
            "bye" => break,
            other => assert_eq!((other, told["code"].as_str().unwrap()), ("error", "ENGINE_CLOSED")),
        }
    }
    assert_eq!(bot.ended().await, Ended::Superseded);
}

#[tokio::test]
async fn an_agent_that_talks_without_end_does_not_cost_its_user_the_questions() {
    let engine = engine().await;
    let mut user = engine.connect(id("lead")).unwrap();
    let lead = engine.agent(id("lead")).unwrap();
    let mut shown = 0;
    while lead.say("blah").await.unwrap() == Delivery::Shown {
        shown += 1;
    }
    assert!(shown > 100);
    engine.agent(id("worker")).unwrap().request(ask()).await.unwrap();
    for _ in 0..shown {
        assert!(matches!(user.next().await, Some(Prompt::Said { .. })));
    }
    assert!(matches!(user.next().await, Some(Prompt::Ask(_))));
    drop(user);
    assert_eq!(lead.say("anybody?").await, Ok(Delivery::ByNobody));
}

#[tokio::test]
async fn nobody_is_the_connector_of_a_background_agent() {
    let engine = engine().await;
    let refused = Bot::connector(&engine, &id("worker")).unwrap_err();
    assert_eq!(refused, Error::Refused(Refusal::NotForeground(id("worker"))));
}

#[tokio::test]
async fn a_user_who_says_nothing_for_long_keeps_the_connection() {
    let engine = engine().await;
    tokio::time::pause();
    let mut bot = Wire::open(Bot::connector(&engine, &id("lead")).unwrap());
    bot.read_type("hello").await;
    tokio::time::advance(std::time::Duration::from_secs(86_400)).await;
    engine.agent(id("lead")).unwrap().say("still there?").await.unwrap();
    assert_eq!(bot.read().await["text"], "still there?");
}

/// Reading and writing end separately: the bot's input is gone while `bye` is still unread.
#[tokio::test]
async fn a_bot_that_says_goodbye_and_is_gone_has_said_goodbye() {
    let engine = engine().await;
    for _ in 0..50 {
        let (input, gone) = tokio::io::duplex(64);
        drop(gone);
        let said = format!("{CHECK}\n{{\"type\":\"bye\"}}\n");
        let bot = Bot::agent(&engine, &id("worker")).unwrap();
        assert_eq!(super::soon("the end", bot.serve(said.as_bytes(), input)).await, Ended::Bye);
    }
}

/// The user does not want to be asked again, and another approver answers before the connector does.
#[tokio::test]
async fn a_question_that_is_denied_before_and_answered_elsewhere_is_not_shown() {
    let clock = super::clock();
    let engine =
        bestow::Engine::on(bestow::Settings::default(), clock.clone(), Arc::new(bestow::host::AsWritten)).unwrap();
    for (name, kind) in [("lead", bestow::Kind::Foreground), ("worker", bestow::Kind::Subagent)] {
        engine.register(super::profile(name, kind), bestow::InitialGrants::nothing()).await.unwrap();
    }
    let worker = engine.agent("worker").unwrap();
    let mut user = Wire::open(Bot::connector(&engine, &id("lead")).unwrap().answering_as("ann".parse().unwrap()));
    user.read_type("hello").await;
    let ticket = worker.request(ask()).await.unwrap();
    let code = user.read_type("request_permission").await["code"].as_str().unwrap().to_owned();
    let no = format!(r#"{{"type":"permission_decision","permissionRequestId":"{code}","decision":"deny-session"}}"#);
    user.write(&no).await;
    soon("the denial", ticket.resolution()).await;
    user.read_type("permission_resolved").await;
    clock.advance(std::time::Duration::from_secs(61));
    // The connector does not run between these two calls.
    let ticket = futures_now(worker.request(ask())).unwrap();
    let bob = engine.approver("you", "bob", "dashboard");
    futures_now(bob.answer(ticket.id(), bestow::Answer::allow())).unwrap();
    let told = user.read().await;
    assert_eq!((&told["type"], &told["outcome"]), (&"permission_resolved".into(), &"granted".into()), "{told}");
}

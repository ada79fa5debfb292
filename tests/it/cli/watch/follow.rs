//! `bestow requests --follow`, and `bestow watch` without a terminal.

use std::{
    io::{BufRead as _, BufReader, Lines},
    process::{Child, ChildStdout},
};

use bestow::{Answer, Engine};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{
    super::{assert_in_camel_case, started_for, text},
    Place, asks_for, bob, surfaces,
};

struct Followed {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Followed {
    fn start(place: &Place, engine: &Engine, words: &[&str]) -> Followed {
        let mut child = started_for(surfaces(engine), &place.words(words));
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Followed { child, lines }
    }

    fn line(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }

    fn json(&mut self) -> Value {
        let value = serde_json::from_str(&self.line()).unwrap();
        assert_in_camel_case(&value);
        value
    }

    /// Returns the exit code and the standard error, when there are no more lines.
    fn ends(mut self) -> (Option<i32>, String) {
        assert!(self.lines.next().is_none(), "nothing is told after the end");
        self.leaves()
    }

    /// Closes the pipe. Returns the exit code and the standard error.
    fn leaves(self) -> (Option<i32>, String) {
        drop(self.lines);
        let done = self.child.wait_with_output().unwrap();
        (done.status.code(), text(&done.stderr).to_owned())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_request_and_each_end_is_one_line_at_once() {
    let place = Place::new();
    let engine = place.engine().await;
    let bob = bob(&engine).await;
    let before = asks_for(&bob, "@network", "a").await;
    let mut followed = Followed::start(&place, &engine, &["requests", "--follow", "--json"]);
    let waiting = followed.json();
    assert_eq!((&waiting["type"], &waiting["code"]), (&"waiting".into(), &before.code().to_string().into()));
    assert_eq!(waiting["request"]["from"], "bob");
    let next = asks_for(&bob, "@events", "b\n\u{1b}[2J").await;
    let waiting = followed.json();
    assert_eq!((&waiting["code"], &waiting["route"]), (&next.code().to_string().into(), &"queue".into()));
    let eve = engine.approver("you", "eve", "phone");
    eve.answer(before.id(), Answer::deny().feedback("no".parse().unwrap())).await.unwrap();
    let ended = followed.json();
    assert_eq!((&ended["type"], &ended["code"]), (&"ended".into(), &before.code().to_string().into()));
    assert_eq!(ended["resolution"]["decider"]["person"]["by"], "eve");
    assert_eq!(ended["resolution"]["outcome"], "denied");
    let _lead = engine
        .register(crate::support::profile("lead", "you", bestow::Kind::Foreground), bestow::InitialGrants::nothing())
        .await
        .unwrap();
    let _user = engine.connect("lead").unwrap();
    let moved = followed.json();
    assert_eq!((&moved["type"], &moved["route"]["carrier"]), (&"moved".into(), &"lead".into()));

    engine.shutdown().await;
    let (code, complaint) = followed.ends();
    assert_eq!(code, Some(1));
    assert!(complaint.contains("the engine has ended: start `bestow requests --follow` again"), "{complaint}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_and_a_closed_pipe_end_it() {
    let place = Place::new();
    let engine = place.engine().await;
    let bob = bob(&engine).await;
    asks_for(&bob, "@network", "a").await;
    for signal in [Signal::TERM, Signal::INT] {
        let mut followed = Followed::start(&place, &engine, &["requests", "--follow"]);
        assert!(followed.line().contains("] bob (subagent) asks for network access"));
        kill_process(Pid::from_child(&followed.child), signal).unwrap();
        assert_eq!(followed.ends(), (Some(0), String::new()), "{signal:?}");
    }
    // No further request comes, and the closed pipe is noticed all the same.
    let mut followed = Followed::start(&place, &engine, &["requests", "--follow", "--json"]);
    followed.json();
    assert_eq!(followed.leaves(), (Some(1), String::new()));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_engine_there_is_nothing_to_follow() {
    let place = Place::new();
    let engine = place.engine().await;
    engine.shutdown().await;
    let followed = Followed::start(&place, &engine, &["requests", "--follow"]);
    let (code, complaint) = followed.ends();
    assert!(code == Some(1) && complaint.contains("no engine runs on `"), "{complaint}");
    let nowhere = Place::new();
    let (code, complaint) = Followed::start(&nowhere, &engine, &["watch"]).ends();
    assert!(code == Some(1) && complaint.contains("is not a state directory"), "{complaint}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_of_the_engine_follows_nothing() {
    let place = Place::new();
    let engine = place.engine().await;
    let mut child = super::super::started(&place.words(&["requests", "--follow"]));
    drop(child.stdin.take());
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(3));
    assert!(text(&done.stderr).contains("is a descendant of the engine's process"), "{done:?}");
    drop(engine);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_terminal_watch_prints_lines_and_finds_the_next_engine() {
    let place = Place::new();
    let engine = place.engine().await;
    let first = asks_for(&bob(&engine).await, "@network", "a\u{1b}[2J").await;
    let mut followed = Followed::start(&place, &engine, &["watch"]);
    assert!(followed.line().starts_with(&format!("[{}] bob (subagent) asks for network access", first.code())));
    engine.shutdown().await;
    drop(engine);
    let engine = place.engine_for(followed.child.id()).await;
    assert!(followed.line().starts_with(&format!("[{}] bob", first.code())), "what waits is told again");
    engine.approver("you", "eve", "phone").answer(first.id(), Answer::allow()).await.unwrap();
    let line = followed.line();
    assert!(line.starts_with(&format!("[{}] of bob has ended: granted", first.code())), "{line}");
    kill_process(Pid::from_child(&followed.child), Signal::TERM).unwrap();
    let (code, complaint) = followed.ends();
    assert!(
        complaint.contains("the engine has ended: waiting for it") && complaint.contains("runs again"),
        "{complaint}"
    );
    assert_eq!(code, Some(0));
}

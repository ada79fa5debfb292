//! The terminal across the ends of the engine, of the program and of the terminal itself.

use bestow::{Answer, Outcome};
use rustix::process::Signal;

use super::{Place, READY, asks_for, bob};

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_ends_is_told_and_the_next_one_is_found() {
    let place = Place::new();
    let engine = place.engine().await;
    let (mut terminal, bob) = (place.watch(&engine), bob(&engine).await);
    let [first, second] = [asks_for(&bob, "@network", "a").await, asks_for(&bob, "@events", "b").await];
    terminal.shows(READY);
    engine.shutdown().await;
    terminal.shows("the engine has ended: waiting for it");
    terminal.press("a");
    terminal.shows("No request can be answered until it runs again.");
    drop((engine, bob));

    std::fs::remove_file(place.link()).unwrap();
    let engine = place.engine().await;
    engine.approver("you", "eve", "phone").answer(first.id(), Answer::deny()).await.unwrap();
    engine.shutdown().await;
    place.name();
    let engine = place.engine_for(terminal.id()).await;
    terminal.shows("The engine runs again.");
    let text = terminal.shows("denied by eve (phone)");
    assert!(text.contains(&format!("> {}", first.code())) && text.contains("1 waiting"), "{text}");
    terminal.press("j");
    terminal.shows(&format!("> {}", second.code()));
    terminal.shows(READY);
    terminal.press("a");
    terminal.shows("granted (this run) by you");
    assert_eq!(engine.resolution(second.id()).unwrap().unwrap().outcome, Outcome::Granted);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_engine_the_screen_waits_for_one() {
    let place = Place::new();
    place.engine().await.shutdown().await;
    let terminal = super::Terminal::start(None, &place.words(&["watch"]), (24, 100));
    terminal.shows("no engine runs on");
    let _engine = place.engine_for(terminal.id()).await;
    terminal.shows("No request waits.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_gives_the_terminal_back() {
    for (signal, code) in [(Signal::TERM, 0), (Signal::INT, 0), (Signal::HUP, 1), (Signal::QUIT, 1)] {
        let place = Place::new();
        let engine = place.engine().await;
        let terminal = place.watch(&engine);
        terminal.signal(signal);
        assert_eq!(terminal.ends().code(), Some(code), "{signal:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_smaller_terminal_shows_the_same_request() {
    let place = Place::new();
    let engine = place.engine().await;
    let (mut terminal, bob) = (place.watch(&engine), bob(&engine).await);
    let ticket = asks_for(&bob, "@write:/ws/site", "to publish").await;
    terminal.shows(READY);
    for (rows, columns) in [(12, 40), (5, 20), (1, 1), (2, 3), (30, 120)] {
        terminal.resize(rows, columns);
    }
    terminal.shows("\"to publish\"");
    terminal.resize(10, 50);
    terminal.until("the small screen", |screen| screen.contents().lines().all(|line| line.chars().count() <= 50));
    terminal.shows(&ticket.code().to_string());
    terminal.resize(24, 100);
    terminal.shows("enter open   j/k move   q quit");
    terminal.press("a");
    assert_eq!(ticket.resolution().await.outcome, Outcome::Granted);
}

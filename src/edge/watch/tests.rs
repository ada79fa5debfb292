//! The parts that no file can show: time, and a system that does not let itself be watched.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::{
    sync::{Notify, mpsc},
    time::{Duration, Instant, advance},
};

use super::{
    Change, POLL,
    eyes::Eyes,
    run,
    seen::Seen,
    settle::{LONGEST, QUIET, settle},
};

/// Cannot watch at first, for the reasons given, and then can.
struct Failing(Vec<&'static str>);

impl Eyes for Failing {
    fn open(&mut self, _: &Arc<Notify>) -> Result<(), String> {
        self.0.pop().map_or(Ok(()), |why| Err(why.to_owned()))
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_watched_is_looked_at_every_two_seconds_and_that_is_said_once() {
    let (changes, mut receiver) = mpsc::channel(8);
    let looks = Arc::new(AtomicUsize::new(0));
    let look = {
        let looks = looks.clone();
        move || (looks.fetch_add(1, Ordering::SeqCst) == 2).then_some(Ok::<_, ()>("changed"))
    };
    let start = Instant::now();
    tokio::spawn(run(Failing(vec!["no room", "no room", "no room"]), look, changes));
    assert_eq!(receiver.recv().await, Some(Change::Polling { why: "no room".to_owned() }));
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!(receiver.recv().await, Some(Change::Loaded("changed")));
    assert_eq!((start.elapsed().as_secs(), looks.load(Ordering::SeqCst)), (2 * POLL.as_secs(), 3));
}

#[tokio::test(start_paused = true)]
async fn a_new_reason_for_not_watching_is_said() {
    let (changes, mut receiver) = mpsc::channel(8);
    tokio::spawn(run(Failing(vec!["second", "first"]), || None::<Result<(), ()>>, changes));
    for why in ["first", "second"] {
        assert_eq!(receiver.recv().await, Some(Change::Polling { why: why.to_owned() }));
    }
}

#[tokio::test(start_paused = true)]
async fn the_watch_ends_when_nobody_listens() {
    let (changes, receiver) = mpsc::channel(8);
    let watch = tokio::spawn(run(Failing(Vec::new()), || None::<Result<(), ()>>, changes));
    drop(receiver);
    watch.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn one_change_is_over_when_it_has_been_quiet() {
    let (wake, start) = (Notify::new(), Instant::now());
    settle(&wake).await;
    assert_eq!(start.elapsed(), QUIET);
}

#[tokio::test(start_paused = true)]
async fn a_burst_is_one_change() {
    let (wake, start) = (Arc::new(Notify::new()), Instant::now());
    let settled = tokio::spawn({
        let wake = wake.clone();
        async move { settle(&wake).await }
    });
    for _ in 0..5 {
        tokio::task::yield_now().await;
        advance(QUIET / 2).await;
        wake.notify_one();
    }
    settled.await.unwrap();
    assert_eq!(start.elapsed(), QUIET / 2 * 5 + QUIET);
}

#[tokio::test(start_paused = true)]
async fn a_burst_without_end_is_not_waited_for() {
    let (wake, start) = (Arc::new(Notify::new()), Instant::now());
    let settled = tokio::spawn({
        let wake = wake.clone();
        async move { settle(&wake).await }
    });
    while !settled.is_finished() {
        tokio::task::yield_now().await;
        advance(QUIET / 2).await;
        wake.notify_one();
    }
    let took = start.elapsed();
    assert!((LONGEST..LONGEST + QUIET).contains(&took), "{took:?}");
}

/// Even numbers are good.
fn even(content: &u32) -> Result<u32, &'static str> {
    if content.is_multiple_of(2) { Ok(*content) } else { Err("odd") }
}

#[test]
fn the_same_content_is_told_once_good_or_bad() {
    let mut seen = Seen::new(2);
    assert_eq!(seen.look(Ok(2), even), None);
    assert_eq!(seen.look(Ok(4), even), Some(Ok(4)));
    assert_eq!(seen.look(Ok(3), even), Some(Err("odd")));
    assert_eq!(seen.look(Ok(3), even), None);
    assert_eq!(seen.look(Ok(5), even), Some(Err("odd")));
    assert_eq!(seen.look(Err("gone"), even), Some(Err("gone")));
    assert_eq!(seen.look(Err("gone"), even), None);
    assert_eq!(seen.look(Ok(4), even), Some(Ok(4)));
}

#[test]
fn content_that_was_bad_for_an_outside_reason_is_tried_again() {
    let mut seen = Seen::new(2);
    assert_eq!(seen.look(Ok(3), even), Some(Err("odd")));
    assert_eq!(seen.look(Ok(3), |content| Ok::<_, &str>(*content)), Some(Ok(3)));
    assert_eq!(seen.look(Ok(3), even), None);
}

//! Tests of the parts that no real file can show: time, and a system that cannot watch.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use notify::{
    Event, EventKind,
    event::{AccessKind, AccessMode, CreateKind, Flag},
};
use tokio::{
    sync::{Notify, mpsc},
    time::{Duration, Instant, advance, timeout},
};

use super::{
    Change, POLL,
    debounce::{LONGEST, QUIET, settle},
    dedup::Seen,
    run,
    watcher::{Eyes, waker},
};

/// A watcher that fails at first, for the given reasons, and then works.
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

/// A watcher that counts how often it was opened.
struct Noting(Arc<AtomicUsize>);

impl Eyes for Noting {
    fn open(&mut self, _: &Arc<Notify>) -> Result<(), String> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn the_file_is_looked_at_only_once_it_is_watched() {
    let (changes, mut receiver) = mpsc::channel(8);
    let opened = Arc::new(AtomicUsize::new(0));
    let look = {
        let opened = opened.clone();
        move || Some(Ok::<_, ()>(opened.load(Ordering::SeqCst)))
    };
    tokio::spawn(run(Noting(opened), look, changes));
    assert_eq!(receiver.recv().await, Some(Change::Loaded(1)));
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

/// Accepts even numbers.
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

/// Returns true if the waker of `names` wakes for `event`.
async fn wakes(names: &[&str], event: notify::Result<Event>) -> bool {
    let wake = Arc::new(Notify::new());
    waker(names.iter().map(PathBuf::from).collect(), wake.clone())(event);
    timeout(QUIET, wake.notified()).await.is_ok()
}

#[tokio::test(start_paused = true)]
async fn only_what_happens_to_a_name_on_the_way_wakes() {
    let created = |path: &str| Ok(Event::new(EventKind::Create(CreateKind::File)).add_path(path.into()));
    assert!(wakes(&["/a", "/a/b"], created("/a/b")).await);
    assert!(wakes(&["/a", "/a/b"], created("/a")).await);
    assert!(!wakes(&["/a", "/a/b"], created("/a/c")).await);
    assert!(!wakes(&["/a", "/a/b"], created("/a/b/c")).await);
}

#[tokio::test(start_paused = true)]
async fn reading_does_not_wake_and_writing_does() {
    let access = |kind| Ok(Event::new(EventKind::Access(kind)).add_path("/a".into()));
    assert!(!wakes(&["/a"], access(AccessKind::Open(AccessMode::Any))).await);
    assert!(!wakes(&["/a"], access(AccessKind::Close(AccessMode::Read))).await);
    assert!(wakes(&["/a"], access(AccessKind::Close(AccessMode::Write))).await);
}

#[tokio::test(start_paused = true)]
async fn what_was_missed_wakes() {
    assert!(wakes(&["/a"], Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan))).await);
    assert!(wakes(&["/a"], Err(notify::Error::generic("lost"))).await);
}

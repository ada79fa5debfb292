//! Tests of the ways to save a file.

use std::{
    fs::{self, OpenOptions},
    io::Write,
};

use super::{Watched, policy};
use crate::config::Place;

const FILE: &str = "policy/agents.toml";

#[tokio::test]
async fn a_write_in_place_is_noticed_every_time() {
    let mut watched = Watched::armed().await;
    for mark in ["one", "two", "three"] {
        watched.place.write(FILE, policy(mark));
        watched.until(mark).await;
    }
}

#[tokio::test]
async fn a_rename_over_the_file_is_noticed_every_time() {
    let mut watched = Watched::armed().await;
    for mark in ["one", "two", "three"] {
        watched.save(FILE, &policy(mark));
        assert_eq!(watched.next().await, mark);
    }
}

#[tokio::test]
async fn a_save_that_moves_the_old_file_away_first_is_noticed() {
    let mut watched = Watched::armed().await;
    fs::rename(watched.place.path(FILE), watched.place.path("policy/agents.toml~")).unwrap();
    watched.place.write(FILE, policy("new"));
    watched.until("new").await;
}

#[tokio::test]
async fn what_changed_before_the_watch_began_is_not_lost() {
    let place = Place::with(&policy("first"));
    let file = place.file();
    let text = file.read().unwrap();
    place.write(FILE, policy("between"));
    let mut watched = Watched { changes: file.watch(text), place };
    assert_eq!(watched.next().await, "between");
}

#[tokio::test]
async fn of_a_burst_the_last_is_told_and_not_each() {
    let mut watched = Watched::armed().await;
    for number in 0..500 {
        watched.save(FILE, &policy(&format!("n{number}")));
    }
    let told = watched.until("n499").await;
    assert!(told.len() < 50, "{} changes were told", told.len());
}

#[tokio::test]
async fn the_same_bytes_are_no_change() {
    let mut watched = Watched::armed().await;
    watched.save(FILE, &policy("armed"));
    watched.place.write(FILE, policy("armed"));
    watched.save(FILE, &policy("other"));
    assert_eq!(watched.next().await, "other");
}

#[tokio::test]
async fn a_busy_neighbour_is_no_change() {
    let mut watched = Watched::armed().await;
    for number in 0..100 {
        watched.place.write(&format!("policy/neighbour{number}"), "noise");
    }
    watched.save(FILE, &policy("other"));
    assert_eq!(watched.next().await, "other");
}

#[tokio::test]
async fn a_half_written_file_is_refused_and_the_rest_is_taken() {
    let mut watched = Watched::armed().await;
    let whole = policy("whole");
    let (half, rest) = whole.split_at(whole.len() - 6);
    watched.save(FILE, half);
    let told = watched.next().await;
    assert!(told.starts_with("this is not TOML"), "{told}");
    OpenOptions::new().append(true).open(watched.place.path(FILE)).unwrap().write_all(rest.as_bytes()).unwrap();
    watched.until("whole").await;
}

#[tokio::test]
async fn an_emptied_file_is_refused() {
    let mut watched = Watched::armed().await;
    watched.place.write(FILE, "");
    assert_eq!(watched.next().await, "the file names no agent");
}

#[tokio::test]
async fn a_bad_file_is_told_once_and_another_bad_one_again() {
    let mut watched = Watched::armed().await;
    watched.save(FILE, "agents = 1");
    assert_eq!(watched.next().await, "`agents` must be a table");
    watched.save(FILE, "agents = 1");
    watched.save(FILE, "agents = 2 # other");
    assert_eq!(watched.next().await, "`agents` must be a table");
    watched.save(FILE, &policy("good"));
    assert_eq!(watched.next().await, "good");
}

#[tokio::test]
async fn good_again_is_told_even_if_it_is_as_before() {
    let mut watched = Watched::armed().await;
    watched.save(FILE, "bad");
    assert!(watched.next().await.starts_with("this is not TOML"));
    watched.save(FILE, &policy("armed"));
    assert_eq!(watched.next().await, "armed");
}

#[tokio::test]
async fn a_file_that_others_may_write_from_now_on_is_refused_from_now_on() {
    let mut watched = Watched::armed().await;
    watched.place.mode(FILE, 0o666);
    assert_eq!(watched.next().await, "users other than its owner may write it (mode 666)");
    watched.place.mode(FILE, 0o644);
    assert_eq!(watched.next().await, "armed");
}

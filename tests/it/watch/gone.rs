//! Tests of files that are removed and come back.

use std::{fs, process::Command};

use super::{Watched, policy};

const FILE: &str = "policy/agents.toml";
const MISSING: &str = "the file does not exist";

#[tokio::test]
async fn a_deleted_file_is_told_once_and_its_return_is_noticed() {
    let mut watched = Watched::armed().await;
    for mark in ["one", "two"] {
        fs::remove_file(watched.place.path(FILE)).unwrap();
        assert_eq!(watched.next().await, MISSING);
        watched.save(FILE, &policy(mark));
        assert_eq!(watched.next().await, mark);
    }
}

#[tokio::test]
async fn a_directory_that_goes_and_comes_back_is_watched_again() {
    let mut watched = Watched::armed().await;
    for mark in ["one", "two"] {
        fs::remove_dir_all(watched.place.path("policy")).unwrap();
        assert_eq!(watched.next().await, MISSING);
        fs::create_dir(watched.place.path("policy")).unwrap();
        watched.save(FILE, &policy(mark));
        watched.until(mark).await;
        watched.save(FILE, &policy("after"));
        watched.until("after").await;
    }
}

#[tokio::test]
async fn a_directory_put_in_place_of_another_is_noticed() {
    let mut watched = Watched::armed().await;
    fs::create_dir(watched.place.path("prepared")).unwrap();
    watched.place.write("prepared/agents.toml", policy("prepared"));
    fs::rename(watched.place.path("policy"), watched.place.path("old")).unwrap();
    fs::rename(watched.place.path("prepared"), watched.place.path("policy")).unwrap();
    watched.until("prepared").await;
    watched.save("old/agents.toml", &policy("elsewhere"));
    watched.save(FILE, &policy("here"));
    assert_eq!(watched.next().await, "here");
}

#[tokio::test]
async fn a_pipe_in_place_of_the_file_does_not_stop_the_watch() {
    let mut watched = Watched::armed().await;
    assert!(Command::new("mkfifo").arg(watched.place.path("policy/pipe")).status().unwrap().success());
    fs::rename(watched.place.path("policy/pipe"), watched.place.path(FILE)).unwrap();
    assert_eq!(watched.next().await, "this is a named pipe");
    watched.save(FILE, &policy("back"));
    assert_eq!(watched.next().await, "back");
}

#[tokio::test]
async fn nobody_listening_is_no_reason_to_keep_a_runtime() {
    let watched = Watched::armed().await;
    let changes = watched.changes;
    drop(changes);
    watched.place.write(FILE, policy("unheard"));
}

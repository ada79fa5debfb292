//! Tests of files behind links.

use std::fs;

use super::{Watched, policy};
use crate::config::Place;

/// Changes the link `name` to `target` in one step, as configuration managers do.
fn turn(place: &Place, name: &str, target: &str) {
    let beside = format!("{name}.new");
    place.link(&beside, target);
    fs::rename(place.path(&beside), place.path(name)).unwrap();
}

/// Creates a directory `name` that holds a policy with that mark.
fn version(place: &Place, name: &str) {
    fs::create_dir(place.path(name)).unwrap();
    place.write(&format!("{name}/agents.toml"), policy(name));
}

/// The links of a config map volume: `agents.toml -> ..data/agents.toml`, `..data -> ..v1`.
#[tokio::test]
async fn a_config_map_that_swaps_its_data_is_noticed_every_time() {
    let place = Place::new();
    let fill = |name: &str, mark: &str| {
        fs::create_dir(place.path(&format!("policy/{name}"))).unwrap();
        place.write(&format!("policy/{name}/agents.toml"), policy(mark));
    };
    ["v1", "v2", "v3"].iter().for_each(|mark| fill(&format!("..{mark}"), mark));
    place.link("policy/..data", "..v1");
    place.link("policy/agents.toml", "..data/agents.toml");
    let mut watched = Watched::start(place, "policy/agents.toml");
    for mark in ["v2", "v3", "v1"] {
        turn(&watched.place, "policy/..data", &format!("..{mark}"));
        assert_eq!(watched.next().await, mark);
    }
    fs::remove_dir_all(watched.place.path("policy/..v3")).unwrap();
    watched.save("policy/..v1/agents.toml", &policy("edited"));
    assert_eq!(watched.next().await, "edited");
}

#[tokio::test]
async fn a_parent_turned_to_another_directory_is_noticed_every_time() {
    let place = Place::new();
    ["blue", "green"].iter().for_each(|name| version(&place, name));
    place.link("current", "blue");
    let mut watched = Watched::start(place, "current/agents.toml");
    for mark in ["green", "blue", "green"] {
        turn(&watched.place, "current", mark);
        assert_eq!(watched.next().await, mark);
    }
    watched.save("green/agents.toml", &policy("edited"));
    assert_eq!(watched.next().await, "edited");
}

#[tokio::test]
async fn a_link_turned_far_away_from_the_file_is_noticed() {
    let place = Place::new();
    ["blue", "green"].iter().for_each(|name| version(&place, name));
    place.link("inner", "blue");
    place.link("outer", "inner");
    place.link("policy/agents.toml", "../outer/agents.toml");
    let mut watched = Watched::start(place, "policy/agents.toml");
    turn(&watched.place, "inner", "green");
    assert_eq!(watched.next().await, "green");
    turn(&watched.place, "outer", "blue");
    assert_eq!(watched.next().await, "blue");
}

#[tokio::test]
async fn the_same_bytes_elsewhere_are_a_change_because_relative_paths_lead_elsewhere() {
    let place = Place::new();
    ["blue", "green"].iter().for_each(|name| version(&place, name));
    place.write("green/agents.toml", policy("blue"));
    place.link("current", "blue");
    let mut watched = Watched::start(place, "current/agents.toml");
    turn(&watched.place, "current", "green");
    assert_eq!(watched.next().await, "blue");
}

#[tokio::test]
async fn a_link_to_nothing_is_followed_once_there_is_something() {
    let place = Place::new();
    version(&place, "blue");
    place.link("current", "blue");
    let mut watched = Watched::start(place, "current/agents.toml");
    turn(&watched.place, "current", "far/away");
    assert_eq!(watched.next().await, "the file does not exist");
    fs::create_dir_all(watched.place.path("far/away")).unwrap();
    watched.save("far/away/agents.toml", &policy("arrived"));
    assert_eq!(watched.next().await, "arrived");
}

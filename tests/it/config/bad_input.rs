//! Tests of mistakes in the policy file, with the exact message that its author reads.
//!
//! `bad_input.txt` is the table. After a deliberate change of a message, run with `BESTOW_BLESS=1` and read the diff.

use std::fmt::Write;

use super::Place;
use crate::support::as_written;

const TABLE: &str = include_str!("bad_input.txt");

/// Separators: the text of a case begins with `CASE` and ends with `ANSWER`.
const CASE: &str = "=== ";
const ANSWER: &str = "\n---\n";

/// Returns the table with a newly computed answer for each case.
fn answered() -> String {
    let mut table = String::new();
    for case in TABLE.split(CASE).skip(1) {
        let (name, rest) = case.split_once('\n').unwrap();
        let (text, _) = rest.split_once(ANSWER).unwrap();
        writeln!(table, "{CASE}{name}\n{text}{ANSWER}{}\n", answer(text)).unwrap();
    }
    table
}

fn answer(text: &str) -> String {
    let place = Place::new();
    for directory in ["workspace", "elsewhere"] {
        std::fs::create_dir(place.path(directory)).unwrap();
    }
    place.link("workspace/link", "../elsewhere");
    place.link("circle", "circle");
    place.write("policy/agents.toml", text.replace("$DIR", place.text("").trim_end_matches('/')));
    place.complaints()
}

#[test]
fn every_mistake_is_named_with_its_place_and_what_to_do() {
    let answered = answered();
    as_written(concat!(env!("CARGO_MANIFEST_DIR"), "/it/config/bad_input.txt"), &answered);
}

#[test]
fn no_case_of_the_table_is_fine() {
    assert!(!TABLE.contains("---\nnothing\n"));
}

#[test]
fn all_mistakes_are_told_at_once_and_in_order() {
    let place = Place::with("[engine]\nreads = 1\n[agents.a]\nkind = 2\nowner = 3\nworking_dir = 4\n");
    let error = place.load().unwrap_err();
    let lines: Vec<_> = error.problems().iter().map(|problem| problem.position.unwrap().line).collect();
    assert_eq!(lines, [2, 4, 5, 6]);
}

#[test]
fn of_a_flood_of_mistakes_a_hundred_are_told_and_the_rest_counted() {
    let flood = (0..1000).fold(String::new(), |all, number| all + &format!("wrong{number} = 1\n"));
    let error = Place::with(&flood).load().unwrap_err();
    assert!(error.problems().len() <= 101);
    assert!(error.to_string().contains("and 901 more"), "{error}");
}

#[cfg(feature = "schedule")]
#[test]
fn a_time_zone_that_is_nearly_one_is_suggested() {
    let text = "[agents.lead]\nkind = \"cron\"\nowner = \"you\"\nworking_dir = \"$DIR/workspace\"\n\
                [tasks]\ntime_zone = \"Europe/Berln\"\n";
    let told = "agents.toml:6:13: `Europe/Berln` is not a time zone; did you mean `Europe/Berlin`?";
    assert_eq!(answer(text).trim_end(), told);
}

//! Tests of `bestow path --jsonl`.

use bestow::fs::{Answer, Op, Verdict};
use serde_json::json;

use super::{bestow, one_by_one, text, unheard};
use crate::fs::{cases::check_with, world::World};

fn lines(input: &[u8]) -> Vec<serde_json::Value> {
    let told = bestow(&["path", "--jsonl"], input);
    assert_eq!(told.status.code(), Some(0), "{}", text(&told.stderr));
    text(&told.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_row_of_the_table_is_answered_by_the_command_line_as_it_says() {
    check_with("the command line", |op: Op, allowed, path| -> Answer {
        let question = json!({ "op": op, "allowed": allowed, "path": path });
        let [answer] = &lines(format!("{question}\n").as_bytes())[..] else { panic!("one question, one answer") };
        serde_json::from_value(answer.clone()).unwrap()
    });
}

#[test]
fn what_is_no_question_is_denied_with_a_reason_and_the_others_are_answered_in_order() {
    let mut input = Vec::new();
    let no_questions: [&[u8]; 12] = [
        b"",
        b"{",
        b"null",
        b"[]",
        b"{\"op\":\"delete\",\"path\":\"/\"}",
        b"{\"op\":\"resolve\"}",
        b"{\"op\":\"resolve\",\"path\":7}",
        b"{\"op\":\"resolve\",\"path\":\"/\",\"allowed\":\"/\"}",
        b"{\"op\":\"resolve\",\"path\":\"/\",\"path\":\"/\"}",
        b"{\"op\":\"sanitize\",\"path\":\"\\ud800\"}",
        b"{\"op\":\"sanitize\",\"path\":\"/\xff\"}",
        &[b'['; 300_000],
    ];
    for line in no_questions {
        input.extend_from_slice(line);
        input.extend_from_slice(b"\n{\"op\":\"sanitize\",\"path\":\"/ok\",\"note\":1}\n");
    }
    let answers = lines(&input);
    assert_eq!(answers.len(), 2 * no_questions.len());
    for pair in answers.chunks(2) {
        assert_eq!(pair[0]["verdict"], "deny", "{pair:?}");
        assert!(pair[0]["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{pair:?}");
        assert_eq!(pair[1], json!({ "verdict": "ok" }));
    }
}

#[test]
fn a_line_that_is_too_long_is_denied_and_not_kept() {
    let mut input = vec![b'x'; 3 << 20];
    input.extend_from_slice(b"\n{\"op\":\"sanitize\",\"path\":\"/ok\"}");
    let answers = lines(&input);
    assert_eq!(answers.len(), 2);
    assert_eq!((&answers[0]["verdict"], &answers[1]["verdict"]), (&json!("deny"), &json!("ok")));
}

#[test]
fn no_questions_no_answers() {
    assert!(lines(b"").is_empty());
}

#[test]
fn each_answer_comes_before_the_next_question_is_put() {
    let question = json!({ "op": "resolve", "allowed": ["/"], "path": "/etc/.." });
    one_by_one(&["path", "--jsonl"], &[question.clone(), question.clone(), question], |_, answer| {
        let answer: Answer = serde_json::from_str(answer).unwrap();
        assert_eq!((answer.verdict, answer.real.as_deref()), (Verdict::Ok, Some("/")));
    });
}

#[test]
fn who_stops_listening_ends_it_without_a_panic() {
    assert_eq!(unheard(&["path", "--jsonl"], "{\"op\":\"sanitize\",\"path\":\"/\"}"), (Some(1), String::new()));
}

#[test]
fn a_relative_base_allows_nothing_wherever_the_caller_stands() {
    let world = World::new();
    let question = json!({ "op": "resolve", "allowed": [".", "", "workspace"], "path": world.text("workspace/f") });
    assert_eq!(lines(question.to_string().as_bytes())[0]["verdict"], "deny");
}

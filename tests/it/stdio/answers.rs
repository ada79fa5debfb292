//! Tests of the answers that the example's console accepts as an approval.

use bestow::stdio::Decision::{self, AllowAlways, AllowOnce, AllowSession, Deny};
use proptest::prelude::*;

#[path = "../../../examples/bots/answer.rs"]
mod answer;

use answer::understood;

fn decision(line: &str) -> Option<Decision> {
    understood(line).map(|(decision, _)| decision)
}

#[test]
fn only_a_whole_first_word_decides() {
    for (lines, meant) in [
        (["y", "Yes", " y "], AllowSession),
        (["o", "once", "ONCE"], AllowOnce),
        (["a", "always", "A "], AllowAlways),
        (["n", "no", "No"], Deny),
        (["d", "deny", "D"], Deny),
    ] {
        for line in lines {
            assert_eq!(understood(line), Some((meant, None)), "{line}");
        }
    }
    for line in [
        "", " ", "stop", "abort", "ask him", "okay, no", "s", "session", "yes!", "y,", "yn", "ok", "nope", "add",
        "o.k.", "\u{1b}[A", "\u{1b}[C", "\u{4}", "ｙ",
    ] {
        assert_eq!(understood(line), None, "{line}");
    }
}

#[test]
fn the_reply_to_an_unclear_line_names_every_answer() {
    let (_, answers) = answer::UNCLEAR.split_once("Type ").unwrap();
    let answers = answers.split([',', '(', ')']).flat_map(|part| part.split(" or ")).filter_map(decision);
    assert_eq!(
        answers.collect::<Vec<_>>(),
        [AllowSession, AllowSession, AllowOnce, AllowOnce, AllowAlways, AllowAlways, Deny, Deny]
    );
}

#[test]
fn the_words_after_it_are_for_whoever_asked() {
    assert_eq!(understood("n  not today "), Some((Deny, Some("not today"))));
    assert_eq!(understood("y\tgo"), Some((AllowSession, Some("go"))));
    assert!(answer::CHOICE.contains("what you write after it goes to whoever asked"));
}

proptest! {
    #[test]
    fn nothing_but_six_words_is_a_yes(line in "[ a-zA-Z,.]{0,12}") {
        let first = line.split_whitespace().next().unwrap_or_default().to_lowercase();
        let yes = matches!(decision(&line), Some(AllowSession | AllowOnce | AllowAlways));
        prop_assert_eq!(yes, ["y", "yes", "o", "once", "a", "always"].contains(&first.as_str()));
    }
}

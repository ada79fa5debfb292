//! A round of a loop that is not followed changes no answer.

use super::golden::lines;
use crate::{Classifier, interpreter::FOLLOWS_EACH};

/// Loops around a line.
const LOOPS: &[&str] = &[
    "for f in a b c; do LINE\ndone",
    "while read -r f; do LINE\ndone",
    "for f in a b; do LINE\nLINE\ndone",
    "for f in 1 2; do for g in 3 4; do LINE\ndone\ndone",
    "x=1; for f in *; do x=$x; y=$f; LINE\ndone",
    "for f in a b; do echo \"$(LINE)\"\ndone",
    "LINE\nuntil LINE\ndo LINE\ndone",
];

#[test]
fn a_round_that_is_not_followed_changes_no_answer() {
    let classifiers = [Classifier::default(), Classifier::default().in_used_shell()];
    for (number, line) in lines().iter().enumerate() {
        let form = LOOPS[number % LOOPS.len()];
        let text = form.replace("LINE", line);
        for classifier in &classifiers {
            FOLLOWS_EACH.set(false);
            let repeated = classifier.judge(&text);
            FOLLOWS_EACH.set(true);
            let followed = classifier.judge(&text);
            assert_eq!(repeated.classification, followed.classification, "{text}");
            assert_eq!(repeated.commands, followed.commands, "{text}");
        }
    }
}

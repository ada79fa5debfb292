//! The answers that a person types, and their meaning.

use bestow::stdio::Decision;

/// The possible answers.
pub(crate) const CHOICE: &str = "[y]es, for this session   [o]nce   [a]lways   [n]o\n  \
                                 The first word decides; what you write after it goes to whoever asked. Then Enter:";

/// The reply to a line that is no answer.
pub(crate) const UNCLEAR: &str =
    "This is not an answer. Type y (yes, for this session), o (once), a (always) or n (no), then Enter.";

/// The decision, and the words after it. None if the text is no answer: only a whole word counts, and an empty line is
/// no approval.
pub(crate) fn understood(line: &str) -> Option<(Decision, Option<&str>)> {
    let line = line.trim();
    let (first, words) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let decision = match first.to_ascii_lowercase().as_str() {
        "y" | "yes" => Decision::AllowSession,
        "o" | "once" => Decision::AllowOnce,
        "a" | "always" => Decision::AllowAlways,
        "n" | "no" | "d" | "deny" => Decision::Deny,
        _ => return None,
    };
    let words = words.trim();
    Some((decision, (!words.is_empty()).then_some(words)))
}

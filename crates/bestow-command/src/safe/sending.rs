//! The words that a program sends to another machine.

use crate::{
    options::Options,
    programs::Reach,
    word::{Gaps, Known, Word, may_be_empty},
};

/// Returns true if each of `words` stays on this machine or may be public. A word with a variable, a pattern or the
/// output of a command may contain a secret. A name that is looked up is sent too.
pub(super) fn stays_or_is_written(words: &[Word], reach: Reach) -> bool {
    match reach {
        Reach::Here | Reach::Web => true,
        Reach::Addresses => words.iter().all(|word| !may_be_address(word) || may_be_told(word)),
        Reach::Service => words.iter().all(|word| may_be_told(word) || is_of_environment(word)),
        Reach::Elsewhere => words.iter().all(may_be_told),
    }
}

/// Returns true if every value may be public, and every operand may be public or names this machine.
pub(super) fn fetches_what_is_written(options: &Options<'_>) -> bool {
    let fetched = |operand: &&Word| may_be_told(operand) || (is_at_home(operand) && !operand.has_output());
    options.values.iter().all(|value| may_be_told(value)) && options.operands.iter().all(fetched)
}

/// Returns true if a word is written out. A variable whose name suggests an address, a number or a name is accepted
/// too.
fn may_be_told(word: &Word) -> bool {
    let named = word.is_named() && !word.is_wild() && !word.has_output() && !word.text().has_certain_gap();
    named || is_written_out(word)
}

/// Returns true if a word is known from the text alone, so that a reader of the line sees the sent data.
fn is_written_out(word: &Word) -> bool {
    let known = word.known() == Known::Fully && !word.may_split() && !word.is_open() && !word.has_output();
    known && !word.has_home() && (!word.is_pattern() || is_address_with_signs(word.text()))
}

/// Returns true if a word contains an environment variable and no other unknown part.
fn is_of_environment(word: &Word) -> bool {
    let hidden = word.has_output() || word.may_be_secret() || word.is_open() || word.is_pattern();
    word.is_of_environment() && !hidden && !word.has_home()
}

/// Returns true for an address with pattern characters, such as `https://host/path?a=b`. No file has such a name.
fn is_address_with_signs(text: &str) -> bool {
    let before = text.split(['*', '?', '[', '+', '@', '!']).next().unwrap_or_default();
    let is_path = before.split_once('/').is_some_and(|(host, _)| !host.is_empty() && !host.starts_with('.'));
    before.contains("://") || (is_path && !text.contains(['*', '[']))
}

fn may_be_address(word: &Word) -> bool {
    word.text().contains(':') || (word.is_wild() && !word.text().is_rooted() && !word.text().starts_with(['.', '-']))
}

/// Returns true for an address on this machine.
fn is_at_home(word: &Word) -> bool {
    let home = ["http://localhost", "http://127.0.0.1", "https://localhost", "localhost", "127.0.0.1", "http://[::1]"];
    home.iter().any(|host| word.text().strip_prefix(host).is_some_and(|rest| is_behind_host(rest, word)))
}

/// Returns true if `rest` may follow the name of this machine: a port, a path, a query. A `@` before the path would
/// turn the name into a user and a password.
fn is_behind_host(rest: &str, word: &Word) -> bool {
    let authority = rest.split('/').next().unwrap_or_default();
    let port = authority.strip_prefix(':').map(|port| port.split('?').next().unwrap_or_default());
    let digits = |port: &str| port.chars().all(|c| c.is_ascii_digit() || (may_be_empty(c) && !word.is_wild()));
    (rest.is_empty() || rest.starts_with(['/', ':', '?']))
        && !authority.contains(['@', '\\', '#'])
        && port.is_none_or(digits)
}

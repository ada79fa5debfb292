//! Secrets with a known form, at any place in a text.

use super::forms::{SHORTEST_FORM, has_form, is_of_bestow, is_of_discord};

/// Returns the position in `run` at which a secret begins. `run` has only letters, digits, `-`, `_` and `.`. The secret
/// ends with the run.
pub(super) fn begins_in(run: &str) -> Option<usize> {
    let mut before = None;
    let longest_start = run.len().checked_sub(SHORTEST_FORM)?;
    for (at, c) in run.char_indices().take_while(|(at, _)| *at <= longest_start) {
        let rest = run.get(at..).unwrap_or_default();
        if !before.is_some_and(|c: char| c.is_ascii_alphanumeric()) && is_one(rest) {
            return Some(at);
        }
        before = Some(c);
    }
    None
}

fn is_one(text: &str) -> bool {
    has_form(text) || is_of_bestow(text) || is_of_discord(text) || is_sk(text) || is_jwt(text)
}

/// Returns true for `sk-` followed by at least 16 characters with two digits, which no word has.
fn is_sk(text: &str) -> bool {
    text.strip_prefix("sk-")
        .is_some_and(|rest| rest.len() >= 16 && rest.bytes().take(64).filter(u8::is_ascii_digit).count() >= 2)
}

/// Returns true for the base64 form of `{"`, followed by at least one more part.
fn is_jwt(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("eyJ") else { return false };
    let head = rest.bytes().take(1024).position(|byte| byte == b'.');
    head.is_some_and(|head| head >= 8 && rest.len() >= head + 9)
}

/// Returns true if a word looks random.
pub(super) fn is_random(word: &str) -> bool {
    word.len() >= 16 && is_mixed(word, 3.0)
}

/// Returns true if a word looks like a token: it has a known form, or it is too long and mixed for the name of a
/// program.
pub(super) fn is_token(word: &str) -> bool {
    (word.len() >= 10 && is_mixed(word, 2.8)) || is_one(word)
}

/// Returns true if a word has at least two digits, two letters, and `least` bits of entropy per character.
fn is_mixed(word: &str, least: f64) -> bool {
    let (mut counts, mut total) = ([0_u32; 256], 0_u32);
    let (mut digits, mut letters) = (0, 0);
    for b in word.bytes().take(256) {
        if let Some(count) = counts.get_mut(usize::from(b)) {
            *count += 1;
        }
        total += 1;
        digits += u32::from(b.is_ascii_digit());
        letters += u32::from(b.is_ascii_alphabetic());
    }
    let share = |count: u32| f64::from(count) / f64::from(total);
    let bits: f64 = counts.iter().filter(|count| **count > 0).map(|count| -share(*count) * share(*count).log2()).sum();
    digits >= 2 && letters >= 2 && bits >= least
}

#[cfg(test)]
mod tests {
    use super::super::forms::{Body, FORMS, SHORTEST_FORM};

    #[test]
    fn no_form_is_shorter_than_the_shortest() {
        let length = |(start, body): &(&str, Body)| match body {
            Body::Any(least) | Body::Hex(least) => start.len() + least,
        };
        assert_eq!(FORMS.iter().map(length).min(), Some(SHORTEST_FORM));
        // `sk-` has 16 more characters. `eyJ` has 8 more in the head, and 9 after it.
        assert!(SHORTEST_FORM <= "sk-".len() + 16 && SHORTEST_FORM <= "eyJ".len() + 8 + 9);
    }
}

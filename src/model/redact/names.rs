//! Names of options, variables and fields whose value is a secret.

use bestow_command::internal::{SecretOption, base_name, secret_option, secret_words};

/// The probability that the value of a name is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strength {
    /// The value is at a place where a known program or a URL has a secret and nothing else.
    Certain,
    /// The value is a secret, unless the text could run it as a program later and it does not look like a token.
    Strong,
    /// The value is a secret if it looks random.
    Weak,
}

/// The endings of words that suggest a secret.
const ENDS: [&str; 8] = ["password", "passwd", "passphrase", "passwort", "pass", "token", "secret", "apikey"];

/// Words with such an ending that do not suggest a secret.
const NOT: [&str; 5] = ["bypass", "compass", "trespass", "underpass", "overpass"];

/// Whole words that suggest a secret.
const WHOLE: [&str; 12] = [
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "credentials",
    "creds",
    "jwt",
    "otp",
    "passcode",
    "psk",
    "pw",
    "pwd",
];

/// Words that may suggest a secret.
const WEAK: [&str; 7] = ["key", "keys", "auth", "secrets", "sig", "signature", "tokens"];

/// Names in the query of a URL whose value is a secret there, and seldom elsewhere.
const IN_QUERY: [&str; 3] = ["code", "session", "sid"];

/// Returns true if a name ends with the last two letters of a word that suggests a secret. Most names do not, so this
/// test avoids further comparisons.
fn ends_like_one(name: &str) -> bool {
    let Some((before, [one, last])) = name.trim_end_matches(['_', '-', '.']).as_bytes().split_last_chunk() else {
        return false;
    };
    let letters = [one.to_ascii_lowercase(), last.to_ascii_lowercase()];
    // Of these words, one has no letter before the last two.
    (!before.is_empty() || letters == *b"pw")
        && matches!(
            &letters,
            b"al"
                | b"de"
                | b"ds"
                | b"en"
                | b"er"
                | b"et"
                | b"ey"
                | b"ie"
                | b"ig"
                | b"ls"
                | b"ns"
                | b"on"
                | b"rd"
                | b"pw"
                | b"re"
                | b"rt"
                | b"se"
                | b"sk"
                | b"ss"
                | b"th"
                | b"tp"
                | b"ts"
                | b"wd"
                | b"wt"
                | b"ys"
        )
}

/// Classifies a name, such as `--db-password`, `API_KEY` or `clientSecret`. Only its last word counts: the value of
/// `token-file` is a file.
pub(super) fn strength(name: &str) -> Option<Strength> {
    if !ends_like_one(name) {
        return None;
    }
    // These values are a directory, or a program that asks for a password.
    if matches!(name, "PWD" | "OLDPWD" | "pwd") || name.to_ascii_lowercase().ends_with("askpass") {
        return None;
    }
    let words = last_words(name);
    let (last, before) = (words.0.as_str(), words.1.as_str());
    const KEYS: [&str; 14] = [
        "access",
        "account",
        "api",
        "app",
        "auth",
        "client",
        "encryption",
        "license",
        "master",
        "private",
        "secret",
        "service",
        "session",
        "signing",
    ];
    let ends = ENDS.iter().any(|end| last.ends_with(end)) && !NOT.contains(&last);
    let is_key = last == "key" && !before.is_empty() && (KEYS.contains(&before) || is_variable(name));
    if ends || is_key || WHOLE.contains(&last) {
        return Some(Strength::Strong);
    }
    WEAK.contains(&last).then_some(Strength::Weak)
}

/// Classifies the name of a field in JSON. Below some names, a list or an object has nothing but secrets.
pub(super) fn strength_of_field(name: &str, has_fields: bool) -> Option<Strength> {
    let last = last_words(name).0;
    let is_whole = has_fields && matches!(last.as_str(), "cookies" | "secrets" | "tokens");
    if is_whole { Some(Strength::Strong) } else { strength(name) }
}

/// Returns true for a name in the query of a URL whose value is a secret.
pub(super) fn is_secret_in_query(name: &str) -> bool {
    strength(name).is_some() || WEAK.contains(&name) || IN_QUERY.contains(&name)
}

/// Returns true for a program whose words or options have secrets at places of their own.
pub(super) fn takes_secrets(program: &str) -> bool {
    option_of(base_name(program)).is_some() || !secret_words_of(program).is_empty()
}

fn is_variable(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

/// Returns the last word of a name and the word before it, in lower case.
fn last_words(name: &str) -> (String, String) {
    let (mut words, mut word, mut small_before) = ((String::new(), String::new()), String::new(), false);
    for c in name.chars() {
        let begins = c.is_ascii_uppercase() && small_before;
        let parts = matches!(c, '_' | '-' | '.');
        if (begins || parts) && !word.is_empty() {
            words = (std::mem::take(&mut word), words.0);
        }
        if !parts {
            word.push(c.to_ascii_lowercase());
        }
        small_before = c.is_ascii_lowercase();
    }
    if word.is_empty() { words } else { (word, words.0) }
}

/// Returns the short option of `program` that takes a secret, if there is one.
pub(super) fn option_of(program: &str) -> Option<SecretOption> {
    let mut program = program;
    while let Some(stem) = program.strip_suffix(".exe") {
        program = stem;
    }
    secret_option(program)
}

/// Returns the places of secrets among the words of `program`, which may be written with its path.
pub(super) fn secret_words_of(program: &str) -> &'static [&'static str] {
    secret_words(base_name(program))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_that_speaks_of_a_secret_ends_like_one() {
        for word in ENDS.iter().chain(&WHOLE).chain(&WEAK) {
            assert!(ends_like_one(word) && strength(&format!("X_{word}_")).is_some(), "{word}");
            assert!(ends_like_one(&word.to_ascii_uppercase()), "{word}");
        }
        assert!(WHOLE.iter().all(|word| strength(word) == Some(Strength::Strong) || *word == "pwd"));
        assert!(!ends_like_one("ey") && !ends_like_one("--") && !ends_like_one("main"));
    }
}

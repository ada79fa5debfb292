//! Uses of programs that print data that is usually secret. They are read-only, but the strict profile prompts for
//! them.

use crate::{programs::Program, word::Word};

/// Returns true if a program prints data that is usually secret, with the words `rest`.
pub(super) fn prints(known: &Program, rest: &[Word]) -> bool {
    rest.iter().any(is_of_environment) || prints_settings(known, rest) || reads_environment(known, rest)
}

/// Returns true for a word with an environment variable whose name suggests a secret.
fn is_of_environment(word: &Word) -> bool {
    word.may_be_secret() && word.is_of_environment()
}

fn prints_settings(known: &Program, rest: &[Word]) -> bool {
    let mut secrets = known.secrets.iter();
    secrets.any(|subcommand| {
        let mut words = rest.iter();
        subcommand.split(' ').all(|wanted| words.any(|word| is_word(word.text(), wanted)))
    })
}

/// Returns true if `text` contains the word `wanted`: alone, in a list (`pods,secrets`), or before other text
/// (`secret/x`).
fn is_word(text: &str, wanted: &str) -> bool {
    let mut names = text.split([',', '/', ':']);
    names.any(|name| name == wanted || name.strip_suffix('s') == Some(wanted))
}

fn reads_environment(known: &Program, rest: &[Word]) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut words = known.environment.iter();
    words.any(|wanted| {
        let stands_in = |text: &str| {
            text.match_indices(wanted).any(|(at, found)| {
                let (before, behind) = (text.get(..at).unwrap_or_default(), text.get(at + found.len()..));
                // `.env` is a field.
                !before.ends_with(|c| is_letter(c) || c == '.') && !behind.unwrap_or_default().starts_with(is_letter)
            })
        };
        rest.iter().any(|word| stands_in(word.text()))
    })
}

//! Quoting of words for a shell.

/// Quotes a word so that a shell reads it unchanged.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A redirection of standard input to itself. It changes nothing at run time. It tells the classifier that the command
/// reads an input whose content is unknown.
pub const GIVEN: &str = "<&0";

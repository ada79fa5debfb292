//! The dialects of shells that read a text.

use crate::syntax::{is_name, tree::Parsed};

/// The part of bash's syntax that a shell reads like bash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// All of it, because the shell is bash.
    Bash,
    /// All except syntax that only bash knows.
    Posix,
    /// Plain words and lists only.
    Plain,
    /// An empty part, for other shells.
    Foreign,
}

impl Dialect {
    /// Returns the dialect of the shell `name`.
    pub(crate) fn of(name: &str) -> Self {
        match name {
            "bash" | "rbash" | "bash5" => Dialect::Bash,
            "sh" | "dash" | "ash" => Dialect::Posix,
            "zsh" | "ksh" | "mksh" | "fish" => Dialect::Plain,
            _ => Dialect::Foreign,
        }
    }

    /// Returns true if the shell reads `text`, which was parsed as bash, in the way bash does.
    pub(crate) fn reads(self, text: &str, parsed: &Parsed) -> bool {
        match self {
            Dialect::Bash => true,
            Dialect::Posix => !parsed.bash_only,
            Dialect::Plain => !parsed.bash_only && is_plain(text),
            Dialect::Foreign => false,
        }
    }
}

/// Words that may set variables or change the state of a shell otherwise. Shells have different variables that steer
/// them, and different builtins.
const CHANGING: &[&str] = &[
    ".",
    "[[",
    "alias",
    "autoload",
    "declare",
    "emulate",
    "eval",
    "export",
    "for",
    "foreach",
    "function",
    "functions",
    "getopts",
    "integer",
    "let",
    "local",
    "nameref",
    "pushd",
    "popd",
    "read",
    "readonly",
    "repeat",
    "return",
    "select",
    "set",
    "setopt",
    "shift",
    "source",
    "trap",
    "typeset",
    "unset",
    "unsetopt",
    "zmodload",
];

/// Returns true for a text of words, lists, pipes and quotes, without variables, and without characters that are
/// special only in some shells.
fn is_plain(text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || c.is_ascii_whitespace() || "-_./,:@%+;|&\"'*?>=".contains(c);
    let mut before = ' ';
    let is_text_plain = text.chars().all(|c| {
        let starts = !before.is_alphanumeric();
        let odd = (c == '=' && starts) || (before == '&' && c == '>');
        before = c;
        plain(c) && !odd
    });
    let divides = |c: char| c.is_whitespace() || matches!(c, ';' | '|' | '&');
    let changes = |word: &str| CHANGING.contains(&word) || word.split_once('=').is_some_and(|(name, _)| is_name(name));
    is_text_plain && !text.split(divides).any(changes)
}

//! The dialects of shells that read a text.

use crate::{
    syntax::{is_name, tree::Parsed},
    values::Shell,
};

/// The part of bash's syntax that a shell reads like bash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// All of it, because the shell is bash.
    Bash,
    /// All in which neither dash nor zsh runs or writes more than bash: the shell is one of the three.
    Common,
    /// All in which zsh runs or writes no more than bash.
    Zsh,
    /// All except syntax that only bash knows.
    Posix,
    /// Plain words and lists only.
    Plain,
    /// An empty part, for other shells.
    Foreign,
}

impl Dialect {
    /// Returns the dialect of the shell of a command line.
    pub(crate) fn of_shell(shell: Shell) -> Self {
        match shell {
            Shell::Bash => Dialect::Bash,
            Shell::Dash => Dialect::Posix,
            Shell::Zsh => Dialect::Zsh,
            Shell::Unknown => Dialect::Common,
            Shell::Other => Dialect::Foreign,
        }
    }

    /// Returns true if the shell may be zsh, which has variables of its own that steer programs.
    pub(crate) fn may_be_zsh(self) -> bool {
        matches!(self, Dialect::Common | Dialect::Zsh | Dialect::Plain | Dialect::Foreign)
    }

    /// Returns true if the shell may expand escapes in the words of `echo`, and need not know the builtins of bash.
    pub(crate) fn is_certainly_bash(self) -> bool {
        self == Dialect::Bash
    }

    /// Returns true if the shell may be dash, to which `name+=value` is the name of a program.
    pub(crate) fn may_be_dash(self) -> bool {
        !matches!(self, Dialect::Bash | Dialect::Zsh)
    }

    /// Returns true if the shell may be none that expands braces as bash does, with another effect.
    pub(crate) fn needs_posix(self) -> bool {
        matches!(self, Dialect::Posix | Dialect::Plain | Dialect::Foreign)
    }

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
            Dialect::Common => !parsed.elsewhere.dash && !parsed.elsewhere.zsh,
            Dialect::Zsh => !parsed.elsewhere.zsh,
            Dialect::Posix => !parsed.bash_only && !parsed.elsewhere.dash,
            Dialect::Plain => !parsed.bash_only && !parsed.elsewhere.zsh && is_plain(text),
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

//! The shell that runs a command line.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::spoken::base_name;

/// The shell that runs a command line. It decides what the line means: the classifier reads bash, and knows where dash
/// and zsh run something else.
///
/// ```
/// use bestow_command::values::Shell;
/// assert_eq!("/usr/bin/zsh".parse(), Ok(Shell::Zsh));
/// assert_eq!("sh".parse(), Ok(Shell::Unknown), "bash, dash, or zsh in the role of sh");
/// assert_eq!("fish".parse(), Ok(Shell::Other));
/// assert!("no-shell".parse::<Shell>().is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[allow(clippy::exhaustive_enums, reason = "a new shell must be met where lines are read")]
pub enum Shell {
    /// One of bash, dash and zsh. A line is safe only if it is in each of them.
    #[default]
    Unknown,
    /// GNU bash.
    Bash,
    /// dash, the `sh` of Debian.
    Dash,
    /// zsh.
    Zsh,
    /// Another shell. Nothing is proven about its lines.
    Other,
}

/// The names of shells whose language is not known here.
const OTHERS: &[&str] = &[
    "ash",
    "busybox",
    "cmd",
    "csh",
    "elvish",
    "fish",
    "ksh",
    "ksh93",
    "mksh",
    "nu",
    "oksh",
    "other",
    "osh",
    "posh",
    "powershell",
    "pwsh",
    "rc",
    "tcsh",
    "xonsh",
    "yash",
];

impl Shell {
    /// Returns the name of the shell.
    pub fn as_str(self) -> &'static str {
        match self {
            Shell::Unknown => "unknown",
            Shell::Bash => "bash",
            Shell::Dash => "dash",
            Shell::Zsh => "zsh",
            Shell::Other => "other",
        }
    }
}

impl fmt::Display for Shell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The error for a text that is not the name or the path of a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidShell(String);

impl fmt::Display for InvalidShell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name: String = self.0.chars().take(40).collect();
        write!(
            f,
            "no shell is known as `{}`: name `bash`, `dash`, `zsh`, `unknown` for one of these three, or `other`",
            super::Escaped(&name)
        )
    }
}

impl std::error::Error for InvalidShell {}

impl FromStr for Shell {
    type Err = InvalidShell;

    /// Reads the name of a shell, or the path of its program.
    fn from_str(text: &str) -> Result<Shell, InvalidShell> {
        match base_name(text) {
            "sh" | "unknown" => Ok(Shell::Unknown),
            "bash" | "rbash" => Ok(Shell::Bash),
            "dash" => Ok(Shell::Dash),
            "zsh" | "rzsh" => Ok(Shell::Zsh),
            name if OTHERS.contains(&name) => Ok(Shell::Other),
            _ => Err(InvalidShell(text.to_owned())),
        }
    }
}

impl TryFrom<String> for Shell {
    type Error = InvalidShell;

    fn try_from(text: String) -> Result<Shell, InvalidShell> {
        text.parse()
    }
}

impl From<Shell> for String {
    fn from(shell: Shell) -> String {
        shell.as_str().to_owned()
    }
}

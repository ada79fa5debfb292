//! Names whose files are run, or obeyed, by other programs: whoever may write a directory may not write these in it.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::SanitizedPath;

/// One name that is sensitive besides the built-in ones: a whole name, or with a `*` at its end or start how a name
/// begins or ends. Compared without regard to ASCII case.
///
/// ```
/// use bestow::{InvalidSensitiveName, SensitiveName};
/// assert!("*.p12".parse::<SensitiveName>().is_ok());
/// assert_eq!("deploy/prod.yml".parse::<SensitiveName>(), Err(InvalidSensitiveName::NotAName));
/// assert_eq!("*".parse::<SensitiveName>(), Err(InvalidSensitiveName::TooWide));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SensitiveName(String);

/// Why a text is not a [`SensitiveName`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidSensitiveName {
    /// It is empty, has a `/` or a control character, is `.` or `..`, or is longer than a name can be.
    NotAName,
    /// It has more than one `*`, or one in the middle.
    Pattern,
    /// It is every name.
    TooWide,
}

impl fmt::Display for InvalidSensitiveName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InvalidSensitiveName::NotAName => "it is not the name of a file: no path, and no control characters",
            InvalidSensitiveName::Pattern => "one `*` may stand at its start or at its end, and nowhere else",
            InvalidSensitiveName::TooWide => "that would be every name",
        })
    }
}

impl std::error::Error for InvalidSensitiveName {}

impl FromStr for SensitiveName {
    type Err = InvalidSensitiveName;

    fn from_str(text: &str) -> Result<SensitiveName, InvalidSensitiveName> {
        let name = text.strip_prefix('*').or_else(|| text.strip_suffix('*')).unwrap_or(text);
        if text == "*" || text == "**" {
            Err(InvalidSensitiveName::TooWide)
        } else if matches!(text, "" | "." | "..")
            || text.len() > MAX_NAME
            || text.contains('/')
            || text.contains(char::is_control)
        {
            Err(InvalidSensitiveName::NotAName)
        } else if name.contains('*') {
            Err(InvalidSensitiveName::Pattern)
        } else {
            Ok(SensitiveName(text.to_owned()))
        }
    }
}

impl TryFrom<String> for SensitiveName {
    type Error = InvalidSensitiveName;

    fn try_from(text: String) -> Result<SensitiveName, InvalidSensitiveName> {
        text.parse()
    }
}

impl From<SensitiveName> for String {
    fn from(name: SensitiveName) -> String {
        name.0
    }
}

impl fmt::Display for SensitiveName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl SensitiveName {
    /// The name itself, if it is one and no pattern.
    #[cfg(feature = "sandbox")]
    pub(crate) fn whole(&self) -> Option<&str> {
        (!self.0.contains('*')).then_some(&*self.0)
    }

    fn matches(&self, name: &str) -> bool {
        if let Some(end) = self.0.strip_prefix('*') {
            ends_with(name, end)
        } else if let Some(start) = self.0.strip_suffix('*') {
            starts_with(name, start)
        } else {
            name.eq_ignore_ascii_case(&self.0)
        }
    }
}

/// What a file system takes.
const MAX_NAME: usize = 255;

/// Files and directories that are sensitive wherever they stand, compared without regard to ASCII case.
///
/// Version control (hooks and configuration run programs), agents and editors (configuration runs programs), shells
/// and tools (start-up files run by themselves), scheduled tasks, and where secrets are kept for programs to read.
pub(crate) const SENSITIVE_NAMES: [&str; 30] = [
    ".agents",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".claude",
    ".codex",
    ".cursor",
    ".devcontainer",
    ".env",
    ".envrc",
    ".gemini",
    ".git",
    ".gitconfig",
    ".gitmodules",
    ".gnupg",
    ".husky",
    ".idea",
    ".mcp.json",
    ".npmrc",
    ".profile",
    ".ssh",
    ".vscode",
    ".zlogin",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "agents.toml",
    "credentials",
    "task.md",
];

/// Below a `.git` that somebody was given by name, these still need to be named themselves.
const BELOW_GIT: [&str; 5] = ["hooks", "config", "config.worktree", "commondir", "modules"];

/// The deepest part of `path` that is sensitive, if any is: writing there needs a right for that part or below it.
/// `added` are names besides the built-in ones.
///
/// Says nothing about the disk. The path is taken to have no links.
pub(crate) fn sensitive_part(path: &SanitizedPath, added: &[SensitiveName]) -> Option<SanitizedPath> {
    let mut deepest = None;
    let (mut end, mut above) = (0, "");
    for name in path.as_str().split('/').skip(1) {
        end += name.len() + 1;
        let is_below_git = above.eq_ignore_ascii_case(".git") && is_one_of(name, &BELOW_GIT);
        // A task of the heartbeat.
        let is_task = above.eq_ignore_ascii_case("heartbeat") && ends_with(name, ".md");
        if is_sensitive_name(name) || is_below_git || is_task || added.iter().any(|added| added.matches(name)) {
            deepest = path.as_str().get(..end);
        }
        above = name;
    }
    // A part of a path is a path.
    deepest.and_then(|part| part.parse().ok())
}

/// Whether a file or directory of this name is sensitive wherever it stands, whatever is added.
fn is_sensitive_name(name: &str) -> bool {
    // Most names are none of these, and do not even begin like one.
    if makes_repository(name) {
        return true;
    }
    let could_be = |first: &u8| matches!(first, b'.' | b'a' | b'A' | b'c' | b'C' | b'i' | b'I' | b't' | b'T');
    let may_end_so = matches!(name.as_bytes().last(), Some(b'm' | b'M' | b'y' | b'Y'));
    if !name.as_bytes().first().is_some_and(could_be) && !may_end_so {
        return false;
    }
    is_one_of(name, &SENSITIVE_NAMES)
        || starts_with(name, ".env.")
        || starts_with(name, "credentials.")
        || is_one_of(name, &["id_rsa", "id_ecdsa", "id_ed25519"])
        || [".pem", ".key"].iter().any(|end| ends_with(name, end))
}

/// Whether a file of this name makes a repository of git of the directory in which it lies, which `git status` then obeys.
/// Only where the disk takes `head` for the same is that a name as well.
fn makes_repository(name: &str) -> bool {
    name == "HEAD" || (cfg!(target_os = "macos") && name.eq_ignore_ascii_case("HEAD"))
}

fn is_one_of(name: &str, list: &[&str]) -> bool {
    list.iter().any(|other| name.eq_ignore_ascii_case(other))
}

fn starts_with(name: &str, start: &str) -> bool {
    name.get(..start.len()).is_some_and(|begins| begins.eq_ignore_ascii_case(start))
}

fn ends_with(name: &str, end: &str) -> bool {
    let start = name.len().checked_sub(end.len());
    start.and_then(|start| name.get(start..)).is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(path: &str) -> Option<String> {
        sensitive_part(&path.parse().unwrap(), &[]).map(String::from)
    }

    #[test]
    fn the_deepest_sensitive_part_counts_in_any_case() {
        assert_eq!(part("/w/src/main.rs"), None);
        assert_eq!(part("/w/.gitignore"), None);
        assert_eq!(part("/w/.GIT/index").as_deref(), Some("/w/.GIT"));
        assert_eq!(part("/w/.git/hooks/pre-commit").as_deref(), Some("/w/.git/hooks"));
        assert_eq!(part("/w/.env.local").as_deref(), Some("/w/.env.local"));
        assert_eq!(part("/w/credentials.json").as_deref(), Some("/w/credentials.json"));
        assert_eq!(part("/w/a/Server.PEM").as_deref(), Some("/w/a/Server.PEM"));
        assert_eq!(part("/t/cron/a/Task.md").as_deref(), Some("/t/cron/a/Task.md"));
        assert_eq!(part("/t/heartbeat/b.md").as_deref(), Some("/t/heartbeat/b.md"));
        assert_eq!(part("/t/heartbeat/b.txt"), None);
        assert_eq!(part("/"), None);
    }

    #[test]
    fn what_is_added_is_a_name_its_beginning_or_its_end_in_any_case() {
        let added: Vec<SensitiveName> =
            ["Secrets.yaml", "*.p12", "prod-*"].map(|text| text.parse().unwrap()).into_iter().collect();
        let part = |path: &str| sensitive_part(&path.parse().unwrap(), &added).map(String::from);
        assert_eq!(part("/w/secrets.YAML").as_deref(), Some("/w/secrets.YAML"));
        assert_eq!(part("/w/a/key.P12").as_deref(), Some("/w/a/key.P12"));
        assert_eq!(part("/w/PROD-eu/x").as_deref(), Some("/w/PROD-eu"));
        assert_eq!(part("/w/.git/x").as_deref(), Some("/w/.git"));
        for plain in ["/w/secrets.yaml.txt", "/w/p12", "/w/production", "/w/é"] {
            assert_eq!(part(plain), None);
        }
    }

    #[test]
    fn what_is_no_name_is_refused_with_the_reason() {
        let refused = |text: &str| text.parse::<SensitiveName>().unwrap_err();
        let long = "x".repeat(256);
        for text in ["", ".", "..", "a/b", "/etc/x", "a\0", "a\n", &long] {
            assert_eq!(refused(text), InvalidSensitiveName::NotAName, "{text:?}");
        }
        assert_eq!(refused("a*b"), InvalidSensitiveName::Pattern);
        assert_eq!(refused("*a*"), InvalidSensitiveName::Pattern);
        assert_eq!((refused("*"), refused("**")), (InvalidSensitiveName::TooWide, InvalidSensitiveName::TooWide));
    }
}

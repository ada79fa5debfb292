//! Sensitive names. Other programs run or obey the files of these names, so write access to a directory does not
//! include them.

mod table;

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::SanitizedPath;
pub use table::Columns;
use table::{At, ends_with, starts_with};

/// A sensitive name besides the built-in ones. It is a whole name. A `*` at its end or start makes it a prefix or
/// suffix. The comparison ignores ASCII case.
///
/// ```
/// use bestow_command::values::{InvalidSensitiveName, SensitiveName};
/// assert!("*.p12".parse::<SensitiveName>().is_ok());
/// assert_eq!("deploy/prod.yml".parse::<SensitiveName>(), Err(InvalidSensitiveName::NotAName));
/// assert_eq!("*".parse::<SensitiveName>(), Err(InvalidSensitiveName::TooWide));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SensitiveName(String);

/// The reason why a text is not a [`SensitiveName`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidSensitiveName {
    /// The text is empty, has a `/` or a control character, is `.` or `..`, or is longer than a file name can be.
    NotAName,
    /// The text has more than one `*`, or a `*` in the middle.
    Pattern,
    /// The text matches every name.
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
    /// Returns the name, unless it is a pattern.
    #[doc(hidden)]
    pub fn whole(&self) -> Option<&str> {
        (!self.0.contains('*')).then_some(&*self.0)
    }

    /// Returns true if this name matches a component of `path`, which may be any text.
    #[doc(hidden)]
    pub fn is_in(&self, path: &str) -> bool {
        path.split(['/', '\\']).any(|name| self.matches(name))
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

pub use table::{
    OBEYED_IN_REPOSITORY, REPOSITORY, fingerprint as table_fingerprint, held_in_place, makes_a_repository,
};
#[doc(hidden)]
pub use table::{documented as documented_names, examples as sensitive_examples};

/// The length limit of file systems for a name, in bytes.
const MAX_NAME: usize = 255;

/// Returns the deepest sensitive part of `path`, if there is one. Writing there needs a permission for that part or
/// below it. `added` are names besides the built-in ones.
///
/// This function does not read the disk. It assumes that the path has no links.
pub fn sensitive_part<'p>(path: &'p SanitizedPath, added: &[SensitiveName]) -> Option<&'p str> {
    deepest_part(path, added, Columns::is_sensitive)
}

/// Returns the deepest part of `path` that no command with a permission above it may write, not even a confined one.
pub fn part_kept_from_commands<'p>(path: &'p SanitizedPath, added: &[SensitiveName]) -> Option<&'p str> {
    deepest_part(path, added, Columns::is_kept_from_commands)
}

fn deepest_part<'p>(
    path: &'p SanitizedPath,
    added: &[SensitiveName],
    counts: impl Fn(Columns) -> bool,
) -> Option<&'p str> {
    let (mut deepest, mut end, mut above) = (None, 0, "");
    for (depth, name) in path.names().enumerate() {
        end += name.len() + 1;
        let is_outer = holds_worktree(name, || path.names().skip(depth + 1));
        let columns = if is_outer { Columns::NONE } else { table::columns(name, At { above, depth: Some(depth) }) };
        if counts(columns) || added.iter().any(|added| added.matches(name)) {
            deepest = path.as_str().get(..end);
        }
        above = name;
    }
    deepest
}

/// Returns true if `name` in the directory `above` is sensitive, and a confined command with a permission for a
/// directory above it may not write it. `depth` is the number of components before the name.
pub fn is_sensitive_name(name: &str, above: &str, depth: usize, added: &[SensitiveName]) -> bool {
    table::columns(name, At { above, depth: Some(depth) }).is_kept_from_commands()
        || added.iter().any(|added| added.matches(name))
}

/// Returns true for a directory of a coding agent in which `behind` names something in a working tree. The files of a
/// working tree are those of a project.
fn holds_worktree<'n, N: Iterator<Item = &'n str>>(name: &str, behind: impl Fn() -> N) -> bool {
    const HOLDERS: [&str; 1] = [".claude"];
    HOLDERS.contains(&name) && {
        let mut behind = behind();
        behind.next() == Some("worktrees") && behind.nth(1).is_some()
    }
}

/// Returns the pieces of a text between slashes of either kind.
fn pieces(text: &str) -> impl Iterator<Item = &str> + Clone {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let end = memchr::memchr2(b'/', b'\\', text.as_bytes());
        let (piece, behind) = end.map_or((text, None), |end| (text.get(..end).unwrap_or(text), text.get(end + 1..)));
        rest = behind;
        Some(piece)
    })
}

/// Returns the columns of each component of a path that may be relative and may use either kind of slash.
pub fn columns_of_text(path: &str) -> impl Iterator<Item = Columns> {
    let is_absolute = path.starts_with('/');
    let (mut names, mut above) = (pieces(path).filter(|name| !matches!(*name, "" | ".")).enumerate(), "");
    std::iter::from_fn(move || {
        let (depth, name) = names.next()?;
        let at = At { above: std::mem::replace(&mut above, name), depth: is_absolute.then_some(depth) };
        let is_outer = holds_worktree(name, || names.clone().map(|(_, name)| name));
        Some(if is_outer { Columns::NONE } else { table::columns(name, at) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(path: &str) -> Option<String> {
        sensitive_part(&path.parse().unwrap(), &[]).map(str::to_owned)
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
    fn a_file_of_a_working_tree_is_no_setting_of_the_coding_agent() {
        assert_eq!(part("/p/.claude/worktrees/a/src/main.rs"), None);
        assert_eq!(
            columns_of_text("/p/.claude/worktrees/a/src/main.rs").filter(|found| found.is_sensitive()).count(),
            0
        );
        for guarded in [
            "/p/.claude/worktrees/a",
            "/p/.claude/settings.json",
            "/p/.claude/worktrees",
            "/p/.claude/worktreesx/a/b",
            "/p/.claude/worktrees/a/.claude/settings.json",
            "/p/.claude/worktrees/a/.env",
            "/p/.codex/worktrees/a/b",
        ] {
            assert!(part(guarded).is_some(), "{guarded}");
            assert!(columns_of_text(guarded).any(Columns::is_sensitive), "{guarded}");
        }
    }

    #[test]
    fn what_is_added_is_a_name_its_beginning_or_its_end_in_any_case() {
        let added: Vec<SensitiveName> =
            ["Secrets.yaml", "*.p12", "prod-*"].map(|text| text.parse().unwrap()).into_iter().collect();
        let part = |path: &str| sensitive_part(&path.parse().unwrap(), &added).map(str::to_owned);
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

//! Names of tool capabilities: the text after `@tool:`.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

use super::escape::is_deceptive;

/// The most bytes a [`ToolPath`] may have.
const MAX_BYTES: usize = 256;

/// The most levels a [`ToolPath`] may have.
const MAX_LEVELS: usize = 16;

/// The reason why a text is not a [`ToolPath`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidToolPath {
    /// The text is empty.
    Empty,
    /// The text has more than 256 bytes or more than 16 levels.
    TooLong,
    /// A level is empty, `.` or `..`.
    Level,
    /// The text has white space, `*`, `?`, a control character, or an invisible character.
    Character(char),
}

impl fmt::Display for InvalidToolPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidToolPath::Empty => f.write_str("`@tool:` needs a name after the colon, as in `@tool:github/issues`"),
            InvalidToolPath::TooLong => {
                write!(f, "the name of a tool has at most {MAX_BYTES} bytes and {MAX_LEVELS} levels")
            }
            InvalidToolPath::Level => {
                f.write_str("the levels of a tool's name are divided by one `/` each, and none is empty, `.` or `..`")
            }
            InvalidToolPath::Character('*' | '?') => {
                f.write_str("a tool's name is no pattern: a name covers everything below it")
            }
            InvalidToolPath::Character(c) => {
                write!(f, "a tool's name has no white space and no invisible character, not `{}`", c.escape_default())
            }
        }
    }
}

impl std::error::Error for InvalidToolPath {}

/// The name of a capability in levels, as in `github/issues`. A name covers itself and everything below it.
///
/// Levels are compared whole and exactly: `github` does not cover `github-evil`, nor `GitHub`.
///
/// ```
/// use bestow_command::values::ToolPath;
/// let github: ToolPath = "github".parse()?;
/// assert!(github.contains(&"github/issues".parse()?));
/// assert!(!github.contains(&"github-evil".parse()?));
/// # Ok::<(), bestow_command::values::InvalidToolPath>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolPath(Arc<str>);

impl ToolPath {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true if `other` is this name or lies below it.
    pub fn contains(&self, other: &ToolPath) -> bool {
        contains(&self.0, &other.0)
    }

    /// Returns true if `text` is a valid name at or below this one. It allocates nothing.
    #[doc(hidden)]
    pub fn contains_text(&self, text: &str) -> bool {
        contains(&self.0, text) && validate(text).is_ok()
    }
}

fn contains(root: &str, path: &str) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn validate(text: &str) -> Result<(), InvalidToolPath> {
    if text.is_empty() {
        return Err(InvalidToolPath::Empty);
    }
    if text.len() > MAX_BYTES || text.split('/').count() > MAX_LEVELS {
        return Err(InvalidToolPath::TooLong);
    }
    if text.split('/').any(|level| matches!(level, "" | "." | "..")) {
        return Err(InvalidToolPath::Level);
    }
    let odd = |c: &char| c.is_whitespace() || is_deceptive(*c) || matches!(c, '*' | '?');
    text.chars().find(odd).map_or(Ok(()), |odd| Err(InvalidToolPath::Character(odd)))
}

impl FromStr for ToolPath {
    type Err = InvalidToolPath;

    fn from_str(text: &str) -> Result<Self, InvalidToolPath> {
        validate(text).map(|()| ToolPath(text.into()))
    }
}

impl TryFrom<String> for ToolPath {
    type Error = InvalidToolPath;

    fn try_from(text: String) -> Result<Self, InvalidToolPath> {
        text.parse()
    }
}

impl From<ToolPath> for String {
    fn from(path: ToolPath) -> String {
        path.0.as_ref().to_owned()
    }
}

impl fmt::Display for ToolPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ToolPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

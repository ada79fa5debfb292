//! Names of tools.

use std::{borrow::Borrow, fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize, Serializer};

/// The most characters the name of a tool may have.
const MAX_LEN: usize = 128;

/// The name of a tool, as the host program calls it: `write_file`, `bash`. A name may have levels, as a server names
/// its own tools: `github/issues`.
///
/// Names are compared whole and exactly: `github` and `github/issues` are different tools.
///
/// ```
/// use bestow_command::values::ToolName;
/// assert!("github/issues".parse::<ToolName>().is_ok());
/// for text in ["/issues", "github/", "github//issues", "github/../issues"] {
///     assert!(text.parse::<ToolName>().is_err());
/// }
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct ToolName(Arc<str>);

/// The reason why a text is not a [`ToolName`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidToolName {
    /// The text is empty.
    Empty,
    /// More than 128 characters.
    TooLong,
    /// A level is empty, `.` or `..`.
    Level,
    /// Something other than ASCII letters, digits, `. _ : @ -` and `/`, or a first character that is not a letter or
    /// digit.
    Character(char),
}

impl fmt::Display for InvalidToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidToolName::Empty => f.write_str("an id must not be empty"),
            InvalidToolName::TooLong => write!(f, "an id has at most {MAX_LEN} characters"),
            InvalidToolName::Level => {
                f.write_str("the levels of a tool's name are divided by one `/` each, and none is empty, `.` or `..`")
            }
            InvalidToolName::Character(c) => write!(
                f,
                "a tool's name starts with a letter or digit and holds only ASCII letters, digits, `. _ : @ -`, and \
                 `/` between its levels, not `{}`",
                c.escape_default()
            ),
        }
    }
}

impl std::error::Error for InvalidToolName {}

impl ToolName {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true for `acp.edit` and the like. Such a name stands for all calls of one kind whose effects an agent of
    /// the Agent Client Protocol does not state. Nothing can be declared about it.
    pub fn is_unclear(&self) -> bool {
        self.0.starts_with("acp.")
    }
}

impl FromStr for ToolName {
    type Err = InvalidToolName;

    fn from_str(text: &str) -> Result<Self, InvalidToolName> {
        let first = text.chars().next().ok_or(InvalidToolName::Empty)?;
        if !first.is_ascii_alphanumeric() {
            return Err(InvalidToolName::Character(first));
        }
        let is_known = |c: char| c.is_ascii_alphanumeric() || "._:@-/".contains(c);
        if let Some(odd) = text.chars().find(|c| !is_known(*c)) {
            return Err(InvalidToolName::Character(odd));
        }
        // Every level but the first may begin with any of these characters.
        if text.split('/').any(|level| matches!(level, "" | "." | "..")) {
            return Err(InvalidToolName::Level);
        }
        if text.len() > MAX_LEN { Err(InvalidToolName::TooLong) } else { Ok(ToolName(text.into())) }
    }
}

impl TryFrom<String> for ToolName {
    type Error = InvalidToolName;

    fn try_from(text: String) -> Result<Self, InvalidToolName> {
        text.parse()
    }
}

impl From<ToolName> for String {
    fn from(name: ToolName) -> String {
        name.0.as_ref().to_owned()
    }
}

impl Serialize for ToolName {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.0)
    }
}

impl Borrow<str> for ToolName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

//! The resources that an action uses, for people and records.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{Escaped, Operation};

/// The evidence that an action uses something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a new source of uses must be met where uses are judged")]
pub enum UseOrigin {
    /// The use is the action itself.
    Own,
    /// The use is a permission that the caller gives to the action.
    Given,
    /// The command line names the resource: as an operand of a known program, or in a redirection.
    Named,
    /// The program needs the resource, as `curl` needs the network.
    Needed,
    /// A word of the command line may be a path or a host. The program is unknown, so the meaning of its words is
    /// unknown.
    Word,
    /// A word without a sign of a path names a directory, and may be a label: a branch, a target, an image.
    Label,
    /// The path lies inside a directory that the action uses. The action may use it, or leave it out.
    Inside,
    /// The input of a tool names the resource. Neither the file, the host program nor the built-in table declares the
    /// tool.
    Input,
    /// A tool requires the capability: by its declaration, or by a caller who says that a call needs it.
    Declared,
}

impl UseOrigin {
    /// Returns true for a word that may name the resource, or something else.
    pub(crate) fn is_word(self) -> bool {
        matches!(self, UseOrigin::Word | UseOrigin::Label)
    }

    /// Returns the name in files and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            UseOrigin::Own => "own",
            UseOrigin::Given => "given",
            UseOrigin::Named => "named",
            UseOrigin::Needed => "needed",
            UseOrigin::Word => "word",
            UseOrigin::Label => "label",
            UseOrigin::Inside => "inside",
            UseOrigin::Input => "input",
            UseOrigin::Declared => "declared",
        }
    }
}

impl fmt::Display for UseOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One resource that an action uses besides its main resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UseFacts {
    /// The kind of use.
    pub operation: Operation,
    /// The canonical path, the host, or `@network` for any host.
    pub resource: Arc<str>,
    /// True for a path that is used with everything below it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tree: bool,
    /// The evidence for the use.
    pub origin: UseOrigin,
}

/// Formats the use on one line, as in "fs.write of `/work/site` and below (given)".
impl fmt::Display for UseFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let below = if self.tree { " and below" } else { "" };
        write!(f, "{} of `{}`{below} ({})", self.operation, Escaped(&self.resource), self.origin)
    }
}

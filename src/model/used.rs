//! One thing that an action uses, for people and records.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{Operation, Shown};

/// Where the knowledge comes from that an action uses something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a new source of uses must be met where uses are judged")]
pub enum UseOrigin {
    /// The action itself.
    Own,
    /// A permission that the action is given.
    Given,
    /// The command line names it: an operand of a known program, a redirection.
    Named,
    /// The program needs it, as `curl` needs the network.
    Needed,
    /// A word of the command line that may be a path or reach a host, for a program of which nobody knows what it does with
    /// its words.
    Word,
    /// The input of a tool names it, and neither the file, the host program nor the built-in table declares the tool.
    Input,
    /// A tool demands it: its declaration, or whoever says that a call needs a capability.
    Declared,
}

impl UseOrigin {
    /// The name in files and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            UseOrigin::Own => "own",
            UseOrigin::Given => "given",
            UseOrigin::Named => "named",
            UseOrigin::Needed => "needed",
            UseOrigin::Word => "word",
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

/// One thing that an action uses besides what it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UseFacts {
    /// The kind of use.
    pub operation: Operation,
    /// The real path, the host, or `@network` for any host.
    pub resource: Arc<str>,
    /// Present for a path that is used with everything below it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tree: bool,
    /// Where the knowledge comes from.
    pub origin: UseOrigin,
}

/// The use in one line, as in "fs.write of `/work/site` and below (given)".
impl fmt::Display for UseFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let below = if self.tree { " and below" } else { "" };
        write!(f, "{} of `{}`{below} ({})", self.operation, Shown(&self.resource), self.origin)
    }
}

//! One use of a tool call.

use crate::values::{Access, Operation};
use std::borrow::Cow;

/// One use of a call, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolUse<'v> {
    /// A path, alone or with everything below it.
    Path {
        /// The kind of access.
        operation: Operation,
        /// The path as written.
        text: Cow<'v, str>,
        /// True if everything below the path is used too.
        tree: bool,
    },
    /// A command line.
    Command(Cow<'v, str>),
    /// A host.
    Host(&'v str),
    /// Any host.
    Network,
    /// The tool itself.
    Tool,
}

impl ToolUse<'_> {
    pub(super) fn read(text: &str) -> ToolUse<'_> {
        ToolUse::Path { operation: Operation::Read, text: text.into(), tree: false }
    }

    /// Returns the operation of the use.
    pub fn operation(&self) -> Operation {
        match self {
            ToolUse::Path { operation, .. } => *operation,
            ToolUse::Command(_) => Operation::Command,
            ToolUse::Host(_) | ToolUse::Network => Operation::Network,
            ToolUse::Tool => Operation::Tool,
        }
    }
}

/// Returns the operation for an access to a path.
pub(super) fn operation_of(access: Access) -> Operation {
    match access {
        Access::Read => Operation::Read,
        Access::Write => Operation::Write,
    }
}

//! The kinds of actions.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::ToolName;

/// The kind of an action (`sources/001`, "Event: request_permission").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(clippy::exhaustive_enums, reason = "a new operation must be decided on")]
pub enum Operation {
    /// Reads a file.
    #[serde(rename = "fs.read")]
    Read,
    /// Writes, creates or removes a file.
    #[serde(rename = "fs.write")]
    Write,
    /// Runs a program file.
    #[serde(rename = "fs.exec")]
    Exec,
    /// Runs a command line.
    #[serde(rename = "command.execute")]
    Command,
    /// Reaches a host over the network.
    #[serde(rename = "network")]
    Network,
    /// Uses the engine's own socket (`@events`).
    #[serde(rename = "events")]
    Events,
    /// Uses a declared tool with none of the operations above.
    #[serde(rename = "tool")]
    Tool,
}

impl Operation {
    /// All operations.
    #[doc(hidden)]
    pub const ALL: [Operation; 7] = [
        Operation::Read,
        Operation::Write,
        Operation::Exec,
        Operation::Command,
        Operation::Network,
        Operation::Events,
        Operation::Tool,
    ];

    /// Returns the tool to assume for this operation if the caller names none.
    #[doc(hidden)]
    pub fn own_tool(self) -> ToolName {
        let name = match self {
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Exec => "exec",
            Operation::Command => "bash",
            Operation::Network => "network",
            Operation::Events => "events",
            Operation::Tool => "tool",
        };
        // This name has letters only, so it is a valid tool name.
        name.parse().unwrap_or_else(|_| self.own_tool())
    }

    /// Returns the verb for people, as in "run `make`".
    pub fn verb(self) -> &'static str {
        match self {
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Exec | Operation::Command => "run",
            Operation::Network => "reach",
            Operation::Events | Operation::Tool => "use",
        }
    }

    /// Returns the name in files and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Operation::Read => "fs.read",
            Operation::Write => "fs.write",
            Operation::Exec => "fs.exec",
            Operation::Command => "command.execute",
            Operation::Network => "network",
            Operation::Events => "events",
            Operation::Tool => "tool",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The error for a text that names no operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidOperation;

impl fmt::Display for InvalidOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "an operation is `fs.read`, `fs.write`, `fs.exec`, `command.execute`, `network`, `events` or `tool`",
        )
    }
}

impl std::error::Error for InvalidOperation {}

impl FromStr for Operation {
    type Err = InvalidOperation;

    fn from_str(text: &str) -> Result<Self, InvalidOperation> {
        Operation::ALL.into_iter().find(|operation| operation.as_str() == text).ok_or(InvalidOperation)
    }
}

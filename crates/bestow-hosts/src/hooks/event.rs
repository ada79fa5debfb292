//! Events that a host tells its hook.

use std::fmt;

use bestow::tool::ToolName;
use serde_json::Value;

use crate::{
    call::Caller,
    id::{SessionId, SubagentId},
};

/// An event that a host tells its hook.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "a hook must know all of them")]
pub enum Event {
    /// A tool is about to be called: may it be?
    Asks(Box<Question>),
    /// A session or a subagent begins.
    Begins(Caller),
    /// A session or a subagent ends.
    Ends(SessionId, Option<SubagentId>),
    /// Something that needs no decision.
    Other,
}

/// The point at which a host asks about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "each has an answer of its own form")]
pub enum About {
    /// The moment before every call.
    Call,
    /// The moment before the host shows a prompt to its user, or would show it if there were one.
    Prompt,
}

/// A question of a host about a call.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "a host states all of it")]
pub struct Question {
    /// The point at which the host asks.
    pub about: About,
    /// The caller.
    pub caller: Caller,
    /// The tool.
    pub tool: ToolName,
    /// The whole input of the tool.
    pub input: Value,
    /// True if the person at the terminal wants a plan, and no change yet.
    pub is_planning: bool,
}

impl Question {
    /// Returns true if the session itself calls, and no subagent: then a person may be at its terminal.
    pub fn is_foreground(&self) -> bool {
        self.caller.subagent.is_none()
    }
}

/// The reason why a text is not what a host sends.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "the reason, and what the host asked about")]
pub struct Mistake {
    /// The reason, for people.
    pub why: String,
    /// The point at which the host asks about a call, if that is known.
    pub about: Option<About>,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "standard input is not what this host sends to its hook: {}", self.why)
    }
}

impl std::error::Error for Mistake {}

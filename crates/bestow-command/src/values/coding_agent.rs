//! The coding agents whose own tools are known.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A coding agent that asks before each call of its tools.
///
/// It has tools of its own without an effect outside of its session, such as a list of tasks. They are known by the
/// agent and the name together, because another program may have a tool of the same name with an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "each has tools of its own")]
pub enum CodingAgent {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// GitHub Copilot CLI.
    Copilot,
}

impl CodingAgent {
    /// All coding agents.
    pub const ALL: [CodingAgent; 4] =
        [CodingAgent::Claude, CodingAgent::Codex, CodingAgent::Gemini, CodingAgent::Copilot];

    /// Returns the name on the command line and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            CodingAgent::Claude => "claude",
            CodingAgent::Codex => "codex",
            CodingAgent::Gemini => "gemini",
            CodingAgent::Copilot => "copilot",
        }
    }
}

impl fmt::Display for CodingAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

//! Who acts.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{AgentId, Name, OwnerId, SanitizedPath};

/// Whether a user talks to an agent, and if not, why it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a new kind must be routed")]
pub enum Kind {
    /// A user talks to it through a connector.
    Foreground,
    /// Runs a scheduled task.
    Cron,
    /// Runs the heartbeat's tasks.
    Heartbeat,
    /// Works for another agent.
    Subagent,
    /// Part of the host.
    System,
    /// Lives on between tasks.
    Permanent,
}

impl Kind {
    /// Everything but [`Kind::Foreground`] is background: it reaches a person only through another agent.
    pub fn is_foreground(self) -> bool {
        self == Kind::Foreground
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Foreground => "foreground",
            Kind::Cron => "cron",
            Kind::Heartbeat => "heartbeat",
            Kind::Subagent => "subagent",
            Kind::System => "system",
            Kind::Permanent => "permanent",
        })
    }
}

/// How strictly actions of an agent are judged (`sources/002`, "Permission modes").
///
/// Modes are read and kept; what they do to an action is decided where actions are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a new mode must be met wherever an action is judged")]
pub enum Mode {
    /// Safe runs, dangerous asks.
    #[default]
    Default,
    /// Only known-safe reads run by themselves.
    Untrusted,
    /// As default, and the agent may ask for more than it holds.
    OnRequest,
    /// Inside the narrow sandbox first.
    OnFailure,
    /// Nothing asks.
    Never,
    /// Reads only.
    Plan,
    /// Asks become allows; denials stay.
    Bypass,
    /// Rules, classifier and hooks decide.
    Auto,
}

impl Mode {
    /// All of them.
    pub const ALL: [Mode; 8] = [
        Mode::Default,
        Mode::Untrusted,
        Mode::OnRequest,
        Mode::OnFailure,
        Mode::Never,
        Mode::Plan,
        Mode::Bypass,
        Mode::Auto,
    ];

    /// The name in files and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Default => "default",
            Mode::Untrusted => "untrusted",
            Mode::OnRequest => "on_request",
            Mode::OnFailure => "on_failure",
            Mode::Never => "never",
            Mode::Plan => "plan",
            Mode::Bypass => "bypass",
            Mode::Auto => "auto",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text is not a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidMode;

impl fmt::Display for InvalidMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mode is one of")?;
        let words = Mode::ALL.iter().enumerate();
        words.into_iter().try_for_each(|(place, mode)| write!(f, "{} `{mode}`", if place > 0 { "," } else { "" }))
    }
}

impl std::error::Error for InvalidMode {}

impl FromStr for Mode {
    type Err = InvalidMode;

    fn from_str(text: &str) -> Result<Self, InvalidMode> {
        Mode::ALL.into_iter().find(|mode| mode.as_str() == text).ok_or(InvalidMode)
    }
}

/// Who brought an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "what a file brings, a file takes away")]
pub enum Source {
    /// Another agent.
    Agent,
    /// A file.
    Config,
    /// The program that embeds the engine.
    Operator,
}

/// What is known about an agent besides what it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Profile {
    /// Its id.
    pub id: AgentId,
    /// Who it belongs to.
    pub owner: OwnerId,
    /// What people call it; its id if nobody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// How it reaches a person.
    pub kind: Kind,
    /// Where its commands start.
    pub working_dir: SanitizedPath,
    /// How strictly it is judged.
    #[serde(default)]
    pub mode: Mode,
    /// The agent that created it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<AgentId>,
}

impl Profile {
    /// An agent that stands in `working_dir`, with no name, the default mode and no parent.
    pub fn new(id: AgentId, owner: OwnerId, kind: Kind, working_dir: SanitizedPath) -> Profile {
        Profile { id, owner, name: None, kind, working_dir, mode: Mode::Default, parent: None }
    }

    /// The same, called `name`.
    #[must_use]
    pub fn named(self, name: Name) -> Profile {
        Profile { name: Some(name), ..self }
    }

    /// The same, judged in `mode`.
    #[must_use]
    pub fn in_mode(self, mode: Mode) -> Profile {
        Profile { mode, ..self }
    }

    /// What to call it in a sentence: its name with its id, so that a name cannot pass for another agent.
    pub fn label(&self) -> impl fmt::Display + '_ {
        Label(self)
    }
}

struct Label<'a>(&'a Profile);

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.name {
            Some(name) => write!(f, "{name} ({})", self.0.id),
            None => write!(f, "{}", self.0.id),
        }
    }
}

//! Agents: their kinds, modes and profiles.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{AgentId, Escaped, Name, OwnerId, SanitizedPath};

/// The kind of an agent: a user talks to it, or it runs for another reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a new kind must be routed")]
pub enum Kind {
    /// A user talks to the agent through a connector.
    Foreground,
    /// The agent runs a scheduled task.
    Cron,
    /// The agent runs the tasks of the heartbeat.
    Heartbeat,
    /// The agent works for another agent.
    Subagent,
    /// The agent is part of the host.
    System,
    /// The agent lives on between tasks.
    Permanent,
}

impl Kind {
    /// Returns true for [`Kind::Foreground`]. Every other kind is background: such an agent reaches a person only
    /// through another agent.
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

/// The strictness with which actions of an agent are evaluated (`sources/002`, "Permission modes").
///
/// This type only names the modes. The evaluation of an action applies them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a new mode must be met wherever an action is judged")]
pub enum Mode {
    /// Safe actions run, dangerous ones need an approval.
    #[default]
    Default,
    /// Only known safe reads run without an approval.
    Untrusted,
    /// Like [`Mode::Default`]. The agent may also ask for permissions that it does not hold.
    OnRequest,
    /// Actions run inside the narrow sandbox first.
    OnFailure,
    /// The engine never asks a person.
    Never,
    /// Only reads are allowed.
    Plan,
    /// Actions that need an approval run without one. Denials stay.
    Bypass,
    /// Rules, the classifier and hooks decide.
    Auto,
}

impl Mode {
    /// All modes.
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

    /// Returns the name in files and on the wire.
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

/// The error for a text that is not a mode.
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

/// The source that registered an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "what a file brings, a file takes away")]
pub enum AgentOrigin {
    /// Another agent.
    Agent,
    /// A file.
    Config,
    /// The program that embeds the engine.
    Operator,
}

/// The description of an agent, without its permissions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Profile {
    /// The id of the agent.
    pub id: AgentId,
    /// The owner of the agent.
    pub owner: OwnerId,
    /// The name for people. None if no name was given. The id is shown then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// The kind, which determines how the agent reaches a person.
    pub kind: Kind,
    /// The directory in which its commands start.
    pub working_dir: SanitizedPath,
    /// The strictness of its evaluation.
    #[serde(default)]
    pub mode: Mode,
    /// The agent that created it, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<AgentId>,
    /// The program that acts as the agent, if the host starts one for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bot: Option<Arc<BotCommand>>,
}

/// The command of the program that acts as an agent. Only a file or the host program states it, never an agent: the
/// program starts with the authority of the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::exhaustive_structs, reason = "what starts, and how it is confined")]
pub struct BotCommand {
    /// The program and its arguments. It is never empty.
    pub command: Vec<String>,
    /// True if the program is confined to what its agent may do.
    pub sandbox: bool,
}

impl fmt::Display for BotCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.command.iter().map(|word| Escaped(word).to_string()).collect::<Vec<_>>().join(" ");
        let confined = if self.sandbox { ", in the sandbox" } else { ", confined by nothing" };
        write!(f, "{words}{confined}")
    }
}

impl Profile {
    /// Creates a profile with the working directory `working_dir`, without name and parent, in the default mode.
    pub fn new(id: AgentId, owner: OwnerId, kind: Kind, working_dir: SanitizedPath) -> Profile {
        Profile { id, owner, name: None, kind, working_dir, mode: Mode::Default, parent: None, bot: None }
    }

    /// Sets the name.
    #[must_use]
    pub fn named(self, name: Name) -> Profile {
        Profile { name: Some(name), ..self }
    }

    /// Sets the mode.
    #[must_use]
    pub fn in_mode(self, mode: Mode) -> Profile {
        Profile { mode, ..self }
    }

    /// Sets the program that acts as the agent.
    #[must_use]
    pub fn with_bot(self, bot: BotCommand) -> Profile {
        Profile { bot: Some(Arc::new(bot)), ..self }
    }

    /// Returns a label for sentences: the name with the id, so that a name cannot be mistaken for another agent.
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

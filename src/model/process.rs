//! Background processes: their starter, their permissions, and their end (`sources/004`, "Exec/process scoped
//! permissions").

use std::{fmt, str::FromStr, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use super::{Actor, AgentId, Cause, Escaped, GrantId, OwnerId, Permission, ProcessId, Reason, RunId, Timestamp};

/// An output stream of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a process has two")]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl fmt::Display for OutputStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OutputStream::Stdout => "stdout",
            OutputStream::Stderr => "stderr",
        })
    }
}

impl FromStr for OutputStream {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<OutputStream, &'static str> {
        match text {
            "stdout" => Ok(OutputStream::Stdout),
            "stderr" => Ok(OutputStream::Stderr),
            _ => Err("a stream is `stdout` or `stderr`"),
        }
    }
}

/// A background process of an agent, from its start to its end. Its output is not stored here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Process {
    /// The id, which stays the same over restarts.
    pub id: ProcessId,
    /// The agent that it belongs to.
    pub agent: AgentId,
    /// The owner of this agent.
    pub owner: OwnerId,
    /// The run in which it was started. It ends with this run.
    pub run: RunId,
    /// The command line, without secrets.
    pub command: Arc<str>,
    /// The permissions with which it was started. The process ends as soon as its agent no longer holds one of them.
    pub permissions: Vec<Permission>,
    /// The grants that gave these permissions at the start.
    pub grants: Vec<GrantId>,
    /// The time of the last start.
    pub since: Timestamp,
    /// The number of restarts.
    #[serde(default)]
    pub restarts: u32,
    /// The decision that allowed the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Arc<Cause>>,
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}: `{}`", self.id, self.agent, Escaped(&self.command))
    }
}

/// The reason why a process must end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopCause {
    /// Somebody ordered the stop. The process may end by itself within the grace period, and is killed after it.
    Ordered {
        /// The actor that ordered the stop.
        by: Actor,
        /// The reason, if the actor gave one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Reason>,
        /// The grace period, in milliseconds.
        grace_ms: u64,
    },
    /// A permission with which it was started is gone.
    #[serde(rename = "right_lost")]
    PermissionLost {
        /// The lost permission.
        permission: Permission,
    },
    /// The run in which it was started is over.
    RunOver,
    /// The agent of the process was removed.
    AgentGone,
    /// A later rule, policy or mode denies it.
    Denied {
        /// The reason, for people.
        why: Arc<str>,
    },
    /// The engine shuts down.
    EngineEnds,
}

impl StopCause {
    /// Returns the grace period. Only an ordered stop has one.
    pub fn grace(&self) -> Duration {
        if let StopCause::Ordered { grace_ms, .. } = self { Duration::from_millis(*grace_ms) } else { Duration::ZERO }
    }
}

impl fmt::Display for StopCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopCause::Ordered { by, reason, .. } => {
                write!(f, "stopped by {by}")?;
                reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {}", Escaped(reason.as_str())))
            }
            StopCause::PermissionLost { permission } => {
                write!(f, "it was started with the permission `{}`, which ended", Escaped(&permission.to_string()))
            }
            StopCause::RunOver => f.write_str("the run in which it started ended"),
            StopCause::AgentGone => f.write_str("its agent was removed"),
            StopCause::Denied { why } => write!(f, "it is now denied: {}", Escaped(why)),
            StopCause::EngineEnds => f.write_str("the engine ends"),
        }
    }
}

/// The end of a process or of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProcessExit {
    /// The process exited by itself.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// A signal ended the process.
    Signalled {
        /// Its number.
        signal: i32,
    },
    /// The time limit of a command ended it.
    TimedOut,
    /// The sandbox was ready, but the command could not be started in it.
    NotStarted,
    /// It ended with the engine that held it, or that engine could not store its end. Its exit status is unknown.
    WithEngine,
}

impl fmt::Display for ProcessExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProcessExit::Exited { code } => write!(f, "exited with code {code}"),
            ProcessExit::Signalled { signal } => write!(f, "was ended by signal {signal}"),
            ProcessExit::NotStarted => f.write_str("could not be started"),
            ProcessExit::TimedOut => f.write_str("was ended by its time limit"),
            ProcessExit::WithEngine => f.write_str("ended with its engine"),
        }
    }
}

/// An event of a background process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum ProcessEvent {
    /// The process was decided and confined (`sandbox.applied`), and starts.
    #[serde(rename = "process.started")]
    Started {
        /// The process.
        process: Arc<Process>,
    },
    /// The process starts again under its old id, after a new decision.
    #[serde(rename = "process.restarted")]
    Restarted {
        /// The process in its new state.
        process: Arc<Process>,
        /// The actor that wanted the restart.
        by: Actor,
    },
    /// The process must end. `process.exited` follows.
    #[serde(rename = "process.stopped")]
    Stopped {
        /// The process.
        process: Arc<Process>,
        /// The reason.
        #[serde(flatten)]
        cause: StopCause,
    },
    /// The process ended, together with everything that it started.
    #[serde(rename = "process.exited")]
    Exited {
        /// The process.
        process: Arc<Process>,
        /// The exit status.
        #[serde(flatten)]
        exit: ProcessExit,
    },
}

impl ProcessEvent {
    /// Returns the kind of the event, as in `process.started`.
    pub fn kind(&self) -> &'static str {
        match self {
            ProcessEvent::Started { .. } => "process.started",
            ProcessEvent::Restarted { .. } => "process.restarted",
            ProcessEvent::Stopped { .. } => "process.stopped",
            ProcessEvent::Exited { .. } => "process.exited",
        }
    }

    /// Returns the process of the event.
    pub fn process(&self) -> &Arc<Process> {
        match self {
            ProcessEvent::Started { process }
            | ProcessEvent::Restarted { process, .. }
            | ProcessEvent::Stopped { process, .. }
            | ProcessEvent::Exited { process, .. } => process,
        }
    }
}

/// Formats the event on one readable line.
impl fmt::Display for ProcessEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProcessEvent::Started { process } => write!(f, "process {process} started"),
            ProcessEvent::Restarted { process, by } => write!(f, "process {process} was restarted by {by}"),
            ProcessEvent::Stopped { process, cause } => write!(f, "process {process} must end: {cause}"),
            ProcessEvent::Exited { process, exit } => write!(f, "process {process} {exit}"),
        }
    }
}

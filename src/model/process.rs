//! Processes that go on: who started one, what it rests on, how it ended (`sources/004`, "Exec/process scoped permissions").

use std::{fmt, str::FromStr, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use super::{Actor, AgentId, Cause, GrantId, OwnerId, Permission, ProcessId, Reason, RunId, Shown, Timestamp};

/// Which output of a process.
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

/// A process of an agent, from its start to its end. Its output is nowhere in here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Process {
    /// Its name, which stays over restarts.
    pub id: ProcessId,
    /// Whose it is.
    pub agent: AgentId,
    /// Whose agent that is.
    pub owner: OwnerId,
    /// The run that it was started in, and ends with.
    pub run: RunId,
    /// The command line, without secrets.
    pub command: Arc<str>,
    /// What it was started with. It ends with the first of these that its agent no longer holds.
    pub permissions: Vec<Permission>,
    /// The grants that carried these at the start.
    pub grants: Vec<GrantId>,
    /// When it was started, the last time.
    pub since: Timestamp,
    /// How often it was started again.
    #[serde(default)]
    pub restarts: u32,
    /// The decision that let it start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Arc<Cause>>,
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}: `{}`", self.id, self.agent, Shown(&self.command))
    }
}

/// Why a process was told to end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopCause {
    /// Somebody said so. It may end by itself within the grace, and is killed then.
    Ordered {
        /// Who.
        by: Actor,
        /// Why, if they said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Reason>,
        /// How long it may take.
        grace_ms: u64,
    },
    /// A right that it was started with is gone.
    RightLost {
        /// Which.
        permission: Permission,
    },
    /// The run that it was started in is over.
    RunOver,
    /// Its agent is gone.
    AgentGone,
    /// A rule, a policy or the mode that came later denies it.
    Denied {
        /// In words.
        why: Arc<str>,
    },
    /// The engine ends.
    EngineEnds,
}

impl StopCause {
    /// How long the process may take to end by itself. Whatever is no order gives it no time.
    pub fn grace(&self) -> Duration {
        if let StopCause::Ordered { grace_ms, .. } = self { Duration::from_millis(*grace_ms) } else { Duration::ZERO }
    }
}

impl fmt::Display for StopCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopCause::Ordered { by, reason, .. } => {
                write!(f, "{by} stops it")?;
                reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {}", Shown(reason.as_str())))
            }
            StopCause::RightLost { permission } => {
                write!(f, "`{}`, which it was started with, is gone", Shown(&permission.to_string()))
            }
            StopCause::RunOver => f.write_str("the run that it was started in is over"),
            StopCause::AgentGone => f.write_str("its agent is gone"),
            StopCause::Denied { why } => write!(f, "it is denied by now: {}", Shown(why)),
            StopCause::EngineEnds => f.write_str("the engine ends"),
        }
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProcessExit {
    /// By itself.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// By a signal.
    Signalled {
        /// Its number.
        signal: i32,
    },
    /// With the engine that held it; nobody knows how.
    WithEngine,
}

impl fmt::Display for ProcessExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProcessExit::Exited { code } => write!(f, "exited with {code}"),
            ProcessExit::Signalled { signal } => write!(f, "was ended by signal {signal}"),
            ProcessExit::WithEngine => f.write_str("ended with the engine that held it"),
        }
    }
}

/// Something that happened to a process that goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum ProcessEvent {
    /// It was decided, is confined (`sandbox.applied`), and starts.
    #[serde(rename = "process.started")]
    Started {
        /// Which.
        process: Arc<Process>,
    },
    /// It starts again under the same name, decided anew.
    #[serde(rename = "process.restarted")]
    Restarted {
        /// As it is now.
        process: Arc<Process>,
        /// Who wanted it.
        by: Actor,
    },
    /// It is to end. `process.exited` follows.
    #[serde(rename = "process.stopped")]
    Stopped {
        /// Which.
        process: Arc<Process>,
        /// Why.
        #[serde(flatten)]
        cause: StopCause,
    },
    /// It ended, and everything that it started.
    #[serde(rename = "process.exited")]
    Exited {
        /// Which.
        process: Arc<Process>,
        /// How.
        #[serde(flatten)]
        exit: ProcessExit,
    },
}

impl ProcessEvent {
    /// What kind of event this is, as in `process.started`.
    pub fn kind(&self) -> &'static str {
        match self {
            ProcessEvent::Started { .. } => "process.started",
            ProcessEvent::Restarted { .. } => "process.restarted",
            ProcessEvent::Stopped { .. } => "process.stopped",
            ProcessEvent::Exited { .. } => "process.exited",
        }
    }

    /// The process it is about.
    pub fn process(&self) -> &Arc<Process> {
        match self {
            ProcessEvent::Started { process }
            | ProcessEvent::Restarted { process, .. }
            | ProcessEvent::Stopped { process, .. }
            | ProcessEvent::Exited { process, .. } => process,
        }
    }
}

/// One readable line.
impl fmt::Display for ProcessEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProcessEvent::Started { process } => write!(f, "process {process} starts"),
            ProcessEvent::Restarted { process, by } => write!(f, "process {process} starts again, as {by} wants"),
            ProcessEvent::Stopped { process, cause } => write!(f, "process {process} is to end: {cause}"),
            ProcessEvent::Exited { process, exit } => write!(f, "process {process} {exit}"),
        }
    }
}

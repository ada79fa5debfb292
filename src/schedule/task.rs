//! A task as its file describes it. It has no field for permissions, because it has those of its agent.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use super::{CronExpression, TimeZone};
use crate::model::{AgentId, Domain, Permission, TaskId, Timestamp};

/// A scheduled task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Task {
    /// The name of the task.
    pub id: TaskId,
    /// The title for people.
    pub title: Arc<str>,
    /// The due times. A heartbeat task is due with the heartbeat.
    pub when: When,
    /// The agent that the file names.
    pub agent: Option<AgentId>,
    /// True if the task is due at all.
    pub enabled: bool,
    /// True if the task is over after one run.
    pub once: bool,
    /// The time limit of a run, if the file sets one.
    pub time_limit: Option<Duration>,
    /// The command that runs before each run and decides about it.
    pub gate: Option<Gate>,
    /// The instructions for the agent.
    pub prompt: Arc<str>,
}

/// The due times of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "as there are kinds of tasks")]
pub enum When {
    /// The times of its own schedule, in this time zone.
    At(CronExpression, TimeZone),
    /// The times of the heartbeat.
    WithTheHeartbeat,
}

impl Task {
    /// Returns the next due time after `now`, if the task has a schedule and is enabled.
    pub fn next(&self, now: Timestamp) -> Option<Timestamp> {
        match &self.when {
            When::At(expression, zone) if self.enabled => expression.next(now, zone),
            When::At(..) | When::WithTheHeartbeat => None,
        }
    }
}

/// A command that decides if a task should run now. It runs with only the permissions that it declares.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gate {
    /// A command line for the shell.
    pub command: String,
    /// The working directory. The default is the working directory of the task's agent, which is also the base of a
    /// relative path.
    pub cwd: Option<String>,
    /// The home directory, below a path that the gate declares to write.
    pub home: Option<String>,
    /// The variables of the environment.
    pub env: BTreeMap<String, String>,
    /// The time limit, if the file sets one.
    pub time_limit: Option<Duration>,
    /// The permissions that the command needs, apart from reading.
    pub permissions: Vec<Permission>,
    /// The hosts that the command can reach, including those of its package managers.
    pub domains: Vec<Domain>,
}

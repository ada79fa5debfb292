//! A task as its file describes it. There is no field for what it may do: that is what its agent may do.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use chrono_tz::Tz;

use super::CronExpression;
use crate::model::{AgentId, Domain, Permission, TaskId, Timestamp};

/// A scheduled task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Task {
    /// Its name.
    pub id: TaskId,
    /// What people call it.
    pub title: Arc<str>,
    /// When it is due; a heartbeat task is due with the heartbeat.
    pub when: When,
    /// Whom it names to run as.
    pub agent: Option<AgentId>,
    /// Whether it is due at all.
    pub enabled: bool,
    /// Whether it is over after one run.
    pub once: bool,
    /// How long a run may take, if it says so.
    pub time_limit: Option<Duration>,
    /// What is asked before each run.
    pub gate: Option<Gate>,
    /// What the agent is to do.
    pub prompt: Arc<str>,
}

/// When a task is due.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "as there are kinds of tasks")]
pub enum When {
    /// By its own schedule, where clocks show this zone.
    At(CronExpression, Tz),
    /// With the heartbeat.
    WithTheHeartbeat,
}

impl Task {
    /// When it is due after `now`, if it has a schedule and is enabled.
    pub fn next(&self, now: Timestamp) -> Option<Timestamp> {
        match &self.when {
            When::At(expression, zone) if self.enabled => expression.next(now, *zone),
            When::At(..) | When::WithTheHeartbeat => None,
        }
    }
}

/// A command that says whether a task should run now. It runs with what it declares here and nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gate {
    /// A line for the shell.
    pub command: String,
    /// Where it starts; otherwise in the working directory of the task's agent. Relative paths are relative to that.
    pub cwd: Option<String>,
    /// Its home directory, below something that it declares to write.
    pub home: Option<String>,
    /// Variables of its environment.
    pub env: BTreeMap<String, String>,
    /// How long it may take, if it says so.
    pub time_limit: Option<Duration>,
    /// What it needs, besides reading.
    pub permissions: Vec<Permission>,
    /// The hosts it reaches; those of its package managers are among them.
    pub domains: Vec<Domain>,
}

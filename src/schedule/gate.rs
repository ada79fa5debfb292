//! The gates of tasks: missing permissions, requests for them, and the results of gate commands.

use std::{collections::HashMap, fmt, sync::Mutex, time::Duration};

use async_trait::async_trait;
use tokio::sync::Semaphore;

use super::{Gate, task_agent::Actor};
use crate::{
    engine::{Agent, Engine, Ticket},
    model::{
        Access, GateOutcome, OnMissing, Outcome, Permission, PermissionRequest, Permissions, Skip, TaskEvent, TaskId,
        TaskSettings,
    },
};

/// A runner of gates, which limits each gate to its declared permissions.
#[async_trait]
pub(crate) trait Gatekeeper: fmt::Debug + Send + Sync {
    /// Runs the command of `gate` as `agent`, with only the permissions that the gate declares.
    async fn ask(&self, agent: &Agent, gate: &Gate, time: Duration) -> Asked;
}

/// The result of a gate with its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) outcome: GateOutcome,
    pub(crate) output: String,
}

impl Asked {
    pub(crate) fn could_not_run(why: impl fmt::Display) -> Asked {
        Asked { outcome: GateOutcome::CouldNotRun { why: why.to_string().into() }, output: String::new() }
    }
}

/// A gatekeeper without a sandbox. It runs no gate.
#[derive(Debug)]
pub(crate) struct NoSandbox(pub(crate) String);

#[async_trait]
impl Gatekeeper for NoSandbox {
    async fn ask(&self, _: &Agent, _: &Gate, _: Duration) -> Asked {
        Asked::could_not_run(&self.0)
    }
}

/// The decision about a task after its gate.
#[derive(Debug)]
pub(super) enum Passed {
    /// The task runs.
    On(Option<Asked>),
    /// The task is skipped.
    No(Skip),
}

/// The requests for gates, so that no task makes a request twice.
#[derive(Debug, Default)]
pub(super) struct Questions {
    open: Mutex<HashMap<TaskId, Ticket>>,
    refused: Mutex<HashMap<TaskId, Vec<Permission>>>,
}

impl Questions {
    fn refused(&self, task: &TaskId) -> Option<Vec<Permission>> {
        self.refused.lock().ok()?.get(task).cloned()
    }

    fn note_refusal(&self, task: &TaskId, missing: &[Permission]) {
        if let Ok(mut refused) = self.refused.lock() {
            refused.insert(task.clone(), missing.to_vec());
        }
    }

    /// Forgets the requests of a task whose file has changed or is gone. Earlier answers were about another content.
    pub(super) fn forget(&self, task: &TaskId) {
        if let Ok(mut refused) = self.refused.lock() {
            refused.remove(task);
        }
        if let Ok(mut open) = self.open.lock() {
            open.remove(task);
        }
    }

    fn open(&self, task: &TaskId) -> Option<Ticket> {
        self.open.lock().ok()?.get(task).cloned()
    }

    fn note_open(&self, task: &TaskId, ticket: Option<Ticket>) {
        if let Ok(mut open) = self.open.lock() {
            match ticket {
                Some(ticket) => open.insert(task.clone(), ticket),
                None => open.remove(task),
            };
        }
    }
}

/// The environment in which gates run.
pub(super) struct Gates<'a> {
    pub(super) engine: &'a Engine,
    pub(super) keeper: &'a dyn Gatekeeper,
    pub(super) questions: &'a Questions,
    pub(super) settings: &'a TaskSettings,
    /// The limit of gates and runs at one time. A task that waits for a person's answer does not count.
    pub(super) room: &'a Semaphore,
}

impl Gates<'_> {
    /// Decides if `task` may run. If `waits` is true, the task waits for an open request. Otherwise the task is skipped
    /// this time.
    pub(super) async fn pass(&self, task: &TaskId, gate: Option<&Gate>, actor: &Actor, waits: bool) -> Passed {
        let Some(gate) = gate else { return Passed::On(None) };
        let missing = missing(&actor.agent, gate);
        if !missing.is_empty() {
            let unchecked = GateOutcome::Unchecked { missing: missing.clone() };
            match self.settings.on_missing {
                OnMissing::Run => {
                    self.tell(task, actor, &unchecked, true);
                    return Passed::On(Some(Asked { outcome: unchecked, output: String::new() }));
                }
                OnMissing::Skip => {
                    self.tell(task, actor, &unchecked, false);
                    return Passed::No(Skip::Gate(unchecked));
                }
                OnMissing::Ask => {
                    self.tell(task, actor, &unchecked, false);
                    if let Err(why) = self.ask_for(task, &missing, actor, waits).await {
                        return Passed::No(Skip::NotAllowed { missing, why: why.into() });
                    }
                    // A person may have allowed less than the request, or the permission may be gone.
                    let missing = self::missing(&actor.agent, gate);
                    if !missing.is_empty() {
                        return Passed::No(Skip::Gate(GateOutcome::Unchecked { missing }));
                    }
                }
            }
        }
        let time = gate.time_limit.unwrap_or(self.settings.gate_time_limit);
        // The semaphore is never closed.
        let room = self.room.acquire().await;
        let asked = self.keeper.ask(&actor.agent, gate, time).await;
        drop(room);
        let runs = asked.outcome == GateOutcome::Passed;
        self.tell(task, actor, &asked.outcome, runs);
        if runs { Passed::On(Some(asked)) } else { Passed::No(Skip::Gate(asked.outcome)) }
    }

    fn tell(&self, task: &TaskId, actor: &Actor, outcome: &GateOutcome, runs: bool) {
        let (task, agent) = (task.clone(), actor.target.clone());
        // This fails only if the engine ends, and then no task runs.
        let _ = self.engine.tell_task(TaskEvent::Gate { task, agent, outcome: outcome.clone(), runs });
    }

    /// Requests the missing permissions from a person. A task has at most one open request. After a denial, the task
    /// does not request the denied permissions again until its file changes.
    async fn ask_for(&self, task: &TaskId, missing: &[Permission], actor: &Actor, waits: bool) -> Result<(), String> {
        if self.questions.refused(task).is_some_and(|refused| missing.iter().any(|one| refused.contains(one))) {
            return Err("a person denied it; no new request is made until the task file changes".into());
        }
        let ticket = match self.questions.open(task).filter(|ticket| ticket.poll().is_none()) {
            Some(ticket) => ticket,
            None => {
                let wanted = Permissions::try_from(missing.to_vec()).map_err(|why| why.to_string())?;
                let reason = format!("the gate of the scheduled task {task} needs it");
                let ticket =
                    actor.agent.request(PermissionRequest::new(wanted, reason)).await.map_err(|why| why.to_string())?;
                self.questions.note_open(task, Some(ticket.clone()));
                ticket
            }
        };
        let resolution = match ticket.poll() {
            Some(resolution) => resolution,
            None if waits => ticket.resolution().await,
            None => return Err("the request waits for an answer".into()),
        };
        self.questions.note_open(task, None);
        match resolution.outcome {
            Outcome::Granted => Ok(()),
            Outcome::Denied => {
                self.questions.note_refusal(task, &resolution.refused);
                Err(resolution.to_string())
            }
            Outcome::Expired | Outcome::Cancelled | Outcome::Unavailable => Err(resolution.to_string()),
        }
    }
}

/// Returns the permissions of a gate that the agent does not hold, in the order of the file.
pub(crate) fn missing(agent: &Agent, gate: &Gate) -> Vec<Permission> {
    let lacks = |permission: &&Permission| match permission {
        Permission::Path(Access::Read, _) => !agent.check(*permission).is_held(),
        Permission::Path(Access::Write, _) | Permission::Network | Permission::Events | Permission::Tool(_) => {
            agent.exec_scope(std::slice::from_ref(*permission)).is_err()
        }
    };
    gate.permissions.iter().filter(lacks).cloned().collect()
}

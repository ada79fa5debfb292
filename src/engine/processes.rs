//! Running processes, and how operators, people and agents stop them. The sandbox adapter handles child processes and
//! pipes.

use std::{sync::Arc, time::Duration};

use crate::{
    kernel::{Command, State, StopOrder},
    model::{Actor, OwnerId, Process, ProcessId, Reason},
};

use super::{Agent, Approver, Engine, Error};

#[cfg(feature = "sandbox")]
use std::sync::Weak;

#[cfg(feature = "sandbox")]
use crate::{
    kernel::{Evaluation, Refusal, Starting},
    model::{Action, AgentId, Event, ProcessExit, Ruled},
};

#[cfg(feature = "sandbox")]
use super::{agent_slot::AgentSlot, commit_handle::CommitHandle, outside::Outside, shared::Shared};

/// Converts a grace period to the milliseconds that are recorded.
fn millis(grace: Duration) -> u64 {
    u64::try_from(grace.as_millis()).unwrap_or(u64::MAX)
}

fn going(state: &State, owner: Option<&OwnerId>) -> Vec<Arc<Process>> {
    let all = state.processes.all().map(|going| &going.process);
    all.filter(|process| owner.is_none_or(|owner| process.owner == *owner)).cloned().collect()
}

impl Engine {
    /// Returns the one component outside the engine, created on first use.
    #[cfg(all(feature = "sandbox", feature = "journal"))]
    pub(crate) fn outside<T: Outside + Default>(&self) -> Option<Arc<T>> {
        self.shared.outside()
    }

    /// Returns every running process of every agent.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn processes(&self) -> Result<Vec<Arc<Process>>, Error> {
        self.shared.look(|state, _| going(state, None))
    }

    /// Orders a process to stop: it may end by itself within `grace`, then it is killed. The event `process.exited`
    /// reports its end.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no such process.
    pub async fn stop_process(&self, process: ProcessId, grace: Duration, reason: Option<Reason>) -> Result<(), Error> {
        self.stop_process_as(Actor::Operator, process, grace, reason).await
    }

    /// Orders a process to stop, as `by`, who acts for every owner.
    pub(crate) async fn stop_process_as(
        &self,
        by: Actor,
        process: ProcessId,
        grace: Duration,
        reason: Option<Reason>,
    ) -> Result<(), Error> {
        let order = StopOrder { by, owner: None, reason, grace_ms: millis(grace) };
        self.shared.execute(Command::StopProcess { process, order }).acknowledged().await.map(drop)
    }
}

impl Approver {
    /// Returns every running process of this owner's agents.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn processes(&self) -> Result<Vec<Arc<Process>>, Error> {
        let owner = self.person()?.owner;
        self.shared.look(|state, _| going(state, Some(&owner)))
    }

    /// Orders a process of this owner's agents to stop: it may end by itself within `grace`, then it is killed.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if this owner has no such process.
    pub async fn stop_process(&self, process: ProcessId, grace: Duration, reason: Option<Reason>) -> Result<(), Error> {
        let person = self.person()?;
        let order = StopOrder { by: person.actor(), owner: Some(person.owner), reason, grace_ms: millis(grace) };
        self.shared.execute(Command::StopProcess { process, order }).acknowledged().await.map(drop)
    }
}

impl Agent {
    /// Returns the running processes of this agent, and of the agents that it created.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone.
    pub fn processes(&self) -> Result<Vec<Arc<Process>>, Error> {
        self.look(|state, _, _| {
            let mut all = going(state, None);
            all.retain(|process| process.agent == self.id || state.is_above(&self.id, process));
            all
        })
    }

    /// Orders a process of this agent, or of an agent that it created, to stop, on behalf of `by`, who may act as this
    /// agent.
    #[cfg_attr(not(feature = "sandbox"), allow(dead_code, reason = "only a sandbox starts processes"))]
    pub(crate) async fn order_stop(
        &self,
        by: Actor,
        process: ProcessId,
        grace: Duration,
        reason: Option<Reason>,
    ) -> Result<(), Error> {
        let order = StopOrder { by, owner: None, reason, grace_ms: millis(grace) };
        self.execute(Command::StopProcess { process, order }).await.map(drop)
    }
}

/// The decision about a running action, kept to compare it with a later one.
#[cfg(feature = "sandbox")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    denied: Option<Arc<str>>,
}

#[cfg(feature = "sandbox")]
impl Standing {
    /// Returns the reason why the action is denied now, unless it was denied for the same reason before.
    pub(crate) fn newly_denied(self, before: &Standing) -> Option<Arc<str>> {
        if self == *before { None } else { self.denied }
    }
}

#[cfg(feature = "sandbox")]
impl Agent {
    /// Starts a process, and passes it to `register` before any event about it is published. It needs a thread that may
    /// block.
    pub(crate) fn begin_process(
        &self,
        starting: Starting,
        register: impl FnOnce(&Arc<Process>),
    ) -> Result<Arc<Process>, Error> {
        let caller = Some((&self.id, &self.cell));
        let mut begun = None;
        let done = self.shared.under_lock(caller, |shared, writer, now, stuck| {
            let (command, source) = (Command::StartProcess(starting), self.shared.source(self.via.as_ref()));
            let done = shared.carry_out_from(writer, command, source, now, stuck);
            begun = done.events().iter().find_map(process_of);
            if let Some(begun) = &begun {
                register(begun);
            }
            Ok(done)
        });
        CommitHandle::of(done).wait()?;
        begun.ok_or(Error::Closed)
    }

    /// Records how a process ended.
    pub(crate) fn tell_exit(&self, process: ProcessId, exit: ProcessExit) -> Result<(), Error> {
        // The engine records this, not the agent: the agent may be gone, and its process ended with it.
        let command = Command::ProcessExited { agent: self.id.clone(), process, exit };
        self.shared.execute(command).at_once().map(drop)
    }

    /// Orders a process to stop, since its action is denied by now.
    pub(crate) fn deny_process(&self, process: ProcessId, why: Arc<str>) -> Result<(), Error> {
        self.carry_out(Command::DenyProcess { agent: self.id.clone(), process, why }).at_once().map(drop)
    }

    /// Evaluates `action` as it stands now. This opens no request, consumes no permission and records no event.
    pub(crate) fn standing(&self, action: &Action) -> Result<Standing, Error> {
        self.judged(action, |judgement: &Evaluation<'_>, case| {
            let is_denied = judgement.conclusion.ruled == Ruled::Deny;
            Standing { denied: is_denied.then(|| judgement.decision(case).decision_reason) }
        })
    }

    /// Returns the one component outside the engine, created on first use.
    pub(crate) fn outside<T: Outside + Default>(&self) -> Result<Arc<T>, Error> {
        // The handle of a retired agent has no access to it.
        self.look(|_, _, _| ())?;
        self.shared.outside().ok_or(Error::Closed)
    }

    /// Creates a handle that does not keep the engine alive.
    pub(crate) fn downgrade(&self) -> WeakAgent {
        let (id, cell, via) = (self.id.clone(), Arc::clone(&self.cell), self.via.clone());
        WeakAgent { shared: Arc::downgrade(&self.shared), id, cell, via }
    }

    /// Creates the refusal for a process that this agent cannot access.
    pub(crate) fn no_process(process: ProcessId) -> Error {
        Refusal::UnknownProcess(process).into()
    }
}

#[cfg(feature = "sandbox")]
fn process_of(event: &Event) -> Option<Arc<Process>> {
    if let Event::Process(event) = event { Some(Arc::clone(event.process())) } else { None }
}

/// A handle of an agent that does not keep its engine alive.
#[cfg(feature = "sandbox")]
#[derive(Clone, Debug)]
pub(crate) struct WeakAgent {
    shared: Weak<Shared>,
    id: AgentId,
    cell: Arc<AgentSlot>,
    via: Option<crate::model::Means>,
}

#[cfg(feature = "sandbox")]
impl WeakAgent {
    /// Returns the agent's handle, unless the engine's last handle is gone.
    pub(crate) fn upgrade(&self) -> Option<Agent> {
        let shared = self.shared.upgrade()?.into();
        Some(Agent { shared, id: self.id.clone(), cell: Arc::clone(&self.cell), via: self.via.clone() })
    }
}

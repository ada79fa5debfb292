//! Running processes. A process starts with held permissions and is stopped once one of them ends.

use std::sync::Arc;

use crate::model::{Actor, Event, Process, ProcessEvent, ProcessExit, ProcessId, StopCause, Timestamp};

use super::super::{
    Refusal, State,
    agent::Agent,
    command::{StaleGrants, Starting, StopOrder},
    processes::Going,
};

impl State {
    /// Starts a process, or restarts an ended one under its id.
    ///
    /// The start was decided a moment ago. Its permissions must still be held now.
    #[cfg_attr(not(feature = "sandbox"), allow(dead_code, reason = "only a sandbox starts processes"))]
    pub(super) fn start_process(&self, starting: Starting, now: Timestamp) -> Result<Vec<Event>, Refusal> {
        let Starting { agent: id, command, permissions, cause, again, by } = starting;
        let agent = self.agent(&id)?;
        let max = self.settings.max_processes;
        if self.processes.of(&id).count() >= usize::try_from(max).unwrap_or(usize::MAX) {
            return Err(Refusal::TooManyProcesses { agent: id, max });
        }
        if let Some(cause) = cause.as_ref().filter(|cause| cause.run != agent.run) {
            return Err(Refusal::UnknownRun(cause.run.clone()));
        }
        let missing = permissions.iter().find(|wanted| !self.uses(agent, wanted, now, &StaleGrants::new()));
        if let Some(missing) = missing {
            return Err(self.not_held(agent, missing, now));
        }
        let grants = permissions.iter().flat_map(|wanted| self.usable(agent, wanted, now).map(|grant| grant.id));
        let process = Process {
            id: again.as_ref().map_or_else(|| self.processes.next(), |before| before.id),
            owner: agent.profile.owner.clone(),
            run: agent.run.clone(),
            command,
            grants: grants.collect(),
            permissions,
            since: now,
            restarts: again.as_ref().map_or(0, |before| before.restarts.saturating_add(1)),
            agent: id,
            cause,
        };
        if again.is_some() && self.processes.get(process.id).is_some() {
            return Err(Refusal::ProcessGoesOn(process.id));
        }
        let process = Arc::new(process);
        Ok(vec![Event::Process(match again {
            None => ProcessEvent::Started { process },
            Some(_) => ProcessEvent::Restarted { process, by },
        })])
    }

    /// Stops a process by order of an entitled actor.
    pub(super) fn stop_process(&self, id: ProcessId, order: StopOrder) -> Result<Vec<Event>, Refusal> {
        let unknown = || Refusal::UnknownProcess(id);
        let going = self.processes.get(id).ok_or_else(unknown)?;
        if !self.may_stop(&going.process, &order) {
            return Err(unknown());
        }
        let StopOrder { by, reason, grace_ms, .. } = order;
        Ok(vec![going.stopped(StopCause::Ordered { by, reason, grace_ms })])
    }

    /// Returns true for the agent of the process, an ancestor of that agent, a person of its owner, and the host
    /// program.
    fn may_stop(&self, process: &Process, order: &StopOrder) -> bool {
        match &order.by {
            Actor::Operator => true,
            Actor::Person { .. } => order.owner.as_ref().is_none_or(|owner| *owner == process.owner),
            Actor::Agent(agent) => *agent == process.agent || self.is_above(agent, process),
        }
    }

    /// Returns true if `agent` is registered and is an ancestor of the agent of `process`.
    pub(crate) fn is_above(&self, agent: &crate::model::AgentId, process: &Process) -> bool {
        let is_there = |above: &&Agent| above.profile.id == *agent && self.agents.contains_key(agent);
        self.agents.get(&process.agent).is_some_and(|of| self.above(of).iter().any(is_there))
    }

    /// Stops a process that a later rule, policy or mode denies.
    #[cfg(feature = "sandbox")]
    pub(super) fn deny_process(&self, id: ProcessId, why: Arc<str>) -> Vec<Event> {
        let going = self.processes.get(id).filter(|going| !going.is_stopped);
        going.map(|going| going.stopped(StopCause::Denied { why })).into_iter().collect()
    }

    /// Records the end of a process. The end of an unknown process was recorded earlier.
    #[cfg(feature = "sandbox")]
    pub(super) fn process_exited(&self, id: ProcessId, exit: ProcessExit) -> Vec<Event> {
        self.processes.get(id).map(|going| going.exited(exit)).into_iter().collect()
    }

    /// Stops all processes because the engine ends.
    pub(super) fn end_processes(&self) -> Vec<Event> {
        let all = self.processes.all().filter(|going| !going.is_stopped);
        all.map(|going| going.stopped(StopCause::EngineEnds)).collect()
    }

    /// Returns the ends of the processes of an earlier engine. None of them is still running.
    pub(super) fn processes_of_before(&self) -> impl Iterator<Item = Event> + '_ {
        self.processes.all().map(|going| going.exited(ProcessExit::WithEngine))
    }

    /// Stops the processes whose agent, run or permission is gone.
    pub(in super::super) fn processes_follow(&self, events: &[Event], now: Timestamp) -> Vec<Event> {
        if self.processes.is_empty() || !events.iter().any(may_end_processes) {
            return Vec::new();
        }
        let going = self.processes.all().filter(|going| !going.is_stopped);
        going.filter_map(|going| Some(going.stopped(self.why_over(going, now)?))).collect()
    }

    fn why_over(&self, going: &Going, now: Timestamp) -> Option<StopCause> {
        let process = &going.process;
        let Some(agent) = self.agents.get(&process.agent) else { return Some(StopCause::AgentGone) };
        if agent.run != process.run {
            return Some(StopCause::RunOver);
        }
        let lost = process.permissions.iter().find(|held| !self.uses(agent, held, now, &StaleGrants::new()));
        lost.map(|permission| StopCause::PermissionLost { permission: permission.clone() })
    }
}

/// Returns true if permissions, runs or agents may have ended by the event.
fn may_end_processes(event: &Event) -> bool {
    matches!(
        event,
        Event::AgentRetired { .. }
            | Event::AgentRegistered { .. }
            | Event::RunBegan { .. }
            | Event::GrantChanged { .. }
            | Event::GrantRevoked { .. }
            | Event::GrantExpired { .. }
            | Event::GrantUsed { .. }
            | Event::SettingsChanged { .. }
    )
}

//! Resuming an engine from the store. All users are disconnected. A run to which something is bound has ended, unless
//! the engine before left the runs to this one.

use std::{iter, sync::Arc};

use crate::model::{Ended, Event, RunId, SavedDecision, Scope, Settings, Verdict};

use super::{
    super::{RunsAtOpen, State, agent::Agent, tool_policy::RunGuards},
    runs,
};

impl State {
    /// Returns the events of a resume. It cannot fail, whatever was stored.
    pub(super) fn resume(
        &self,
        settings: Option<Arc<Settings>>,
        run: &RunId,
        cut: Option<Arc<str>>,
        runs: RunsAtOpen,
    ) -> Vec<Event> {
        // Records that were set aside may have had the end of a run.
        let go_on = self.runs_go_on && runs != RunsAtOpen::End && cut.is_none();
        let runs_go_on = runs == RunsAtOpen::GoOn || go_on;
        let changed = settings.filter(|settings| *settings != self.settings);
        let changed = changed.map(|settings| Event::SettingsChanged { settings });
        let carriers = self.connected.values().flatten();
        let carriers = carriers.map(|agent| Event::CarrierDisconnected { agent: agent.clone() });
        let approvers = self.approvers.iter().flat_map(|(owner, count)| (0..*count).map(move |_| owner));
        let approvers = approvers.map(|owner| Event::ApproverLeft { owner: owner.clone() });
        let mut agents: Vec<_> = self.agents.values().collect();
        agents.sort_by(|one, other| one.profile.id.cmp(&other.profile.id));
        let is_shared = self.shared_runs();
        let over = agents.into_iter().zip(runs::numbered(run)).filter(|_| !go_on);
        let over = over.flat_map(|(agent, run)| self.over(agent, run, is_shared(agent)));
        // The other saved decisions that belong to a run end, whichever agents of the run remain.
        let ends = |ruling: &SavedDecision| match go_on {
            true => is_of_destructive(ruling),
            false => !self.outlives_restart(ruling, &is_shared),
        };
        let said = self.rulings.values().filter(|ruling| ends(ruling));
        let said = said.filter_map(|ruling| Some((ruling, ruling.run.clone()?)));
        let said =
            said.map(|(ruling, run)| Event::RulingEnded { ruling: Arc::clone(ruling), ended: Ended::RunEnded(run) });
        let opened = iter::once(Event::StoreOpened { cut, runs_go_on });
        opened
            .chain(changed)
            .chain(self.processes_of_before())
            .chain(self.commands.of_before())
            .chain(carriers)
            .chain(approvers)
            .chain(said)
            .chain(over)
            .collect()
    }

    /// Returns true if a saved decision is an approval of one use in a run that goes on. It was acknowledged, so a
    /// crash does not take it away.
    fn outlives_restart(&self, ruling: &SavedDecision, is_shared: &impl Fn(&Agent) -> bool) -> bool {
        let agent = self.agents.get(&ruling.agent).filter(|agent| ruling.run.as_ref() == Some(&agent.run));
        is_for_one_use(ruling) && agent.is_some_and(|agent| !self.run_is_over(agent, is_shared(agent)))
    }

    /// Returns the ends of the previous run and the begin of a new one. An agent that was alone in its run and has
    /// nothing bound to it keeps the run. Its pending requests remain.
    fn over<'a>(&self, agent: &'a Agent, run: RunId, is_shared: bool) -> impl Iterator<Item = Event> + use<'a> {
        let began = || [runs::ended(agent), Event::RunBegan { agent: agent.profile.id.clone(), run, by: None }];
        runs::revocations_of_run(agent).chain(self.run_is_over(agent, is_shared).then(began).into_iter().flatten())
    }

    /// Returns true if the run of `agent` does not go on after a restart: other agents were in it, or something that
    /// the restart ends is bound to it.
    fn run_is_over(&self, agent: &Agent, is_shared: bool) -> bool {
        let said = agent.rulings.iter().any(|ruling| ruling.run.is_some() && !is_for_one_use(ruling));
        // The tool policies of a run end when no agent is left in it.
        let guarded = self.guards_of(&agent.profile.owner, &agent.run).is_some_and(RunGuards::state_something);
        let holds = runs::revocations_of_run(agent).next().is_some();
        is_shared || said || guarded || holds || !agent.kept_from.is_empty()
    }
}

/// Returns true if a saved decision is the answer to a request, for one use. A destructive action is never asked about:
/// its approval has no request, and ends with the engine.
fn is_for_one_use(ruling: &SavedDecision) -> bool {
    ruling.scope == Scope::Once && ruling.verdict == Verdict::Allow && ruling.request.is_some()
}

/// Returns true if a saved decision is the approval of a destructive action.
fn is_of_destructive(ruling: &SavedDecision) -> bool {
    ruling.scope == Scope::Once && ruling.verdict == Verdict::Allow && ruling.request.is_none()
}

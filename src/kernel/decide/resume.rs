//! Resuming an engine from the store. All users are disconnected. What is denied for a run goes on: a crash loosens
//! nothing. What was allowed for a run has ended, unless the engine before left the runs to this one.

use std::{iter, sync::Arc};

use crate::model::{Actor, Ended, Event, OwnerId, RunId, SavedDecision, Scope, Settings, ToolPolicies, Verdict};

use super::super::{
    RunsAtOpen, State,
    tool_policy::{Compiled, RunGuards},
};

impl State {
    /// Returns the events of a resume. It cannot fail, whatever was stored.
    pub(super) fn resume(
        &self,
        settings: Option<Arc<Settings>>,
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
        let ends =
            |ruling: &SavedDecision| if go_on { is_of_destructive(ruling) } else { ends_with_the_engine(ruling) };
        let said = self.rulings.values().filter(|ruling| ends(ruling));
        let said = said.map(|ruling| Event::RulingEnded { ruling: Arc::clone(ruling), ended: Ended::EngineEnded });
        let granted = self.grants.values().filter(|grant| grant.run.is_some() && !go_on);
        let granted = granted.map(|grant| Event::GrantRevoked { grant: grant.whole(), ended: Ended::EngineEnded });
        let policies = (!go_on).then(|| self.policies_without_approvals());
        let opened = iter::once(Event::StoreOpened { cut, runs_go_on });
        opened
            .chain(changed)
            .chain(self.processes_of_before())
            .chain(self.commands.of_before())
            .chain(carriers)
            .chain(approvers)
            .chain(said)
            .chain(granted)
            .chain(policies.into_iter().flatten())
            .collect()
    }

    /// Returns the changes that remove every approval from the policies of runs.
    fn policies_without_approvals(&self) -> impl Iterator<Item = Event> + '_ {
        let runs =
            self.guards.iter().flat_map(|(owner, runs)| runs.iter().map(move |(run, guards)| (owner, run, guards)));
        runs.flat_map(|(owner, run, guards)| self.without_approvals(owner, run, guards))
    }

    fn without_approvals(&self, owner: &OwnerId, run: &RunId, guards: &RunGuards) -> Vec<Event> {
        let narrowed = |guard: &Compiled| {
            let rules = ToolPolicies::default().narrowed(guard.written());
            (rules != **guard.written()).then(|| Arc::new(rules))
        };
        let for_all = narrowed(guards.common()).map(|rules| self.policy_for_all(owner, run, rules, Actor::Operator));
        let tools = guards.tools().iter();
        let tools = tools.filter_map(|(tool, guard)| Some(self.updated(owner, run, tool, narrowed(guard)?, None)));
        for_all.into_iter().chain(tools).collect()
    }
}

/// Returns true if a saved decision is an approval that does not outlast its engine: for a run, or of a destructive
/// action. The approval of one action that answered a request was acknowledged, so a crash does not take it away.
fn ends_with_the_engine(ruling: &SavedDecision) -> bool {
    let is_for_one_use = ruling.scope == Scope::Once && ruling.request.is_some();
    ruling.run.is_some() && ruling.verdict != Verdict::Deny && !is_for_one_use
}

/// Returns true if a saved decision is the approval of a destructive action.
fn is_of_destructive(ruling: &SavedDecision) -> bool {
    ruling.scope == Scope::Once && ruling.verdict == Verdict::Allow && ruling.request.is_none()
}

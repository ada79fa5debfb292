//! Resuming an engine from the store. All users are disconnected. What was allowed for a run has ended, and what is
//! denied for it goes on: a crash loosens nothing.

use std::{iter, sync::Arc};

use crate::model::{Actor, Ended, Event, OwnerId, RunId, SavedDecision, Scope, Settings, ToolPolicies, Verdict};

use super::super::{
    State,
    tool_policy::{Compiled, RunGuards},
};

impl State {
    /// Returns the events of a resume. It cannot fail, whatever was stored.
    pub(super) fn resume(&self, settings: Option<Arc<Settings>>, cut: Option<Arc<str>>) -> Vec<Event> {
        let changed = settings.filter(|settings| *settings != self.settings);
        let changed = changed.map(|settings| Event::SettingsChanged { settings });
        let carriers = self.connected.values().flatten();
        let carriers = carriers.map(|agent| Event::CarrierDisconnected { agent: agent.clone() });
        let approvers = self.approvers.iter().flat_map(|(owner, count)| (0..*count).map(move |_| owner));
        let approvers = approvers.map(|owner| Event::ApproverLeft { owner: owner.clone() });
        let said = self.rulings.values().filter(|ruling| ends_with_the_engine(ruling));
        let said = said.map(|ruling| Event::RulingEnded { ruling: Arc::clone(ruling), ended: Ended::EngineEnded });
        let granted = self.grants.values().filter(|grant| grant.run.is_some());
        let granted = granted.map(|grant| Event::GrantRevoked { grant: Arc::clone(grant), ended: Ended::EngineEnded });
        let opened = iter::once(Event::StoreOpened { cut });
        opened
            .chain(changed)
            .chain(self.processes_of_before())
            .chain(self.commands.of_before())
            .chain(carriers)
            .chain(approvers)
            .chain(said)
            .chain(granted)
            .chain(self.policies_without_approvals())
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

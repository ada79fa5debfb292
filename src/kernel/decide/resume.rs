//! Resuming an engine from the store. All users are disconnected, and all earlier runs have ended.

use std::{iter, sync::Arc};

use crate::model::{Ended, Event, RunId, Settings};

use super::{
    super::{State, agent::Agent},
    runs,
};

impl State {
    /// Returns the events of a resume. It cannot fail, whatever was stored.
    pub(super) fn resume(&self, settings: Option<Arc<Settings>>, run: &RunId, cut: Option<Arc<str>>) -> Vec<Event> {
        let changed = settings.filter(|settings| *settings != self.settings);
        let changed = changed.map(|settings| Event::SettingsChanged { settings });
        let carriers = self.connected.values().flatten();
        let carriers = carriers.map(|agent| Event::CarrierDisconnected { agent: agent.clone() });
        let approvers = self.approvers.iter().flat_map(|(owner, count)| (0..*count).map(move |_| owner));
        let approvers = approvers.map(|owner| Event::ApproverLeft { owner: owner.clone() });
        let mut agents: Vec<_> = self.agents.values().collect();
        agents.sort_by(|one, other| one.profile.id.cmp(&other.profile.id));
        let is_shared = self.shared_runs();
        let runs = agents.into_iter().zip(runs::numbered(run));
        let runs = runs.flat_map(|(agent, run)| self.over(agent, run, is_shared(agent)));
        // All saved decisions that belong to a run end, whichever agents of the run remain.
        let said = self.rulings.values().filter_map(|ruling| Some((ruling, ruling.run.clone()?)));
        let said =
            said.map(|(ruling, run)| Event::RulingEnded { ruling: Arc::clone(ruling), ended: Ended::RunEnded(run) });
        let opened = iter::once(Event::StoreOpened { cut });
        opened
            .chain(changed)
            .chain(self.processes_of_before())
            .chain(carriers)
            .chain(approvers)
            .chain(said)
            .chain(runs)
            .collect()
    }

    /// Returns the ends of the previous run and the begin of a new one. An agent that was alone in its run and has
    /// nothing bound to it keeps the run. Its pending requests remain.
    fn over<'a>(&self, agent: &'a Agent, run: RunId, is_shared: bool) -> impl Iterator<Item = Event> + use<'a> {
        let revocations = runs::revocations_of_run(agent);
        let said = agent.rulings.iter().any(|ruling| ruling.run.is_some());
        // The tool policies of a run end when no agent is left in it.
        let guarded = self.guards_of(&agent.profile.owner, &agent.run).is_some();
        let begins =
            is_shared || said || guarded || !agent.kept_from.is_empty() || revocations.clone().next().is_some();
        let began = || [runs::ended(agent), Event::RunBegan { agent: agent.profile.id.clone(), run, by: None }];
        revocations.chain(begins.then(began).into_iter().flatten())
    }
}

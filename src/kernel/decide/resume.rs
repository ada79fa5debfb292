//! An engine goes on from what is stored: nobody is connected any more, and every run from before is over.

use std::{iter, sync::Arc};

use crate::model::{Ended, Event, RunId, Settings};

use super::{
    super::{State, state::Agent},
    runs,
};

impl State {
    /// Total: whatever was stored, the engine can go on from it.
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
        // Of every run, whoever is left of it.
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

    /// What ends with the run before; an agent that was alone in it and has nothing of it need not begin another one. What it
    /// asked stands.
    fn over<'a>(&self, agent: &'a Agent, run: RunId, is_shared: bool) -> impl Iterator<Item = Event> + use<'a> {
        let rights = runs::rights_of_run(agent);
        let said = agent.rulings.iter().any(|ruling| ruling.run.is_some());
        // Guards end when nobody is left in their run.
        let guarded = self.guards_of(&agent.profile.owner, &agent.run).is_some();
        let begins = is_shared || said || guarded || !agent.kept_from.is_empty() || rights.clone().next().is_some();
        let began = || [runs::ended(agent), Event::RunBegan { agent: agent.profile.id.clone(), run, by: None }];
        rights.chain(begins.then(began).into_iter().flatten())
    }
}

//! The runs that are going on, and the news of them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bestow::{
    Engine, Error, Profile,
    agent::{AgentId, RunId},
    sandbox::Sandbox,
    user::OwnerId,
};
use serde_json::Value;
use tokio::sync::watch;

use super::news::{Clients, Inbox, RunNews};

/// The type of the message about the begin of a run.
pub(super) const BEGIN: &str = "strategy_started";

/// The runs whose bots are going on, the engine that they belong to, and their news.
#[derive(Debug)]
pub(super) struct Board {
    pub(super) engine: Engine,
    /// The sandbox for bots that are confined.
    pub(super) sandbox: Option<Sandbox>,
    running: Mutex<BTreeMap<(OwnerId, RunId), Running>>,
    clients: Clients,
}

/// A run that is going on.
#[derive(Debug)]
struct Running {
    agents: Vec<AgentId>,
    stop: watch::Sender<bool>,
}

impl Board {
    pub(super) fn new(engine: &Engine, sandbox: Option<Sandbox>) -> Board {
        Board { engine: engine.clone(), sandbox, running: Mutex::default(), clients: Clients::default() }
    }

    /// Returns the news of an owner's runs for one client.
    pub(super) fn news(&self, owner: &OwnerId) -> Inbox {
        self.clients.add(owner)
    }

    pub(super) fn tell(&self, owner: &OwnerId, run: &RunId, message: Value) {
        self.clients.tell(owner, || {
            let is_begin = message.get("type").is_some_and(|kind| kind == BEGIN);
            let begins_after = self.engine.last_sequence().ok().filter(|_| is_begin);
            RunNews { run: run.clone(), message, begins_after }
        });
    }

    /// Returns the agents of an owner in a run.
    pub(super) fn members(&self, owner: &OwnerId, run: &RunId) -> Result<Vec<Arc<Profile>>, Error> {
        let all = self.engine.agents()?.into_iter();
        let is_in = |profile: &Arc<Profile>| {
            profile.owner == *owner && self.engine.run_of(&profile.id).is_ok_and(|of| of == *run)
        };
        Ok(all.filter(is_in).collect())
    }

    /// Enters a run that begins. Returns the signal that stops it.
    pub(super) fn enter(&self, owner: &OwnerId, run: &RunId, agents: Vec<AgentId>) -> watch::Receiver<bool> {
        let (stop, stopped) = watch::channel(false);
        self.lock().insert((owner.clone(), run.clone()), Running { agents, stop });
        stopped
    }

    /// Stops a run. Returns true if it was going on.
    pub(super) fn stop(&self, owner: &OwnerId, run: &RunId) -> bool {
        self.lock().get(&(owner.clone(), run.clone())).map(|running| running.stop.send(true)).is_some()
    }

    /// Forgets a run whose bots have ended.
    pub(super) fn forget(&self, owner: &OwnerId, run: &RunId) {
        self.lock().remove(&(owner.clone(), run.clone()));
    }

    pub(super) fn is_running(&self, owner: &OwnerId, run: &RunId) -> bool {
        self.lock().contains_key(&(owner.clone(), run.clone()))
    }

    /// Returns the number of the runs that are going on, of one owner or of all.
    pub(super) fn count(&self, owner: Option<&OwnerId>) -> usize {
        self.lock().keys().filter(|(whose, _)| owner.is_none_or(|owner| owner == whose)).count()
    }

    /// Returns the running run that has this agent.
    pub(super) fn running_with(&self, owner: &OwnerId, agent: &AgentId) -> Option<RunId> {
        let running = self.lock();
        let mut of_owner = running.iter().filter(|((whose, _), _)| whose == owner);
        of_owner.find(|(_, running)| running.agents.contains(agent)).map(|((_, run), _)| run.clone())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(OwnerId, RunId), Running>> {
        // Each change is one insertion or removal, so a panic elsewhere leaves the map whole.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! The presence of a follower as a person.

use std::collections::BTreeMap;

use crate::{
    engine::{ApproverSession, Engine, Error},
    model::{ApproverId, Event, Means, OwnerId},
};

/// The presence of one person for every owner, as long as this value lives.
///
/// A follower reads the requests from the events. The entries of these sessions only show that it still reads.
#[derive(Debug)]
pub(super) struct Presence {
    by: ApproverId,
    means: Means,
    sessions: BTreeMap<OwnerId, ApproverSession>,
}

impl Presence {
    /// Attends for the owners of all agents.
    pub(super) fn begin(engine: &Engine, by: ApproverId, means: Means) -> Result<Presence, Error> {
        let mut presence = Presence { by, means, sessions: BTreeMap::new() };
        presence.catch_up(engine)?;
        Ok(presence)
    }

    /// Follows an event: the owner of a new agent is attended for as well.
    pub(super) fn hear(&mut self, engine: &Engine, event: &Event) -> Result<(), Error> {
        self.resume(engine)?;
        if let Event::AgentRegistered { profile, .. } = event {
            self.attend(engine, &profile.owner)?;
        }
        Ok(())
    }

    /// Attends for the owners of agents whose events were missed.
    pub(super) fn catch_up(&mut self, engine: &Engine) -> Result<(), Error> {
        self.resume(engine)?;
        engine.agents()?.iter().try_for_each(|agent| self.attend(engine, &agent.owner))
    }

    /// Passes over the entries of the sessions. A session that fell behind has ended, and begins anew.
    fn resume(&mut self, engine: &Engine) -> Result<(), Error> {
        let ended =
            self.sessions.iter_mut().filter_map(|(owner, session)| (!session.pass_over()).then(|| owner.clone()));
        for owner in ended.collect::<Vec<_>>() {
            self.sessions.remove(&owner);
            self.attend(engine, &owner)?;
        }
        Ok(())
    }

    fn attend(&mut self, engine: &Engine, owner: &OwnerId) -> Result<(), Error> {
        if !self.sessions.contains_key(owner) {
            let session = engine.approver(owner.clone(), self.by.clone(), self.means.clone()).attend()?;
            self.sessions.insert(owner.clone(), session);
        }
        Ok(())
    }
}

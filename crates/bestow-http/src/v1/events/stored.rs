//! The events that the audit trail holds from before a log began, with the owner of each.

use std::{
    collections::{HashMap, VecDeque},
    path::Path,
};

use bestow::{
    AgentId, Engine, Event,
    event::{Ids, Recorded, Timestamp},
    journal::{JournalError, audit},
    user::OwnerId,
};

/// An event as clients get it.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) sequence: u64,
    /// The owner of the agent at that time. None if the event belongs to no owner.
    pub(super) owner: Option<OwnerId>,
    pub(super) agent: Option<AgentId>,
    pub(super) at: Timestamp,
    /// The envelope as JSON, on one line.
    pub(super) text: String,
}

impl Told {
    /// Renders an event. `owner_of` returns the owner that an agent had at its time.
    pub(super) fn of(engine: &Engine, recorded: &Recorded, owner_of: impl FnOnce(&AgentId) -> Option<OwnerId>) -> Told {
        let envelope = engine.envelope(recorded);
        let Ids { agent_id: agent, owner_id: owner, .. } = shown_ids(recorded, &envelope.ids);
        let owner = owner.or_else(|| agent.as_ref().and_then(owner_of));
        // An envelope has only names and texts, so this does not fail.
        let text = serde_json::to_string(&envelope).unwrap_or_default();
        Told { sequence: recorded.sequence, owner, agent, at: recorded.at, text }
    }
}

/// Returns the ids that say who may see an event. The text of a refusal may tell that an agent of another owner exists.
fn shown_ids(recorded: &Recorded, ids: &Ids) -> Ids {
    if let Event::Refused { .. } = recorded.event { Ids::default() } else { ids.clone() }
}

/// The stored events, and the owners of agents at the end of them.
pub(super) struct Before {
    pub(super) engine: Engine,
    /// The number of the last of the events.
    pub(super) last: u64,
    /// The owners of the agents after that event.
    pub(super) owners: HashMap<AgentId, OwnerId>,
}

impl Before {
    /// Returns the last events, oldest first and at most `most`. None is left out between them, and the owner of each
    /// is known.
    ///
    /// Records that were set aside may have had numbers that other events have now. So nothing is taken from before.
    pub(super) fn read(self, trail: &Path, most: usize) -> Result<VecDeque<Told>, JournalError> {
        let first = self.last.saturating_sub(u64::try_from(most).unwrap_or(u64::MAX));
        let mut recorded = VecDeque::with_capacity(most);
        for record in audit::records_after(trail, first)? {
            let record = record?.recorded;
            if self.last < record.sequence {
                break;
            }
            if matches!(record.event, Event::StoreOpened { cut: Some(_), .. }) {
                recorded.clear();
            }
            recorded.push_back(record);
        }
        let is_whole = recorded.back().is_some_and(|last| last.sequence == self.last);
        Ok(if is_whole { self.told(&recorded) } else { VecDeque::new() })
    }

    fn told(&self, recorded: &VecDeque<Recorded>) -> VecDeque<Told> {
        let owners = Owners::of(&self.engine, recorded, &self.owners);
        let (mut lives, mut told) = (Lives::default(), VecDeque::with_capacity(recorded.len()));
        for event in recorded {
            lives.begin(event);
            let mut is_known = true;
            let rendered = Told::of(&self.engine, event, |agent| {
                let owner = owners.of_life(agent, lives.now(agent));
                is_known = owner.is_some();
                owner.flatten()
            });
            lives.end(event);
            if is_known {
                told.push_back(rendered);
            } else {
                told.clear();
            }
        }
        told
    }
}

/// The part of the history of each id that is reached: a new one begins with each registration and after each end of an
/// agent.
#[derive(Debug, Default)]
struct Lives(HashMap<AgentId, u32>);

impl Lives {
    fn begin(&mut self, event: &Recorded) {
        if let Event::AgentRegistered { profile, .. } = &event.event {
            self.next(&profile.id);
        }
    }

    fn end(&mut self, event: &Recorded) {
        if let Event::AgentRetired { agent } = &event.event {
            self.next(agent);
        }
    }

    fn next(&mut self, agent: &AgentId) {
        *self.0.entry(agent.clone()).or_default() += 1;
    }

    fn now(&self, agent: &AgentId) -> u32 {
        self.0.get(agent).copied().unwrap_or_default()
    }
}

/// The owner in each part of the history of an id: none where no agent had it. An agent has one owner all its life, and
/// an agent of another owner may have its id later.
#[derive(Debug)]
struct Owners {
    known: HashMap<(AgentId, u32), Option<OwnerId>>,
    /// The last part of each history that has several.
    lives: Lives,
}

impl Owners {
    /// Collects the owners that the events name, and those after the last of them.
    fn of(engine: &Engine, recorded: &VecDeque<Recorded>, after: &HashMap<AgentId, OwnerId>) -> Owners {
        let (mut known, mut lives) = (HashMap::new(), Lives::default());
        for event in recorded {
            if let Event::AgentRegistered { profile, .. } = &event.event {
                known.insert((profile.id.clone(), lives.now(&profile.id)), None);
            }
            lives.begin(event);
            if let Ids { agent_id: Some(agent), owner_id: Some(owner), .. } = engine.envelope(event).ids {
                let life = lives.now(&agent);
                known.entry((agent, life)).or_insert(Some(owner));
            }
            lives.end(event);
            if let Event::AgentRetired { agent } = &event.event {
                known.insert((agent.clone(), lives.now(agent)), None);
            }
        }
        for (agent, owner) in after {
            known.entry((agent.clone(), lives.now(agent))).or_insert_with(|| Some(owner.clone()));
        }
        Owners { known, lives }
    }

    /// Returns the owner of an agent in a part of its history. None if it is not known.
    fn of_life(&self, agent: &AgentId, life: u32) -> Option<Option<OwnerId>> {
        let known = self.known.get(&(agent.clone(), life)).cloned();
        // No agent had the id from the begin to the end.
        known.or_else(|| (!self.lives.0.contains_key(agent)).then_some(None))
    }
}

//! The rate limit for facts that agents cause. Up to a limit, each fact is recorded separately. Beyond it, only the
//! number is recorded.
//!
//! Limits apply per family: an agent with all its descendants. Some facts change nothing: a refusal, a repeated gift, a
//! denial, a hook result. They are recorded one by one up to the limit, and then merged into one fact with the number
//! of each kind. An event that changes something is always recorded. Beyond its limit the command is refused instead.
//! An allowed action always has its own record. The processes that the control socket refuses form a further family
//! with its own limit.

mod size;

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use foldhash::fast::RandomState;

use crate::model::{AgentId, Effect, Event, Settings, Timestamp};

use super::{Command, Refusal, State, command::Caller};

/// The time for which facts are counted before their number is recorded.
const WINDOW: Duration = Duration::from_secs(60);

/// The cost of one fact. It is the number of milliseconds in a minute, so each millisecond restores `max` units.
const ONE: u64 = 60_000;

/// The size in bytes that costs as much as one additional fact.
const PIECE: usize = 1024;

/// The number of refusals at the control socket per minute that are recorded one by one.
const PEERS: u32 = 10;

/// The number of characters of the last merged fact that are recorded as an example.
const EXAMPLE: usize = 200;

/// The result of a command: the recorded events and the answer to the caller.
#[derive(Debug)]
pub(crate) struct Carried {
    pub(crate) recorded: Vec<Event>,
    /// The answer. `None` means that the caller gets the recorded events.
    pub(crate) answer: Result<Option<Vec<Event>>, Refusal>,
}

/// The recent facts and changes of each family.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    /// The families by their first agent. The key `None` stands for the processes that the control socket refuses.
    families: HashMap<Option<AgentId>, Family, RandomState>,
    /// The time at which the next number has to be recorded.
    due: Option<Timestamp>,
}

#[derive(Debug, Default)]
struct Family {
    facts: Bucket,
    changes: Bucket,
    merged: Option<Merged>,
    /// The time until which no further number is recorded.
    told_until: Option<Timestamp>,
}

/// Facts that are not recorded one by one.
#[derive(Debug)]
struct Merged {
    since: Timestamp,
    due: Timestamp,
    counts: BTreeMap<Arc<str>, u64>,
    last: Arc<str>,
}

/// A leaky bucket: a level that rises with each fact and falls with time.
#[derive(Debug, Default)]
struct Bucket {
    level: u64,
    at: Option<Timestamp>,
}

impl Bucket {
    fn settle(&mut self, max: u32, now: Timestamp) {
        let passed = self.at.map_or(0, |at| now.as_millis().saturating_sub(at.as_millis()));
        self.level = self.level.saturating_sub(passed.saturating_mul(u64::from(max)));
        self.at = Some(now);
    }

    fn is_full(&mut self, max: u32, now: Timestamp) -> bool {
        self.settle(max, now);
        self.level >= u64::from(max).saturating_mul(ONE)
    }

    /// Adds the cost of `count` facts. The level never exceeds two minutes of the limit.
    fn add(&mut self, count: u64, max: u32, now: Timestamp) {
        self.settle(max, now);
        let most = u64::from(max).saturating_mul(ONE).saturating_mul(2);
        self.level = self.level.saturating_add(count.saturating_mul(ONE)).min(most);
    }
}

impl State {
    /// Carries out `command` or refuses it. Facts beyond the limit of the family are only counted.
    pub(crate) fn carry_out(&mut self, command: Command, meter: &mut Meter, now: Timestamp) -> Carried {
        let attempt = command.attempt();
        let caller = command.caller(&attempt.by);
        let decided = self.refuse_change(&command, meter, now).and_then(|()| self.decide(command, now));
        let mut is_told = |facts: &[Event]| caller.as_ref().is_none_or(|caller| self.tells(caller, facts, meter, now));
        let mut carried = match decided {
            Ok(events) if is_told(&events) => Carried { recorded: self.carry_on(events, now), answer: Ok(None) },
            Ok(events) => {
                let answer = events.into_iter().map(unrecorded).collect();
                Carried { recorded: Vec::new(), answer: Ok(Some(answer)) }
            }
            Err(refusal) => {
                let fact = vec![attempt.refused(&refusal)];
                let recorded = if is_told(&fact) { fact } else { Vec::new() };
                Carried { recorded, answer: Err(refusal) }
            }
        };
        carried.recorded.extend(meter.numbers(now));
        carried
    }

    fn tells(&self, caller: &Caller, facts: &[Event], meter: &mut Meter, now: Timestamp) -> bool {
        let is_free = facts.is_empty() || facts.iter().any(is_acted_upon);
        let family = match caller {
            Caller::Agent(agent) => self.name_of_family(agent),
            #[cfg(feature = "journal")]
            Caller::Peer => None,
        };
        is_free || meter.takes(&family, facts, &self.settings, now)
    }

    fn name_of_family(&self, agent: &AgentId) -> Option<AgentId> {
        Some(self.agents.get(agent).map_or_else(|| agent.clone(), |known| known.family.clone()))
    }

    /// Refuses a change by a family that caused too many within a minute. Revocations are never refused.
    fn refuse_change(&self, command: &Command, meter: &mut Meter, now: Timestamp) -> Result<(), Refusal> {
        let (Command::Grant { from: agent, .. }
        | Command::Request { from: agent, .. }
        | Command::Create { creator: agent, .. }) = command
        else {
            return Ok(());
        };
        let max = self.settings.max_changes_per_minute;
        let is_full = |family: &mut Family| family.changes.is_full(max, now);
        if meter.families.get_mut(&self.name_of_family(agent)).is_some_and(is_full) {
            return Err(Refusal::TooManyChanges { agent: agent.clone(), max });
        }
        Ok(())
    }
}

impl Meter {
    /// Returns true if `facts`, caused by an agent of `family`, are recorded one by one. Other facts are counted.
    fn takes(&mut self, family: &Option<AgentId>, facts: &[Event], settings: &Settings, now: Timestamp) -> bool {
        let known = self.families.entry(family.clone()).or_default();
        let count = u64::try_from(facts.len()).unwrap_or(u64::MAX);
        if !facts.iter().all(changes_nothing) {
            known.changes.add(count, settings.max_changes_per_minute, now);
            return true;
        }
        let max = if family.is_some() { settings.max_facts_per_minute } else { PEERS };
        if !known.facts.is_full(max, now) {
            known.facts.add(facts.iter().map(pieces).sum(), max, now);
            return true;
        }
        let due = known.merge(facts, now);
        self.due = Some(self.due.map_or(due, |other| other.min(due)));
        false
    }

    /// Returns the merged facts that are due.
    fn numbers(&mut self, now: Timestamp) -> Vec<Event> {
        if self.due.is_none_or(|due| now < due) {
            return Vec::new();
        }
        let mut told: Vec<_> = self.families.iter_mut().filter_map(|(name, family)| family.number(name, now)).collect();
        told.sort_by(|one, other| one.0.cmp(&other.0));
        self.families.retain(|_, family| !family.is_idle(now));
        self.due = self.families.values().filter_map(|family| Some(family.merged.as_ref()?.due)).min();
        told.into_iter().map(|(_, event)| event).collect()
    }

    /// Returns the time at which the next merged fact is due.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.due
    }

    /// Makes all merged facts due with the next command. This is called before the engine ends.
    pub(crate) fn tell_all(&mut self, now: Timestamp) {
        self.families.values_mut().filter_map(|family| family.merged.as_mut()).for_each(|merged| merged.due = now);
        self.due = self.due.map(|_| now);
    }
}

impl Family {
    /// Counts `facts` and returns the time at which their number is due.
    fn merge(&mut self, facts: &[Event], now: Timestamp) -> Timestamp {
        // The first number is due at once. A record that ends early therefore still mentions that facts were left out.
        let due = self.told_until.map_or(now, |until| until.max(now));
        let merged =
            self.merged.get_or_insert_with(|| Merged { since: now, due, counts: BTreeMap::new(), last: Arc::from("") });
        for fact in facts {
            *merged.counts.entry(Arc::from(fact.kind())).or_default() += 1;
        }
        if let Some(last) = facts.last() {
            merged.last = last.to_string().chars().take(EXAMPLE).collect::<String>().into();
        }
        merged.due
    }

    fn number(&mut self, name: &Option<AgentId>, now: Timestamp) -> Option<(Option<AgentId>, Event)> {
        let merged = self.merged.take_if(|merged| merged.due <= now)?;
        self.told_until = Some(now.after(WINDOW));
        let Merged { since, counts, last, .. } = merged;
        Some((name.clone(), Event::FactsMerged { family: name.clone(), since, counts, last }))
    }

    /// Returns true if the family has no state that still matters.
    fn is_idle(&self, now: Timestamp) -> bool {
        let quiet = |bucket: &Bucket| bucket.level == 0 || bucket.at.is_none_or(|at| at.after(WINDOW * 2) <= now);
        self.merged.is_none()
            && self.told_until.is_none_or(|until| until <= now)
            && quiet(&self.facts)
            && quiet(&self.changes)
    }
}

/// Returns true for an allowed action or a started command. Both always have their own record.
fn is_acted_upon(event: &Event) -> bool {
    let allowed = event.decided().is_some_and(|decision| decision.verdict() <= Effect::Confined);
    allowed || matches!(event, Event::SandboxApplied { .. })
}

/// Returns true if the event is a pure fact: no agent gains, loses or consumes anything.
fn changes_nothing(event: &Event) -> bool {
    event.decided().is_some_and(|decision| decision.verdict() > Effect::Confined)
        || matches!(
            event,
            Event::Refused { .. }
                | Event::PeerRefused { .. }
                | Event::GrantRepeated { .. }
                | Event::Joined { .. }
                | Event::HookStarted { .. }
                | Event::HookCompleted { .. }
                | Event::HookFailed { .. }
        )
}

/// Removes the id of a decision that is only counted, because it has no record.
fn unrecorded(event: Event) -> Event {
    if let Event::Evaluated { decision } = event {
        let decision = crate::model::Decision { id: None, ..crate::model::Decision::clone(&decision) };
        return Event::Evaluated { decision: Arc::new(decision) };
    }
    event
}

/// Returns the number of facts that an event counts as, by its size.
fn pieces(event: &Event) -> u64 {
    u64::try_from(1 + size_of(event) / PIECE).unwrap_or(u64::MAX)
}

/// Returns the size of a fact as it is stored. A fact without a JSON form has size 0.
pub(super) fn size_of(event: &Event) -> usize {
    size::of_json(event).unwrap_or(0)
}

//! The facts that the agents of one family cause by themselves: so many are told one by one, the rest by its number.
//!
//! A family is an agent with all that it, or one of those, created. What changes nothing (a refusal, a gift given again, a no,
//! what hooks said) is told one by one up to a limit, and beyond it in one fact that says how many of which kind. What changes
//! something is never left out of the record: beyond its limit it is refused instead. What is acted upon, an allowed action, has
//! its own record always. The processes that the control socket does not hear are one family more, with a limit of its own.

mod size;

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use foldhash::fast::RandomState;

use crate::model::{AgentId, Effect, Event, Settings, Timestamp};

use super::{Command, Refusal, State, command::Caller};

/// How long facts are counted before their number is told.
const WINDOW: Duration = Duration::from_secs(60);

/// The units that one fact costs: as many as a minute has milliseconds, so that each millisecond gives back the limit.
const ONE: u64 = 60_000;

/// The size at which a fact counts as one more.
const PIECE: usize = 1024;

/// How many refusals at the control socket are told one by one within a minute.
const PEERS: u32 = 10;

/// How many characters of the last fact of a kind are told as an example.
const EXAMPLE: usize = 200;

/// What became of a command: the events that are recorded, and what its caller is told.
#[derive(Debug)]
pub(crate) struct Carried {
    pub(crate) recorded: Vec<Event>,
    /// None: the caller is told what is recorded.
    pub(crate) answer: Result<Option<Vec<Event>>, Refusal>,
}

/// The facts and changes of each family, as far as they are recent.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    /// Under no name: the processes that the control socket does not hear.
    families: HashMap<Option<AgentId>, Family, RandomState>,
    /// When the next number is to be told.
    due: Option<Timestamp>,
}

#[derive(Debug, Default)]
struct Family {
    facts: Bucket,
    changes: Bucket,
    merged: Option<Merged>,
    /// Until when no other number is told.
    told_until: Option<Timestamp>,
}

/// Facts that are not told one by one.
#[derive(Debug)]
struct Merged {
    since: Timestamp,
    due: Timestamp,
    counts: BTreeMap<Arc<str>, u64>,
    last: Arc<str>,
}

/// A level that rises with each fact and falls with time.
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

    /// Adds `count`; a debt is never longer than two minutes.
    fn add(&mut self, count: u64, max: u32, now: Timestamp) {
        self.settle(max, now);
        let most = u64::from(max).saturating_mul(ONE).saturating_mul(2);
        self.level = self.level.saturating_add(count.saturating_mul(ONE)).min(most);
    }
}

impl State {
    /// Carries out `command`, or says why not; beyond what a family may cause, facts are only counted.
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

    /// A family that changed too much within a minute waits a little. What takes something away never waits.
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
    /// Whether `facts`, caused by an agent of `family`, are told one by one. What is not is counted.
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

    /// The numbers of facts that are due to be told.
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

    /// When the next number is to be told.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.due
    }

    /// Lets every number be told with the next command: nothing comes after that.
    pub(crate) fn tell_all(&mut self, now: Timestamp) {
        self.families.values_mut().filter_map(|family| family.merged.as_mut()).for_each(|merged| merged.due = now);
        self.due = self.due.map(|_| now);
    }
}

impl Family {
    /// Counts `facts`; when their number is to be told.
    fn merge(&mut self, facts: &[Event], now: Timestamp) -> Timestamp {
        // The first is told at once, so that a record never ends without a word about what it leaves out.
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

    /// Whether nothing of it matters any more.
    fn is_idle(&self, now: Timestamp) -> bool {
        let quiet = |bucket: &Bucket| bucket.level == 0 || bucket.at.is_none_or(|at| at.after(WINDOW * 2) <= now);
        self.merged.is_none()
            && self.told_until.is_none_or(|until| until <= now)
            && quiet(&self.facts)
            && quiet(&self.changes)
    }
}

/// An action that may happen, or a command that starts: it has a record of its own, whatever else there is.
fn is_acted_upon(event: &Event) -> bool {
    let allowed = event.decided().is_some_and(|decision| decision.verdict() <= Effect::Confined);
    allowed || matches!(event, Event::SandboxApplied { .. })
}

/// A fact and nothing else: nobody gets, loses or uses up anything by it.
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

/// What is only counted has no record of its own, and so no name.
fn unrecorded(event: Event) -> Event {
    if let Event::Evaluated { decision } = event {
        let decision = crate::model::Decision { id: None, ..crate::model::Decision::clone(&decision) };
        return Event::Evaluated { decision: Arc::new(decision) };
    }
    event
}

/// The facts that one counts as, by its size.
fn pieces(event: &Event) -> u64 {
    u64::try_from(1 + size_of(event) / PIECE).unwrap_or(u64::MAX)
}

/// The size of a fact as it is written down. What cannot be has none.
pub(super) fn size_of(event: &Event) -> usize {
    size::of_json(event).unwrap_or(0)
}

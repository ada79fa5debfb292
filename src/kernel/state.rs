//! Everything the engine knows, and how an event changes it.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    sync::Arc,
};

use foldhash::fast::RandomState;

use crate::model::{
    AgentId, Event, Grant, GrantId, Origin, Outcome, OwnerId, Pending, Permission, Policy, Profile, Request, RequestId,
    Resolution, Route, RunId, Settings, Source, Timestamp,
};

use super::Refusal;

/// How many ended requests are remembered, so that a late answer can be told the truth.
const REMEMBERED: usize = 4096;

/// Everything the engine knows. Changed only by applying an [`Event`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) settings: Arc<Settings>,
    pub(crate) agents: HashMap<AgentId, Agent, RandomState>,
    pub(crate) grants: BTreeMap<GrantId, Arc<Grant>>,
    /// Grants that end by themselves, soonest first.
    pub(super) ending: BTreeSet<(Timestamp, GrantId)>,
    pub(crate) pending: BTreeMap<RequestId, Waiting>,
    /// Deadlines of the pending requests, soonest first.
    pub(super) deadlines: BTreeSet<(Timestamp, RequestId)>,
    pub(crate) resolved: BTreeMap<RequestId, Arc<Resolution>>,
    resolved_order: VecDeque<RequestId>,
    /// What was refused lately, and until when that answers the same question.
    pub(super) refusals: HashMap<AgentId, BTreeMap<Permission, Timestamp>>,
    /// Foreground agents whose connector is there.
    pub(super) connected: BTreeMap<OwnerId, BTreeSet<AgentId>>,
    /// How many approver surfaces are there besides.
    pub(super) approvers: BTreeMap<OwnerId, u32>,
    /// A file that waits for somebody to agree.
    pub(super) held_back: Option<Arc<Policy>>,
    pub(super) next_grant: u64,
    /// Counts user activity: "latest" is an order, not a clock.
    activity: u64,
}

/// One agent, as the state knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Agent {
    pub(crate) profile: Arc<Profile>,
    pub(crate) run: RunId,
    pub(super) source: Source,
    /// What it holds, oldest first.
    pub(crate) held: Vec<Arc<Grant>>,
    /// What it gave.
    pub(super) given: BTreeSet<GrantId>,
    pub(super) pending: BTreeSet<RequestId>,
    /// When its user was active last, in the order of all user activity; 0 is never.
    pub(super) active: u64,
}

/// A pending request and where it waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) request: Arc<Request>,
    pub(crate) route: Route,
}

impl State {
    /// An engine that knows nobody.
    pub(crate) fn new(settings: Settings) -> State {
        State { settings: Arc::new(settings), ..State::default() }
    }

    /// What `id` is; an agent nobody registered holds nothing, not even a set.
    pub(crate) fn agent(&self, id: &AgentId) -> Result<&Agent, Refusal> {
        self.agents.get(id).ok_or_else(|| Refusal::UnknownAgent(id.clone()))
    }

    /// Every question that waits, or those of one owner's agents.
    pub(crate) fn all_pending(&self, owner: Option<&OwnerId>) -> Vec<Pending> {
        let wanted = self.pending.values().filter(|waiting| owner.is_none_or(|owner| waiting.request.owner == *owner));
        let pending =
            |waiting: &Waiting| Pending { request: Arc::clone(&waiting.request), route: waiting.route.clone() };
        wanted.map(pending).collect()
    }

    /// Total: an event has been decided already, so nothing here can refuse it.
    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::AgentRegistered { profile, run, source } => self.register(profile, run, *source),
            Event::AgentChanged { profile } => {
                if let Some(agent) = self.agents.get_mut(&profile.id) {
                    agent.profile = Arc::clone(profile);
                }
            }
            Event::AgentRetired { agent } => {
                self.agents.remove(agent);
                self.refusals.remove(agent);
            }
            Event::RunBegan { agent, run } => {
                if let Some(agent) = self.agents.get_mut(agent) {
                    agent.run = run.clone();
                }
            }
            Event::GrantIssued { grant } => self.issue(grant),
            Event::GrantChanged { grant } => {
                self.end(grant);
                self.issue(grant);
            }
            Event::GrantRevoked { grant, .. } | Event::GrantExpired { grant } | Event::GrantUsed { grant, .. } => {
                self.end(grant);
            }
            Event::Requested { request } => self.ask(request),
            Event::Routed { request, route } => {
                if let Some(waiting) = self.pending.get_mut(&request.id) {
                    waiting.route = route.clone();
                }
            }
            Event::Resolved { resolution, .. } => self.resolve(resolution),
            Event::CarrierConnected { agent } => self.connect(agent),
            Event::CarrierDisconnected { agent } => self.disconnect(agent),
            Event::UserActive { agent } => {
                self.activity += 1;
                if let Some(agent) = self.agents.get_mut(agent) {
                    agent.active = self.activity;
                }
            }
            Event::ApproverArrived { owner } => *self.approvers.entry(owner.clone()).or_default() += 1,
            Event::ApproverLeft { owner } => self.approver_left(owner),
            Event::SettingsChanged { settings } => self.settings = Arc::clone(settings),
            Event::ConfigHeldBack { policy, .. } => self.held_back = Some(Arc::clone(policy)),
            Event::ConfigReloaded { .. } => self.held_back = None,
            // Facts that change nothing.
            Event::GrantRepeated { .. }
            | Event::Joined { .. }
            | Event::Refused { .. }
            | Event::ConfigPolled { .. }
            | Event::ConfigRejected { .. }
            | Event::SandboxApplied { .. }
            | Event::SandboxViolated { .. } => {}
        }
    }

    fn register(&mut self, profile: &Arc<Profile>, run: &RunId, source: Source) {
        let agent = Agent {
            profile: Arc::clone(profile),
            run: run.clone(),
            source,
            held: Vec::new(),
            given: BTreeSet::new(),
            pending: BTreeSet::new(),
            active: 0,
        };
        self.agents.insert(profile.id.clone(), agent);
    }

    fn issue(&mut self, grant: &Arc<Grant>) {
        self.next_grant = self.next_grant.max(grant.id.number() + 1);
        if let Some(until) = grant.until {
            self.ending.insert((until, grant.id));
        }
        if let Some(holder) = self.agents.get_mut(&grant.to) {
            let place = holder.held.partition_point(|held| held.id < grant.id);
            holder.held.insert(place, Arc::clone(grant));
        }
        if let Some(giver) = giver(grant).and_then(|giver| self.agents.get_mut(giver)) {
            giver.given.insert(grant.id);
        }
        self.grants.insert(grant.id, Arc::clone(grant));
    }

    fn end(&mut self, grant: &Grant) {
        let Some(grant) = self.grants.remove(&grant.id) else { return };
        if let Some(until) = grant.until {
            self.ending.remove(&(until, grant.id));
        }
        if let Some(holder) = self.agents.get_mut(&grant.to) {
            holder.held.retain(|held| held.id != grant.id);
        }
        if let Some(giver) = giver(&grant).and_then(|giver| self.agents.get_mut(giver)) {
            giver.given.remove(&grant.id);
        }
    }

    fn ask(&mut self, request: &Arc<Request>) {
        self.deadlines.insert((request.deadline, request.id));
        if let Some(agent) = self.agents.get_mut(&request.from) {
            agent.pending.insert(request.id);
        }
        // Until it is routed, which is the next event, it waits for the first who comes.
        self.pending.insert(request.id, Waiting { request: Arc::clone(request), route: Route::Queue });
    }

    fn resolve(&mut self, resolution: &Arc<Resolution>) {
        if let Some(waiting) = self.pending.remove(&resolution.request) {
            self.deadlines.remove(&(waiting.request.deadline, resolution.request));
        }
        if let Some(agent) = self.agents.get_mut(&resolution.from) {
            agent.pending.remove(&resolution.request);
        }
        self.remember_refusals(resolution);
        self.resolved.insert(resolution.request, Arc::clone(resolution));
        self.resolved_order.push_back(resolution.request);
        if self.resolved_order.len() > REMEMBERED
            && let Some(oldest) = self.resolved_order.pop_front()
        {
            self.resolved.remove(&oldest);
        }
    }

    /// A person's no answers the same question for a while; a no from that memory does not prolong it.
    fn remember_refusals(&mut self, resolution: &Resolution) {
        let by_a_person = matches!(resolution.decider, crate::model::Decider::Person { .. });
        if resolution.outcome != Outcome::Denied || !by_a_person || !self.agents.contains_key(&resolution.from) {
            return;
        }
        let until = resolution.at.after(self.settings.denial_memory);
        let fresh = self.refusals.entry(resolution.from.clone()).or_default();
        fresh.retain(|_, end| resolution.at < *end);
        fresh.extend(resolution.refused.iter().map(|permission| (permission.clone(), until)));
    }

    fn connect(&mut self, agent: &AgentId) {
        if let Some(owner) = self.agents.get(agent).map(|agent| agent.profile.owner.clone()) {
            self.connected.entry(owner).or_default().insert(agent.clone());
        }
    }

    fn disconnect(&mut self, agent: &AgentId) {
        let Some(owner) = self.agents.get(agent).map(|agent| &agent.profile.owner) else { return };
        if let Some(there) = self.connected.get_mut(owner) {
            there.remove(agent);
            if there.is_empty() {
                self.connected.remove(owner);
            }
        }
    }

    fn approver_left(&mut self, owner: &OwnerId) {
        if let Some(count) = self.approvers.get_mut(owner) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.approvers.remove(owner);
            }
        }
    }
}

/// The agent that gave a grant, if one did.
pub(super) fn giver(grant: &Grant) -> Option<&AgentId> {
    match &grant.origin {
        Origin::Agent { from } => Some(from),
        Origin::Config(_) | Origin::Operator | Origin::Person { .. } => None,
    }
}

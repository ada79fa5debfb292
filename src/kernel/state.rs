//! The complete state of the engine, and the effect of each event on it.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    sync::Arc,
};

use foldhash::fast::RandomState;
use serde::{Deserialize, Serialize};

use crate::model::{
    AgentId, AgentOrigin, ApproverId, Decision, Event, Floor, Grant, GrantId, Hold, Outcome, OwnerId, Pending,
    Permission, Policy, Profile, Reason, Request, RequestId, Resolution, Route, RunId, SanitizedPath, SavedDecision,
    SavedDecisionId, Settings, TaskEvent, TaskId, Timestamp, Tools, Verdict, ViolationId,
};

use super::{
    Protected, Refusal,
    agent::{Agent, Violated},
    compact_grant::CompactGrant,
    credentials::Credentials,
    held_grants::{HeldGrants, giver},
    image_form::{self, Grants, in_order},
    judged::Judged,
    keyed_writes::KeyedWrites,
    kin::Kin,
    processes::Processes,
    request_budget::Asked,
    retired::RetiredAncestors,
    rules::Rules,
    running_commands::RunningCommands,
    tool_policy::CompiledToolPolicies,
    write_roots::WriteRoots,
    written::{ConfinedRoots, WrittenOnce},
};

/// The maximum number of ended requests that are remembered per agent. A late answer then gets a correct refusal.
const REMEMBERED: usize = 32;

/// The maximum number of ended requests of retired agents that are remembered.
const REMEMBERED_OF_OTHERS: usize = 1024;

/// The complete state of the engine. Only applying an [`Event`] changes it.
///
/// Values that can be derived from other values are not serialized. `image.rs` restores them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) settings: Arc<Settings>,
    /// The built-in floor of protected paths, which no setting can remove. It is not serialized, because each engine
    /// reads it from its own machine.
    #[serde(skip)]
    pub(super) floor: Floor,
    /// The protected paths: the floor and the paths that the settings add.
    #[serde(skip)]
    pub(crate) protected: Protected,
    #[serde(serialize_with = "in_order")]
    pub(crate) agents: HashMap<AgentId, Agent, RandomState>,
    /// The agents by creator and by run.
    #[serde(skip)]
    pub(super) kin: Kin,
    /// The retired agents whose restrictions still bind other agents.
    #[serde(default)]
    pub(super) gone: RetiredAncestors,
    #[serde(with = "image_form::grants")]
    pub(crate) grants: Grants,
    /// The grants that expire, ordered by end time.
    #[serde(skip)]
    pub(super) ending: BTreeSet<(Timestamp, GrantId)>,
    /// The roots that agents could write earlier.
    #[serde(default, skip_serializing_if = "WrittenOnce::is_empty")]
    pub(super) written_once: WrittenOnce,
    /// The roots that confined commands could write.
    #[serde(default, skip_serializing_if = "ConfinedRoots::is_empty")]
    pub(super) confined_roots: ConfinedRoots,
    /// The last judgement of each task file that an agent could write earlier.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) task_files: BTreeMap<TaskId, Judged>,
    /// An index from paths to the write grants for them.
    #[serde(skip)]
    pub(super) write_roots: WriteRoots,
    pub(crate) pending: BTreeMap<RequestId, Waiting>,
    /// The deadlines of the pending requests, ordered by time.
    #[serde(skip)]
    pub(super) deadlines: BTreeSet<(Timestamp, RequestId)>,
    pub(crate) resolved: BTreeMap<RequestId, Arc<Resolution>>,
    over_of_others: VecDeque<RequestId>,
    /// The recent denials of each family, with their end. The key is the first agent of the family. A recent denial
    /// answers a repeated question without a prompt.
    #[serde(serialize_with = "in_order")]
    pub(super) refusals: HashMap<AgentId, BTreeMap<Permission, RecentDenial>>,
    /// The foreground agents with a connected user, per owner.
    pub(super) connected: BTreeMap<OwnerId, BTreeSet<AgentId>>,
    /// The number of connected approver surfaces per owner, in addition to the foreground agents.
    pub(super) approvers: BTreeMap<OwnerId, u32>,
    /// A policy file that waits for the approval of a person.
    pub(super) held_back: Option<HeldBack>,
    /// The number of the last change that was held back.
    pub(super) last_change: u64,
    pub(super) next_grant: u64,
    pub(crate) rulings: BTreeMap<SavedDecisionId, Arc<SavedDecision>>,
    /// The permanent denials for agents that are not registered. Such a denial binds the agent once it is registered.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) noes_for_later: BTreeSet<SavedDecisionId>,
    /// The denials that bind a whole run, regardless of the agent in that run that was denied.
    #[serde(with = "super::pairs")]
    pub(super) denied_in: BTreeMap<(OwnerId, RunId), BTreeSet<SavedDecisionId>>,
    /// The saved decisions that expire, ordered by end time.
    #[serde(skip)]
    pub(super) rulings_ending: BTreeSet<(Timestamp, SavedDecisionId)>,
    /// The tool policies of each run.
    pub(super) guards: CompiledToolPolicies,
    /// The tools that people declared.
    #[serde(default, skip_serializing_if = "Declared::is_empty")]
    pub(super) declared: Declared,
    /// The credentials of the clients of a server.
    #[serde(default, skip_serializing_if = "Credentials::is_empty")]
    pub(crate) credentials: Credentials,
    /// The running processes.
    #[serde(default)]
    pub(crate) processes: Processes,
    /// The running commands.
    #[serde(default, skip_serializing_if = "RunningCommands::is_new")]
    pub(super) commands: RunningCommands,
    pub(super) next_ruling: u64,
    pub(super) next_decision: u64,
    #[serde(default)]
    pub(super) next_violation: u64,
    /// The recent writes that clients may send again.
    #[serde(default, skip_serializing_if = "KeyedWrites::is_empty")]
    pub(super) keyed_writes: KeyedWrites,
    /// True if the runs of the agents go on in the next engine, if it is opened in the same way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) runs_go_on: bool,
    /// A counter of user activity. The most recent activity is determined by order, not by a clock.
    activity: u64,
}

/// A policy file that waits for approval, with the number that identifies the change in the approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HeldBack {
    pub(super) change: u64,
    pub(super) policy: Arc<Policy>,
}

/// A denial by a person that answers repeated questions for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecentDenial {
    pub(super) until: Timestamp,
    pub(super) feedback: Option<Reason>,
}

/// The declarations for each owner, by the person who declared them.
pub(super) type Declared = BTreeMap<OwnerId, BTreeMap<ApproverId, Arc<Tools>>>;

/// A pending request and its route.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Waiting {
    pub(crate) request: Arc<Request>,
    pub(crate) route: Route,
    /// The first grant id that was free when the request was asked. Later grants have this id or a higher one.
    pub(super) first_later_grant: GrantId,
}

impl Waiting {
    fn pending(&self) -> Pending {
        Pending { request: Arc::clone(&self.request), route: self.route.clone() }
    }
}

impl State {
    /// Creates a state without agents.
    pub(crate) fn new(settings: Settings) -> State {
        State { settings: Arc::new(settings), ..State::default() }.on(Floor::default())
    }

    /// Replaces the floor of protected paths.
    pub(crate) fn on(self, floor: Floor) -> State {
        let mut state = State { floor, ..self };
        state.protect();
        state
    }

    /// Recomputes the protected paths after a change of the floor or the settings.
    pub(super) fn protect(&mut self) {
        self.protected = self.protected_under(&self.settings);
    }

    /// Returns all paths that are protected by name, and `/proc`.
    pub(crate) fn protected_paths(&self) -> Vec<SanitizedPath> {
        let (paths, closed) = self.protected.paths();
        let processes = "/proc".parse().ok();
        processes.into_iter().chain(closed.iter().chain(paths).cloned()).collect()
    }

    /// Returns the protected paths under `settings`.
    pub(crate) fn protected_under(&self, settings: &Settings) -> Protected {
        Protected::of(&self.floor, settings.protected.iter())
    }

    /// Returns the agent `id`. An unregistered agent holds nothing.
    pub(crate) fn agent(&self, id: &AgentId) -> Result<&Agent, Refusal> {
        self.agents.get(id).ok_or_else(|| Refusal::UnknownAgent(id.clone()))
    }

    /// Returns all pending requests, or those of one owner's agents.
    pub(crate) fn all_pending(&self, owner: Option<&OwnerId>) -> Vec<Pending> {
        let wanted = self.pending.values().filter(|waiting| owner.is_none_or(|owner| waiting.request.owner == *owner));
        wanted.map(Waiting::pending).collect()
    }

    /// Returns the pending request `id`.
    pub(crate) fn pending(&self, id: RequestId) -> Option<Pending> {
        self.pending.get(&id).map(Waiting::pending)
    }

    /// Applies an event. An event is already decided, so applying it cannot fail.
    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::Task(TaskEvent::FileJudged { task, version, ends, trusted, .. }) => {
                self.judge_task_file(task, *version, *ends, *trusted);
            }
            Event::Task(TaskEvent::Removed { task }) => drop(self.task_files.remove(task)),
            Event::AgentRegistered { profile, run, source } => self.register(profile, run, *source),
            Event::AgentChanged { profile } => {
                if let Some(agent) = self.agents.get_mut(&profile.id) {
                    self.kin.remove(agent);
                    agent.profile = Arc::clone(profile);
                    self.kin.add(agent);
                }
            }
            Event::ModeChanged { agent, mode, written, .. } => {
                if let Some(agent) = self.agents.get_mut(agent) {
                    agent.profile = Arc::new(Profile { mode: *mode, ..Profile::clone(&agent.profile) });
                    agent.written_mode = *written;
                }
            }
            Event::AgentRetired { agent } => self.forget(agent),
            Event::RunBegan { agent, run, .. } => {
                if let Some(agent) = self.agents.get_mut(agent) {
                    self.kin.remove(agent);
                    let before = std::mem::replace(&mut agent.run, run.clone());
                    self.kin.add(agent);
                    agent.kept_from.clear();
                    let owner = agent.profile.owner.clone();
                    self.leave_guards(&owner, &before);
                }
            }
            Event::GrantIssued { grant } => self.issue(self.compact(grant)),
            Event::GrantChanged { grant } => {
                // A grant that was lost in the meantime is not restored.
                if self.take_out(grant.id).is_some() {
                    self.issue(self.compact(grant));
                }
            }
            Event::GrantRevoked { grant, .. } | Event::GrantExpired { grant } | Event::GrantUsed { grant, .. } => {
                self.end(grant.id);
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
                    // A user who talks to the agent wants it to ask, so earlier denials no longer count.
                    agent.asked.said_yes();
                }
            }
            Event::ApproverArrived { owner } => *self.approvers.entry(owner.clone()).or_default() += 1,
            Event::ApproverLeft { owner } => self.approver_left(owner),
            Event::SettingsChanged { settings } => {
                self.settings = Arc::clone(settings);
                self.protect();
            }
            Event::ConfigHeldBack { change, policy, .. } => {
                self.last_change = *change;
                self.held_back = Some(HeldBack { change: *change, policy: Arc::clone(policy) });
            }
            Event::ConfigReloaded { .. } => self.held_back = None,
            Event::Evaluated { decision } => self.evaluated(decision),
            Event::RulingMade { ruling } => self.rule(ruling),
            Event::RulingUsed { ruling } | Event::RulingEnded { ruling, .. } => self.end_ruling(ruling.id),
            Event::DeclarationsChanged { owner, declarer, tools, .. } => self.redeclare(owner, declarer, tools),
            Event::ToolsDeclared { owner, run, tools, .. } => self.declare(owner, run, tools),
            Event::PolicyForAll { owner, run, rules, .. } => self.guard(owner, run, None, rules),
            Event::PolicyUpdated { owner, run, tool, rules, .. } => self.guard(owner, run, Some(tool), rules),
            Event::RulesChanged { agent, rules } => {
                if let Some(agent) = self.agents.get_mut(agent) {
                    agent.rules = Rules::compile(rules);
                }
            }
            Event::SandboxViolated { agent, violation, .. } => {
                if let Some(agent) = self.agents.get_mut(agent) {
                    let id = violation.id.unwrap_or(ViolationId::new(0));
                    agent.kept_from.push_back(Violated { access: violation.access.clone(), id });
                    let too_many = agent.kept_from.len().saturating_sub(REMEMBERED);
                    agent.kept_from.drain(..too_many);
                }
                let next = violation.id.map_or(0, |id| id.number() + 1);
                self.next_violation = self.next_violation.max(next);
            }
            Event::Process(event) => self.processes.apply(event),
            Event::SandboxApplied { agent, facts, command, cause } => {
                self.commands.begin(agent, *command, cause.as_ref());
                self.confined_roots.add(&facts.write_roots);
            }
            Event::SandboxEnded { command, .. } => self.commands.end(*command),
            Event::CredentialChanged { change } => self.credentials.apply(change),
            Event::StoreOpened { runs_go_on, .. } => self.runs_go_on = *runs_go_on,
            Event::WriteKeyed { write } => self.keyed_writes.remember(write),
            // These events do not change the state.
            Event::GrantRepeated { .. }
            | Event::RunEnded { .. }
            | Event::FactsMerged { .. }
            | Event::Joined { .. }
            | Event::PeerRefused { .. }
            | Event::Refused { .. }
            | Event::ConfigPolled { .. }
            | Event::ConfigRejected { .. }
            | Event::StoreFailed { .. }
            | Event::HookStarted { .. }
            | Event::HookCompleted { .. }
            | Event::HookFailed { .. }
            | Event::Task(_) => {}
        }
    }

    fn register(&mut self, profile: &Arc<Profile>, run: &RunId, source: AgentOrigin) {
        let parent = profile.parent.as_ref().and_then(|parent| self.agents.get(parent));
        let family = parent.map_or_else(|| profile.id.clone(), |parent| parent.family.clone());
        // An agent from the policy file or the host program was not created in any run.
        let made_in = parent.filter(|_| source == AgentOrigin::Agent).map(|parent| parent.run.clone());
        if let Some(first) = self.agents.get_mut(&family) {
            first.descendants = first.descendants.saturating_add(1);
        }
        let agent = Agent {
            profile: Arc::clone(profile),
            run: run.clone(),
            source,
            written_mode: None,
            held: HeldGrants::default(),
            given: BTreeSet::new(),
            pending: BTreeSet::new(),
            asked: Asked::never(),
            family: family.clone(),
            descendants: 0,
            made_in,
            bound_by: BTreeSet::new(),
            rules: Rules::default(),
            rulings: Vec::new(),
            kept_from: VecDeque::new(),
            over: VecDeque::new(),
            active: 0,
        };
        self.kin.add(&agent);
        self.agents.insert(profile.id.clone(), agent);
        self.bind_by_earlier_noes(profile);
    }

    /// Binds a new agent by the permanent denials that were recorded for its id and owner before it was registered.
    fn bind_by_earlier_noes(&mut self, profile: &Profile) {
        let Some(agent) = self.agents.get_mut(&profile.id) else { return };
        for ruling in self.noes_for_later.iter().filter_map(|id| self.rulings.get(id)) {
            if ruling.agent == profile.id && ruling.owner == profile.owner {
                agent.rulings.push(Arc::clone(ruling));
            }
        }
        self.noes_for_later.retain(|id| !agent.rulings.iter().any(|ruling| ruling.id == *id));
    }

    fn forget(&mut self, agent: &AgentId) {
        self.refusals.remove(agent);
        let Some(gone) = self.agents.remove(agent) else { return };
        self.kin.remove(&gone);
        if let Some(first) = self.agents.get_mut(&gone.family) {
            first.descendants = first.descendants.saturating_sub(1);
        }
        self.over_of_others.extend(gone.over.iter().copied());
        for (owner, run) in self.bury(gone) {
            self.leave_guards(&owner, &run);
        }
        while self.over_of_others.len() > REMEMBERED_OF_OTHERS
            && let Some(oldest) = self.over_of_others.pop_front()
        {
            self.resolved.remove(&oldest);
        }
    }

    /// Returns the first agent of the family of `agent`.
    pub(super) fn family(&self, agent: &AgentId) -> Option<&Agent> {
        let agent = self.agents.get(agent)?;
        Some(self.agents.get(&agent.family).unwrap_or(agent))
    }

    fn evaluated(&mut self, decision: &Decision) {
        let next = decision.id.map_or(0, |id| id.number() + 1);
        self.next_decision = self.next_decision.max(next);
        self.used_tool(decision);
    }

    fn rule(&mut self, ruling: &Arc<SavedDecision>) {
        self.next_ruling = self.next_ruling.max(ruling.id.number() + 1);
        // The permissions that come with an approval have no grant. Their write roots are recorded here instead.
        for pinned in &ruling.gives {
            self.written_once.keep(&pinned.permission);
        }
        let agent = self.agents.get_mut(&ruling.agent).filter(|agent| agent.profile.owner == ruling.owner);
        match agent {
            Some(agent) => agent.rulings.push(Arc::clone(ruling)),
            None if ruling.verdict == Verdict::Deny && ruling.run.is_none() => {
                self.noes_for_later.insert(ruling.id);
            }
            None => return,
        }
        if ruling.verdict == Verdict::Deny
            && let Some(run) = ruling.run.clone()
        {
            self.denied_in.entry((ruling.owner.clone(), run)).or_default().insert(ruling.id);
        }
        if let Some(until) = ruling.until {
            self.rulings_ending.insert((until, ruling.id));
        }
        self.rulings.insert(ruling.id, Arc::clone(ruling));
    }

    fn end_ruling(&mut self, id: SavedDecisionId) {
        let Some(ruling) = self.rulings.remove(&id) else { return };
        self.noes_for_later.remove(&id);
        for pinned in &ruling.gives {
            self.written_once.end(&pinned.permission);
        }
        if let Some(until) = ruling.until {
            self.rulings_ending.remove(&(until, id));
        }
        let there = self.agents.get_mut(&ruling.agent);
        let gone = self.gone.agents_mut().filter(|agent| agent.profile.id == ruling.agent);
        for agent in there.into_iter().chain(gone) {
            agent.rulings.retain(|other| other.id != id);
        }
        self.denied_in.retain(|_, noes| {
            noes.remove(&id);
            !noes.is_empty()
        });
    }

    /// Returns the compact form of a grant, which shares what it can with the newest grant of its holder.
    fn compact(&self, grant: &Grant) -> Arc<CompactGrant> {
        let newest = self.agents.get(&grant.to).and_then(|holder| holder.held.last());
        Arc::new(CompactGrant::new(grant, newest.map(|newest| &**newest)))
    }

    pub(super) fn issue(&mut self, grant: Arc<CompactGrant>) {
        self.next_grant = self.next_grant.max(grant.id.number() + 1);
        if let Some(until) = grant.until {
            self.ending.insert((until, grant.id));
        }
        if let Some(holder) = self.agents.get_mut(&grant.to) {
            holder.held.add(&grant);
        }
        if let Some(giver) = giver(&grant.origin).and_then(|giver| self.agents.get_mut(giver)) {
            giver.given.insert(grant.id);
        }
        self.write_roots.insert(&grant);
        self.grants.insert(grant.id, grant);
    }

    pub(super) fn end(&mut self, grant: GrantId) {
        let Some(grant) = self.take_out(grant) else { return };
        if grant.hold == Hold::Use {
            self.written_once.end(&grant.pinned.permission);
        }
    }

    /// Removes a grant that ends or that is replaced by a changed version.
    pub(super) fn take_out(&mut self, grant: GrantId) -> Option<Arc<CompactGrant>> {
        let grant = self.grants.remove(&grant)?;
        self.write_roots.remove(&grant);
        if let Some(until) = grant.until {
            self.ending.remove(&(until, grant.id));
        }
        if let Some(holder) = self.agents.get_mut(&grant.to) {
            holder.held.remove(grant.id);
        }
        if let Some(giver) = giver(&grant.origin).and_then(|giver| self.agents.get_mut(giver)) {
            giver.given.remove(&grant.id);
        }
        Some(grant)
    }

    fn ask(&mut self, request: &Arc<Request>) {
        self.deadlines.insert((request.deadline, request.id));
        if let Some(agent) = self.agents.get_mut(&request.from) {
            agent.pending.insert(request.id);
        }
        let family = self.family(&request.from).map(|first| first.profile.id.clone());
        if let Some(first) = family.filter(|_| request.is_open()).and_then(|first| self.agents.get_mut(&first)) {
            first.asked = first.asked.once_more(request.since);
        }
        // The next event routes the request. Until then it waits in the queue.
        let first_later_grant = GrantId::new(self.next_grant);
        let waiting = Waiting { request: Arc::clone(request), route: Route::Queue, first_later_grant };
        self.pending.insert(request.id, waiting);
    }

    fn resolve(&mut self, resolution: &Arc<Resolution>) {
        if let Some(waiting) = self.pending.remove(&resolution.request) {
            self.deadlines.remove(&(waiting.request.deadline, resolution.request));
            self.remember_refusals(&waiting.request, resolution);
        }
        if let Some(agent) = self.agents.get_mut(&resolution.from) {
            agent.pending.remove(&resolution.request);
        }
        self.resolved.insert(resolution.request, Arc::clone(resolution));
        // Each agent has its own limit, so one agent cannot displace the remembered requests of another.
        if let Some(agent) = self.agents.get_mut(&resolution.from) {
            agent.over.push_back(resolution.request);
            if agent.over.len() > REMEMBERED
                && let Some(oldest) = agent.over.pop_front()
            {
                self.resolved.remove(&oldest);
            }
        }
    }

    /// Records a denial by a person. For a while it answers questions about the denied permissions, about broader ones
    /// and about narrower ones. Each further denial in a row lasts longer. An approval ends the sequence. A denial that
    /// this memory produced prolongs nothing.
    fn remember_refusals(&mut self, request: &Request, resolution: &Resolution) {
        let by_a_person = matches!(resolution.decider, crate::model::Decider::Person { .. });
        let family = self.agents.get(&resolution.from).map(|agent| agent.family.clone());
        let Some(family) = family.filter(|_| by_a_person) else { return };
        let memory = self.settings.denial_memory;
        let asked = self.asked_by(&family, &resolution.from);
        match resolution.outcome {
            Outcome::Granted => return asked.into_iter().for_each(Asked::said_yes),
            Outcome::Denied if is_no(request, resolution) => {}
            Outcome::Denied => return,
            Outcome::Expired | Outcome::Cancelled | Outcome::Unavailable => return,
        }
        let until = asked.map_or(resolution.at.after(memory), |asked| asked.said_no(resolution.at, memory));
        let no = RecentDenial { until, feedback: resolution.feedback.clone() };
        let fresh = self.refusals.entry(family).or_default();
        fresh.retain(|_, no| resolution.at < no.until);
        let said_no = request.permissions().filter(|permission| resolution.refused.contains(permission));
        fresh.extend(said_no.map(|permission| (permission.clone(), no.clone())));
    }

    /// Returns the question counter of a family. The first agent of the family has it. If that agent is gone, each
    /// agent has its own.
    fn asked_by(&mut self, family: &AgentId, agent: &AgentId) -> Option<&mut Asked> {
        let counts = if self.agents.contains_key(family) { family } else { agent };
        self.agents.get_mut(counts).map(|first| &mut first.asked)
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

/// Returns true if the person denied something. An approval of all open permissions is no denial, even if the request
/// also contained a permission that was denied before.
fn is_no(request: &Request, resolution: &Resolution) -> bool {
    request.asked.is_empty() || request.permissions().any(|permission| resolution.refused.contains(permission))
}

//! What happened. The one record that changes state, is told, and can be read back.

mod cause;
mod held;
mod words;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use super::{
    Actor, AgentId, ApproverId, Decision, Digest, Ended, Grant, GrantId, LeftOut, Mode, OwnerId, Permission, Policies,
    Policy, ProcessEvent, Profile, Request, RequestId, Resolution, Route, Rule, Ruling, RunId, SandboxFacts,
    SandboxViolation, Settings, Source, TaskEvent, Timestamp, ToolName, Tools, Verdict,
};

pub use cause::{Cause, HookCall};
pub use held::HeldChange;

/// Something that happened.
///
/// Anybody may read one; only the kernel makes one, and only by deciding a command.
///
/// ```
/// # use bestow::{Engine, Event};
/// async fn revoked(engine: &Engine) {
///     let mut events = engine.subscribe();
///     while let Ok(recorded) = events.next().await {
///         if let Event::GrantRevoked { grant, .. } = &recorded.event {
///             println!("{}: {} lost {}", recorded.sequence, grant.to, grant.right.permission);
///         }
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum Event {
    /// An agent is known from now on.
    #[serde(rename = "agent.registered")]
    AgentRegistered {
        /// Who.
        profile: Arc<Profile>,
        /// The run it starts in.
        run: RunId,
        /// Who brought it.
        source: Source,
    },
    /// An agent is described differently; what it holds is told by grants.
    #[serde(rename = "agent.changed")]
    AgentChanged {
        /// Who.
        profile: Arc<Profile>,
    },
    /// An agent is judged in another mode.
    #[serde(rename = "mode.changed")]
    ModeChanged {
        /// Which.
        agent: AgentId,
        /// The mode before.
        before: Mode,
        /// The mode from now on.
        mode: Mode,
        /// The mode that the file says, if this one takes its place.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        written: Option<Mode>,
        /// Who said so. None: the file says it by now, or a cut of the trail did not undo it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Actor>,
    },
    /// An agent is no longer known; it holds nothing.
    #[serde(rename = "agent.retired")]
    AgentRetired {
        /// Who.
        agent: AgentId,
    },
    /// A run of an agent is over, and so is what was for it.
    #[serde(rename = "run.ended")]
    RunEnded {
        /// Whose.
        agent: AgentId,
        /// Which.
        run: RunId,
    },
    /// A run of an agent began. An agent is always in one, from the moment at which it is registered.
    #[serde(rename = "run.began")]
    RunBegan {
        /// Whose.
        agent: AgentId,
        /// Which.
        run: RunId,
        /// Whose word it was. None: an engine went on from what was stored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Actor>,
    },
    /// Somebody holds something new.
    #[serde(rename = "grant.issued")]
    GrantIssued {
        /// What.
        grant: Arc<Grant>,
    },
    /// The same was given again; nothing changed.
    #[serde(rename = "grant.repeated")]
    GrantRepeated {
        /// The grant that was there already.
        grant: Arc<Grant>,
    },
    /// A grant reads differently: it ends earlier, since what it rested on longest is gone, or it stands in another
    /// line of the file.
    #[serde(rename = "grant.changed")]
    GrantChanged {
        /// The grant as it is now.
        grant: Arc<Grant>,
    },
    /// A grant was taken away.
    #[serde(rename = "grant.revoked")]
    GrantRevoked {
        /// Which.
        grant: Arc<Grant>,
        /// Why.
        ended: Ended,
    },
    /// The time of a grant is over.
    #[serde(rename = "grant.expired")]
    GrantExpired {
        /// Which.
        grant: Arc<Grant>,
    },
    /// A one-shot grant was used, and is gone.
    #[serde(rename = "grant.used")]
    GrantUsed {
        /// Which.
        grant: Arc<Grant>,
        /// For what.
        permission: Permission,
    },
    /// An agent asked.
    #[serde(rename = "permission.requested")]
    Requested {
        /// The question.
        request: Arc<Request>,
    },
    /// An agent asked what it is waiting for already; both wait for the one answer.
    #[serde(rename = "permission.joined")]
    Joined {
        /// The question that waits.
        request: Arc<Request>,
    },
    /// A request waits somewhere, or somewhere else than before.
    #[serde(rename = "permission.routed")]
    Routed {
        /// The question.
        request: Arc<Request>,
        /// Where it waits.
        route: Route,
    },
    /// A request ended.
    #[serde(rename = "permission.resolved")]
    Resolved {
        /// How.
        resolution: Arc<Resolution>,
        /// The foreground agent that carried the question last, if one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        carrier: Option<AgentId>,
    },
    /// It was decided whether an action may happen.
    #[serde(rename = "permission.evaluated")]
    Evaluated {
        /// What, and why.
        decision: Arc<Decision>,
    },
    /// What a person said about an action is remembered.
    #[serde(rename = "ruling.made")]
    RulingMade {
        /// What.
        ruling: Arc<Ruling>,
    },
    /// What a person said about an action was for one use, and is used up.
    #[serde(rename = "ruling.used")]
    RulingUsed {
        /// What.
        ruling: Arc<Ruling>,
    },
    /// What a person said about an action no longer counts.
    #[serde(rename = "ruling.ended")]
    RulingEnded {
        /// What.
        ruling: Arc<Ruling>,
        /// Why.
        ended: Ended,
    },
    /// A person says what tools do, in the place of what they said before. It adds to what is seen of any call.
    #[serde(rename = "declarations.changed")]
    DeclarationsChanged {
        /// For whose agents.
        owner: OwnerId,
        /// Whose declarations.
        declarer: ApproverId,
        /// All of theirs from now on.
        tools: Arc<Tools>,
        /// Who said so.
        by: Actor,
    },
    /// A run has these tools, which have guards from now on.
    #[serde(rename = "tools.declared")]
    ToolsDeclared {
        /// Whose agents.
        owner: OwnerId,
        /// Which run.
        run: RunId,
        /// All that were declared by this.
        tools: Arc<BTreeSet<ToolName>>,
        /// Who said so.
        by: Actor,
    },
    /// Every tool of a run that has no guard yet begins with other policies.
    #[serde(rename = "policy.for_all")]
    PolicyForAll {
        /// Whose agents.
        owner: OwnerId,
        /// Which run.
        run: RunId,
        /// All of them, by name.
        policies: Vec<Arc<str>>,
        /// The same in full.
        rules: Arc<Policies>,
        /// Who said so.
        by: Actor,
    },
    /// Something else speaks in the guard of a run's tool (`sources/001`, "Event: policy_updated").
    #[serde(rename = "policy.updated")]
    PolicyUpdated {
        /// Whose agents.
        owner: OwnerId,
        /// Which run.
        run: RunId,
        /// Which tool.
        tool: ToolName,
        /// All that speaks, by name: policies, then what people said for this run.
        policies: Vec<Arc<str>>,
        /// The policies in full.
        rules: Arc<Policies>,
        /// Who said so. None: it follows from what a person said about an action, or no longer says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Actor>,
    },
    /// Other rules bind an agent.
    #[serde(rename = "rules.changed")]
    RulesChanged {
        /// Whom.
        agent: AgentId,
        /// All of them.
        rules: Arc<[Rule]>,
    },
    /// The engine said no to a command; nothing changed.
    #[serde(rename = "permission.refused")]
    Refused {
        /// Who tried.
        by: Actor,
        /// What was tried, in a word.
        attempt: Arc<str>,
        /// Why not.
        why: Arc<str>,
    },
    /// A process spoke at the control socket, and was not heard.
    #[serde(rename = "peer.refused")]
    PeerRefused {
        /// Which, as the kernel tells it.
        peer: Arc<str>,
        /// What it wanted, in a word.
        order: Arc<str>,
        /// Whose word it said that is. Nobody has proved that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        claims: Option<ApproverId>,
        /// Why not.
        why: Arc<str>,
    },
    /// Facts that changed nothing, of an agent and its relatives, that are not told one by one: they were too many
    /// (`max_facts_per_minute`).
    #[serde(rename = "facts.merged")]
    FactsMerged {
        /// The agent that this family began with. None: processes that were not heard at the control socket.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        family: Option<AgentId>,
        /// When the first of them was.
        since: Timestamp,
        /// How many of each kind.
        counts: BTreeMap<Arc<str>, u64>,
        /// The last of them, in words.
        last: Arc<str>,
    },
    /// A foreground agent's connector is there.
    #[serde(rename = "carrier.connected")]
    CarrierConnected {
        /// Whose.
        agent: AgentId,
    },
    /// A foreground agent's connector is gone.
    #[serde(rename = "carrier.disconnected")]
    CarrierDisconnected {
        /// Whose.
        agent: AgentId,
    },
    /// A user did something through a foreground agent. "Latest" is this order, not a clock.
    #[serde(rename = "user.active")]
    UserActive {
        /// Through whom.
        agent: AgentId,
    },
    /// Somebody who can answer for an owner is there, besides the connectors.
    #[serde(rename = "approver.arrived")]
    ApproverArrived {
        /// For whom.
        owner: OwnerId,
    },
    /// One of them is gone.
    #[serde(rename = "approver.left")]
    ApproverLeft {
        /// For whom.
        owner: OwnerId,
    },
    /// The settings are these.
    #[serde(rename = "config.settings")]
    SettingsChanged {
        /// All of them.
        settings: Arc<Settings>,
    },
    /// A file took effect.
    #[serde(rename = "config.reloaded")]
    ConfigReloaded {
        /// What agents hold now and did not before.
        gained: Vec<(AgentId, Permission)>,
        /// What they no longer hold.
        lost: Vec<(AgentId, Permission)>,
        /// What the file says and does not give.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<LeftOut>,
        /// Who agreed to it, if it gives what was held back until somebody did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agreed: Option<Actor>,
    },
    /// Part of a file gives more than before, and waits for a person to agree.
    #[serde(rename = "config.held_back")]
    ConfigHeldBack {
        /// Its number, which a person names to agree to just this.
        change: u64,
        /// The whole of it.
        policy: Arc<Policy>,
        /// What agents would gain, for use or for passing on, and what the file would give them that somebody else gives now.
        would_gain: Vec<(AgentId, Permission)>,
        /// What else would be different, a sentence each, and for which agent: modes, new agents; for none: settings.
        besides: Vec<(Option<AgentId>, Arc<str>)>,
    },
    /// Changes of the file are noticed later than they should be.
    #[serde(rename = "config.polled")]
    ConfigPolled {
        /// Why, and what that means.
        why: Arc<str>,
    },
    /// A file was not taken; the last good one stays.
    #[serde(rename = "config.rejected")]
    ConfigRejected {
        /// Why, in full.
        why: Arc<str>,
    },
    /// A command of an agent is confined, and starts.
    #[serde(rename = "sandbox.applied")]
    SandboxApplied {
        /// Whose.
        agent: AgentId,
        /// What is in force, read back.
        facts: Arc<SandboxFacts>,
        /// The decision that let it start, if one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Arc<Cause>>,
    },
    /// A command of an agent tried what its profile forbids.
    #[serde(rename = "sandbox.violation")]
    SandboxViolated {
        /// Whose.
        agent: AgentId,
        /// What, and how that is known.
        violation: Arc<SandboxViolation>,
        /// The decision that let it start, if one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Arc<Cause>>,
    },
    /// The engine goes on from what is stored: rights of a session have ended with the run before.
    #[serde(rename = "store.opened")]
    StoreOpened {
        /// What was found at the end that had never been acknowledged, and where it is now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cut: Option<Arc<str>>,
    },
    /// Something could not be stored: nothing new is given until it can be. What was taken away stays away.
    #[serde(rename = "store.failed")]
    StoreFailed {
        /// What failed, and the way out.
        why: Arc<str>,
    },
    /// A hook of the host program is asked about an action.
    #[serde(rename = "hook.started")]
    HookStarted {
        /// Which, and about what.
        call: Arc<HookCall>,
    },
    /// It answered.
    #[serde(rename = "hook.completed")]
    HookCompleted {
        /// Which, and about what.
        call: Arc<HookCall>,
        /// What it said, if anything.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        verdict: Option<Verdict>,
        /// Why, if it said; no secrets.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Arc<str>>,
        /// The input that it put in the place of the one it was asked about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        updated_input_ref: Option<Digest>,
    },
    /// It did not answer, or not in a way that counts.
    #[serde(rename = "hook.failed")]
    HookFailed {
        /// Which, and about what.
        call: Arc<HookCall>,
        /// Why; no secrets.
        why: Arc<str>,
        /// Whether that keeps the action from happening by itself. It always does.
        fail_closed: bool,
    },
    /// Something happened to a process that goes on. Read and written as what it holds.
    #[serde(untagged)]
    Process(ProcessEvent),
    /// Something happened to a scheduled task. Last, and read and written as what it holds.
    #[serde(untagged)]
    Task(TaskEvent),
}

impl Event {
    /// What kind of event this is, as in `grant.issued`.
    pub fn kind(&self) -> &'static str {
        match self {
            Event::AgentRegistered { .. } => "agent.registered",
            Event::AgentChanged { .. } => "agent.changed",
            Event::ModeChanged { .. } => "mode.changed",
            Event::AgentRetired { .. } => "agent.retired",
            Event::RunEnded { .. } => "run.ended",
            Event::RunBegan { .. } => "run.began",
            Event::GrantIssued { .. } => "grant.issued",
            Event::GrantRepeated { .. } => "grant.repeated",
            Event::GrantChanged { .. } => "grant.changed",
            Event::GrantRevoked { .. } => "grant.revoked",
            Event::GrantExpired { .. } => "grant.expired",
            Event::GrantUsed { .. } => "grant.used",
            Event::Requested { .. } => "permission.requested",
            Event::Joined { .. } => "permission.joined",
            Event::Routed { .. } => "permission.routed",
            Event::Resolved { .. } => "permission.resolved",
            Event::Evaluated { .. } => "permission.evaluated",
            Event::RulingMade { .. } => "ruling.made",
            Event::RulingUsed { .. } => "ruling.used",
            Event::RulingEnded { .. } => "ruling.ended",
            Event::DeclarationsChanged { .. } => "declarations.changed",
            Event::ToolsDeclared { .. } => "tools.declared",
            Event::PolicyForAll { .. } => "policy.for_all",
            Event::PolicyUpdated { .. } => "policy.updated",
            Event::RulesChanged { .. } => "rules.changed",
            Event::Refused { .. } => "permission.refused",
            Event::PeerRefused { .. } => "peer.refused",
            Event::FactsMerged { .. } => "facts.merged",
            Event::CarrierConnected { .. } => "carrier.connected",
            Event::CarrierDisconnected { .. } => "carrier.disconnected",
            Event::UserActive { .. } => "user.active",
            Event::ApproverArrived { .. } => "approver.arrived",
            Event::ApproverLeft { .. } => "approver.left",
            Event::SettingsChanged { .. } => "config.settings",
            Event::ConfigReloaded { .. } => "config.reloaded",
            Event::ConfigHeldBack { .. } => "config.held_back",
            Event::ConfigPolled { .. } => "config.polled",
            Event::ConfigRejected { .. } => "config.rejected",
            Event::SandboxApplied { .. } => "sandbox.applied",
            Event::SandboxViolated { .. } => "sandbox.violation",
            Event::StoreOpened { .. } => "store.opened",
            Event::StoreFailed { .. } => "store.failed",
            Event::HookStarted { .. } => "hook.started",
            Event::HookCompleted { .. } => "hook.completed",
            Event::HookFailed { .. } => "hook.failed",
            Event::Process(event) => event.kind(),
            Event::Task(event) => event.kind(),
        }
    }

    /// The grant it is about, if it is about one.
    pub fn grant(&self) -> Option<&Arc<Grant>> {
        if let Event::GrantIssued { grant }
        | Event::GrantRepeated { grant }
        | Event::GrantChanged { grant }
        | Event::GrantRevoked { grant, .. }
        | Event::GrantExpired { grant }
        | Event::GrantUsed { grant, .. } = self
        {
            return Some(grant);
        }
        None
    }

    /// The grant that this event issued or found issued already.
    pub fn granted(&self) -> Option<GrantId> {
        if let Event::GrantIssued { grant } | Event::GrantRepeated { grant } = self { Some(grant.id) } else { None }
    }

    /// The agent that went, if this says that one did.
    pub(crate) fn retired(&self) -> Option<&AgentId> {
        if let Event::AgentRetired { agent } = self { Some(agent) } else { None }
    }

    /// What was decided about an action, if this says so.
    pub(crate) fn decided(&self) -> Option<&Arc<Decision>> {
        if let Event::Evaluated { decision } = self { Some(decision) } else { None }
    }

    /// The request that this event opened or joined.
    pub(crate) fn opened(&self) -> Option<RequestId> {
        if let Event::Requested { request } | Event::Joined { request } = self { Some(request.id) } else { None }
    }
}

/// An event with its place in the order of all events, and its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Recorded {
    /// One more than the event before. A gap means that something was missed.
    pub sequence: u64,
    /// When.
    pub at: Timestamp,
    /// What.
    #[serde(flatten)]
    pub event: Event,
}

impl fmt::Display for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>4} {:<20} {}", self.sequence, self.event.kind(), self.event)
    }
}

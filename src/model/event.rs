//! Events: the one kind of record that changes state, is published, and can be replayed.

mod cause;
mod display;
mod pending_change;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use super::{
    Actor, AgentId, AgentOrigin, ApproverId, CommandId, CredentialChange, Decision, Digest, Ended, Grant, GrantId,
    KeyedWrite, LeftOut, Means, Mode, OwnerId, Permission, Policy, ProcessEvent, ProcessExit, Profile, Request,
    RequestId, Resolution, Route, Rule, RunId, SandboxFacts, SandboxViolation, SavedDecision, Settings, TaskEvent,
    Timestamp, ToolName, ToolPolicies, Tools, Verdict,
};

pub use cause::{Cause, HookCall};
pub use pending_change::HeldChange;

/// Something that happened.
///
/// Every program may read events. Only the kernel creates them, and only by deciding a command.
///
/// ```
/// # use bestow::{Engine, Event};
/// async fn revoked(engine: &Engine) {
///     let mut events = engine.subscribe();
///     while let Ok(recorded) = events.next().await {
///         if let Event::GrantRevoked { grant, .. } = &recorded.event {
///             println!("{}: {} lost {}", recorded.sequence, grant.to, grant.pinned.permission);
///         }
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum Event {
    /// A new agent was registered.
    #[serde(rename = "agent.registered")]
    AgentRegistered {
        /// The agent.
        profile: Arc<Profile>,
        /// The run it starts in.
        run: RunId,
        /// The source that registered it.
        source: AgentOrigin,
    },
    /// The description of an agent changed. Changes of its permissions are reported by grant events.
    #[serde(rename = "agent.changed")]
    AgentChanged {
        /// The agent, with its new description.
        profile: Arc<Profile>,
    },
    /// The mode of an agent changed.
    #[serde(rename = "mode.changed")]
    ModeChanged {
        /// The agent.
        agent: AgentId,
        /// The previous mode.
        before: Mode,
        /// The new mode.
        mode: Mode,
        /// The mode in the file, if the new mode overrides it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        written: Option<Mode>,
        /// The actor that set the mode. None if the file now contains this mode, or if the engine restored it from a
        /// cut audit trail.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Actor>,
    },
    /// An agent was removed. It holds nothing any more.
    #[serde(rename = "agent.retired")]
    AgentRetired {
        /// The agent.
        agent: AgentId,
    },
    /// A run of an agent ended, together with everything that was limited to this run.
    #[serde(rename = "run.ended")]
    RunEnded {
        /// The agent.
        agent: AgentId,
        /// The run.
        run: RunId,
    },
    /// A run of an agent began. An agent is always in a run, from its registration on.
    #[serde(rename = "run.began")]
    RunBegan {
        /// The agent.
        agent: AgentId,
        /// The run.
        run: RunId,
        /// The actor that began the run. None if an engine continues from its stored state.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Actor>,
    },
    /// An agent got a new grant.
    #[serde(rename = "grant.issued")]
    GrantIssued {
        /// The grant.
        grant: Arc<Grant>,
    },
    /// A grant was given again. Nothing changed.
    #[serde(rename = "grant.repeated")]
    GrantRepeated {
        /// The existing grant.
        grant: Arc<Grant>,
    },
    /// A grant changed. It ends earlier, because the longest-lasting grant it depended on is gone. Or it is at another
    /// line of the file.
    #[serde(rename = "grant.changed")]
    GrantChanged {
        /// The grant in its new state.
        grant: Arc<Grant>,
    },
    /// A grant was revoked.
    #[serde(rename = "grant.revoked")]
    GrantRevoked {
        /// The grant.
        grant: Arc<Grant>,
        /// The reason.
        ended: Ended,
    },
    /// A grant expired.
    #[serde(rename = "grant.expired")]
    GrantExpired {
        /// The grant.
        grant: Arc<Grant>,
    },
    /// A one-time grant was consumed.
    #[serde(rename = "grant.used")]
    GrantUsed {
        /// The grant.
        grant: Arc<Grant>,
        /// The permission that was used.
        permission: Permission,
    },
    /// An agent asked a person.
    #[serde(rename = "permission.requested")]
    Requested {
        /// The request.
        request: Arc<Request>,
    },
    /// An agent asked for something that is already requested. Both wait for the one answer.
    #[serde(rename = "permission.joined")]
    Joined {
        /// The pending request.
        request: Arc<Request>,
    },
    /// A request was queued, or moved to another place.
    #[serde(rename = "permission.routed")]
    Routed {
        /// The request.
        request: Arc<Request>,
        /// The place where it waits.
        route: Route,
    },
    /// A request was resolved.
    #[serde(rename = "permission.resolved")]
    Resolved {
        /// The resolution.
        resolution: Arc<Resolution>,
        /// The foreground agent that carried the request last, if there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        carrier: Option<AgentId>,
    },
    /// The engine decided about an action.
    #[serde(rename = "permission.evaluated")]
    Evaluated {
        /// The decision, with its reasons.
        decision: Arc<Decision>,
    },
    /// A person's decision about an action was saved.
    #[serde(rename = "ruling.made")]
    RulingMade {
        /// The saved decision.
        ruling: Arc<SavedDecision>,
    },
    /// A one-time saved decision was consumed.
    #[serde(rename = "ruling.used")]
    RulingUsed {
        /// The saved decision.
        ruling: Arc<SavedDecision>,
    },
    /// A saved decision ended.
    #[serde(rename = "ruling.ended")]
    RulingEnded {
        /// The saved decision.
        ruling: Arc<SavedDecision>,
        /// The reason.
        ended: Ended,
    },
    /// A person declared the effects of tools. This replaces the earlier declarations of this person. Declarations add
    /// to the uses that the engine detects in a call.
    #[serde(rename = "declarations.changed")]
    DeclarationsChanged {
        /// The owner whose agents are affected.
        owner: OwnerId,
        /// The person whose declarations these are.
        declarer: ApproverId,
        /// All declarations of this person from now on.
        tools: Arc<Tools>,
        /// The actor that set them.
        by: Actor,
    },
    /// A run got tools. Each of them has a tool policy from now on.
    #[serde(rename = "tools.declared")]
    ToolsDeclared {
        /// The owner of the agents.
        owner: OwnerId,
        /// The run.
        run: RunId,
        /// All tools that this event declares.
        tools: Arc<BTreeSet<ToolName>>,
        /// The actor that declared them.
        by: Actor,
    },
    /// The initial policies for further tools of a run changed. Tools that already have a policy keep it.
    #[serde(rename = "policy.for_all")]
    PolicyForAll {
        /// The owner of the agents.
        owner: OwnerId,
        /// The run.
        run: RunId,
        /// The names of all policies.
        policies: Vec<Arc<str>>,
        /// The policies in full.
        rules: Arc<ToolPolicies>,
        /// The actor that set them.
        by: Actor,
    },
    /// The policy of a tool in a run changed (`sources/001`, "Event: policy_updated").
    #[serde(rename = "policy.updated")]
    PolicyUpdated {
        /// The owner of the agents.
        owner: OwnerId,
        /// The run.
        run: RunId,
        /// The tool.
        tool: ToolName,
        /// The names of everything that applies: first policies, then saved decisions for this run.
        policies: Vec<Arc<str>>,
        /// The policies in full.
        rules: Arc<ToolPolicies>,
        /// The actor that set them. None if the change follows from a saved decision that was added or ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Actor>,
    },
    /// The rules of an agent changed.
    #[serde(rename = "rules.changed")]
    RulesChanged {
        /// The agent.
        agent: AgentId,
        /// All rules of the agent.
        rules: Arc<[Rule]>,
    },
    /// The engine refused a command. Nothing changed.
    #[serde(rename = "permission.refused")]
    Refused {
        /// The actor that tried.
        by: Actor,
        /// The attempt, in a word.
        attempt: Arc<str>,
        /// The reason of the refusal.
        why: Arc<str>,
    },
    /// A process sent a message to the control socket, and the engine refused it.
    #[serde(rename = "peer.refused")]
    PeerRefused {
        /// The process, as the kernel identifies it.
        peer: Arc<str>,
        /// The requested order, in a word.
        order: Arc<str>,
        /// The approver that the process claims to act for. This claim is not verified.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        claims: Option<ApproverId>,
        /// The reason of the refusal.
        why: Arc<str>,
    },
    /// A credential of a server was created, rotated or revoked.
    #[serde(rename = "credential.changed")]
    CredentialChanged {
        /// The change.
        #[serde(flatten)]
        change: Arc<CredentialChange>,
    },
    /// The events before this one, in the same step, are a write that a client may send again with its key.
    #[serde(rename = "write.keyed")]
    WriteKeyed {
        /// The key, and the first of these events.
        #[serde(flatten)]
        write: Arc<KeyedWrite>,
    },
    /// A summary of events of an agent family that changed nothing. They were too many to be published one by one
    /// (`max_facts_per_minute`).
    #[serde(rename = "facts.merged")]
    FactsMerged {
        /// The first agent of the family. None for processes that were refused at the control socket.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        family: Option<AgentId>,
        /// The time of the first of them.
        since: Timestamp,
        /// The number of events of each kind.
        counts: BTreeMap<Arc<str>, u64>,
        /// The last of them, as text.
        last: Arc<str>,
    },
    /// The connector of a foreground agent connected.
    #[serde(rename = "carrier.connected")]
    CarrierConnected {
        /// The agent.
        agent: AgentId,
    },
    /// The connector of a foreground agent disconnected.
    #[serde(rename = "carrier.disconnected")]
    CarrierDisconnected {
        /// The agent.
        agent: AgentId,
    },
    /// A user was active through a foreground agent. The order of these events determines the latest user, not a clock.
    #[serde(rename = "user.active")]
    UserActive {
        /// The agent.
        agent: AgentId,
    },
    /// A person or program that can answer for an owner connected. Connectors are not counted here.
    #[serde(rename = "approver.arrived")]
    ApproverArrived {
        /// The owner.
        owner: OwnerId,
    },
    /// One of these approvers disconnected.
    #[serde(rename = "approver.left")]
    ApproverLeft {
        /// The owner.
        owner: OwnerId,
    },
    /// The settings changed.
    #[serde(rename = "config.settings")]
    SettingsChanged {
        /// All settings.
        settings: Arc<Settings>,
    },
    /// A policy file took effect.
    #[serde(rename = "config.reloaded")]
    ConfigReloaded {
        /// The permissions that agents gained.
        gained: Vec<(AgentId, Permission)>,
        /// The permissions that agents lost.
        lost: Vec<(AgentId, Permission)>,
        /// Further changes that allow more, one sentence each, with the agent: modes, rules and new agents. Without an
        /// agent, the sentence is about the settings.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        widened: Vec<(Option<AgentId>, Arc<str>)>,
        /// Further changes that allow less, one sentence each.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        narrowed: Vec<(Option<AgentId>, Arc<str>)>,
        /// The lines of the file that give nothing.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<LeftOut>,
        /// The actor that agreed to it, if it gives permissions that waited for an approval.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agreed: Option<Actor>,
    },
    /// A part of a policy file gives more permissions than before. It waits for the approval of a person.
    #[serde(rename = "config.held_back")]
    ConfigHeldBack {
        /// The number of the change. A person names it to agree to exactly this change.
        change: u64,
        /// The whole policy.
        policy: Arc<Policy>,
        /// The permissions that agents would gain, for use or for passing on. This includes permissions that another
        /// source gives now and the file would give then.
        would_gain: Vec<(AgentId, Permission)>,
        /// Further changes, one sentence each, with the agent: modes and new agents. Without an agent, the sentence is
        /// about the settings.
        besides: Vec<(Option<AgentId>, Arc<str>)>,
    },
    /// Changes of the policy file are noticed with a delay.
    #[serde(rename = "config.polled")]
    ConfigPolled {
        /// The reason, and its consequence.
        why: Arc<str>,
    },
    /// A policy file was rejected. The last valid one stays in force.
    #[serde(rename = "config.rejected")]
    ConfigRejected {
        /// The reason, in full.
        why: Arc<str>,
    },
    /// A command of an agent was confined, and starts.
    #[serde(rename = "sandbox.applied")]
    SandboxApplied {
        /// The agent.
        agent: AgentId,
        /// The restrictions in force, as read back.
        facts: Arc<SandboxFacts>,
        /// The id of the command. `sandbox.ended` has it too. A process that goes on has none, and neither has a
        /// command that the host program confines.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<CommandId>,
        /// The decision that allowed the start, if there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Arc<Cause>>,
    },
    /// A command of an agent ended, together with everything that it started.
    #[serde(rename = "sandbox.ended")]
    SandboxEnded {
        /// The agent.
        agent: AgentId,
        /// The command, as in `sandbox.applied`.
        command: CommandId,
        /// The result.
        #[serde(flatten)]
        exit: ProcessExit,
        /// The decision that allowed the start, if there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Arc<Cause>>,
    },
    /// A command of an agent tried an access that its sandbox profile forbids.
    #[serde(rename = "sandbox.violation")]
    SandboxViolated {
        /// The agent.
        agent: AgentId,
        /// The access, and its evidence.
        violation: Arc<SandboxViolation>,
        /// The decision that allowed the start, if there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Arc<Cause>>,
    },
    /// The engine continues from its stored state. Permissions for a session ended with the previous run, unless the
    /// runs went on before and go on.
    #[serde(rename = "store.opened")]
    StoreOpened {
        /// The unacknowledged data at the end of the store, and its new location.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cut: Option<Arc<str>>,
        /// True if the runs of the agents go on in the next engine that is opened in the same way
        /// (`Engine::open_durable_continuing`).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        runs_go_on: bool,
    },
    /// Storing failed. The engine gives nothing new until storing works again. Revocations stay in force.
    #[serde(rename = "store.failed")]
    StoreFailed {
        /// The failure, and its remedy.
        why: Arc<str>,
    },
    /// The engine asks a hook of the host program about an action.
    #[serde(rename = "hook.started")]
    HookStarted {
        /// The hook, and the action.
        call: Arc<HookCall>,
    },
    /// A hook answered.
    #[serde(rename = "hook.completed")]
    HookCompleted {
        /// The hook, and the action.
        call: Arc<HookCall>,
        /// The verdict, if the hook gave one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        verdict: Option<Verdict>,
        /// The reason, if the hook gave one. It contains no secrets.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Arc<str>>,
        /// The digest of the input with which the hook replaced the original input.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        updated_input_ref: Option<Digest>,
    },
    /// A hook did not answer, or its answer was not valid.
    #[serde(rename = "hook.failed")]
    HookFailed {
        /// The hook, and the action.
        call: Arc<HookCall>,
        /// The reason. It contains no secrets.
        why: Arc<str>,
        /// True if the failure keeps the action from happening without an approval. It is always true.
        fail_closed: bool,
    },
    /// An event of a background process. It is serialized as its content.
    #[serde(untagged)]
    Process(ProcessEvent),
    /// An event of a scheduled task. It is the last variant, and is serialized as its content.
    #[serde(untagged)]
    Task(TaskEvent),
}

impl Event {
    /// Returns the kind of the event, as in `grant.issued`.
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
            Event::CredentialChanged { .. } => "credential.changed",
            Event::WriteKeyed { .. } => "write.keyed",
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
            Event::SandboxEnded { .. } => "sandbox.ended",
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

    /// Returns the grant of the event, if it has one.
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

    /// Returns the id of the grant that this event issued, or found already issued.
    pub fn granted(&self) -> Option<GrantId> {
        if let Event::GrantIssued { grant } | Event::GrantRepeated { grant } = self { Some(grant.id) } else { None }
    }

    /// Returns the removed agent, if this event removes one.
    pub(crate) fn retired(&self) -> Option<&AgentId> {
        if let Event::AgentRetired { agent } = self { Some(agent) } else { None }
    }

    /// Returns the decision about an action, if this event is one.
    pub(crate) fn decided(&self) -> Option<&Arc<Decision>> {
        if let Event::Evaluated { decision } = self { Some(decision) } else { None }
    }

    /// Returns the command that this event began.
    #[cfg(feature = "sandbox")]
    pub(crate) fn begun_command(&self) -> Option<CommandId> {
        if let Event::SandboxApplied { command, .. } = self { *command } else { None }
    }

    /// Returns the id of the request that this event opened or joined.
    pub(crate) fn opened(&self) -> Option<RequestId> {
        if let Event::Requested { request } | Event::Joined { request } = self { Some(request.id) } else { None }
    }
}

/// An event with its position in the order of all events, and its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Recorded {
    /// The number of the event, one more than that of the event before. A gap means that an event was missed.
    pub sequence: u64,
    /// The time of the event.
    pub at: Timestamp,
    /// The means by which the agent acted that caused the event, as in `http, credential 0a1b2c3d4e5f`. None if no
    /// agent caused it, or if its means are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<Means>,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
}

impl fmt::Display for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>4} {:<20} {}", self.sequence, self.event.kind(), self.event)
    }
}

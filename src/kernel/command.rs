//! The commands of the kernel. Times, ids and results from the disk are part of a command as values.

use std::{collections::BTreeSet, fmt, sync::Arc};

#[cfg(feature = "schedule")]
use crate::model::TaskEvent;
use crate::model::{
    Actor, AgentId, Answer, ApproverId, Cause, CredentialOrder, Digest, Event, GrantId, Hold, HookCall, Means, Mode,
    Operation, OwnerId, Permission, PinnedPermission, Policy, PolicyPatch, Process, ProcessId, Profile, Reason,
    RequestId, Revocation, Revoked, RunId, SandboxFacts, SanitizedPath, SavedDecisionId, Scope, Settings, ToolName,
    ToolPolicies, Tools, Verdict,
};

use super::{Refusal, authorization::HookVerdict, resolved_action::ResolvedAction};
#[cfg(feature = "sandbox")]
use crate::model::{CommandId, ProcessExit, SandboxViolation};

/// A permission that the host program or a creator gives an agent at its start.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub(crate) pinned: PinnedPermission,
    pub(crate) hold: Hold,
}

/// An agent that the host program registers.
#[derive(Clone, Debug)]
pub(crate) struct NewAgent {
    pub(crate) profile: Profile,
    pub(crate) run: RunId,
    pub(crate) permissions: Vec<Start>,
}

/// The person who gives an answer or an order.
#[derive(Clone, Debug)]
pub(crate) struct Person {
    pub(crate) owner: OwnerId,
    pub(crate) by: ApproverId,
    pub(crate) means: Means,
}

impl Person {
    pub(crate) fn actor(&self) -> Actor {
        Actor::Person { by: self.by.clone(), means: self.means.clone() }
    }
}

/// The grants whose path now leads to a different object. They support nothing.
pub(crate) type StaleGrants = BTreeSet<GrantId>;

/// A process that is about to start.
#[cfg_attr(not(feature = "sandbox"), allow(dead_code, reason = "only a sandbox starts processes"))]
#[derive(Clone, Debug)]
pub(crate) struct Starting {
    pub(crate) agent: AgentId,
    /// The command line with secrets redacted.
    pub(crate) command: Arc<str>,
    pub(crate) permissions: Vec<Permission>,
    pub(crate) cause: Option<Arc<Cause>>,
    /// The ended process that starts again.
    pub(crate) again: Option<Arc<Process>>,
    /// The actor who requested the restart.
    pub(crate) by: Actor,
}

/// An order to stop a process.
#[derive(Clone, Debug)]
pub(crate) struct StopOrder {
    pub(crate) by: Actor,
    pub(crate) owner: Option<OwnerId>,
    pub(crate) reason: Option<Reason>,
    pub(crate) grace_ms: u64,
}

/// The kind of run that an agent enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entering {
    /// A run without other agents.
    Own,
    /// A run that other agents are in. Decisions in this run also bind the entering agent.
    Shared,
}

/// The fate of what was allowed for the runs of agents, when an engine resumes from the stored state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunsAtOpen {
    /// It has ended with the engine before.
    End,
    /// It holds, if the engine before left the runs to this one.
    GoOn,
    /// It holds if it held before.
    #[cfg_attr(
        not(feature = "journal"),
        expect(dead_code, reason = "only the command line opens an engine between two")
    )]
    AsBefore,
}

/// A new fact about a hook that is asked.
#[derive(Clone, Debug)]
pub(crate) enum HookNews {
    Started,
    Completed { verdict: Option<Verdict>, reason: Option<Arc<str>>, updated_input_ref: Option<Digest> },
    Failed { why: Arc<str> },
}

/// A command to the kernel.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    /// The host program adds an agent.
    Register {
        profile: Profile,
        run: RunId,
        permissions: Vec<Start>,
    },
    /// Registers several agents, all or none.
    RegisterAll {
        agents: Vec<NewAgent>,
    },
    /// An agent creates another agent and gives it a part of its own permissions.
    Create {
        creator: AgentId,
        profile: Profile,
        run: RunId,
        permissions: Vec<PinnedPermission>,
        reason: Reason,
        broken: StaleGrants,
    },
    /// An agent is retired.
    Retire {
        agent: AgentId,
    },
    /// The run of an agent ends and another one begins. If `owner` is set, the caller may only touch agents of that
    /// owner.
    BeginRun {
        agent: AgentId,
        run: RunId,
        entering: Entering,
        by: Actor,
        owner: Option<OwnerId>,
    },
    /// An agent requests permissions (`request_permission`).
    Request {
        id: RequestId,
        from: AgentId,
        permissions: Vec<PinnedPermission>,
        reason: Reason,
        scope: Option<Scope>,
        broken: StaleGrants,
    },
    /// A person answers a request.
    Answer {
        request: RequestId,
        answer: Answer,
        /// The action that the answer puts in place of the requested one.
        modified: Option<Arc<ResolvedAction>>,
        by: Person,
    },
    /// An agent asks whether it may carry out an action.
    Authorize {
        agent: AgentId,
        action: Arc<ResolvedAction>,
        opinions: Vec<HookVerdict>,
        /// The id of the request, if the decision needs a person.
        request: RequestId,
        broken: StaleGrants,
    },
    /// An agent carries out an action now. If a person would have to be asked, the kernel refuses.
    Act {
        agent: AgentId,
        action: Arc<ResolvedAction>,
        opinions: Vec<HookVerdict>,
        broken: StaleGrants,
    },
    /// An agent carries out an action now inside a sandbox. If a person would have to be asked, the kernel refuses.
    ActConfined {
        agent: AgentId,
        action: Arc<ResolvedAction>,
        opinions: Vec<HookVerdict>,
        broken: StaleGrants,
        /// The facts about a sandbox of the host program. The library's own sandbox reports its facts separately.
        applied: Option<Arc<SandboxFacts>>,
    },
    /// A person approves one exact action for one use.
    Enable {
        by: Person,
        agent: AgentId,
        action: Arc<ResolvedAction>,
        reason: Reason,
    },
    /// An actor revokes a saved decision. If `owner` is set, the actor may only touch decisions of that owner.
    RevokeRuling {
        ruling: SavedDecisionId,
        by: Actor,
        owner: Option<OwnerId>,
        reason: Option<Reason>,
    },
    /// A person declares the behaviour of tools.
    Declare {
        by: Person,
        tools: Arc<Tools>,
        /// The first of these tools that another source already declares.
        taken: Option<ToolName>,
    },
    /// A person declares the tools of a run.
    DeclareTools {
        by: Person,
        run: RunId,
        tools: BTreeSet<ToolName>,
    },
    /// A person sets the policies of one tool of a run, or of all current and future tools of the run. `is_declared` is
    /// true if the host program, the policy file or the built-in table declares the tool.
    SetPolicies {
        by: Person,
        run: RunId,
        tool: Option<ToolName>,
        is_declared: bool,
        policies: Arc<ToolPolicies>,
    },
    /// A person changes policies (`update_policy`). Globs are relative to `base`, which is a canonical path.
    /// `is_declared` is about the tool of the patch, as for [`Command::SetPolicies`].
    UpdatePolicy {
        by: Person,
        run: RunId,
        patch: PolicyPatch,
        is_declared: bool,
        base: SanitizedPath,
    },
    /// A person changed policies. The new policies may answer these pending requests.
    Reconsider {
        by: Person,
        actions: Vec<(RequestId, Arc<ResolvedAction>)>,
    },
    /// The mode of an agent is set. If `owner` is set, the caller may only touch agents of that owner.
    SetMode {
        agent: AgentId,
        mode: Mode,
        by: Actor,
        owner: Option<OwnerId>,
    },
    /// A mode changed. The new mode may deny these pending requests.
    JudgeAgain {
        actions: Vec<(RequestId, Arc<ResolvedAction>)>,
    },
    /// An agent cancels its own request.
    Cancel {
        request: RequestId,
        by: AgentId,
    },
    /// An agent grants permissions to another agent (`grant_permission`).
    Grant {
        from: AgentId,
        to: AgentId,
        permissions: Vec<PinnedPermission>,
        reason: Reason,
        scope: Scope,
        broken: StaleGrants,
    },
    /// A person gives permissions without a request.
    Give {
        by: Person,
        to: AgentId,
        permissions: Vec<Start>,
        reason: Reason,
        scope: Scope,
    },
    /// An actor revokes a grant. If `owner` is set, the actor may only touch grants of that owner.
    Revoke {
        grant: GrantId,
        by: Actor,
        owner: Option<OwnerId>,
        reason: Option<Reason>,
    },
    /// A person gives again what one revocation ended, all of it or nothing.
    Restore {
        by: Person,
        undone: Arc<Revocation>,
    },
    /// The user of a foreground agent connected or disconnected.
    Connected {
        agent: AgentId,
    },
    Disconnected {
        agent: AgentId,
    },
    /// A user was active through a foreground agent.
    UserActive {
        agent: AgentId,
    },
    /// An approver of an owner connected or disconnected.
    ApproverArrived {
        owner: OwnerId,
    },
    ApproverLeft {
        owner: OwnerId,
    },
    /// A policy file takes effect. The settings in force decide whether its widening part waits for approval.
    Configure {
        policy: Arc<Policy>,
        run: RunId,
    },
    /// A change of a policy file or of tool policies could not be stored. Its restrictive part takes effect anyway.
    Narrowly(Box<Command>),
    /// A person approves a policy change that was held back.
    AgreeToWidening {
        by: Actor,
        /// The only owner whose agents the approval may affect, if set.
        owner: Option<OwnerId>,
        change: u64,
        run: RunId,
    },
    /// A policy file was rejected.
    RejectConfig {
        why: Arc<str>,
    },
    /// A policy file cannot be watched and is polled instead.
    PollConfig {
        why: Arc<str>,
    },
    /// A person or a server changes a credential.
    ChangeCredential {
        order: CredentialOrder,
        by: Option<ApproverId>,
        means: Means,
    },
    /// The control socket refused a process.
    #[cfg(feature = "journal")]
    RefusePeer {
        peer: Arc<str>,
        order: &'static str,
        claims: Option<ApproverId>,
        why: Arc<str>,
    },
    /// A command of an agent is about to start in the sandbox.
    #[cfg(feature = "sandbox")]
    Sandboxed {
        agent: AgentId,
        facts: Arc<SandboxFacts>,
        cause: Option<Arc<Cause>>,
        /// True if the end of the command is recorded too. The end of a process has its own record.
        has_end: bool,
    },
    /// A command of an agent ended.
    #[cfg(feature = "sandbox")]
    SandboxEnded {
        agent: AgentId,
        command: CommandId,
        exit: ProcessExit,
    },
    /// The sandbox denied a command of an agent a path that its profile forbids.
    #[cfg(feature = "sandbox")]
    Violated {
        agent: AgentId,
        violation: Arc<SandboxViolation>,
        cause: Option<Arc<Cause>>,
    },
    /// A process of an agent starts or restarts.
    #[cfg(feature = "sandbox")]
    StartProcess(Starting),
    /// An actor orders a process to stop.
    StopProcess {
        process: ProcessId,
        order: StopOrder,
    },
    /// A change after the start of a process denies it.
    #[cfg(feature = "sandbox")]
    DenyProcess {
        agent: AgentId,
        process: ProcessId,
        why: Arc<str>,
    },
    /// A process ended.
    #[cfg(feature = "sandbox")]
    ProcessExited {
        agent: AgentId,
        process: ProcessId,
        exit: ProcessExit,
    },
    /// All processes have to stop.
    EndProcesses,
    /// The engine resumes from the stored state, in another process or in another engine of this process.
    Resume {
        /// The settings of the host program, if it has any.
        settings: Option<Arc<Settings>>,
        cut: Option<Arc<str>>,
        runs: RunsAtOpen,
    },
    /// A hook of the host program started, completed or failed.
    Hook {
        call: Arc<HookCall>,
        news: HookNews,
    },
    /// A scheduled task changed or ran.
    #[cfg(feature = "schedule")]
    Task(TaskEvent),
    /// Time passed.
    Tick,
    /// All pending requests are cancelled.
    Shutdown,
}

impl Command {
    /// Returns true if the command only restricts, whatever events it produces.
    pub(crate) fn only_narrows(&self) -> bool {
        matches!(self, Command::Narrowly(_))
    }

    /// Returns the command that takes effect if this one cannot be stored. A change of a policy file, of tool policies
    /// or of a mode has one.
    pub(crate) fn restriction(&self) -> Option<Command> {
        let has_a_restrictive_part = matches!(
            self,
            Command::Configure { .. }
                | Command::SetPolicies { .. }
                | Command::UpdatePolicy { .. }
                | Command::SetMode { .. }
        );
        if self.only_narrows() {
            Some(self.clone())
        } else {
            has_a_restrictive_part.then(|| Command::Narrowly(Box::new(self.clone())))
        }
    }

    /// Returns the caller, if it can produce facts in a loop. `by` is the actor of the attempt.
    pub(crate) fn caller(&self, by: &Actor) -> Option<Caller> {
        #[cfg(feature = "journal")]
        if let Command::RefusePeer { .. } = self {
            return Some(Caller::Peer);
        }
        if let Actor::Agent(agent) = by { Some(Caller::Agent(agent.clone())) } else { None }
    }

    /// Returns the actor, the verb and the object of the command. A refusal is recorded with them.
    pub(crate) fn attempt(&self) -> Attempt {
        let by = |by: Actor, verb, about| Attempt { by, verb, about };
        let operator = |verb, about| by(Actor::Operator, verb, about);
        let agent = |agent: &AgentId, verb, about| by(Actor::Agent(agent.clone()), verb, about);
        let to = |agent: &AgentId| About::Agent(agent.clone());
        match self {
            Command::Register { profile, .. } => operator("register agent", to(&profile.id)),
            Command::RegisterAll { .. } => operator("register agents", About::Nothing),
            Command::Create { creator, profile, .. } => agent(creator, "create agent", to(&profile.id)),
            Command::Retire { agent } => operator("retire agent", to(agent)),
            Command::BeginRun { agent, by: actor, .. } => by(actor.clone(), "begin a run of", to(agent)),
            Command::Request { from, .. } => agent(from, "request permission", About::Nothing),
            Command::Answer { request, by: person, .. } => {
                by(person.actor(), "answer request", About::Request(*request))
            }
            Command::Authorize { agent: by, action, .. } => agent(by, verb(action.operation()), About::Nothing),
            Command::Act { agent: by, action, .. } | Command::ActConfined { agent: by, action, .. } => {
                agent(by, verb(action.operation()), About::Nothing)
            }
            Command::Enable { by: person, agent, .. } => by(person.actor(), "enable an action of", to(agent)),
            Command::RevokeRuling { ruling, by: actor, .. } => {
                by(actor.clone(), "revoke saved decision", About::Ruling(*ruling))
            }
            Command::Declare { by: person, .. } => by(person.actor(), "declare tools", About::Nothing),
            Command::DeclareTools { by: person, run, .. } => {
                by(person.actor(), "declare tools of run", About::Run(run.clone()))
            }
            Command::SetPolicies { by: person, run, .. } | Command::UpdatePolicy { by: person, run, .. } => {
                by(person.actor(), "change policies of run", About::Run(run.clone()))
            }
            Command::Reconsider { by: person, .. } => {
                by(person.actor(), "evaluate pending requests again", About::Nothing)
            }
            Command::SetMode { agent, by: actor, .. } => by(actor.clone(), "set the mode of", to(agent)),
            Command::JudgeAgain { .. } => operator("evaluate pending requests again", About::Nothing),
            Command::Cancel { request, by } => agent(by, "cancel request", About::Request(*request)),
            Command::Grant { from, to: receiver, .. } => agent(from, "grant permission to", to(receiver)),
            Command::Give { by: person, to: receiver, .. } => by(person.actor(), "give permission to", to(receiver)),
            Command::Revoke { grant, by: actor, .. } => by(actor.clone(), "revoke grant", About::Grant(*grant)),
            Command::Restore { by: person, undone } => {
                let about = match &undone.revoked {
                    Revoked::Grant(grant) => About::Grant(grant.id),
                    Revoked::Ruling(ruling) => About::Ruling(ruling.id),
                };
                by(person.actor(), "undo the revocation of", about)
            }
            Command::Connected { agent } | Command::Disconnected { agent } => operator("connect a user to", to(agent)),
            Command::UserActive { agent } => operator("record the activity of the user of", to(agent)),
            Command::ApproverArrived { .. } | Command::ApproverLeft { .. } => {
                operator("record an approver", About::Nothing)
            }
            Command::Configure { .. } | Command::RejectConfig { .. } | Command::PollConfig { .. } => {
                operator("load the policy file", About::Nothing)
            }
            Command::ChangeCredential { .. } => operator("change a credential", About::Nothing),
            Command::Narrowly(change) => change.attempt(),
            #[cfg(feature = "journal")]
            Command::RefusePeer { .. } => operator("refuse a process", About::Nothing),
            Command::AgreeToWidening { by: actor, .. } => {
                by(actor.clone(), "approve a change of the policy file", About::Nothing)
            }
            #[cfg(feature = "sandbox")]
            Command::Sandboxed { agent: by, .. }
            | Command::SandboxEnded { agent: by, .. }
            | Command::Violated { agent: by, .. } => agent(by, "run a command", About::Nothing),
            #[cfg(feature = "sandbox")]
            Command::StartProcess(Starting { agent: by, .. })
            | Command::DenyProcess { agent: by, .. }
            | Command::ProcessExited { agent: by, .. } => agent(by, "run a process", About::Nothing),
            Command::StopProcess { process, order } => by(order.by.clone(), "stop process", About::Process(*process)),
            Command::EndProcesses => operator("end processes", About::Nothing),
            Command::Resume { .. } => operator("continue from the stored state", About::Nothing),
            Command::Hook { call, .. } => agent(&call.agent, "record the verdict of a hook", About::Nothing),
            #[cfg(feature = "schedule")]
            Command::Task(_) => operator("run tasks", About::Nothing),
            Command::Tick => operator("end what expired", About::Nothing),
            Command::Shutdown => operator("end", About::Nothing),
        }
    }
}

/// Returns the verb for an attempted action.
fn verb(operation: Operation) -> &'static str {
    match operation {
        Operation::Read => "read a file",
        Operation::Write => "write a file",
        Operation::Exec => "run a program",
        Operation::Command => "run a command",
        Operation::Network => "use the network",
        Operation::Events => "use the events socket",
        Operation::Tool => "call a tool",
    }
}

/// A caller that may produce facts in a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    Agent(AgentId),
    /// A process that the control socket refused.
    #[cfg(feature = "journal")]
    Peer,
}

/// An attempted command: its actor, verb and object.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) by: Actor,
    verb: &'static str,
    about: About,
}

#[derive(Clone, Debug)]
enum About {
    Nothing,
    Agent(AgentId),
    Request(RequestId),
    Grant(GrantId),
    Ruling(SavedDecisionId),
    Run(RunId),
    Process(ProcessId),
}

impl Attempt {
    /// Returns the event that records the refusal of the attempt.
    pub(crate) fn refused(self, why: &Refusal) -> Event {
        Event::Refused { attempt: self.to_string().into(), by: self.by, why: why.to_string().into() }
    }
}

/// Formats the attempt for people, for example "answer request k3x9wq".
impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.verb)?;
        match &self.about {
            About::Nothing => Ok(()),
            About::Agent(agent) => write!(f, " {agent}"),
            About::Request(request) => write!(f, " {}", request.code()),
            About::Grant(grant) => write!(f, " {grant}"),
            About::Ruling(ruling) => write!(f, " {ruling}"),
            About::Run(run) => write!(f, " {run}"),
            About::Process(process) => write!(f, " {process}"),
        }
    }
}

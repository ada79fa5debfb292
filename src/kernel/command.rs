//! What somebody wants to happen. Times, ids and what the disk said come in as values.

use std::{collections::BTreeSet, fmt, sync::Arc};

#[cfg(feature = "schedule")]
use crate::model::TaskEvent;
use crate::model::{
    Actor, AgentId, Answer, ApproverId, Cause, Digest, Event, GrantId, Hold, HookCall, Means, Mode, OwnerId,
    Permission, Policies, Policy, PolicyPatch, Process, ProcessId, Profile, Reason, RequestId, Right, RulingId, RunId,
    SandboxFacts, SanitizedPath, Scope, Settings, ToolName, Tools, Verdict,
};

use super::{Refusal, considered::Considered, decide::StopOrder, judge::Opinion};
#[cfg(feature = "sandbox")]
use crate::model::{ProcessExit, SandboxViolation};

/// A right that the host program or a creator gives an agent at its start.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub(crate) right: Right,
    pub(crate) hold: Hold,
}

/// Who answers.
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

/// Grants whose path no longer leads to the object it did: they support nothing now.
pub(crate) type Broken = BTreeSet<GrantId>;

/// A process that is about to begin.
#[cfg_attr(not(feature = "sandbox"), allow(dead_code, reason = "only a sandbox starts processes"))]
#[derive(Clone, Debug)]
pub(crate) struct Starting {
    pub(crate) agent: AgentId,
    /// Without secrets.
    pub(crate) command: Arc<str>,
    pub(crate) permissions: Vec<Permission>,
    pub(crate) cause: Option<Arc<Cause>>,
    /// The one that has ended and begins again.
    pub(crate) again: Option<Arc<Process>>,
    /// Who wants that.
    pub(crate) by: Actor,
}

/// The kind of run that an agent enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entering {
    /// One that nobody is in.
    Own,
    /// One that goes on for others: what is said in it holds for this agent, too.
    Shared,
}

/// What is new about a hook that is asked.
#[derive(Clone, Debug)]
pub(crate) enum HookNews {
    Started,
    Completed { verdict: Option<Verdict>, reason: Option<Arc<str>>, updated_input_ref: Option<Digest> },
    Failed { why: Arc<str> },
}

/// What somebody wants to happen.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    /// The host program adds an agent.
    Register {
        profile: Profile,
        run: RunId,
        rights: Vec<Start>,
    },
    /// An agent creates another one, giving it part of what it holds.
    Create {
        creator: AgentId,
        profile: Profile,
        run: RunId,
        rights: Vec<Right>,
        reason: Reason,
        broken: Broken,
    },
    /// An agent goes.
    Retire {
        agent: AgentId,
    },
    /// The run of an agent ends, and another one begins; `owner` is whose agents they may touch, if not everybody's.
    BeginRun {
        agent: AgentId,
        run: RunId,
        entering: Entering,
        by: Actor,
        owner: Option<OwnerId>,
    },
    /// `request_permission`.
    Request {
        id: RequestId,
        from: AgentId,
        rights: Vec<Right>,
        reason: Reason,
        scope: Option<Scope>,
        broken: Broken,
    },
    /// A person answers.
    Answer {
        request: RequestId,
        answer: Answer,
        /// What the answer puts in the place of what was asked about.
        modified: Option<Arc<Considered>>,
        by: Person,
    },
    /// An agent is about to do something.
    Authorize {
        agent: AgentId,
        action: Arc<Considered>,
        opinions: Vec<Opinion>,
        /// The name of the question, if it comes to one.
        request: RequestId,
        broken: Broken,
    },
    /// An agent does something at once, or not at all.
    Act {
        agent: AgentId,
        action: Arc<Considered>,
        opinions: Vec<Opinion>,
        broken: Broken,
    },
    /// An agent does something at once inside a sandbox, or not at all.
    ActConfined {
        agent: AgentId,
        action: Arc<Considered>,
        opinions: Vec<Opinion>,
        broken: Broken,
        /// The facts about a sandbox of the host program; the library's own reports them by itself.
        applied: Option<Arc<SandboxFacts>>,
    },
    /// A person lets exactly one thing happen once.
    Enable {
        by: Person,
        agent: AgentId,
        action: Arc<Considered>,
        reason: Reason,
    },
    /// Somebody takes a ruling away; `owner` is whose they may touch, if not everybody's.
    RevokeRuling {
        ruling: RulingId,
        by: Actor,
        owner: Option<OwnerId>,
        reason: Option<Reason>,
    },
    /// A person says what tools do.
    Declare {
        by: Person,
        tools: Arc<Tools>,
        /// The first of them that is declared otherwise already.
        taken: Option<ToolName>,
    },
    /// A person says which tools a run has.
    DeclareTools {
        by: Person,
        run: RunId,
        tools: BTreeSet<ToolName>,
    },
    /// A person sets the policies of one tool of a run, or of all that it has and will have.
    SetPolicies {
        by: Person,
        run: RunId,
        tool: Option<ToolName>,
        policies: Arc<Policies>,
    },
    /// `update_policy`; globs count below `base`, which is a real path.
    UpdatePolicy {
        by: Person,
        run: RunId,
        patch: PolicyPatch,
        base: SanitizedPath,
    },
    /// A person changed policies, which may answer these questions.
    Reconsider {
        by: Person,
        actions: Vec<(RequestId, Arc<Considered>)>,
    },
    /// An agent is judged in another mode from now on; `owner` is whose agents they may touch, if not everybody's.
    SetMode {
        agent: AgentId,
        mode: Mode,
        by: Actor,
        owner: Option<OwnerId>,
    },
    /// A mode changed, which may answer these questions.
    JudgeAgain {
        actions: Vec<(RequestId, Arc<Considered>)>,
    },
    /// The asker takes its question back.
    Cancel {
        request: RequestId,
        by: AgentId,
    },
    /// `grant_permission`.
    Grant {
        from: AgentId,
        to: AgentId,
        rights: Vec<Right>,
        reason: Reason,
        scope: Scope,
        broken: Broken,
    },
    /// A person gives without having been asked.
    Give {
        by: Person,
        to: AgentId,
        rights: Vec<Start>,
        reason: Reason,
        scope: Scope,
    },
    /// Somebody takes a grant away; `owner` is whose grants they may touch, if not everybody's.
    Revoke {
        grant: GrantId,
        by: Actor,
        owner: Option<OwnerId>,
        reason: Option<Reason>,
    },
    /// A foreground agent's connector came or went.
    Connected {
        agent: AgentId,
    },
    Disconnected {
        agent: AgentId,
    },
    /// A user did something through a foreground agent.
    UserActive {
        agent: AgentId,
    },
    /// Somebody who can answer for an owner came or went.
    ApproverArrived {
        owner: OwnerId,
    },
    ApproverLeft {
        owner: OwnerId,
    },
    /// A file takes effect, as the settings before it say.
    Configure {
        policy: Arc<Policy>,
        run: RunId,
    },
    /// A change of a file or of policies could not be stored: what of it only takes away is taken all the same.
    Narrowly {
        change: Box<Command>,
        /// If that cannot be stored either, nothing is any more.
        last: bool,
    },
    /// A person agrees to what was held back.
    AgreeToWidening {
        by: Actor,
        /// Whose agents alone it may concern.
        owner: Option<OwnerId>,
        change: u64,
        run: RunId,
    },
    /// A file was not taken.
    RejectConfig {
        why: Arc<str>,
    },
    /// A file cannot be watched, and is looked at every now and then.
    PollConfig {
        why: Arc<str>,
    },
    /// A process that spoke at the control socket was not heard.
    #[cfg(feature = "journal")]
    RefusePeer {
        peer: Arc<str>,
        order: &'static str,
        claims: Option<ApproverId>,
        why: Arc<str>,
    },
    /// A command of an agent is about to start.
    #[cfg(feature = "sandbox")]
    Sandboxed {
        agent: AgentId,
        facts: Arc<SandboxFacts>,
        cause: Option<Arc<Cause>>,
    },
    /// A command of an agent reached for what its profile forbids.
    #[cfg(feature = "sandbox")]
    Violated {
        agent: AgentId,
        violation: Arc<SandboxViolation>,
        cause: Option<Arc<Cause>>,
    },
    /// A process of an agent begins, or begins again.
    #[cfg(feature = "sandbox")]
    StartProcess(Starting),
    /// Somebody says that a process is to end.
    StopProcess {
        process: ProcessId,
        order: StopOrder,
    },
    /// What came after its start denies a process.
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
    /// Every process is to end.
    EndProcesses,
    /// The engine goes on from what is stored, in another process or another run of this one.
    Resume {
        /// If the host has some.
        settings: Option<Arc<Settings>>,
        run: RunId,
        cut: Option<Arc<str>>,
    },
    /// Something about a hook of the host program.
    Hook {
        call: Arc<HookCall>,
        news: HookNews,
    },
    /// Something happened to a scheduled task.
    #[cfg(feature = "schedule")]
    Task(TaskEvent),
    /// Time went by.
    Tick,
    /// Every question is taken back.
    Shutdown,
}

impl Command {
    /// Whether what it does gives nobody more than before, whatever its events are.
    pub(crate) fn only_narrows(&self) -> bool {
        matches!(self, Command::Narrowly { .. })
    }

    /// Who causes facts by it, and may do so in a loop; `by` is who tries it.
    pub(crate) fn caller(&self, by: &Actor) -> Option<Caller> {
        #[cfg(feature = "journal")]
        if let Command::RefusePeer { .. } = self {
            return Some(Caller::Peer);
        }
        if let Actor::Agent(agent) = by { Some(Caller::Agent(agent.clone())) } else { None }
    }

    /// Who tries what, for the fact that a refusal leaves.
    pub(crate) fn attempt(&self) -> Attempt {
        let by = |by: Actor, verb, about| Attempt { by, verb, about };
        let operator = |verb, about| by(Actor::Operator, verb, about);
        let agent = |agent: &AgentId, verb, about| by(Actor::Agent(agent.clone()), verb, about);
        let to = |agent: &AgentId| About::Agent(agent.clone());
        match self {
            Command::Register { profile, .. } => operator("register agent", to(&profile.id)),
            Command::Create { creator, profile, .. } => agent(creator, "create agent", to(&profile.id)),
            Command::Retire { agent } => operator("retire agent", to(agent)),
            Command::BeginRun { agent, by: actor, .. } => by(actor.clone(), "begin a run of", to(agent)),
            Command::Request { from, .. } => agent(from, "request permission", About::Nothing),
            Command::Answer { request, by: person, .. } => {
                by(person.actor(), "answer request", About::Request(*request))
            }
            Command::Authorize { agent: by, action, .. } => agent(by, action.operation().as_str(), About::Nothing),
            Command::Act { agent: by, action, .. } | Command::ActConfined { agent: by, action, .. } => {
                agent(by, action.operation().as_str(), About::Nothing)
            }
            Command::Enable { by: person, agent, .. } => by(person.actor(), "enable an action of", to(agent)),
            Command::RevokeRuling { ruling, by: actor, .. } => {
                by(actor.clone(), "revoke ruling", About::Ruling(*ruling))
            }
            Command::Declare { by: person, .. } => by(person.actor(), "declare tools", About::Nothing),
            Command::DeclareTools { by: person, run, .. } => {
                by(person.actor(), "declare tools of run", About::Run(run.clone()))
            }
            Command::SetPolicies { by: person, run, .. } | Command::UpdatePolicy { by: person, run, .. } => {
                by(person.actor(), "change policies of run", About::Run(run.clone()))
            }
            Command::Reconsider { by: person, .. } => by(person.actor(), "look at questions again", About::Nothing),
            Command::SetMode { agent, by: actor, .. } => by(actor.clone(), "set the mode of", to(agent)),
            Command::JudgeAgain { .. } => operator("look at questions again", About::Nothing),
            Command::Cancel { request, by } => agent(by, "cancel request", About::Request(*request)),
            Command::Grant { from, to: receiver, .. } => agent(from, "grant permission to", to(receiver)),
            Command::Give { by: person, to: receiver, .. } => by(person.actor(), "give permission to", to(receiver)),
            Command::Revoke { grant, by: actor, .. } => by(actor.clone(), "revoke grant", About::Grant(*grant)),
            Command::Connected { agent } | Command::Disconnected { agent } => operator("connect a user to", to(agent)),
            Command::UserActive { agent } => operator("note activity through", to(agent)),
            Command::ApproverArrived { .. } | Command::ApproverLeft { .. } => {
                operator("note an approver", About::Nothing)
            }
            Command::Configure { .. } | Command::RejectConfig { .. } | Command::PollConfig { .. } => {
                operator("take a file", About::Nothing)
            }
            Command::Narrowly { change, .. } => change.attempt(),
            #[cfg(feature = "journal")]
            Command::RefusePeer { .. } => operator("refuse a process", About::Nothing),
            Command::AgreeToWidening { by: actor, .. } => {
                by(actor.clone(), "agree to a change of the file", About::Nothing)
            }
            #[cfg(feature = "sandbox")]
            Command::Sandboxed { agent: by, .. } | Command::Violated { agent: by, .. } => {
                agent(by, "run a command", About::Nothing)
            }
            #[cfg(feature = "sandbox")]
            Command::StartProcess(Starting { agent: by, .. })
            | Command::DenyProcess { agent: by, .. }
            | Command::ProcessExited { agent: by, .. } => agent(by, "run a process", About::Nothing),
            Command::StopProcess { process, order } => by(order.by.clone(), "stop process", About::Process(*process)),
            Command::EndProcesses => operator("end processes", About::Nothing),
            Command::Resume { .. } => operator("go on", About::Nothing),
            Command::Hook { call, .. } => agent(&call.agent, "be judged by a hook", About::Nothing),
            #[cfg(feature = "schedule")]
            Command::Task(_) => operator("run tasks", About::Nothing),
            Command::Tick => operator("pass time", About::Nothing),
            Command::Shutdown => operator("end", About::Nothing),
        }
    }
}

/// Whoever may cause facts in a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    Agent(AgentId),
    /// A process that is not heard.
    #[cfg(feature = "journal")]
    Peer,
}

/// Who tries what.
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
    Ruling(RulingId),
    Run(RunId),
    Process(ProcessId),
}

impl Attempt {
    /// The fact that it was refused.
    pub(crate) fn refused(self, why: &Refusal) -> Event {
        Event::Refused { attempt: self.to_string().into(), by: self.by, why: why.to_string().into() }
    }
}

/// What was tried, as in "answer request k3x9wq".
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

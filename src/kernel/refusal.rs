//! The reasons for which the kernel refuses a command. A refusal is a normal result, not a fault of the engine.

use std::{collections::BTreeSet, fmt, sync::Arc};

use crate::model::{
    AgentId, Code, Decision, Escaped, GrantId, InvalidGlob, Kind, OwnerId, Permission, Place, ProcessId, RequestId,
    Resolution, Ruled, RunId, SanitizedPath, SavedDecisionId, Scope, Timestamp, ToolName,
};

/// A reason for which a command was not carried out. The state did not change.
///
/// The enum is exhaustive on purpose. A new reason has to break the build of programs that explain reasons to people.
/// Each message names the object and, if possible, a remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "see above")]
pub enum Refusal {
    /// An agent with this id already exists.
    AgentExists(AgentId),
    /// The request was already answered or has ended otherwise.
    AlreadyResolved(Arc<Resolution>),
    /// A person acted on an agent of another owner, or agents of different owners were involved.
    OtherOwner {
        /// The agent that was addressed.
        agent: AgentId,
        /// The owner that the agent does not belong to.
        owner: OwnerId,
    },
    /// The agent is not a foreground agent, so it has no connected user.
    NotForeground(AgentId),
    /// The request belongs to another agent. Only the asker may cancel it.
    NotYours(RequestId),
    /// The agent does not hold the permission that it wanted to pass on or use.
    NotHeld {
        /// The agent.
        agent: AgentId,
        /// The permission.
        permission: Permission,
    },
    /// The action is denied, or it needs an approval.
    NotAllowed(Arc<Decision>),
    /// The sandbox of the host program allows more than the decision did.
    WiderThanDecided(Permission),
    /// A person replaced the requested action by a more harmful one.
    InputClimbs {
        /// The requested action.
        asked: Arc<str>,
        /// The action in the answer.
        answered: Arc<str>,
    },
    /// The answer about this action cannot be saved for its scope.
    NotForGood(Arc<str>),
    /// The approver did not see the complete action, so an approval is valid only once.
    NotShownWhole {
        /// The scope of the answer.
        answered: Scope,
    },
    /// The saved decision does not exist, or no longer.
    UnknownRuling(SavedDecisionId),
    /// The owner has no agent in this run, or no longer.
    UnknownRun(RunId),
    /// Other agents are in the run, and the agent did not ask to join it.
    RunGoesOn(RunId),
    /// The run has no such tool: it was neither declared nor used.
    UnknownTool {
        /// The tool that was named.
        tool: ToolName,
        /// The run.
        run: RunId,
        /// The tools of the run.
        known: BTreeSet<ToolName>,
    },
    /// A person declared a tool that the policy file, the host program or the built-in table already declares.
    ToolIsDeclared(ToolName),
    /// The declarations of people for the agents of one owner exceed the limit.
    TooManyDeclarations {
        /// The maximum number of tools.
        tools: usize,
        /// The maximum total size of all declarations in bytes.
        bytes: usize,
    },
    /// A glob in a change is invalid. The whole change was rejected.
    InvalidGlob {
        /// The glob.
        glob: Arc<str>,
        /// The reason.
        why: InvalidGlob,
    },
    /// The agents of the run have different working directories, so the base of a relative glob is ambiguous.
    SeveralBases(RunId),
    /// The run would have too many tools, or a tool policy would have too many or too large globs and patterns.
    TooManyPolicies {
        /// The run.
        run: RunId,
        /// The limit.
        max: u32,
    },
    /// The answer names a permission that was not requested.
    NotAsked(Permission),
    /// There is no policy change that waits for approval.
    NothingHeldBack,
    /// The agent that this handle was made for is retired. Another agent may have its id.
    Gone(AgentId),
    /// The agent holds the permission for one use only. Such a right cannot be passed on, and no command can run with
    /// it.
    HeldOnce {
        /// The agent.
        agent: AgentId,
        /// The permission.
        permission: Permission,
    },
    /// The agent is defined in the policy file and has to be removed there.
    InFile(AgentId),
    /// An agent wanted to create an agent of a kind that only the host program or the policy file can add.
    NoChildKind {
        /// The agent to be created.
        agent: AgentId,
        /// Its kind.
        kind: Kind,
    },
    /// The id is reserved for the agents of scheduled tasks.
    NameOfTask(AgentId),
    /// The agent and its relatives have created too many agents.
    TooManyChildren {
        /// The agent that wanted to create another one.
        agent: AgentId,
        /// The limit.
        max: u32,
    },
    /// A person approved a policy change other than the waiting one.
    OtherChange {
        /// The number of the waiting change.
        waiting: u64,
    },
    /// The right is defined in the policy file and has to be removed there.
    FromFile(GrantId, Place),
    /// The path is protected. Only a line of the policy file that names exactly this path gives access.
    Protected(Permission),
    /// The right would allow writes to the policy file itself.
    Governs(Permission),
    /// A right covers the directory, but no right names the sensitive part of the path.
    Sensitive {
        /// The permission.
        permission: Permission,
        /// The path that a right has to name, or a path below it.
        part: SanitizedPath,
    },
    /// The agent neither gave nor holds the grant that it wanted to revoke.
    NotYourGrant(GrantId),
    /// An agent wanted to grant something to itself.
    SelfGrant(AgentId),
    /// The scope of the answer is wider than the requested scope.
    ScopeTooWide {
        /// The requested scope.
        asked: Scope,
        /// The scope of the answer.
        answered: Scope,
    },
    /// The scope ends in the past.
    ScopePast(Scope),
    /// The right was already passed on the maximum number of times.
    TooDeep {
        /// The permission.
        permission: Permission,
        /// The limit.
        max: u8,
    },
    /// The agent and its relatives asked too many questions within a minute.
    TooManyAsked {
        /// The agent.
        agent: AgentId,
        /// The limit.
        max: u32,
    },
    /// People recently denied requests of this agent or its relatives. They asked again too often and have to wait.
    AskedAfterNo {
        /// The agent.
        agent: AgentId,
        /// The number of denials in a row.
        noes: u32,
        /// The end of the waiting time.
        until: Timestamp,
    },
    /// The agent and its relatives caused too many changes within a minute.
    TooManyChanges {
        /// The agent.
        agent: AgentId,
        /// The limit.
        max: u32,
    },
    /// Too many requests of this agent are pending.
    TooManyPending {
        /// The agent.
        agent: AgentId,
        /// The limit.
        max: u32,
    },
    /// The process does not exist, or the caller may not touch it.
    UnknownProcess(ProcessId),
    /// The process has ended.
    ProcessEnded(ProcessId),
    /// Too many processes of this agent are running.
    TooManyProcesses {
        /// The agent.
        agent: AgentId,
        /// The limit.
        max: u32,
    },
    /// The agent holds too many grants.
    TooManyGrants {
        /// The agent.
        agent: AgentId,
        /// The limit.
        max: u32,
    },
    /// The agent does not exist.
    UnknownAgent(AgentId),
    /// The grant does not exist, or no longer.
    UnknownGrant(GrantId),
    /// The request does not exist.
    UnknownRequest(RequestId),
    /// The short code matches none of the pending requests.
    UnknownCode(Arc<str>),
    /// Two pending requests share this short code. The full id is unambiguous.
    AmbiguousCode(Code),
    /// A process was to start again, and it goes on: somebody else has started it in the meantime.
    ProcessGoesOn(ProcessId),
    /// A lasting approval of a destructive action. Each use of it needs an approval of its own.
    OnlyOnce(Arc<str>),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::AgentExists(agent) => write!(f, "there is an agent `{agent}` already: choose another id"),
            Refusal::AlreadyResolved(resolution) => {
                write!(f, "request {} is over: {resolution}", resolution.request.code())
            }
            Refusal::OtherOwner { agent, owner } => {
                write!(f, "agent `{agent}` does not belong to `{owner}`, and nothing crosses owners")
            }
            Refusal::NotForeground(agent) => write!(f, "agent `{agent}` is no foreground agent and has no connector"),
            Refusal::NotYours(request) => write!(f, "request {} was asked by another agent", request.code()),
            Refusal::NotHeld { agent, permission } => {
                write!(f, "agent `{agent}` does not hold `{}` itself: ", Escaped(&permission.to_string()))?;
                f.write_str("it can ask for it with `request_permission`")
            }
            Refusal::NotAllowed(decision) => {
                write!(
                    f,
                    "agent `{}` may not {}: {}",
                    decision.agent,
                    decision.action.typed(),
                    Escaped(&decision.decision_reason)
                )?;
                decision.rule_refs.iter().try_for_each(|rule| write!(f, "; {rule}"))?;
                match decision.decision {
                    Ruled::Ask => f.write_str("; it can be asked for with `authorize`"),
                    Ruled::Sandboxed => f.write_str("; it may happen inside a sandbox only"),
                    Ruled::Deny | Ruled::Unavailable | Ruled::Allow => Ok(()),
                }
            }
            Refusal::WiderThanDecided(permission) => write!(
                f,
                "the sandbox allows `{}`, which the action does not use: report one that allows no more than was \
                 decided",
                Escaped(&permission.to_string())
            ),
            Refusal::InputClimbs { asked, answered } => write!(
                f,
                "`{}` cannot take the place of `{}`: it must be the same kind of action, no more harmful, need nothing \
                 more, and be nothing that is denied",
                Escaped(answered),
                Escaped(asked)
            ),
            Refusal::NotForGood(resource) => write!(
                f,
                "a yes to `{}` cannot be remembered for longer than `session`: answer `once` or `session`",
                Escaped(resource)
            ),
            Refusal::NotShownWhole { answered } => write!(
                f,
                "not all of what is asked was shown, so nobody can say yes to it for `{answered}`: answer `once`"
            ),
            Refusal::UnknownRuling(ruling) => write!(f, "there is no ruling {ruling}, or no longer"),
            Refusal::RunGoesOn(run) => {
                write!(f, "run {run} goes on for others, and what is said in it would hold: `join_run` enters it")
            }
            Refusal::UnknownRun(run) => write!(f, "there is no run {run}, or no longer"),
            Refusal::UnknownTool { tool, run, known } => {
                write!(f, "run {run} has no tool `{tool}`, only")?;
                for (place, tool) in known.iter().enumerate() {
                    write!(f, "{} `{tool}`", if place > 0 { "," } else { "" })?;
                }
                f.write_str(": declare it with `declare_tools`, or correct the name")
            }
            Refusal::ToolIsDeclared(tool) => write!(
                f,
                "the tool `{tool}` is declared already, by the policy file, the host program or the built-in table, \
                 and a person's declaration takes the place of none: leave it out"
            ),
            Refusal::TooManyDeclarations { tools, bytes } => write!(
                f,
                "people would declare more than {tools} tools or {bytes} bytes for the agents of one owner, which is \
                 the limit: declare fewer, or in the policy file"
            ),
            Refusal::InvalidGlob { glob, why } => {
                write!(f, "`{}` cannot be taken, and nothing was changed: {}", Escaped(glob), Escaped(&why.to_string()))
            }
            Refusal::SeveralBases(run) => write!(
                f,
                "the agents of run {run} work in different directories: say below which of them the globs count, or \
                 begin them with `/`"
            ),
            Refusal::TooManyPolicies { run, max } => write!(
                f,
                "run {run} would have more than {max} tools, or a guard more than {max} patterns or too large ones, \
                 which is the limit: use fewer"
            ),
            Refusal::NotAsked(permission) => {
                write!(f, "`{}` is not among what was asked", Escaped(&permission.to_string()))
            }
            Refusal::NothingHeldBack => f.write_str("no change of the file is waiting for anybody to agree"),
            Refusal::Gone(agent) => {
                write!(
                    f,
                    "the agent `{agent}` that this handle was made for is gone: get a handle of the one that is there"
                )
            }
            Refusal::HeldOnce { agent, permission } => write!(
                f,
                "agent `{agent}` holds `{}` for one use, which can only be used: ask for more than `once`",
                Escaped(&permission.to_string())
            ),
            Refusal::InFile(agent) => {
                write!(f, "agent `{agent}` stands in the policy file: take it away there, or it would come back")
            }
            Refusal::NoChildKind { agent, kind } => {
                write!(f, "agent `{agent}` would be `{kind}`: an agent can create only `subagent` and `permanent` ones")
            }
            Refusal::NameOfTask(agent) => write!(
                f,
                "`{agent}` is a name for the agent of a scheduled task: choose one that begins neither with `cron:` \
                 nor with `heartbeat:`"
            ),
            Refusal::TooManyChildren { agent, max } => {
                write!(
                    f,
                    "agent `{agent}` and those it comes from created {max} agents, which is the limit: retire some"
                )
            }
            Refusal::OtherChange { waiting } => {
                write!(f, "another change of the file waits, {waiting}: look at that one and agree to it")
            }
            Refusal::FromFile(grant, place) => {
                write!(f, "grant {grant} stands in {place}: take it away there")
            }
            Refusal::Protected(permission) => write!(
                f,
                "`{}` is protected: only a line of agents.toml that names exactly this path gives it",
                Escaped(&permission.to_string())
            ),
            Refusal::Governs(permission) => write!(
                f,
                "`{}` holds agents.toml, and whoever may write that gives itself any right: name a smaller directory, \
                 or move the file out of there",
                Escaped(&permission.to_string())
            ),
            Refusal::Sensitive { permission, part } => write!(
                f,
                "`{}` is sensitive: it takes `@write:{}` by name, which can be asked for with `request_permission`",
                Escaped(&permission.to_string()),
                Escaped(part.as_str())
            ),
            Refusal::NotYourGrant(grant) => {
                write!(f, "grant {grant} can be revoked by who gave it, who holds it, or a person of its owner")
            }
            Refusal::SelfGrant(agent) => write!(f, "agent `{agent}` cannot grant anything to itself"),
            Refusal::ScopeTooWide { asked, answered } => {
                write!(f, "asked for scope `{asked}`, which `{answered}` does not fit within: answer the same or less")
            }
            Refusal::ScopePast(scope) => write!(f, "the scope `{scope}` is over already"),
            Refusal::TooDeep { permission, max } => write!(
                f,
                "`{}` was passed on {max} times already, which is the limit: ask a person instead",
                Escaped(&permission.to_string())
            ),
            Refusal::TooManyAsked { agent, max } => {
                write!(
                    f,
                    "agent `{agent}`, with its relatives, asked {max} questions within a minute, which is the limit: \
                     wait a little"
                )
            }
            Refusal::AskedAfterNo { agent, noes, until } => write!(
                f,
                "people said no to agent `{agent}`, or its relatives, {noes} times in a row: it can ask again after \
                 {until}"
            ),
            Refusal::TooManyChanges { agent, max } => write!(
                f,
                "agent `{agent}`, with its relatives, caused {max} changes within a minute, which is the limit: wait a \
                 little"
            ),
            Refusal::TooManyPending { agent, max } => {
                write!(f, "agent `{agent}` waits for {max} answers already, which is the limit: wait or cancel one")
            }
            Refusal::UnknownProcess(process) => write!(f, "there is no process {process}, or no longer"),
            Refusal::ProcessEnded(process) => write!(f, "process {process} has ended: start it again"),
            Refusal::TooManyProcesses { agent, max } => {
                write!(f, "agent `{agent}` has {max} processes that go on, which is the limit: stop one")
            }
            Refusal::TooManyGrants { agent, max } => {
                write!(f, "agent `{agent}` holds {max} grants already, which is the limit for one giver: revoke some")
            }
            Refusal::UnknownAgent(agent) => write!(f, "no agent `{agent}` is registered"),
            Refusal::UnknownGrant(grant) => write!(f, "there is no grant {grant}, or no longer"),
            Refusal::UnknownRequest(request) => write!(f, "there is no request {request}"),
            Refusal::UnknownCode(code) => write!(f, "no pending request has the code `{}`", Escaped(code)),
            Refusal::AmbiguousCode(code) => write!(f, "two pending requests share the code {code}: use the full id"),
            Refusal::ProcessGoesOn(process) => {
                write!(f, "process {process} goes on already: stop it before it starts again")
            }
            Refusal::OnlyOnce(resource) => {
                write!(f, "`{}` destroys something, so a yes to it is for one use: answer `once`", Escaped(resource))
            }
        }
    }
}

impl std::error::Error for Refusal {}

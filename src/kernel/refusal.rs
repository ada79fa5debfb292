//! Why the answer is no: the engine working.

use std::{collections::BTreeSet, fmt, sync::Arc};

use crate::model::{
    AgentId, Code, Decision, GrantId, InvalidGlob, Kind, OwnerId, Permission, Place, ProcessId, RequestId, Resolution,
    Ruled, RulingId, RunId, SanitizedPath, Scope, Shown, Timestamp, ToolName,
};

/// Why a command was not carried out. Nothing has changed.
///
/// Exhaustive on purpose: a new reason should break the build of whoever explains reasons to people. Each
/// message names the thing and, where there is one, the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "see above")]
pub enum Refusal {
    /// An agent with this id is there already.
    AgentExists(AgentId),
    /// The request was answered, or ended otherwise, before.
    AlreadyResolved(Arc<Resolution>),
    /// A request or grant by a person who stands for another owner, or between agents of different owners.
    OtherOwner {
        /// Who was reached for.
        agent: AgentId,
        /// Whose agent that is not.
        owner: OwnerId,
    },
    /// Only foreground agents have a connector.
    NotForeground(AgentId),
    /// Only the asker can take a request back.
    NotYours(RequestId),
    /// An agent wanted to pass on, or use, what it does not hold.
    NotHeld {
        /// Who.
        agent: AgentId,
        /// What.
        permission: Permission,
    },
    /// An agent wanted to do what may not happen, or not without asking.
    NotAllowed(Arc<Decision>),
    /// A sandbox that lets an action use more than was decided about.
    WiderThanDecided(Permission),
    /// A person changed what was asked about into something worse.
    InputClimbs {
        /// What was asked about.
        asked: Arc<str>,
        /// What it was to become.
        answered: Arc<str>,
    },
    /// A yes to this cannot be remembered beyond this one time.
    NotForGood(Arc<str>),
    /// Whoever answers was not shown all of it, so a yes is for this once.
    NotShownWhole {
        /// What was answered.
        answered: Scope,
    },
    /// There is no such ruling.
    UnknownRuling(RulingId),
    /// This owner has no agent in such a run, or no longer.
    UnknownRun(RunId),
    /// An agent was to begin a run that goes on for others, where entering theirs was not asked for.
    RunGoesOn(RunId),
    /// The run has no such tool: nobody declared it, and it was not used.
    UnknownTool {
        /// What was named.
        tool: ToolName,
        /// In which run.
        run: RunId,
        /// What it has.
        known: BTreeSet<ToolName>,
    },
    /// A person declared a tool that the file, the host program or the built-in table declares.
    ToolIsDeclared(ToolName),
    /// People would declare more for the agents of one owner than the engine keeps.
    TooManyDeclarations {
        /// The most tools.
        tools: usize,
        /// The most bytes of all declarations together.
        bytes: usize,
    },
    /// One glob of a change is none; nothing of the change was made.
    InvalidGlob {
        /// Which.
        glob: Arc<str>,
        /// Why.
        why: InvalidGlob,
    },
    /// Agents of the run work in different directories, so nobody knows below which of them a glob counts.
    SeveralBases(RunId),
    /// A run would have too many tools, or a guard of it too many or too large globs and patterns.
    TooManyPolicies {
        /// Which run.
        run: RunId,
        /// The limit.
        max: u32,
    },
    /// Answered about something that was not asked.
    NotAsked(Permission),
    /// Nothing is held back that a person could agree to.
    NothingHeldBack,
    /// The agent that this handle was made for is gone; another one may have its name.
    Gone(AgentId),
    /// An agent wanted to pass on, or to run a command with, what it holds for one use.
    HeldOnce {
        /// Who.
        agent: AgentId,
        /// What.
        permission: Permission,
    },
    /// The agent comes from a file; the file is where to take it away.
    InFile(AgentId),
    /// An agent wanted to create an agent of a kind that only the host program or a file can add.
    NoChildKind {
        /// The one that would be.
        agent: AgentId,
        /// What it would be.
        kind: Kind,
    },
    /// The name is kept for the agents that scheduled tasks have of their own.
    NameOfTask(AgentId),
    /// An agent and those it created created too many.
    TooManyChildren {
        /// Who wanted one more.
        agent: AgentId,
        /// The limit.
        max: u32,
    },
    /// A person agreed to another change of the file than the one that waits.
    OtherChange {
        /// The one that waits.
        waiting: u64,
    },
    /// The right comes from a file; the file is where to take it away.
    FromFile(GrantId, Place),
    /// Nobody may have this, except by a file that names exactly this path.
    Protected(Permission),
    /// Nobody may have this: what it lets an agent write holds the file that says what agents may do.
    Governs(Permission),
    /// A right for the directory is there, but not one that names the sensitive part of the path.
    Sensitive {
        /// What.
        permission: Permission,
        /// What a right would have to name, or something below it.
        part: SanitizedPath,
    },
    /// A revocation by somebody who neither gave nor holds the grant.
    NotYourGrant(GrantId),
    /// An agent wanted to give something to itself.
    SelfGrant(AgentId),
    /// An answer for longer than was asked.
    ScopeTooWide {
        /// What was asked.
        asked: Scope,
        /// What was answered.
        answered: Scope,
    },
    /// A moment in the past.
    ScopePast(Scope),
    /// The right was passed on too often already.
    TooDeep {
        /// What.
        permission: Permission,
        /// The limit.
        max: u8,
    },
    /// This agent asked people too often within a minute.
    TooManyAsked {
        /// Who.
        agent: AgentId,
        /// The limit.
        max: u32,
    },
    /// People said no to this agent or its relatives lately, and it asked again so often that it has to wait.
    AskedAfterNo {
        /// Who.
        agent: AgentId,
        /// How many noes in a row there were.
        noes: u32,
        /// Until when it has to wait.
        until: Timestamp,
    },
    /// This agent and its relatives changed too much within a minute.
    TooManyChanges {
        /// Who.
        agent: AgentId,
        /// The limit.
        max: u32,
    },
    /// Too many requests of this agent wait.
    TooManyPending {
        /// Whose.
        agent: AgentId,
        /// The limit.
        max: u32,
    },
    /// No such process, or none that whoever named it may touch.
    UnknownProcess(ProcessId),
    /// The process has ended.
    ProcessEnded(ProcessId),
    /// Too many processes of this agent go on.
    TooManyProcesses {
        /// Whose.
        agent: AgentId,
        /// The limit.
        max: u32,
    },
    /// This agent holds too many grants.
    TooManyGrants {
        /// Who.
        agent: AgentId,
        /// The limit.
        max: u32,
    },
    /// No such agent.
    UnknownAgent(AgentId),
    /// No such grant, or no longer.
    UnknownGrant(GrantId),
    /// No such request.
    UnknownRequest(RequestId),
    /// No pending request has this short code.
    UnknownCode(Arc<str>),
    /// Two pending requests share this short code; the full id tells them apart.
    AmbiguousCode(Code),
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
                write!(f, "agent `{agent}` does not hold `{}` itself: ", Shown(&permission.to_string()))?;
                f.write_str("it can ask for it with `request_permission`")
            }
            Refusal::NotAllowed(decision) => {
                write!(
                    f,
                    "agent `{}` may not {}: {}",
                    decision.agent,
                    decision.action.typed(),
                    Shown(&decision.decision_reason)
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
                "the sandbox allows `{}`, which the action does not use: report one that allows no more than was decided",
                Shown(&permission.to_string())
            ),
            Refusal::InputClimbs { asked, answered } => write!(
                f,
                "`{}` cannot take the place of `{}`: it must be the same kind of action, no more harmful, need nothing \
                 more, and be nothing that is denied",
                Shown(answered),
                Shown(asked)
            ),
            Refusal::NotForGood(resource) => write!(
                f,
                "a yes to `{}` cannot be remembered for longer than `session`: answer `once` or `session`",
                Shown(resource)
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
                "the tool `{tool}` is declared already, by the policy file, the host program or the built-in table, and a \
                 person's declaration takes the place of none: leave it out"
            ),
            Refusal::TooManyDeclarations { tools, bytes } => write!(
                f,
                "people would declare more than {tools} tools or {bytes} bytes for the agents of one owner, which is the \
                 limit: declare fewer, or in the policy file"
            ),
            Refusal::InvalidGlob { glob, why } => {
                write!(f, "`{}` cannot be taken, and nothing was changed: {}", Shown(glob), Shown(&why.to_string()))
            }
            Refusal::SeveralBases(run) => write!(
                f,
                "the agents of run {run} work in different directories: say below which of them the globs count, or begin \
                 them with `/`"
            ),
            Refusal::TooManyPolicies { run, max } => write!(
                f,
                "run {run} would have more than {max} tools, or a guard more than {max} patterns or too large ones, which \
                 is the limit: use fewer"
            ),
            Refusal::NotAsked(permission) => {
                write!(f, "`{}` is not among what was asked", Shown(&permission.to_string()))
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
                Shown(&permission.to_string())
            ),
            Refusal::InFile(agent) => {
                write!(f, "agent `{agent}` stands in the policy file: take it away there, or it would come back")
            }
            Refusal::NoChildKind { agent, kind } => {
                write!(f, "agent `{agent}` would be `{kind}`: an agent can create only `subagent` and `permanent` ones")
            }
            Refusal::NameOfTask(agent) => write!(
                f,
                "`{agent}` is a name for the agent of a scheduled task: choose one that begins neither with `cron:` nor \
                 with `heartbeat:`"
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
                Shown(&permission.to_string())
            ),
            Refusal::Governs(permission) => write!(
                f,
                "`{}` holds agents.toml, and whoever may write that gives itself any right: name a smaller directory, or move \
                 the file out of there",
                Shown(&permission.to_string())
            ),
            Refusal::Sensitive { permission, part } => write!(
                f,
                "`{}` is sensitive: it takes `@write:{}` by name, which can be asked for with `request_permission`",
                Shown(&permission.to_string()),
                Shown(part.as_str())
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
                Shown(&permission.to_string())
            ),
            Refusal::TooManyAsked { agent, max } => {
                write!(
                    f,
                    "agent `{agent}`, with its relatives, asked {max} questions within a minute, which is the limit: wait a little"
                )
            }
            Refusal::AskedAfterNo { agent, noes, until } => write!(
                f,
                "people said no to agent `{agent}`, or its relatives, {noes} times in a row: it can ask again after {until}"
            ),
            Refusal::TooManyChanges { agent, max } => write!(
                f,
                "agent `{agent}`, with its relatives, caused {max} changes within a minute, which is the limit: wait a little"
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
            Refusal::UnknownCode(code) => write!(f, "no pending request has the code `{}`", Shown(code)),
            Refusal::AmbiguousCode(code) => write!(f, "two pending requests share the code {code}: use the full id"),
        }
    }
}

impl std::error::Error for Refusal {}

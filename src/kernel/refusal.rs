//! The reasons for which the kernel refuses a command. A refusal is a normal result, not a fault of the engine.

use std::{collections::BTreeSet, sync::Arc};

use thiserror::Error;

use crate::model::{
    AgentId, Code, Decision, Escaped, GrantId, InvalidGlob, KeyedWrite, Kind, OwnerId, Permission, Place, ProcessId,
    RequestId, Resolution, Ruled, RunId, SanitizedPath, SavedDecisionId, Scope, Timestamp, ToolName,
};

/// A reason for which a command was not carried out. The state did not change.
///
/// The enum is exhaustive on purpose. A new reason has to break the build of programs that explain reasons to people.
/// Each message names the object and, if possible, a remedy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(clippy::exhaustive_enums, reason = "see above")]
pub enum Refusal {
    /// An agent with this id already exists.
    #[error("agent `{0}` already exists: choose another id")]
    AgentExists(AgentId),
    /// A credential was not changed.
    #[error(transparent)]
    Credential(#[from] CredentialRefusal),
    /// The request was already answered or has ended otherwise.
    #[error("request {code} has already ended: {0}", code = .0.request.code())]
    AlreadyResolved(Arc<Resolution>),
    /// A person acted on an agent of another owner, or agents of different owners were involved.
    #[error("agent `{agent}` does not belong to owner `{owner}`: no permission and no request crosses owners")]
    OtherOwner {
        /// The agent that was addressed.
        agent: AgentId,
        /// The owner that the agent does not belong to.
        owner: OwnerId,
    },
    /// The agent is not a foreground agent, so it has no connected user.
    #[error("agent `{0}` is not a foreground agent and has no connector")]
    NotForeground(AgentId),
    /// The request belongs to another agent. Only the asker may cancel it.
    #[error("request {} belongs to another agent: only that agent may cancel it", .0.code())]
    NotYours(RequestId),
    /// The agent does not hold the permission that it wanted to pass on or use.
    #[error(
        "agent `{agent}` does not hold the permission `{}`: request it with `request_permission`",
        tag(.permission)
    )]
    NotHeld {
        /// The agent.
        agent: AgentId,
        /// The permission.
        permission: Permission,
    },
    /// The action is denied, or it needs an approval.
    #[error("{}", not_allowed(.0))]
    NotAllowed(Arc<Decision>),
    /// The sandbox of the host program allows more than the decision did.
    #[error(
        "the sandbox allows `{}`, but the decision does not: report a sandbox that allows no more than the decision",
        tag(.0)
    )]
    WiderThanDecided(Permission),
    /// A person replaced the requested action by a more harmful one.
    #[error(
        "the action `{}` cannot replace `{}`: choose an action of the same kind that is not more harmful, needs no \
         more permissions and is not denied",
        Escaped(.answered),
        Escaped(.asked)
    )]
    InputClimbs {
        /// The requested action.
        asked: Arc<str>,
        /// The action in the answer.
        answered: Arc<str>,
    },
    /// The answer about this action cannot be saved for its scope.
    #[error("an approval of `{}` cannot last longer than the session: answer `once` or `session`", Escaped(.0))]
    NotForGood(Arc<str>),
    /// The approver did not see the complete action, so an approval is valid only once.
    #[error(
        "the question did not show the complete action, so an approval for `{answered}` is not possible: answer \
         `once`"
    )]
    NotShownWhole {
        /// The scope of the answer.
        answered: Scope,
    },
    /// The saved decision does not exist, or no longer.
    #[error("saved decision {0} does not exist or has ended")]
    UnknownRuling(SavedDecisionId),
    /// The write with this key was carried out before, or its key was used for another write.
    #[error(
        "a write with this key was carried out at {}: ask for its outcome, or use a new key for a new write", .0.at
    )]
    WrittenBefore(Arc<KeyedWrite>),
    /// The owner has no agent in this run, or no longer.
    #[error("run {0} does not exist or has ended")]
    UnknownRun(RunId),
    /// Other agents are in the run, and the agent did not ask to join it.
    #[error(
        "run {0} has other agents, and its approvals and policies would apply to this agent: join it with \
         `join_run`"
    )]
    RunGoesOn(RunId),
    /// The run has no such tool: it was neither declared nor used.
    #[error(
        "run {run} has no tool `{tool}`, only {} and the declared ones: declare it, as in `[[tools]]` of the policy \
         file, or correct the name",
        names(.known)
    )]
    UnknownTool {
        /// The tool that was named.
        tool: ToolName,
        /// The run.
        run: RunId,
        /// The tools of the run.
        known: BTreeSet<ToolName>,
    },
    /// A person declared a tool that the policy file, the host program or the built-in table already declares.
    #[error(
        "tool `{0}` is already declared by the policy file, the host program or the built-in table: a person cannot \
         replace that declaration, so leave the tool out"
    )]
    ToolIsDeclared(ToolName),
    /// The declarations of people for the agents of one owner exceed the limit.
    #[error(
        "the declarations of people for one owner exceed the limit of {tools} tools or {bytes} bytes: declare fewer \
         tools, or declare them in the policy file"
    )]
    TooManyDeclarations {
        /// The maximum number of tools.
        tools: usize,
        /// The maximum total size of all declarations in bytes.
        bytes: usize,
    },
    /// A glob in a change is invalid. The whole change was rejected.
    #[error("the glob `{}` is invalid, and nothing was changed: {}", Escaped(.glob), Escaped(&.why.to_string()))]
    InvalidGlob {
        /// The glob.
        glob: Arc<str>,
        /// The reason.
        why: InvalidGlob,
    },
    /// The agents of the run have different working directories, so the base of a relative glob is ambiguous.
    #[error(
        "the agents of run {0} have different working directories: state the base directory of the globs, or begin \
         each glob with `/`"
    )]
    SeveralBases(RunId),
    /// The run would have too many tools, or a tool policy would have too many or too large globs and patterns.
    #[error(
        "run {run} exceeds the limit of {max} tools, or a guard exceeds the limit for the number or size of its \
         patterns: use fewer or smaller ones"
    )]
    TooManyPolicies {
        /// The run.
        run: RunId,
        /// The limit.
        max: u32,
    },
    /// The answer names a permission that was not requested.
    #[error("the request does not contain the permission `{}`", tag(.0))]
    NotAsked(Permission),
    /// There is no policy change that waits for approval.
    #[error("no change of the policy file waits for an approval")]
    NothingHeldBack,
    /// The agent that this handle was made for is retired. Another agent may have its id.
    #[error("agent `{0}` of this handle was removed: get a handle of the current agent with this id")]
    Gone(AgentId),
    /// The agent holds the permission for one use only. Such a permission cannot be passed on, and no command can run
    /// with it.
    #[error(
        "agent `{agent}` holds `{}` for one use only and cannot pass it on: request it with a longer scope than \
         `once`",
        tag(.permission)
    )]
    HeldOnce {
        /// The agent.
        agent: AgentId,
        /// The permission.
        permission: Permission,
    },
    /// The agent is defined in the policy file and has to be removed there.
    #[error("agent `{0}` is defined in the policy file: remove it there, because the file would add it again")]
    InFile(AgentId),
    /// An agent wanted to create an agent of a kind that only the host program or the policy file can add.
    #[error(
        "agent `{agent}` would have the kind `{kind}`: an agent can create only agents of the kinds `subagent` and \
         `permanent`"
    )]
    NoChildKind {
        /// The agent to be created.
        agent: AgentId,
        /// Its kind.
        kind: Kind,
    },
    /// The id is reserved for the agents of scheduled tasks.
    #[error(
        "the id `{0}` is reserved for the agent of a scheduled task: choose an id that does not begin with `cron:` \
         or `heartbeat:`"
    )]
    NameOfTask(AgentId),
    /// An agent wanted to create an agent with an id that belongs below another agent.
    #[error("the id `{agent}` is not below the id of its creator: name it as in `{creator}:helper`")]
    NameOfOther {
        /// The id.
        agent: AgentId,
        /// The agent that wanted to create it.
        creator: AgentId,
    },
    /// The agent and its relatives have created too many agents.
    #[error("agent `{agent}` and its relatives have created {max} agents, which is the limit: retire some of them")]
    TooManyChildren {
        /// The agent that wanted to create another one.
        agent: AgentId,
        /// The limit.
        max: u32,
    },
    /// A person approved a policy change other than the waiting one.
    #[error(
        "change {waiting} of the policy file waits for an approval, not the change that was named: read and approve \
         change {waiting}"
    )]
    OtherChange {
        /// The number of the waiting change.
        waiting: u64,
    },
    /// The permission is defined in the policy file and has to be removed there.
    #[error("grant {0} is defined in {1}: remove it there")]
    FromFile(GrantId, Place),
    /// The path is protected. Only a line of the policy file that names exactly this path gives access.
    #[error(
        "the path of `{}` is protected: only a line of agents.toml that names exactly this path gives access",
        tag(.0)
    )]
    Protected(Permission),
    /// The permission would allow writes to the policy file itself.
    #[error(
        "`{}` covers agents.toml, and an agent that can write agents.toml could give itself any permission: name a \
         smaller directory, or move the file to another directory",
        tag(.0)
    )]
    Governs(Permission),
    /// A permission covers the directory, but no permission names the sensitive part of the path.
    #[error(
        "the path of `{}` is sensitive and requires the permission `@write:{}`: request it with \
         `request_permission`",
        tag(.permission),
        Escaped(.part.as_str())
    )]
    Sensitive {
        /// The permission.
        permission: Permission,
        /// The path that a permission has to name, or a path below it.
        part: SanitizedPath,
    },
    /// The agent neither gave nor holds the grant that it wanted to revoke.
    #[error("only the giver of grant {0}, its holder or a person of its owner can revoke it")]
    NotYourGrant(GrantId),
    /// A revocation cannot be undone.
    #[error("the revocation cannot be undone, because {0}: give the permissions again instead")]
    RevocationStands(Arc<str>),
    /// An agent wanted to grant something to itself.
    #[error("agent `{0}` cannot grant a permission to itself")]
    SelfGrant(AgentId),
    /// The scope of the answer is wider than the requested scope.
    #[error(
        "the scope `{answered}` of the answer is wider than the requested scope `{asked}`: answer with the requested \
         scope or a narrower one"
    )]
    ScopeTooWide {
        /// The requested scope.
        asked: Scope,
        /// The scope of the answer.
        answered: Scope,
    },
    /// The scope ends in the past.
    #[error("the scope `{0}` has already ended")]
    ScopePast(Scope),
    /// The permission was already passed on the maximum number of times.
    #[error(
        "the permission `{}` was already passed on {max} times, which is the limit: request it from a person",
        tag(.permission)
    )]
    TooDeep {
        /// The permission.
        permission: Permission,
        /// The limit.
        max: u8,
    },
    /// The agent and its relatives asked too many questions within a minute.
    #[error(
        "agent `{agent}` and its relatives asked {max} questions within a minute, which is the limit: wait and try \
         again"
    )]
    TooManyAsked {
        /// The agent.
        agent: AgentId,
        /// The limit.
        max: u32,
    },
    /// People recently denied requests of this agent or its relatives. They asked again too often and have to wait.
    #[error(
        "people denied {noes} requests of agent `{agent}` or its relatives in a row: it can ask again after {until}, \
         or a person gives it the permission without a request, in the policy file"
    )]
    AskedAfterNo {
        /// The agent.
        agent: AgentId,
        /// The number of denials in a row.
        noes: u32,
        /// The end of the waiting time.
        until: Timestamp,
    },
    /// The agent and its relatives caused too many changes within a minute.
    #[error(
        "agent `{agent}` and its relatives caused {max} changes within a minute, which is the limit: wait and try \
         again"
    )]
    TooManyChanges {
        /// The agent.
        agent: AgentId,
        /// The limit.
        max: u32,
    },
    /// Too many requests of this agent are pending.
    #[error("agent `{agent}` has {max} pending requests, which is the limit: wait for an answer, or cancel a request")]
    TooManyPending {
        /// The agent.
        agent: AgentId,
        /// The limit.
        max: u32,
    },
    /// The process does not exist, or the caller may not touch it.
    #[error("process {0} does not exist, or the caller may not access it")]
    UnknownProcess(ProcessId),
    /// The process has ended.
    #[error("process {0} has ended: start it again")]
    ProcessEnded(ProcessId),
    /// Too many processes of this agent are running.
    #[error("agent `{agent}` has {max} running processes, which is the limit: stop one of them")]
    TooManyProcesses {
        /// The agent.
        agent: AgentId,
        /// The limit.
        max: u32,
    },
    /// The agent holds too many grants.
    #[error("agent `{agent}` holds {max} grants, which is the limit for one giver: revoke some of them")]
    TooManyGrants {
        /// The agent.
        agent: AgentId,
        /// The limit.
        max: u32,
    },
    /// The agent does not exist.
    #[error("agent `{0}` is not registered")]
    UnknownAgent(AgentId),
    /// The grant does not exist, or no longer.
    #[error("grant {0} does not exist or has ended")]
    UnknownGrant(GrantId),
    /// The request does not exist.
    #[error("request {0} does not exist")]
    UnknownRequest(RequestId),
    /// The short code matches none of the pending requests.
    #[error("no pending request has the code `{}`", Escaped(.0))]
    UnknownCode(Arc<str>),
    /// Two pending requests share this short code. The full id is unambiguous.
    #[error("two pending requests have the code {0}: use the full id")]
    AmbiguousCode(Code),
    /// A process was to start again, and it goes on: somebody else has started it in the meantime.
    #[error("process {0} is already running: stop it before you start it again")]
    ProcessGoesOn(ProcessId),
    /// A lasting approval of a destructive action. Each use of it needs an approval of its own.
    #[error("the action `{}` is destructive and every use needs its own approval: answer `once`", Escaped(.0))]
    OnlyOnce(Arc<str>),
}

/// Returns the text form of a permission, with control characters escaped.
fn tag(permission: &Permission) -> String {
    Escaped(&permission.to_string()).to_string()
}

/// Returns the quoted names of the tools, separated by commas.
fn names(tools: &BTreeSet<ToolName>) -> String {
    tools.iter().map(|tool| format!("`{tool}`")).collect::<Vec<_>>().join(", ")
}

/// Returns the sentence about an action that is not allowed, with the rules that apply and the next step.
fn not_allowed(decision: &Decision) -> String {
    let next = match decision.decision {
        Ruled::Ask => "; ask a person with `authorize`",
        Ruled::Sandboxed => "; the action may happen only inside a sandbox",
        Ruled::Deny | Ruled::Unavailable | Ruled::Allow => "",
    };
    let rules: String = decision.rule_refs.iter().map(|rule| format!("; {rule}")).collect();
    let reason = Escaped(&decision.decision_reason);
    format!("agent `{}` may not {}: {reason}{rules}{next}", decision.agent, decision.action.typed())
}

/// The reason for which a credential was not changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CredentialRefusal {
    /// Another credential has this id.
    #[error("there is a credential {0} already")]
    Exists(Arc<str>),
    /// There is no such credential.
    #[error("there is no credential {}: `bestow token list` shows all of them", Escaped(.0))]
    Unknown(Arc<str>),
    /// The credential is revoked already.
    #[error("the credential {0} is revoked: create a new one")]
    Revoked(Arc<str>),
    /// The id has the wrong form.
    #[error("the id of a credential has 12 digits from 0-9 and a-f")]
    Id,
    /// The remark is not one line of text.
    #[error("the name of a credential is one line of 1 to {max} characters")]
    Name {
        /// The most characters of the remark.
        max: usize,
    },
    /// There are too many credentials.
    #[error("there are {max} credentials, which is the limit: revoke those that are not in use")]
    TooMany {
        /// The limit.
        max: usize,
    },
    /// The agent is not registered, so its owner is unknown.
    #[error("the agent `{0}` is not known yet: name its owner with `--owner`, or the policy file with `--config`")]
    NoOwner(AgentId),
}

//! Saved decisions: stored answers of people about actions.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    ActionFacts, AgentId, ApproverId, CommandFingerprint, CommandShape, Digest, Escaped, Means, Operation, OwnerId,
    PinnedPermission, Reason, RequestId, RunId, SanitizedPath, SavedDecisionId, Scope, Timestamp, ToolName, ToolPath,
    UseFacts, UseOrigin, Verdict, list_permissions,
};

/// A person's approval or denial of an action: for one use, for a run, or permanently (`sources/001`, "Decision
/// semantics"; `sources/003`, "approve always").
///
/// A saved decision answers a request about an action. A one-time approval may give permissions. Only the approved
/// action can use them. Saved decisions are listed and revoked like grants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SavedDecision {
    /// The id of the saved decision.
    pub id: SavedDecisionId,
    /// The agent whose actions it applies to. A denial for a run applies to every agent in the run.
    pub agent: AgentId,
    /// The owner of this agent.
    pub owner: OwnerId,
    /// The verdict: approval or denial.
    pub verdict: Verdict,
    /// The actions it applies to.
    pub about: Subject,
    /// The tool of the action.
    pub tool: ToolName,
    /// The kind of the action.
    pub operation: Operation,
    /// The path, command or host, for people.
    pub resource: Arc<str>,
    /// The scope.
    pub scope: Scope,
    /// The run that it ends with, if its scope is a session or one use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The time at which it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// True if it is valid in spite of an existing denial for the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overrides: bool,
    /// The person who decided.
    pub by: ApproverId,
    /// The channel of the person.
    pub means: Means,
    /// The answered request, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestId>,
    /// The hooks that asked for a person at that time. If another hook asks, the person is asked again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<Arc<str>>,
    /// A further subject of a denial of a command shape: every command line with this fingerprint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doing: Option<CommandFingerprint>,
    /// The further uses of the action that the prompt showed. A lasting approval covers these uses and no others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<UseFacts>,
    /// The permissions that come with a one-time approval. They are valid for exactly this action and nothing else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gives: Vec<PinnedPermission>,
    /// True if it gives permissions and contains no verdict about the action. The person was asked only for the
    /// permissions. All other rules and decisions about the action stay in force.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_gives: bool,
    /// The reason, if the person gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The start of validity.
    pub since: Timestamp,
}

/// The set of actions that a saved decision applies to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a new way to mean an action must be compared")]
pub enum Subject {
    /// Exactly this input, once. Only such an approval allows a destructive action.
    Input(Digest),
    /// Uses of this tool for this operation on this resource.
    Access(Digest),
    /// Every command of this shape.
    Shape(CommandShape),
    /// Every command line with this fingerprint, however it is written. Only a denial has this subject.
    Doing(CommandFingerprint),
}

impl SavedDecision {
    /// Returns true if the decision is still valid at `now`. At the exact end time it is no longer valid.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| now < until)
    }

    /// Returns true if the subject of the decision is this action.
    pub(crate) fn is_about(&self, action: &ActionFacts) -> bool {
        match &self.about {
            Subject::Input(input) => *input == *action.input,
            Subject::Access(access) => *access == *action.access,
            Subject::Shape(shape) => {
                self.tool == action.tool && action.shape.as_ref().is_some_and(|other| shape.covers(other))
            }
            Subject::Doing(doing) => {
                let does = action.doing.as_ref().is_some_and(|other| doing.is_in(other));
                self.tool == action.tool && self.operation == action.operation && does
            }
        }
    }

    /// Returns true if the decision answers a request about `action`: as an approval of exactly this action, or as a
    /// denial of anything that it uses.
    pub(crate) fn answers(&self, action: &ActionFacts) -> bool {
        match self.verdict {
            Verdict::Allow | Verdict::Ask => self.is_about(action) && action.uses.iter().all(|used| self.showed(used)),
            Verdict::Deny => self.is_about(action) || self.is_no_to(action),
        }
    }

    /// Returns true if this denial applies to `action` with any tool, as far as the facts of the action show.
    fn is_no_to(&self, action: &ActionFacts) -> bool {
        let is_like = || {
            let Subject::Shape(shape) = &self.about else { return false };
            self.operation == action.operation && action.shape.as_ref().is_some_and(|other| shape.covers(other))
        };
        let does = || self.refused_doing().zip(action.doing.as_ref()).is_some_and(|(doing, other)| doing.is_in(other));
        let uses = || action.uses.iter().any(|used| self.refuses(used.operation, &used.resource));
        is_like() || does() || self.refuses(action.operation, &action.resource) || uses()
    }

    /// Returns the fingerprint that this denial applies to, if there is one.
    pub(crate) fn refused_doing(&self) -> Option<&CommandFingerprint> {
        match &self.about {
            Subject::Doing(doing) => Some(doing),
            Subject::Shape(_) | Subject::Input(_) | Subject::Access(_) => self.doing.as_ref(),
        }
    }

    /// Returns true if this denial of an object also denies this operation on `resource`. The resource is then the
    /// denied object, or lies inside of it.
    pub(crate) fn refuses(&self, operation: Operation, resource: &str) -> bool {
        let is_of_object = matches!(self.about, Subject::Input(_) | Subject::Access(_));
        is_of_object && self.operation == operation && (*self.resource == *resource || self.holds(resource))
    }

    fn holds(&self, resource: &str) -> bool {
        match self.operation {
            Operation::Read | Operation::Write | Operation::Exec => {
                let path = resource.parse::<SanitizedPath>();
                self.path().zip(path.ok()).is_some_and(|(refused, path)| refused.contains(&path))
            }
            // A denial of the network denies every host.
            Operation::Network => &*self.resource == "@network",
            Operation::Tool => self.resource.parse::<ToolPath>().is_ok_and(|name| name.contains_text(resource)),
            Operation::Command | Operation::Events => false,
        }
    }

    /// Returns the path that the decision is about, if it is about one.
    pub(crate) fn path(&self) -> Option<SanitizedPath> {
        let is_of_path = matches!(self.operation, Operation::Read | Operation::Write | Operation::Exec);
        self.resource.parse().ok().filter(|_| is_of_path)
    }

    /// Returns true if the prompt showed this use. A command shape also covers a path that its command line names
    /// inside of the directory in which the command runs.
    pub(crate) fn showed(&self, used: &UseFacts) -> bool {
        let is_left_open = |shape: &CommandShape| {
            let (cwd, path) = (shape.cwd.as_ref(), used.resource.parse::<SanitizedPath>());
            used.origin == UseOrigin::Named && cwd.zip(path.ok()).is_some_and(|(cwd, path)| cwd.contains(&path))
        };
        match &self.about {
            Subject::Input(_) => true,
            Subject::Shape(shape) if is_left_open(shape) => true,
            Subject::Shape(_) | Subject::Access(_) | Subject::Doing(_) => self.listed(used),
        }
    }

    /// Returns true if the prompt listed exactly this use.
    pub(crate) fn listed(&self, used: &UseFacts) -> bool {
        self.uses
            .iter()
            .any(|shown| (shown.operation, &shown.resource, shown.tree) == (used.operation, &used.resource, used.tree))
    }

    /// Returns the name of the decision among the policies of its tool, as in `session-allow-write--work-index-html`.
    pub fn policy_name(&self) -> String {
        let word = match self.operation {
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Exec | Operation::Command => "command",
            Operation::Network => "network",
            Operation::Events => "events",
            Operation::Tool => "tool",
        };
        let flat = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let flat: String = self.resource.chars().map(flat).take(200).collect();
        let scope = match self.scope {
            Scope::Always => "always",
            Scope::Once => "once",
            Scope::Session | Scope::Until(_) => "session",
        };
        format!("{scope}-{}-{word}-{flat}", self.verdict)
    }
}

impl fmt::Display for SavedDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.verdict == Verdict::Allow { "allowed" } else { "denied" };
        write!(f, "{} {} ({}) {verb} {} ", self.id, self.by, Escaped(&self.means), self.agent)?;
        match &self.about {
            Subject::Shape(shape) => {
                write!(f, "every `{}`", Escaped(&shape.shown))?;
                shape.cwd.as_ref().map_or(Ok(()), |cwd| write!(f, " in `{}`", Escaped(cwd.as_str())))?;
            }
            Subject::Input(_) | Subject::Access(_) | Subject::Doing(_) => {
                write!(f, "{} `{}`", self.operation, Escaped(&self.resource))?
            }
        }
        write!(f, " with the tool {}, {}", self.tool, self.scope)?;
        if !self.gives.is_empty() {
            f.write_str(", with ")?;
            list_permissions(f, self.gives.iter().map(|pinned| &pinned.permission))?;
        }
        self.reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {reason}"))
    }
}

//! What a person said about an action, where it is remembered.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    ActionFacts, AgentId, ApproverId, CommandShape, Digest, Doing, Means, Operation, OwnerId, Reason, RequestId, Right,
    RulingId, RunId, Scope, Shown, Timestamp, ToolName, UseFacts, Verdict, permission::list,
};

/// A person's yes or no about an action: for one use, for a run, or for good (`sources/000`, "Decision semantics";
/// `sources/003`, "approve always").
///
/// It answers a question about an action. What of rights a yes for one use gives, that action uses and no other. Listed, and
/// taken away like a grant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ruling {
    /// Its name.
    pub id: RulingId,
    /// Whose actions it is about. A no for a run binds every agent in it.
    pub agent: AgentId,
    /// Whose agent that is.
    pub owner: OwnerId,
    /// Yes or no.
    pub verdict: Verdict,
    /// What it is about.
    pub about: Subject,
    /// By which tool.
    pub tool: ToolName,
    /// What kind of thing it is.
    pub operation: Operation,
    /// The path, command or host, for people.
    pub resource: Arc<str>,
    /// For how long.
    pub scope: Scope,
    /// The run it ends with, if its scope is a session; for one use too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// Until when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Whether it was said although a no for the run stands, and counts all the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overrides: bool,
    /// Who said so.
    pub by: ApproverId,
    /// Through what.
    pub means: Means,
    /// The request answered, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestId>,
    /// The hooks that wanted a person to say when this was said: what others want is another question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<Arc<str>>,
    /// What else the action uses, as the question showed it: a yes answers what is asked about these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<UseFacts>,
    /// The rights that come with a yes for this once: to exactly this action, and to nothing else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gives: Vec<Right>,
    /// Whether it gives rights and says nothing besides: only those were asked for, and whatever else speaks about the
    /// action goes on speaking.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_gives: bool,
    /// Why, if they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Since when.
    pub since: Timestamp,
}

/// What a ruling is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a new way to mean an action must be compared")]
pub enum Subject {
    /// Exactly this input, once. Only this enables something destructive.
    Input(Digest),
    /// This tool doing this operation on this resource.
    Access(Digest),
    /// Every command of this shape.
    Shape(CommandShape),
    /// This tool running a line that does this, however it is written. Only a no is about that.
    Doing(Doing),
}

impl Ruling {
    /// Whether it still counts at `now`. A moment that has come is past.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| now < until)
    }

    /// Whether it is about just this action.
    pub(crate) fn is_about(&self, action: &ActionFacts) -> bool {
        match &self.about {
            Subject::Input(input) => *input == action.input,
            Subject::Access(access) => *access == action.access,
            Subject::Shape(shape) => {
                self.tool == action.tool && action.shape.as_ref().is_some_and(|other| other.is(shape))
            }
            Subject::Doing(doing) => {
                let does = action.doing.as_ref().is_some_and(|other| doing.is_in(other));
                self.tool == action.tool && self.operation == action.operation && does
            }
        }
    }

    /// Its name among the policies of its tool's guard, as in `session-allow-write--work-index-html`.
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

impl fmt::Display for Ruling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.verdict == Verdict::Allow { "allowed" } else { "denied" };
        write!(f, "{} {} ({}) {verb} {} ", self.id, self.by, Shown(&self.means), self.agent)?;
        match &self.about {
            Subject::Shape(shape) => {
                write!(f, "every `{}`", Shown(&shape.shown))?;
                shape.cwd.as_ref().map_or(Ok(()), |cwd| write!(f, " in `{}`", Shown(cwd.as_str())))?;
            }
            Subject::Input(_) | Subject::Access(_) | Subject::Doing(_) => {
                write!(f, "{} `{}`", self.operation, Shown(&self.resource))?
            }
        }
        write!(f, " by {}, {}", self.tool, self.scope)?;
        if !self.gives.is_empty() {
            f.write_str(", with ")?;
            list(f, self.gives.iter().map(|right| &right.permission))?;
        }
        self.reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {reason}"))
    }
}

//! What a person said about an action, where it is remembered.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    ActionFacts, AgentId, ApproverId, CommandShape, Digest, Doing, Means, Operation, OwnerId, Reason, RequestId, Right,
    RulingId, RunId, SanitizedPath, Scope, Shown, Timestamp, ToolName, ToolPath, UseFacts, UseOrigin, Verdict,
    permission::list,
};

/// A person's yes or no about an action: for one use, for a run, or for good (`sources/001`, "Decision semantics";
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
    /// What a no to a command of a shape is about besides: every line that does what was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doing: Option<Doing>,
    /// What else the action uses, as the question showed it: a yes that lasts is for these and no others.
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
    /// Running a line that does this, however it is written. Only a no is about that.
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

    /// Returns true if a question about `action` is answered by this: a yes to just that, or a no to anything that it uses.
    pub(crate) fn answers(&self, action: &ActionFacts) -> bool {
        match self.verdict {
            Verdict::Allow | Verdict::Ask => self.is_about(action) && action.uses.iter().all(|used| self.showed(used)),
            Verdict::Deny => self.is_about(action) || self.is_no_to(action),
        }
    }

    /// Returns true if this no is one to `action` by any tool, as far as its facts tell.
    fn is_no_to(&self, action: &ActionFacts) -> bool {
        let is_like = || {
            let Subject::Shape(shape) = &self.about else { return false };
            self.operation == action.operation && action.shape.as_ref().is_some_and(|other| other.is(shape))
        };
        let does = || self.refused_doing().zip(action.doing.as_ref()).is_some_and(|(doing, other)| doing.is_in(other));
        let uses = || action.uses.iter().any(|used| self.refuses(used.operation, &used.resource));
        is_like() || does() || self.refuses(action.operation, &action.resource) || uses()
    }

    /// What a line does that this no is about, if it is about that.
    pub(crate) fn refused_doing(&self) -> Option<&Doing> {
        match &self.about {
            Subject::Doing(doing) => Some(doing),
            Subject::Shape(_) | Subject::Input(_) | Subject::Access(_) => self.doing.as_ref(),
        }
    }

    /// Returns true if this no to an object is one to using `resource` so: it is the same, or lies in it.
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
            // Whoever may reach nothing may reach no host.
            Operation::Network => &*self.resource == "@network",
            Operation::Tool => self.resource.parse::<ToolPath>().is_ok_and(|name| name.contains_text(resource)),
            Operation::Command | Operation::Events => false,
        }
    }

    /// The path that it is about, if it is about one.
    pub(crate) fn path(&self) -> Option<SanitizedPath> {
        let is_of_path = matches!(self.operation, Operation::Read | Operation::Write | Operation::Exec);
        self.resource.parse().ok().filter(|_| is_of_path)
    }

    /// Returns true if the question showed this use, or another one that the words of its shape leave open: a path in the
    /// directory in which the command runs.
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

    /// Returns true if the question showed this very use.
    pub(crate) fn listed(&self, used: &UseFacts) -> bool {
        self.uses
            .iter()
            .any(|shown| (shown.operation, &shown.resource, shown.tree) == (used.operation, &used.resource, used.tree))
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

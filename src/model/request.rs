//! A question, its answer, and how it ended.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    Action, ActionFacts, AgentId, ApproverId, Code, Details, InvalidText, Kind, Means, Mode, Name, OrText, OwnerId,
    Permission, Permissions, Reason, RequestId, Right, RunId, Scope, Shown, Timestamp, permission::list, text::Quoted,
};

/// A request that an agent is about to make: `request_permission {permission(s), reason, scope?}`.
///
/// ```
/// use bestow::{Ask, Permission, Scope};
///
/// let ask = Ask::new(Permission::Network, "to read the latest docs").at_most(Scope::Once);
/// assert_eq!(ask, Ask::new("@network", "to read the latest docs").at_most(Scope::Once));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ask {
    pub(crate) permissions: Result<Permissions, InvalidText>,
    pub(crate) reason: Result<Reason, InvalidText>,
    /// The widest scope it wants; none leaves it to the person.
    pub scope: Option<Scope>,
}

impl Ask {
    /// Asks for `permissions`, and leaves the scope to the person. Both may be texts; [`Agent::request`] reports an
    /// invalid one.
    ///
    /// [`Agent::request`]: crate::Agent::request
    pub fn new(permissions: impl OrText<Permissions>, reason: impl OrText<Reason>) -> Ask {
        Ask { permissions: permissions.value(), reason: reason.value(), scope: None }
    }

    /// The same, for no longer than `scope`.
    #[must_use]
    pub fn at_most(self, scope: Scope) -> Ask {
        Ask { scope: Some(scope), ..self }
    }
}

/// Where a pending request waits for its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a new place to wait must be left again")]
pub enum Route {
    /// A foreground agent's connector shows it.
    Carrier(AgentId),
    /// No foreground agent is there; some approver surface of the owner is.
    Approvers,
    /// Nobody is there; the first to come gets it.
    Queue,
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Route::Carrier(agent) => write!(f, "through {agent}"),
            Route::Approvers => f.write_str("to whoever approves for its owner"),
            Route::Queue => f.write_str("to the queue: nobody is there"),
        }
    }
}

/// A question that waits for an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Request {
    /// Its name; the short code for people is [`RequestId::code`].
    pub id: RequestId,
    /// Who asks.
    pub from: AgentId,
    /// What people call the asker.
    pub name: Option<Name>,
    /// What kind of agent asks.
    pub kind: Kind,
    /// Whose agent it is; only an approver of this owner can answer.
    pub owner: OwnerId,
    /// What is missing, and therefore asked. Paths are where they really lead.
    pub asked: Vec<Right>,
    /// What was named too, but held already or refused a moment ago.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settled: Vec<(Permission, Reply)>,
    /// What is about to happen, if the question is about an action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Arc<ActionFacts>>,
    /// Whether the action is asked about only because of the rights that it lacks. Who gives them for longer than once gives
    /// them to all that the asker does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_lacks: bool,
    /// The content that is about to be written or sent, also where only a right is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
    /// The hooks of the host program that want a person to say, or have failed to say something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<Arc<str>>,
    /// Whether one of them has failed. Then a yes is one for this once, whatever else it is for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hook_failed: bool,
    /// What they say about it, each as a person should read it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks_say: Vec<Arc<str>>,
    /// Why.
    pub reason: Reason,
    /// The widest scope wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// The asker's run when it asked.
    pub run: RunId,
    /// Since when it waits.
    pub since: Timestamp,
    /// When it expires.
    pub deadline: Timestamp,
}

impl Request {
    /// The short form of its id, for people.
    pub fn code(&self) -> Code {
        self.id.code()
    }

    /// Whether a person has to say something about the action itself, besides giving what it lacks.
    pub fn asks_about_action(&self) -> bool {
        self.action.is_some() && !self.only_lacks
    }

    /// Whether there is anything for a person to answer.
    pub fn is_open(&self) -> bool {
        !self.asked.is_empty() || self.action.is_some()
    }

    /// Whether only a yes for this once can be said to it: not all of what it is about is shown.
    pub fn is_once_only(&self) -> bool {
        let is_content_cut = self.details.as_ref().is_some_and(|details| details.left_out > 0);
        is_content_cut || self.action.as_ref().is_some_and(|action| action.cut)
    }

    /// What is asked, as permissions: what lets most happen comes first.
    pub fn widest_first(&self) -> Vec<&Permission> {
        let mut all: Vec<_> = self.permissions().collect();
        all.sort_by_key(|permission| permission.breadth());
        all
    }

    /// What is asked, as permissions.
    pub fn permissions(&self) -> impl Iterator<Item = &Permission> {
        self.asked.iter().map(|right| &right.permission)
    }
}

/// The question as a person should read it, on one line. Everything foreign in it is quoted and escaped, so that it ends
/// where its quotation ends; permissions stand with the widest first, all of them.
impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{name} ({}, {}) asks for ", self.from, self.kind)?,
            None => write!(f, "{} ({}) asks for ", self.from, self.kind)?,
        }
        if !self.is_open() {
            f.write_str("nothing new: ")?;
            list(f, self.settled.iter().map(|(permission, _)| permission))?;
        }
        if let Some(action) = &self.action {
            write!(f, "leave to {action}{}", if self.asked.is_empty() { "" } else { ", and for " })?;
        }
        for (place, permission) in self.widest_first().into_iter().enumerate() {
            write!(f, "{}{}", if place > 0 { ", " } else { "" }, permission.describe())?;
        }
        if let Some(scope) = self.scope {
            write!(f, " ({scope})")?;
        }
        if self.is_once_only() {
            f.write_str("; not all of it is shown, so a yes is for this once")?;
        }
        if let Some(details) = &self.details {
            write!(f, "; the content: {details}")?;
        }
        match self.reason == Reason::not_said() {
            true => f.write_str("; the agent gives no reason")?,
            false => write!(f, "; the agent's words: {}", Quoted(self.reason.as_str()))?,
        }
        // Quoted already, where something in it is foreign.
        self.hooks_say.iter().try_for_each(|said| write!(f, "; {said}"))
    }
}

/// What a person says to one thing asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "yes and no")]
pub enum Reply {
    /// Yes.
    Allow,
    /// No.
    Deny,
}

/// What a person says to a request. Whatever is not allowed is denied.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub(crate) allowed: Allowed,
    pub(crate) scope: Option<Scope>,
    pub(crate) feedback: Option<Reason>,
    pub(crate) modified: Option<Box<Action>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Allowed {
    All,
    Nothing,
    Only(Permissions),
}

impl Answer {
    /// Yes to everything asked.
    pub fn allow() -> Answer {
        Answer { allowed: Allowed::All, scope: None, feedback: None, modified: None }
    }

    /// Yes to `permissions`, which were asked, and no to the rest.
    pub fn allow_only(permissions: impl Into<Permissions>) -> Answer {
        Answer { allowed: Allowed::Only(permissions.into()), scope: None, feedback: None, modified: None }
    }

    /// No.
    pub fn deny() -> Answer {
        Answer { allowed: Allowed::Nothing, scope: None, feedback: None, modified: None }
    }

    /// For this scope, which must not be wider than what was asked. Without it: the scope asked; where none was, this once for an
    /// action, with the rights that it lacks, and the session for what an agent asks to hold.
    #[must_use]
    pub fn scope(self, scope: Scope) -> Answer {
        Answer { scope: Some(scope), ..self }
    }

    /// Yes to this action instead of the one asked about. It must be of the same tool and no more harmful.
    #[must_use]
    pub fn instead(self, action: Action) -> Answer {
        Answer { modified: Some(Box::new(action)), ..self }
    }

    /// With a word to the agent.
    #[must_use]
    pub fn feedback(self, feedback: Reason) -> Answer {
        Answer { feedback: Some(feedback), ..self }
    }
}

/// How a request ended. Five different things.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "an agent must be able to tell all of them apart")]
pub enum Outcome {
    /// Everything asked is held now.
    Granted,
    /// Somebody said no, to all or to part; [`Resolution::granted`] says what was given all the same.
    Denied,
    /// Nobody answered in time.
    Expired,
    /// The asker took it back, or is gone, or the engine ended and nothing of the question is left.
    Cancelled,
    /// Nobody is there who could answer, or not here any more: see [`Decider::NextEngine`].
    Unavailable,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Outcome::Granted => "granted",
            Outcome::Denied => "denied",
            Outcome::Expired => "expired",
            Outcome::Cancelled => "cancelled",
            Outcome::Unavailable => "unavailable",
        })
    }
}

/// Who or what ended a request, and through what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "each resolution names who decided")]
pub enum Decider {
    /// Everything was held already.
    AlreadyHeld,
    /// The asker took it back.
    Asker,
    /// The engine ended.
    EngineGone,
    /// The engine ended. The question is stored and goes on waiting: whoever takes its ticket again from the next engine
    /// hears how it ends. Told by tickets alone, and no record says it.
    NextEngine,
    /// The same was refused a moment ago.
    FreshRefusal,
    /// Nobody could answer, and the settings say not to wait.
    NobodyThere,
    /// In this mode nobody is asked.
    Mode {
        /// Which.
        mode: Mode,
        /// Whose: the asker's own, or that of an agent above it.
        of: AgentId,
    },
    /// A person.
    Person {
        /// Who.
        by: ApproverId,
        /// Through what.
        means: Means,
    },
    /// A person changed the policies of the asker's run, and those say it now.
    Policies {
        /// Who.
        by: ApproverId,
        /// Through what.
        means: Means,
    },
    /// The asker began another run.
    RunOver,
    /// The asker is no longer an agent of this engine.
    Retired,
    /// Its time was over.
    Timeout,
}

impl fmt::Display for Decider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Decider::AlreadyHeld => f.write_str("held already"),
            Decider::Asker => f.write_str("the asker took it back"),
            Decider::EngineGone => f.write_str("the engine ended"),
            Decider::NextEngine => f.write_str("the engine ended; the question is stored and waits for the next one"),
            Decider::FreshRefusal => f.write_str("refused a moment ago"),
            Decider::NobodyThere => f.write_str("nobody is there to ask"),
            Decider::Mode { mode, of } => write!(f, "in mode {mode}, the mode of {of}, nothing is asked"),
            Decider::Person { by, means } => write!(f, "{by}, {}", Shown(means)),
            Decider::Policies { by, means } => write!(f, "policies changed by {by}, {}", Shown(means)),
            Decider::RunOver => f.write_str("the asker began another run"),
            Decider::Retired => f.write_str("the asker is gone"),
            Decider::Timeout => f.write_str("nobody answered in time"),
        }
    }
}

/// How a request ended, with the facts (`sources/004`, permissionDescribeDecision).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Resolution {
    /// The request.
    pub request: RequestId,
    /// Who asked.
    pub from: AgentId,
    /// Whose agent that is.
    pub owner: OwnerId,
    /// How it ended.
    pub outcome: Outcome,
    /// What the asker holds of what it named.
    pub granted: Vec<Permission>,
    /// What it does not.
    pub refused: Vec<Permission>,
    /// For how long, where something was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Who or what decided.
    pub decider: Decider,
    /// A word from the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<Reason>,
    /// What was about to happen, if the question was about an action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Arc<ActionFacts>>,
    /// What may happen instead of what was asked about, if the person changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<Arc<ActionFacts>>,
    /// When.
    pub at: Timestamp,
}

impl fmt::Display for Resolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.outcome)?;
        if let Some(action) = self.updated_input.as_ref().or(self.action.as_ref()) {
            write!(f, "to {action}")?;
            if !self.granted.is_empty() || !self.refused.is_empty() {
                f.write_str(", with ")?;
            }
        }
        match self.outcome {
            Outcome::Granted => list(f, &self.granted)?,
            Outcome::Denied | Outcome::Expired | Outcome::Cancelled | Outcome::Unavailable => list(f, &self.refused)?,
        }
        if self.outcome != Outcome::Granted && !self.granted.is_empty() {
            f.write_str(", but granted ")?;
            list(f, &self.granted)?;
        }
        if let Some(scope) = self.scope {
            write!(f, " ({scope})")?;
        }
        write!(f, ", {}", self.decider)?;
        match &self.feedback {
            Some(feedback) => write!(f, ": {feedback}"),
            None => Ok(()),
        }
    }
}

/// A request and where it waits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pending {
    /// The question.
    pub request: Arc<Request>,
    /// Where it waits.
    pub route: Route,
}

//! Requests to people, their answers, and their resolutions.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    Action, ActionFacts, AgentId, ApproverId, Code, CommandShape, Details, Escaped, InvalidText, Kind, Means, Mode,
    Name, Operation, OrText, OwnerId, Permission, Permissions, PinnedPermission, Quoted, Reason, RequestId, RunId,
    Scope, Ticked, Timestamp, list_permissions,
};

/// A request that an agent is about to make: `request_permission {permission(s), reason, scope?}`.
///
/// ```
/// use bestow::{Permission, PermissionRequest, grant::Scope};
///
/// let ask = PermissionRequest::new(Permission::Network, "to read the latest docs").at_most(Scope::Once);
/// assert_eq!(ask, PermissionRequest::new("@network", "to read the latest docs").at_most(Scope::Once));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PermissionRequest {
    pub(crate) permissions: Result<Permissions, InvalidText>,
    pub(crate) reason: Result<Reason, InvalidText>,
    /// The widest requested scope. None leaves the scope to the person.
    pub scope: Option<Scope>,
}

impl PermissionRequest {
    /// Creates a request for `permissions` that leaves the scope to the person. Both arguments may be texts.
    /// [`Agent::request`] reports an invalid text.
    ///
    /// [`Agent::request`]: crate::Agent::request
    pub fn new(permissions: impl OrText<Permissions>, reason: impl OrText<Reason>) -> PermissionRequest {
        PermissionRequest { permissions: permissions.value(), reason: reason.value(), scope: None }
    }

    /// Sets the widest requested scope.
    #[must_use]
    pub fn at_most(self, scope: Scope) -> PermissionRequest {
        PermissionRequest { scope: Some(scope), ..self }
    }
}

/// The place where a pending request waits for its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a new place to wait must be left again")]
pub enum Route {
    /// The connector of this foreground agent shows the request.
    Carrier(AgentId),
    /// An approver of the owner is connected, and no foreground agent.
    Approvers,
    /// The request waits in the queue for the first approver that connects.
    Queue,
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Route::Carrier(agent) => write!(f, "through {agent}"),
            Route::Approvers => f.write_str("to the approvers of its owner"),
            Route::Queue => f.write_str("to the queue, because no person was connected"),
        }
    }
}

/// A pending question to a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Request {
    /// The id. Its short code for people is [`RequestId::code`].
    pub id: RequestId,
    /// The agent that asks.
    pub from: AgentId,
    /// The agent's name for people.
    pub name: Option<Name>,
    /// The kind of the agent.
    pub kind: Kind,
    /// The owner of the agent. Only an approver of this owner can answer.
    pub owner: OwnerId,
    /// The missing permissions, which are requested. Their paths are canonical.
    pub asked: Vec<PinnedPermission>,
    /// The other named permissions, which are already held or were recently denied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settled: Vec<(Permission, Reply)>,
    /// The action, if the request is about an action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Arc<ActionFacts>>,
    /// True if the request is about the action only because of its missing permissions. A person who gives them for
    /// longer than once gives them for all actions of the agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_lacks: bool,
    /// The content that the action writes or sends. It is set even if only a permission is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
    /// The reason why a person must decide about the action: the rule, the missing permission or the tier
    /// ([`Decision::full_reason`](super::Decision::full_reason)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Arc<str>>,
    /// The hooks of the host program that asked for a person, or failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<Arc<str>>,
    /// True if one of these hooks failed. An approval is then valid once, for any requested scope.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hook_failed: bool,
    /// The statements of these hooks, formatted for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks_say: Vec<Arc<str>>,
    /// The reason.
    pub reason: Reason,
    /// The widest requested scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// The agent's run at the time of the request.
    pub run: RunId,
    /// The time of the request.
    pub since: Timestamp,
    /// The time at which the request expires.
    pub deadline: Timestamp,
}

impl Request {
    /// Returns the short code of the request, for people.
    pub fn code(&self) -> Code {
        self.id.code()
    }

    /// Returns true if a person must decide about the action itself, and not only about its missing permissions.
    pub fn asks_about_action(&self) -> bool {
        self.action.is_some() && !self.only_lacks
    }

    /// Returns true if there is anything for a person to decide.
    pub fn is_open(&self) -> bool {
        !self.asked.is_empty() || self.action.is_some()
    }

    /// Returns true if an approval may have this scope.
    pub fn accepts_scope(&self, scope: Scope) -> bool {
        let is_asked = self.asked.is_empty() || self.scope.is_none_or(|asked| scope.fits_within(asked));
        let decided = self.action.as_ref().filter(|_| self.asks_about_action());
        let can_last = !self.is_once_only() && decided.is_none_or(|action| action.approval_can_last(scope));
        scope == Scope::Once || is_asked && can_last
    }

    /// Returns the scope of an approval that names none: the requested one. If none was requested, an action and its
    /// missing permissions are approved once, and other permissions for the session.
    pub fn scope_if_none_is_named(&self) -> Scope {
        self.scope.unwrap_or(if self.action.is_some() { Scope::Once } else { Scope::Session })
    }

    /// Returns what an approval with the scope `always` allows. None if no such approval is possible.
    pub fn lasting(&self) -> Option<Lasting<'_>> {
        if !self.accepts_scope(Scope::Always) {
            return None;
        }
        let action = self.action.as_deref().filter(|_| self.asks_about_action());
        Some(Lasting { action, shape: self.lasting_shape(), permissions: self.widest_first() })
    }

    /// Returns the shape of the commands that an approval with the scope `always` allows, if the request is about one.
    pub fn lasting_shape(&self) -> Option<&CommandShape> {
        let action = self.action.as_ref().filter(|action| self.asks_about_action() && action.runs());
        action.filter(|_| self.accepts_scope(Scope::Always)).and_then(|action| action.shape.as_ref())
    }

    /// Returns true if only a one-time approval is possible, because a part of the request is not shown.
    pub fn is_once_only(&self) -> bool {
        let is_content_cut = self.details.as_ref().is_some_and(|details| details.left_out > 0);
        is_content_cut || self.action.as_ref().is_some_and(|action| action.cut)
    }

    /// Returns the requested permissions, the most powerful first.
    pub fn widest_first(&self) -> Vec<&Permission> {
        let mut all: Vec<_> = self.permissions().collect();
        all.sort_by_key(|permission| permission.breadth());
        all
    }

    /// Iterates over the requested permissions.
    pub fn permissions(&self) -> impl Iterator<Item = &Permission> {
        self.asked.iter().map(|pinned| &pinned.permission)
    }
}

/// The consequences of an approval with the scope `always`, as they are shown before the approval and saved after it.
#[derive(Clone, Debug)]
pub struct Lasting<'r> {
    action: Option<&'r ActionFacts>,
    shape: Option<&'r CommandShape>,
    permissions: Vec<&'r Permission>,
}

/// Formats it as a sentence for people: `` `always` allows every `npm test` in `/w` ``.
impl fmt::Display for Lasting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`always` ")?;
        let and = match (self.action, self.shape) {
            (None, _) => "",
            (Some(_), Some(shape)) => {
                write!(f, "allows every {}", shape.phrase())?;
                ", and "
            }
            (Some(action), None) => {
                let content = if action.operation == Operation::Write { ", with any content" } else { "" };
                write!(f, "allows the agent to {} again{content}", action.phrase())?;
                ", and "
            }
        };
        if self.permissions.is_empty() {
            return Ok(());
        }
        write!(f, "{and}gives ")?;
        for (place, permission) in self.permissions.iter().enumerate() {
            write!(f, "{}{}", if place == 0 { "" } else { ", " }, Ticked(&permission.to_string()))?;
        }
        f.write_str(" for everything that the agent does")
    }
}

/// Formats the request for people, on one line. Foreign text is quoted and escaped, so it cannot extend beyond its
/// quotation. All permissions are listed, the widest first.
impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{name} ({}, {}) asks ", self.from, self.kind)?,
            None => write!(f, "{} ({}) asks ", self.from, self.kind)?,
        }
        if !self.is_open() {
            f.write_str("for nothing new: ")?;
            list_permissions(f, self.settled.iter().map(|(permission, _)| permission))?;
        }
        if let Some(action) = &self.action {
            write!(f, "to {action}")?;
        }
        let before = if self.action.is_some() { ", and for " } else { "for " };
        for (place, permission) in self.widest_first().into_iter().enumerate() {
            write!(f, "{}{}", if place > 0 { ", " } else { before }, permission.describe())?;
        }
        if let Some(scope) = self.scope {
            write!(f, " ({scope})")?;
        }
        if self.is_once_only() {
            f.write_str("; the question does not show everything, so an approval is valid only once")?;
        }
        if let Some(details) = &self.details {
            write!(f, "; the content: {details}")?;
        }
        match self.reason == Reason::not_said() {
            true => f.write_str("; the agent gives no reason")?,
            false => write!(f, "; the agent's reason: {}", Quoted(self.reason.as_str()))?,
        }
        // Foreign text in these statements is already quoted.
        self.hooks_say.iter().try_for_each(|said| write!(f, "; {said}"))
    }
}

/// The reply of a person to one requested permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "yes and no")]
pub enum Reply {
    /// Approval.
    Allow,
    /// Denial.
    Deny,
}

/// The answer of a person to a request. Everything that the answer does not allow is denied.
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
    /// Allows everything that was requested.
    pub fn allow() -> Answer {
        Answer { allowed: Allowed::All, scope: None, feedback: None, modified: None }
    }

    /// Allows the requested `permissions`, and denies the rest.
    pub fn allow_only(permissions: impl Into<Permissions>) -> Answer {
        Answer { allowed: Allowed::Only(permissions.into()), scope: None, feedback: None, modified: None }
    }

    /// Denies the request.
    pub fn deny() -> Answer {
        Answer { allowed: Allowed::Nothing, scope: None, feedback: None, modified: None }
    }

    /// Sets the scope. It must not be wider than the requested scope. Without it, the requested scope applies. If none
    /// was requested, an action and its missing permissions are approved once, and other permissions for the session.
    #[must_use]
    pub fn scope(self, scope: Scope) -> Answer {
        Answer { scope: Some(scope), ..self }
    }

    /// Allows this action instead of the requested one. It must use the same tool and must not be more harmful.
    #[must_use]
    pub fn instead(self, action: Action) -> Answer {
        Answer { modified: Some(Box::new(action)), ..self }
    }

    /// Adds a message to the agent.
    #[must_use]
    pub fn feedback(self, feedback: Reason) -> Answer {
        Answer { feedback: Some(feedback), ..self }
    }
}

/// The outcome of a request, as one of five values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "an agent must be able to tell all of them apart")]
pub enum Outcome {
    /// The agent now holds everything that was requested.
    Granted,
    /// A person denied all or a part of it. [`Resolution::granted`] lists the permissions that were given all the same.
    Denied,
    /// The request expired without an answer.
    Expired,
    /// The agent withdrew the request or was removed, or the engine ended and did not store the request.
    Cancelled,
    /// The request cannot be answered: no approver is connected, or the engine ended. See [`Decider::NextEngine`].
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

/// The cause of a resolution, with its channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "each resolution names who decided")]
pub enum Decider {
    /// The agent already held everything.
    AlreadyHeld,
    /// The agent withdrew the request.
    Asker,
    /// The engine ended.
    EngineGone,
    /// The engine ended. The request is stored and stays pending. A caller who takes its ticket again from the next
    /// engine gets the resolution. Only tickets report this value. No record contains it.
    NextEngine,
    /// An equal request was recently denied.
    FreshRefusal,
    /// The settings forbid waiting, and no approver was connected.
    NobodyThere,
    /// In this mode, the engine never asks a person.
    Mode {
        /// The mode.
        mode: Mode,
        /// The agent with this mode: the asking agent, or an ancestor of it.
        of: AgentId,
    },
    /// A person.
    Person {
        /// The person.
        by: ApproverId,
        /// The channel of the person.
        means: Means,
    },
    /// A person changed the policies of the agent's run. The new policies decide the request.
    Policies {
        /// The person.
        by: ApproverId,
        /// The channel of the person.
        means: Means,
    },
    /// The agent began another run.
    RunOver,
    /// The agent was removed from this engine.
    Retired,
    /// The request expired.
    Timeout,
}

impl fmt::Display for Decider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Decider::AlreadyHeld => f.write_str("the agent already held it"),
            Decider::Asker => f.write_str("the agent withdrew it"),
            Decider::EngineGone => f.write_str("the engine ended"),
            Decider::NextEngine => f.write_str("the engine ended; the request is stored and waits for the next engine"),
            Decider::FreshRefusal => f.write_str("an equal request was recently denied"),
            Decider::NobodyThere => f.write_str("no person can answer"),
            Decider::Mode { mode, of } => write!(f, "mode {mode} of {of} forbids questions"),
            Decider::Person { by, means } => write!(f, "by {by} ({})", Escaped(means)),
            Decider::Policies { by, means } => write!(f, "policies changed by {by} ({})", Escaped(means)),
            Decider::RunOver => f.write_str("the agent began another run"),
            Decider::Retired => f.write_str("the agent was removed"),
            Decider::Timeout => f.write_str("no person answered in time"),
        }
    }
}

/// The resolution of a request, with its facts (`sources/004`, permissionDescribeDecision).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Resolution {
    /// The request.
    pub request: RequestId,
    /// The agent that asked.
    pub from: AgentId,
    /// The owner of this agent.
    pub owner: OwnerId,
    /// The outcome.
    pub outcome: Outcome,
    /// The named permissions that the agent holds now.
    pub granted: Vec<Permission>,
    /// The named permissions that the agent does not hold.
    pub refused: Vec<Permission>,
    /// The scope of the given permissions, if any were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// The cause of the resolution.
    pub decider: Decider,
    /// A message from the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<Reason>,
    /// The action, if the request was about an action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Arc<ActionFacts>>,
    /// The action that may happen instead, if the person changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<Arc<ActionFacts>>,
    /// The time of the resolution.
    pub at: Timestamp,
}

impl fmt::Display for Resolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.outcome)?;
        if let Some(action) = self.updated_input.as_ref().or(self.action.as_ref()) {
            write!(f, ": {action}")?;
            if !self.granted.is_empty() || !self.refused.is_empty() {
                f.write_str(", with ")?;
            }
        } else {
            f.write_str(" ")?;
        }
        match self.outcome {
            Outcome::Granted => list_permissions(f, &self.granted)?,
            Outcome::Denied | Outcome::Expired | Outcome::Cancelled | Outcome::Unavailable => {
                list_permissions(f, &self.refused)?
            }
        }
        if self.outcome != Outcome::Granted && !self.granted.is_empty() {
            f.write_str(", but granted ")?;
            list_permissions(f, &self.granted)?;
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

/// A request and the place where it waits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pending {
    /// The request.
    pub request: Arc<Request>,
    /// The place where it waits.
    pub route: Route,
}

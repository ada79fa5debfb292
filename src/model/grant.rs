//! Grants: the holder, the permission, the origin, the reason, the scope and the validity period.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    AgentId, Anchor, ApproverId, Escaped, FileIdentity, GrantId, Permission, Reason, RequestId, RunId, SanitizedPath,
    Timestamp, serde_text::shown_as_text,
};

/// A permission bound to the object at its path at the time of the grant.
///
/// The path is canonical: links are followed. If another object is at the path later, the permission covers nothing.
/// The code that opens a file compares the identity (`sources/004`, "Threats mitigated"; weakness W-1 of its engine).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PinnedPermission {
    /// The permission.
    pub permission: Permission,
    /// The object at the path, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<FileIdentity>,
    /// The deepest existing directory above the path, if no object was at the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<Anchor>,
}

impl PinnedPermission {
    /// Creates a permission to the object at its path.
    pub fn to(permission: Permission, identity: Option<FileIdentity>) -> PinnedPermission {
        PinnedPermission { permission, identity, anchor: None }
    }

    /// Sets the deepest existing directory above a path that has no object.
    #[must_use]
    pub fn anchored(self, anchor: Option<Anchor>) -> PinnedPermission {
        PinnedPermission { anchor, ..self }
    }

    /// Returns true if the permission has a path, but neither an object nor an existing directory above it was
    /// recorded.
    pub(crate) fn is_unplaced(&self) -> bool {
        self.permission.path().is_some() && self.pinned_object().is_none()
    }

    /// Returns the path and the identity that must still match for the permission to be valid.
    pub(crate) fn pinned_object(&self) -> Option<(&SanitizedPath, FileIdentity)> {
        let own = || Some((self.permission.path()?, self.identity?));
        own().or_else(|| self.anchor.as_ref().map(|anchor| (&anchor.path, anchor.identity)))
    }
}

impl From<Permission> for PinnedPermission {
    fn from(permission: Permission) -> PinnedPermission {
        PinnedPermission::to(permission, None)
    }
}

/// The lifetime of a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a new scope must be met wherever one ends")]
pub enum Scope {
    /// One use.
    Once,
    /// The holder's current run.
    Session,
    /// Until the given time.
    Until(Timestamp),
    /// Until somebody revokes it.
    Always,
}

impl Scope {
    /// Returns true if this scope is no wider than `asked`. A session may outlast a time and a time may outlast a
    /// session, so neither fits within the other.
    pub fn fits_within(self, asked: Scope) -> bool {
        match (self, asked) {
            (_, Scope::Always) | (Scope::Once, _) | (Scope::Session, Scope::Session) => true,
            (Scope::Until(end), Scope::Until(limit)) => end <= limit,
            (Scope::Session | Scope::Until(_) | Scope::Always, _) => false,
        }
    }
}

shown_as_text!(Scope);

/// The error for a text that is no scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a scope is `once`, `session`, `always` or `until <moment>`, as in `until 2026-11-22T09:30:00Z`")]
pub struct InvalidScope;

impl FromStr for Scope {
    type Err = InvalidScope;

    fn from_str(text: &str) -> Result<Self, InvalidScope> {
        match text {
            "once" => Ok(Scope::Once),
            "session" => Ok(Scope::Session),
            "always" => Ok(Scope::Always),
            timed => {
                let moment = timed.strip_prefix("until ").ok_or(InvalidScope)?;
                moment.parse().map(Scope::Until).map_err(|_| InvalidScope)
            }
        }
    }
}

impl TryFrom<String> for Scope {
    type Error = InvalidScope;

    fn try_from(text: String) -> Result<Self, InvalidScope> {
        text.parse()
    }
}

impl From<Scope> for String {
    fn from(scope: Scope) -> String {
        scope.to_string()
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scope::Once => f.write_str("once"),
            Scope::Session => f.write_str("session"),
            Scope::Until(moment) => write!(f, "until {moment}"),
            Scope::Always => f.write_str("always"),
        }
    }
}

/// The ways in which the holder may use a permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a third way to hold must be met wherever a permission is used")]
pub enum Hold {
    /// Using the permission, and passing it on.
    Use,
    /// Passing the permission on and nothing else (`grant_only`). This is for orchestrators that should not act
    /// themselves.
    PassOn,
}

/// A place in a file that a person edits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::exhaustive_structs, reason = "a file and a line is what a place is")]
pub struct Place {
    /// The file.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", Escaped(&self.file), self.line)
    }
}

/// The channel through which a person answered: `terminal`, `dashboard`, `websocket`, …
pub type Means = Arc<str>;

/// The origin of a grant. Every origin but [`Origin::Agent`] is a root: a person is responsible for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a new source of authority must be met wherever authority is traced")]
pub enum Origin {
    /// Another agent, which held the permission and passed it on.
    Agent {
        /// The agent that passed it on.
        from: AgentId,
    },
    /// A line of a file that a person edits.
    Config(Place),
    /// The program that embeds the engine.
    Operator,
    /// A person's answer, or a grant that a person issued directly.
    Person {
        /// The person.
        by: ApproverId,
        /// The channel of the person.
        means: Means,
        /// The answered request, if there was one.
        request: Option<RequestId>,
    },
}

/// One stored grant of a permission to an agent.
///
/// ```
/// # use bestow::{Agent, Error};
/// fn show(agent: &Agent) -> Result<(), Error> {
///     for grant in agent.grants()? {
///         println!("{} of {}: {} ({})", grant.id, grant.to, grant.pinned.permission, grant.scope);
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Grant {
    /// The id of the grant.
    pub id: GrantId,
    /// The agent that holds the grant.
    pub to: AgentId,
    /// The permission, with the object at its path.
    #[serde(rename = "right")]
    pub pinned: PinnedPermission,
    /// The allowed use: using and passing on, or only passing on.
    pub hold: Hold,
    /// The origin.
    pub origin: Origin,
    /// The reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The scope.
    pub scope: Scope,
    /// The run that the grant ends with, if its scope is a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The start of validity.
    pub since: Timestamp,
    /// The end of validity. It is never later than the end of the grant that this one depends on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// The number of agents between this grant and its root.
    pub depth: u8,
}

impl Grant {
    /// Returns true if the grant is still valid at `now`. At the exact end time it is no longer valid.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} holds {}", self.id, self.to, self.pinned.permission.describe())?;
        if self.hold == Hold::PassOn {
            f.write_str(" for passing on only")?;
        }
        match &self.origin {
            Origin::Agent { from } => write!(f, ", given by {from}")?,
            Origin::Config(place) => write!(f, ", from {place}")?,
            Origin::Operator => f.write_str(", given by the host program")?,
            Origin::Person { by, means, .. } => write!(f, ", approved by {by} ({})", Escaped(means))?,
        }
        match self.scope {
            // An unlimited grant ends with the grant it depends on, so "always" is printed only for a person's
            // permanent approval.
            Scope::Always if matches!(self.origin, Origin::Person { .. }) => f.write_str(", always")?,
            Scope::Always => {}
            scope @ (Scope::Once | Scope::Session | Scope::Until(_)) => write!(f, ", {scope}")?,
        }
        self.reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {reason}"))
    }
}

/// The reason why a grant ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a new end must be explained to people")]
pub enum Ended {
    /// Somebody revoked it.
    Revoked {
        /// The actor that revoked it.
        by: Actor,
        /// The reason, if the actor gave one.
        reason: Option<Reason>,
    },
    /// The grant or setting that it depended on is gone.
    SupportLost {
        /// The grant whose end caused this end. None if the grant depended on a setting.
        with: Option<GrantId>,
    },
    /// The file no longer contains it.
    Config,
    /// The validity period is over.
    Expired,
    /// The run that it was limited to is over.
    RunEnded(RunId),
    /// The engine ended and continues from its store. It was limited to a run.
    EngineEnded,
    /// The agent that held it was removed.
    HolderRetired,
}

/// The author of an act: revoking a grant, or an attempt that the engine refuses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "every kind of actor needs a decision")]
pub enum Actor {
    /// An agent.
    Agent(AgentId),
    /// The program that embeds the engine.
    Operator,
    /// A person.
    Person {
        /// The person.
        by: ApproverId,
        /// The channel of the person.
        means: Means,
    },
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Actor::Agent(agent) => write!(f, "{agent}"),
            Actor::Operator => f.write_str("the host program"),
            Actor::Person { by, means } => write!(f, "{by} ({})", Escaped(means)),
        }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Revoked { by, reason: None } => write!(f, "revoked by {by}"),
            Ended::Revoked { by, reason: Some(reason) } => write!(f, "revoked by {by}: {reason}"),
            Ended::SupportLost { with: Some(grant) } => write!(f, "it depended on {grant}, which ended"),
            Ended::SupportLost { with: None } => f.write_str("the setting that it depended on was removed"),
            Ended::Config => f.write_str("the policy file no longer contains it"),
            Ended::Expired => f.write_str("it expired"),
            Ended::RunEnded(run) => write!(f, "its run {run} ended"),
            Ended::EngineEnded => f.write_str("it was for a session, and the engine ended"),
            Ended::HolderRetired => f.write_str("its holder was removed"),
        }
    }
}

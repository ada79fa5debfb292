//! A grant: who holds what, from whom, why, under which scope, since when, until when.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    AgentId, Anchor, ApproverId, FileIdentity, GrantId, Permission, Reason, RequestId, RunId, SanitizedPath, Shown,
    Timestamp,
};

/// A permission bound to the object that its path led to when it was given.
///
/// The path is the real one (links followed). If something else stands there later, the right covers nothing:
/// whoever opens a file compares the identity (`sources/004`, "Threats mitigated"; weakness W-1 of its engine).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Right {
    /// What may be done.
    pub permission: Permission,
    /// The object at the path, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<FileIdentity>,
    /// The deepest directory on the way to the path, if nothing was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<Anchor>,
}

impl Right {
    /// A right to what stands at its path.
    pub fn to(permission: Permission, identity: Option<FileIdentity>) -> Right {
        Right { permission, identity, anchor: None }
    }

    /// Notes the deepest directory on the way to a path at which nothing stands.
    #[must_use]
    pub fn anchored(self, anchor: Option<Anchor>) -> Right {
        Right { anchor, ..self }
    }

    /// Returns true if nothing stands at its path, and nobody noted on which directory it hangs.
    pub(crate) fn is_unplaced(&self) -> bool {
        self.permission.path().is_some() && self.pinned().is_none()
    }

    /// The object that must stand where it stood for the right to count, and its place.
    pub(crate) fn pinned(&self) -> Option<(&SanitizedPath, FileIdentity)> {
        let own = || Some((self.permission.path()?, self.identity?));
        own().or_else(|| self.anchor.as_ref().map(|anchor| (&anchor.path, anchor.identity)))
    }
}

impl From<Permission> for Right {
    fn from(permission: Permission) -> Right {
        Right::to(permission, None)
    }
}

/// How long a grant lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[allow(clippy::exhaustive_enums, reason = "a new scope must be met wherever one ends")]
pub enum Scope {
    /// One use.
    Once,
    /// The holder's current run.
    Session,
    /// Up to a moment.
    Until(Timestamp),
    /// Until somebody takes it away.
    Always,
}

impl Scope {
    /// Whether this is no wider than `asked`. A session may last longer than a moment and a moment longer than
    /// a session, so neither fits within the other.
    pub fn fits_within(self, asked: Scope) -> bool {
        match (self, asked) {
            (_, Scope::Always) | (Scope::Once, _) | (Scope::Session, Scope::Session) => true,
            (Scope::Until(end), Scope::Until(limit)) => end <= limit,
            (Scope::Session | Scope::Until(_) | Scope::Always, _) => false,
        }
    }
}

/// A text is not a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidScope;

impl fmt::Display for InvalidScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a scope is `once`, `session`, `always` or `until <moment>`, as in `until 2026-11-22T09:30:00Z`")
    }
}

impl std::error::Error for InvalidScope {}

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

/// What the holder may do with a right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a third way to hold must be met wherever a right is used")]
pub enum Hold {
    /// Use it, and pass it on.
    Use,
    /// Pass it on and nothing else (`grant_only`): for orchestrators that should not act themselves.
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
        write!(f, "{}:{}", Shown(&self.file), self.line)
    }
}

/// Through what somebody answered: `terminal`, `dashboard`, `websocket`, …
pub type Means = Arc<str>;

/// Where a grant comes from. All but [`Origin::Agent`] are roots: a person stands behind them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a new source of authority must be met wherever authority is traced")]
pub enum Origin {
    /// Another agent, which held it and passed it on.
    Agent {
        /// The giver.
        from: AgentId,
    },
    /// A line of a file that a person edits.
    Config(Place),
    /// The program that embeds the engine.
    Operator,
    /// A person's answer, or a person's own act.
    Person {
        /// Who.
        by: ApproverId,
        /// Through what.
        means: Means,
        /// The request answered, if it was one.
        request: Option<RequestId>,
    },
}

/// One durable record of authority.
///
/// ```
/// # use bestow::{Agent, Error};
/// fn show(agent: &Agent) -> Result<(), Error> {
///     for grant in agent.grants()? {
///         println!("{} of {}: {} ({})", grant.id, grant.to, grant.right.permission, grant.scope);
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Grant {
    /// Its name.
    pub id: GrantId,
    /// Who holds it.
    pub to: AgentId,
    /// What is held.
    pub right: Right,
    /// For using, or only for passing on.
    pub hold: Hold,
    /// From whom.
    pub origin: Origin,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Under which scope it was given.
    pub scope: Scope,
    /// The run it ends with, if its scope is a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// Since when.
    pub since: Timestamp,
    /// Until when; no later than what it rests on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// How many agents stand between it and its root.
    pub depth: u8,
}

impl Grant {
    /// Whether it still counts at `now`. A moment that has come is past.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} holds {}", self.id, self.to, self.right.permission.describe())?;
        if self.hold == Hold::PassOn {
            f.write_str(" for passing on only")?;
        }
        match &self.origin {
            Origin::Agent { from } => write!(f, ", given by {from}")?,
            Origin::Config(place) => write!(f, ", from {place}")?,
            Origin::Operator => f.write_str(", given by the host program")?,
            Origin::Person { by, means, .. } => write!(f, ", allowed by {by} ({})", Shown(means))?,
        }
        match self.scope {
            // What nobody limited ends with what it rests on; what a person said for good says so.
            Scope::Always if matches!(self.origin, Origin::Person { .. }) => f.write_str(", always")?,
            Scope::Always => {}
            scope @ (Scope::Once | Scope::Session | Scope::Until(_)) => write!(f, ", {scope}")?,
        }
        self.reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {reason}"))
    }
}

/// Why a grant is no longer there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a new end must be explained to people")]
pub enum Ended {
    /// Somebody took it away.
    Revoked {
        /// Who.
        by: Actor,
        /// Why, if they said.
        reason: Option<Reason>,
    },
    /// What it rested on is gone.
    SupportLost {
        /// The grant whose end took it along; none if it rested on a setting.
        with: Option<GrantId>,
    },
    /// The file no longer says so.
    Config,
    /// Its time is over.
    Expired,
    /// The run it was for is over.
    RunEnded(RunId),
    /// Its holder is gone.
    HolderRetired,
}

/// Who does something: takes a grant away, or tries what is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "whoever may act must be decided on")]
pub enum Actor {
    /// An agent.
    Agent(AgentId),
    /// The program that embeds the engine.
    Operator,
    /// A person.
    Person {
        /// Who.
        by: ApproverId,
        /// Through what.
        means: Means,
    },
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Actor::Agent(agent) => write!(f, "{agent}"),
            Actor::Operator => f.write_str("the host program"),
            Actor::Person { by, means } => write!(f, "{by} ({})", Shown(means)),
        }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Revoked { by, reason: None } => write!(f, "revoked by {by}"),
            Ended::Revoked { by, reason: Some(reason) } => write!(f, "revoked by {by}: {reason}"),
            Ended::SupportLost { with: Some(grant) } => write!(f, "what it rested on, {grant}, is gone"),
            Ended::SupportLost { with: None } => f.write_str("the setting it rested on is gone"),
            Ended::Config => f.write_str("no longer in the file"),
            Ended::Expired => f.write_str("its time is over"),
            Ended::RunEnded(run) => write!(f, "its run {run} is over"),
            Ended::HolderRetired => f.write_str("its holder is gone"),
        }
    }
}

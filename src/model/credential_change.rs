//! The credentials by which clients of a server show who they are, and the changes of them that the engine takes.
//!
//! A credential counts if the engine recorded its creation, and only as recorded. Its secret is recorded as a hash.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{AgentId, ApproverId, Digest, Escaped, Means, OwnerId, Timestamp};

/// An order of a person or a server about one credential.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum CredentialOrder {
    /// Creates a credential.
    Create {
        /// The id, which no other credential has.
        credential: Arc<str>,
        /// The SHA-256 hash of the secret.
        secret: Digest,
        /// The holder. The owner of an agent may be missing if the agent is registered.
        holder: CredentialHolder,
        /// The remark of its creator, such as the name of a device.
        #[serde(default)]
        name: Option<Arc<str>>,
        /// The time from which it is refused. None if it does not expire.
        #[serde(default)]
        expires_at: Option<Timestamp>,
        /// True for a link: it authenticates nobody, and is exchanged once for a session.
        #[serde(default)]
        is_link: bool,
    },
    /// Gives a credential another secret.
    Rotate {
        /// The id.
        credential: Arc<str>,
        /// The SHA-256 hash of the new secret.
        secret: Digest,
        /// The owner of the agent, for a credential whose records do not name it and whose agent is not registered.
        #[serde(default)]
        owner: Option<OwnerId>,
        /// The time from which it is refused. Without one, it lasts as long again as it did before.
        #[serde(default)]
        expires_at: Option<Timestamp>,
    },
    /// Exchanges a link for a session: a credential with the same id and another secret.
    OpenSession {
        /// The id of the link.
        credential: Arc<str>,
        /// The SHA-256 hash of the secret of the session.
        secret: Digest,
        /// The end of the session.
        expires_at: Timestamp,
    },
    /// Revokes a credential.
    Revoke {
        /// The id.
        credential: Arc<str>,
    },
}

/// A credential as the engine recorded it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedCredential {
    /// The id.
    pub id: Arc<str>,
    /// The holder.
    pub holder: CredentialHolder,
    /// The remark of its creator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    /// The SHA-256 hash of its secret. None for a credential of an earlier version, which is refused until it is
    /// rotated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Digest>,
    /// The time of its creation, or of its last rotation.
    pub created_at: Timestamp,
    /// The time from which it is refused. None if it does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// True for a link: it authenticates nobody, and is exchanged once for a session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_link: bool,
    /// The number of its rotations.
    #[serde(default)]
    pub rotations: u32,
    /// The time of its revocation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
}

impl RecordedCredential {
    /// Returns true if the credential is neither revoked nor expired at `now`.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

/// A change of one credential, without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CredentialChange {
    /// The id of the credential, as other records name it.
    pub credential: Arc<str>,
    /// The change.
    pub change: CredentialEvent,
    /// The holder of the credential.
    pub holder: CredentialHolder,
    /// The remark of its creator, such as the name of a device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    /// The person who changed it. On the command line, the name is a claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<ApproverId>,
    /// The means by which it was changed.
    pub means: Means,
    /// The time of the change. None in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The SHA-256 hash of the secret that counts from now on. None for a revocation, and in records of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Digest>,
    /// The time from which the credential is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// True if the credential is a link.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_link: bool,
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CredentialEvent {
    /// It was created.
    Created,
    /// It has another secret from now on.
    Rotated,
    /// It was a link, and is a session from now on.
    SessionOpened,
    /// It is refused from now on.
    Revoked,
}

/// The holder of a credential: as whom it acts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "every role needs a decision")]
pub enum CredentialHolder {
    /// One agent of one owner. The credential ends with the agent.
    Agent {
        /// The agent.
        agent: AgentId,
        /// The owner of the agent. None in records of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        owner: Option<OwnerId>,
    },
    /// A person who decides for one owner.
    Approver {
        /// The owner.
        owner: OwnerId,
        /// The person, as records name them.
        person: ApproverId,
    },
    /// The host program, which acts for every owner.
    Operator,
}

impl fmt::Display for CredentialHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CredentialHolder::Agent { agent, .. } => write!(f, "the agent {agent}"),
            CredentialHolder::Approver { owner, person } => write!(f, "{person} for {owner}"),
            CredentialHolder::Operator => f.write_str("the host program"),
        }
    }
}

impl fmt::Display for CredentialChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let done = match self.change {
            CredentialEvent::Created => "was created",
            CredentialEvent::Rotated => "got a new secret",
            CredentialEvent::SessionOpened => "became a session",
            CredentialEvent::Revoked => "was revoked",
        };
        write!(f, "the credential {} of {} {done}", Escaped(&self.credential), self.holder)?;
        self.by.as_ref().map_or(Ok(()), |by| write!(f, ", by {by}"))?;
        write!(f, " ({})", Escaped(&self.means))
    }
}

//! One credential, as a server and lists show it.

use std::{borrow::Borrow, fmt, str::FromStr};

use bestow::{
    AgentId,
    event::{CredentialHolder, RecordedCredential, Timestamp},
    grant::Means,
    user::{ApproverId, OwnerId},
};
use serde::{Deserialize, Serialize};

/// The length of an id: hexadecimal digits.
pub(super) const ID_DIGITS: usize = 12;

/// The id of a credential. It is no secret: it names the credential in lists and in records.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CredentialId(String);

impl CredentialId {
    /// Creates an id from random digits.
    pub(super) fn of_digits(digits: String) -> CredentialId {
        CredentialId(digits)
    }

    /// Returns the id as a text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The error for a text that is not the id of a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an id of a credential has {ID_DIGITS} digits from 0-9 and a-f: `bestow token list` shows them")]
pub struct InvalidCredentialId;

impl FromStr for CredentialId {
    type Err = InvalidCredentialId;

    fn from_str(text: &str) -> Result<CredentialId, InvalidCredentialId> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let is_valid = text.len() == ID_DIGITS && text.bytes().all(is_digit);
        if is_valid { Ok(CredentialId(text.to_owned())) } else { Err(InvalidCredentialId) }
    }
}

impl TryFrom<String> for CredentialId {
    type Error = InvalidCredentialId;

    fn try_from(text: String) -> Result<CredentialId, InvalidCredentialId> {
        text.parse()
    }
}

impl From<CredentialId> for String {
    fn from(id: CredentialId) -> String {
        id.0
    }
}

impl Borrow<str> for CredentialId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CredentialId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The role of a credential: one of the three handles of the library.
///
/// The credential of an agent can never decide. The credential of an approver can never act as an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "camelCase", deny_unknown_fields)]
#[allow(clippy::exhaustive_enums, reason = "every role needs a decision")]
pub enum Role {
    /// One agent.
    Agent {
        /// The agent.
        agent: AgentId,
    },
    /// A person who decides for one owner.
    Approver {
        /// The owner.
        owner: OwnerId,
        /// The person, as records name them.
        by: ApproverId,
    },
    /// The host program, which acts for every owner.
    Operator,
}

/// The name of a role, without its holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "every role needs a decision")]
pub enum RoleName {
    /// [`Role::Agent`].
    Agent,
    /// [`Role::Approver`].
    Approver,
    /// [`Role::Operator`].
    Operator,
}

impl Role {
    /// Returns the name of the role.
    pub fn name(&self) -> RoleName {
        match self {
            Role::Agent { .. } => RoleName::Agent,
            Role::Approver { .. } => RoleName::Approver,
            Role::Operator => RoleName::Operator,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Role::Agent { agent } => write!(f, "agent {agent}"),
            Role::Approver { owner, by } => write!(f, "approver {by} for {owner}"),
            Role::Operator => f.write_str("operator"),
        }
    }
}

/// A credential without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Credential {
    /// The id.
    pub id: CredentialId,
    /// The role, with its holder.
    #[serde(flatten)]
    pub role: Role,
    /// A remark of its creator: the program or device that uses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
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
    /// True if it was made by an earlier version: it is refused until it is rotated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_rotation: bool,
}

impl Credential {
    /// Returns a credential that an engine recorded. Returns none if its id is not one that this package creates.
    pub fn of(recorded: &RecordedCredential) -> Option<Credential> {
        let role = match recorded.holder.clone() {
            CredentialHolder::Agent { agent, .. } => Role::Agent { agent },
            CredentialHolder::Approver { owner, person } => Role::Approver { owner, by: person },
            CredentialHolder::Operator => Role::Operator,
        };
        Some(Credential {
            id: recorded.id.parse().ok()?,
            role,
            name: recorded.name.as_deref().map(str::to_owned),
            created_at: recorded.created_at,
            expires_at: recorded.expires_at,
            is_link: recorded.is_link,
            rotations: recorded.rotations,
            revoked_at: recorded.revoked_at,
            needs_rotation: recorded.secret.is_none(),
        })
    }

    /// Returns the means by which its holder acts, as records name them.
    pub fn means(&self) -> Means {
        format!("http, credential {}", self.id).into()
    }
}

/// A credential to create.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "its parts are given by its creator")]
pub struct NewCredential {
    /// The role, with its holder.
    pub role: Role,
    /// The owner of the agent of an agent's credential. None for the owner of the registered agent.
    pub owner: Option<OwnerId>,
    /// A remark: the program or device that uses it.
    pub name: Option<String>,
    /// The time from which it is refused.
    pub expires_at: Option<Timestamp>,
}

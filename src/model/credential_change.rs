//! Changes of the credentials by which clients of a server show who they are. The engine records them and nothing else
//! about credentials.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{AgentId, ApproverId, Escaped, Means, OwnerId};

/// A change of one credential, without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::exhaustive_structs, reason = "the program that changes a credential states all of it")]
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
    /// It is refused from now on.
    Revoked,
}

/// The holder of a credential: as whom it acts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "every role needs a decision")]
pub enum CredentialHolder {
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
        person: ApproverId,
    },
    /// The host program, which acts for every owner.
    Operator,
}

impl fmt::Display for CredentialHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CredentialHolder::Agent { agent } => write!(f, "the agent {agent}"),
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
            CredentialEvent::Revoked => "was revoked",
        };
        write!(f, "the credential {} of {} {done}", Escaped(&self.credential), self.holder)?;
        self.by.as_ref().map_or(Ok(()), |by| write!(f, ", by {by}"))?;
        write!(f, " ({})", Escaped(&self.means))
    }
}

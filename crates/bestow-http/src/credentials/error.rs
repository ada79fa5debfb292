//! The errors of credentials.

use std::{io, path::PathBuf};

use super::CredentialId;

/// The reason why the file of credentials was not read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialError {
    /// The file, its lock or its directory cannot be used.
    #[error("the credentials in {} cannot be used: {why}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The cause.
        #[source]
        why: io::Error,
    },
    /// The file is not one that this program writes.
    #[error(
        "{} is damaged ({why}): restore it from a copy, or remove it and create the credentials again",
        path.display()
    )]
    Damaged {
        /// The path.
        path: PathBuf,
        /// The cause.
        why: serde_json::Error,
    },
    /// There are too many credentials.
    #[error("there are {most} credentials, which is the limit: remove the file and create those that are in use again")]
    TooMany {
        /// The limit.
        most: usize,
    },
    /// There is no credential with that id.
    #[error("there is no credential {0}: `bestow token list` shows all of them")]
    Unknown(CredentialId),
    /// The credential is revoked already.
    #[error("the credential {0} is revoked: create a new one")]
    Revoked(CredentialId),
    /// The remark is not one line of text.
    #[error("the name of a credential is one line of 1 to {most} characters")]
    Name {
        /// The most characters.
        most: usize,
    },
    /// The system gives no random bytes.
    #[error("the system gives no random bytes: {0}")]
    Random(io::Error),
}

/// The reason why a sender is not authenticated. The sender learns no more than this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(clippy::exhaustive_enums, reason = "both mean no, with different ways out")]
pub enum NotAuthenticated {
    /// There is no such credential, or it is revoked or expired.
    #[error(
        "this credential is not valid: it is unknown, revoked or expired; `bestow token create` makes one in the state \
         directory of the server"
    )]
    Invalid,
    /// The server cannot read its credentials.
    #[error("the server cannot read its credentials, so it accepts none")]
    Unreadable,
}

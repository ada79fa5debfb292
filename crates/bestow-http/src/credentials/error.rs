//! The errors of credentials.

use std::io;

use bestow::Error;

/// The reason why a credential was not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialError {
    /// The engine did not record the change, so it does not count.
    #[error(transparent)]
    NotRecorded(#[from] Error),
    /// The system gives no random bytes.
    #[error("the system gives no random bytes: {0}")]
    Random(#[from] io::Error),
}

/// A sender is not authenticated: there is no such credential, or it is revoked or expired. The sender learns no more
/// than this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this credential is not valid: it is unknown, revoked or expired; `bestow token create` makes one in the state \
     directory of the server"
)]
#[allow(clippy::exhaustive_structs, reason = "a sender learns nothing more")]
pub struct NotAuthenticated;

//! Credentials: the secrets by which programs and people show who they are.
//!
//! A credential has one [`Role`]. Its secret is shown once, when it is created; the file in the state directory holds
//! only a hash. A running server reads the file again when it changes, so a revoked credential is refused at once.

mod credential;
mod error;
mod file;
mod live;
mod reader;
mod token;

pub use credential::{Credential, CredentialId, InvalidCredentialId, NewCredential, Role, RoleName};
pub use error::{CredentialError, NotAuthenticated};
pub use file::{CredentialFile, Issued};
pub(crate) use live::Live;
pub use reader::Credentials;

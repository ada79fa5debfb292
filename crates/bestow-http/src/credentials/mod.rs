//! Credentials: the secrets by which programs and people show who they are.
//!
//! A credential has one [`Role`]. Its secret is shown once, when it is created; the engine records only a hash. A
//! credential counts if the engine recorded its creation, and only as recorded: no file beside the trail makes one.

mod credential;
mod error;
mod live;
mod recorded;
mod token;

pub use credential::{Credential, CredentialId, InvalidCredentialId, NewCredential, Role, RoleName};
pub use error::{CredentialError, NotAuthenticated};
pub(crate) use live::Live;
pub use recorded::{Credentials, Issued, UnrecordedToken};

//! A credential as a running server uses it.

use std::sync::Arc;

use bestow::{
    Engine,
    event::{RecordedCredential, Timestamp},
    grant::Means,
};

use super::{Credential, token};
use crate::rate::Bucket;

/// A credential that the engine recorded, with what a server remembers about it.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) credential: Credential,
    pub(super) recorded: Arc<RecordedCredential>,
    /// The means by which its holder acts, as records name them.
    pub(crate) means: Means,
    /// The requests of the credential. It stays when the credential is rotated.
    pub(crate) bucket: Arc<Bucket>,
}

impl Live {
    /// Returns the credential as it is recorded now. `before` is the one that the server knew under this id.
    pub(super) fn new(recorded: Arc<RecordedCredential>, before: Option<&Arc<Live>>) -> Option<Live> {
        let credential = Credential::of(&recorded)?;
        let bucket = before.map(|before| Arc::clone(&before.bucket)).unwrap_or_default();
        Some(Live { means: credential.means(), credential, recorded, bucket })
    }

    /// Returns true if `secret` authenticates the holder at `now`.
    pub(super) fn accepts(&self, secret: &str, now: Timestamp) -> bool {
        self.has(secret, now) && !self.credential.is_link
    }

    /// Returns true for a live link with this secret.
    pub(super) fn is_open_link(&self, secret: &str, now: Timestamp) -> bool {
        self.has(secret, now) && self.credential.is_link
    }

    /// Returns true if this very credential is recorded: it was neither changed nor revoked since it was read.
    pub(crate) fn is_recorded(&self, engine: &Engine) -> bool {
        engine.credential(self.credential.id.as_str()).is_some_and(|there| Arc::ptr_eq(&there, &self.recorded))
    }

    fn has(&self, secret: &str, now: Timestamp) -> bool {
        self.recorded.secret == Some(token::hash(secret)) && self.recorded.is_live(now)
    }
}

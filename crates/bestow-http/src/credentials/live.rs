//! A credential as a running server uses it.

use std::{collections::HashMap, sync::Arc};

use bestow::{event::Timestamp, grant::Means};

use super::{Credential, CredentialId, file::Stored, token::SecretHash};
use crate::rate::Bucket;

/// A credential in the file, with what a server remembers about it.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) credential: Credential,
    hash: SecretHash,
    /// The means by which its holder acts, as records name them.
    pub(crate) means: Means,
    /// The requests of the credential. It stays when the file is read again.
    pub(crate) bucket: Arc<Bucket>,
}

impl Live {
    /// Returns the credential as it is in the file now. `known` are those that the server knew before.
    pub(super) fn of(stored: Stored, known: &HashMap<CredentialId, Arc<Live>>) -> Arc<Live> {
        let Stored { credential, hash } = stored;
        let before = known.get(&credential.id);
        if let Some(before) = before.filter(|before| before.credential == credential && before.hash == hash) {
            return Arc::clone(before);
        }
        let (means, bucket) = (credential.means(), before.map(|before| Arc::clone(&before.bucket)));
        Arc::new(Live { credential, hash, means, bucket: bucket.unwrap_or_default() })
    }

    /// Returns true if `secret` authenticates the holder at `now`.
    pub(super) fn accepts(&self, secret: &str, now: Timestamp) -> bool {
        self.hash.is_of(secret) && self.credential.is_live(now) && !self.credential.is_link
    }

    /// Returns true for a live link with this secret.
    pub(super) fn is_open_link(&self, secret: &str, now: Timestamp) -> bool {
        self.hash.opens(&self.credential, secret, now)
    }
}

//! The keys of writes that a client may send again.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{Digest, Timestamp};

/// The key that a client chose for a write, so that the write happens once however often it is sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WriteKey {
    pub(crate) caller: Arc<str>,
    pub(crate) key: Digest,
    pub(crate) request: Digest,
}

impl WriteKey {
    /// Creates the key of one write.
    ///
    /// `caller` names the client, such as the id of its credential: each client has keys of its own. `key` is the text
    /// that the client chose. Only its digest is kept. `request` is everything that the write says: the same key with
    /// another request is another write, and is refused.
    pub fn new(caller: impl Into<Arc<str>>, key: &str, request: &[&[u8]]) -> WriteKey {
        WriteKey { caller: caller.into(), key: Digest::of(&[key.as_bytes()]), request: Digest::of(request) }
    }

    /// Returns true if both are keys of one client with one text, whatever the requests are.
    pub fn is_same_key(&self, other: &WriteKey) -> bool {
        (&self.caller, self.key) == (&other.caller, other.key)
    }

    /// Returns the client.
    pub fn caller(&self) -> &str {
        &self.caller
    }
}

/// A step of a write with a key, as records have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KeyedWrite {
    /// The client that sent the write.
    pub caller: Arc<str>,
    /// The digest of the key.
    pub key: Digest,
    /// The digest of the request.
    pub request: Digest,
    /// The number of the first event of the step. Its last event is the record with this value.
    pub first: u64,
    /// The time of the step.
    pub at: Timestamp,
}

impl KeyedWrite {
    /// Returns true if this is a step of exactly this write: the key and the request are equal.
    pub fn is_of(&self, key: &WriteKey) -> bool {
        self.has_key(key) && self.request == key.request
    }

    /// Returns true if this is a step of a write with this key, whatever its request was.
    pub(crate) fn has_key(&self, key: &WriteKey) -> bool {
        self.key == key.key && self.caller == key.caller
    }
}

impl fmt::Display for KeyedWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the events from {} on are a write with a key, by credential {}", self.first, self.caller)
    }
}

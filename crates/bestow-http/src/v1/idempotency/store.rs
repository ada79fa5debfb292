//! The answers to writes with a key.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    body::Bytes,
    http::{HeaderValue, StatusCode, header, response::Parts},
};
use bestow::event::{Timestamp, WriteKey};

use crate::credentials::CredentialId;

/// The most keys of one credential. The oldest answered one is forgotten first.
const MOST: usize = 256;

/// The most bytes of the answers of one credential.
const LONGEST: usize = 256 << 10;

/// A key of one credential.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) credential: CredentialId,
    pub(super) text: String,
}

/// A stored answer.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) status: StatusCode,
    pub(super) kind: Option<HeaderValue>,
    pub(super) body: Bytes,
}

impl Kept {
    /// Returns the answer with this head and body.
    pub(super) fn of(head: &Parts, body: Bytes) -> Kept {
        Kept { status: head.status, kind: head.headers.get(header::CONTENT_TYPE).cloned(), body }
    }
}

/// The answers to writes with a key. They are in memory, and end with the server. What a write did is stored by the
/// engine.
#[derive(Debug, Default)]
pub(crate) struct Answers(Arc<Mutex<HashMap<CredentialId, Own>>>);

/// The answers to the writes of one credential.
#[derive(Debug, Default)]
struct Own {
    by_key: HashMap<String, Entry>,
    /// The answered keys, oldest first.
    answered: VecDeque<String>,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    request: WriteKey,
    until: Timestamp,
    /// The answer. None while the write goes on.
    kept: Option<Kept>,
}

/// The state of a key when a request with it begins.
pub(super) enum Begun {
    First(Place),
    Answered(Kept),
    /// The key was used with another request.
    Other,
    /// The first request with the key is not answered yet.
    Running,
    /// The credential has too many keys without an answer.
    Full,
}

/// The place of an answer. Dropping it without an answer forgets the key.
pub(super) struct Place {
    answers: Arc<Mutex<HashMap<CredentialId, Own>>>,
    key: Key,
}

impl Answers {
    /// Begins a request with a key. `until` is the end of its answer.
    pub(super) fn begin(&self, key: Key, request: WriteKey, now: Timestamp, until: Timestamp) -> Begun {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, own| {
            own.forget_until(now);
            !own.by_key.is_empty()
        });
        let own = all.entry(key.credential.clone()).or_default();
        match own.by_key.get(&key.text) {
            Some(entry) if entry.request != request => return Begun::Other,
            Some(Entry { kept: Some(kept), .. }) => return Begun::Answered(kept.clone()),
            Some(Entry { kept: None, .. }) => return Begun::Running,
            None => {}
        }
        while own.by_key.len() >= MOST {
            if !own.forget_oldest() {
                return Begun::Full;
            }
        }
        own.by_key.insert(key.text.clone(), Entry { request, until, kept: None });
        Begun::First(Place { answers: Arc::clone(&self.0), key })
    }
}

impl Own {
    /// Forgets the answers whose time is over.
    fn forget_until(&mut self, now: Timestamp) {
        while let Some(oldest) = self.answered.front()
            && self.by_key.get(oldest).is_none_or(|entry| entry.until <= now)
        {
            self.forget_oldest();
        }
    }

    /// Forgets the oldest answer. Returns false if there is none.
    fn forget_oldest(&mut self) -> bool {
        let Some(oldest) = self.answered.pop_front() else { return false };
        if let Some(Entry { kept: Some(kept), .. }) = self.by_key.remove(&oldest) {
            self.bytes = self.bytes.saturating_sub(kept.body.len());
        }
        true
    }
}

impl Place {
    /// Stores the answer.
    pub(super) fn keep(self, kept: Kept) {
        let mut all = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(own) = all.get_mut(&self.key.credential) else { return };
        let Some(entry) = own.by_key.get_mut(&self.key.text) else { return };
        own.bytes = own.bytes.saturating_add(kept.body.len());
        entry.kept = Some(kept);
        own.answered.push_back(self.key.text.clone());
        // The newest answer stays, even if it alone is longer.
        while own.bytes > LONGEST && own.answered.len() > 1 {
            own.forget_oldest();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut all = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(own) = all.get_mut(&self.key.credential) else { return };
        if own.by_key.get(&self.key.text).is_some_and(|entry| entry.kept.is_none()) {
            own.by_key.remove(&self.key.text);
        }
    }
}

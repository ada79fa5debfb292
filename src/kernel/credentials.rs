//! The credentials in the kernel state: what the engine recorded about each, and nothing else.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::model::{CredentialChange, CredentialEvent, RecordedCredential, Timestamp};

/// The most credentials, revoked and expired ones included.
pub(super) const MAX_CREDENTIALS: usize = 10_000;

/// All credentials by id. A copy shares its content, so that readers need no lock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Credentials(Arc<BTreeMap<Arc<str>, Arc<RecordedCredential>>>);

impl Credentials {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the credential with this id.
    pub(crate) fn get(&self, id: &str) -> Option<&Arc<RecordedCredential>> {
        self.0.get(id)
    }

    /// Returns all credentials, the oldest first.
    pub(crate) fn in_order(&self) -> Vec<Arc<RecordedCredential>> {
        let mut all: Vec<_> = self.0.values().cloned().collect();
        all.sort_by_key(|credential| credential.created_at.as_millis());
        all
    }

    /// Returns true if no credential fits beside those that are live at `now`.
    pub(super) fn is_full(&self, now: Timestamp) -> bool {
        self.0.len() >= MAX_CREDENTIALS && self.0.values().filter(|known| known.is_live(now)).count() >= MAX_CREDENTIALS
    }

    /// Returns the credentials that are not revoked.
    pub(super) fn iter_unrevoked(&self) -> impl Iterator<Item = &Arc<RecordedCredential>> {
        self.0.values().filter(|known| known.revoked_at.is_none())
    }

    /// Revokes a credential here that is revoked in `ahead`.
    pub(super) fn agree_on(&mut self, id: &Arc<str>, ahead: &Credentials) {
        let Some(revoked_at) = ahead.get(id).and_then(|known| known.revoked_at) else { return };
        if let Some(known) = Arc::make_mut(&mut self.0).get_mut(id) {
            Arc::make_mut(known).revoked_at = Some(revoked_at);
        }
    }

    pub(super) fn apply(&mut self, change: &CredentialChange) {
        let all = Arc::make_mut(&mut self.0);
        let at = change.at.unwrap_or(Timestamp::from_millis(0));
        if change.change == CredentialEvent::Created {
            // A link that nobody used is gone without a trace. Others are listed until there are too many.
            let is_full = all.len() >= MAX_CREDENTIALS;
            all.retain(|_, known| known.is_live(at) || !(known.is_link || is_full));
            all.insert(Arc::clone(&change.credential), Arc::new(new_record(change, at)));
        }
        let Some(known) = all.get_mut(&change.credential) else { return };
        let known = Arc::make_mut(known);
        match change.change {
            CredentialEvent::Created => {}
            CredentialEvent::Rotated => {
                known.rotations = known.rotations.saturating_add(1);
                renew(known, change, at);
            }
            CredentialEvent::SessionOpened => renew(known, change, at),
            CredentialEvent::Revoked => known.revoked_at = Some(at),
        }
    }
}

fn new_record(change: &CredentialChange, at: Timestamp) -> RecordedCredential {
    RecordedCredential {
        id: Arc::clone(&change.credential),
        holder: change.holder.clone(),
        name: change.name.clone(),
        secret: change.secret,
        created_at: at,
        expires_at: change.expires_at,
        is_link: change.is_link,
        rotations: 0,
        revoked_at: None,
    }
}

/// Replaces the secret. A record of an earlier version has none, and the credential then counts for nothing.
fn renew(known: &mut RecordedCredential, change: &CredentialChange, at: Timestamp) {
    known.holder = change.holder.clone();
    known.secret = change.secret;
    known.created_at = at;
    known.expires_at = change.expires_at;
    known.is_link = false;
}

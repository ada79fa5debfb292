//! Tickets: secrets for one use, for clients that cannot send the `Authorization` header.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::http::StatusCode;
use bestow::event::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::{
    credentials::{CredentialId, Live},
    hex::hex,
    problem::Problem,
};

/// The time for which a ticket is valid.
const VALID: Duration = Duration::from_secs(30);

/// The most tickets of one credential that are neither used nor over.
const MOST: usize = 32;

/// The random bytes of a ticket.
const BYTES: usize = 32;

/// The hash of a ticket.
type Key = [u8; 32];

/// A ticket. It stands for a credential once.
#[derive(Debug)]
pub(crate) struct Ticket {
    pub(crate) text: String,
    pub(crate) until: Timestamp,
}

/// The tickets that are neither used nor over. They end with the server.
#[derive(Debug, Default)]
pub(crate) struct Tickets(Mutex<HashMap<CredentialId, Vec<Open>>>);

#[derive(Debug)]
struct Open {
    key: Key,
    live: Arc<Live>,
    until: Timestamp,
}

impl Tickets {
    /// Creates a ticket for a credential.
    pub(crate) fn issue(&self, live: &Arc<Live>, now: Timestamp) -> Result<Ticket, Problem> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).map_err(|why| {
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", format!("there is no random number: {why}"))
        })?;
        let (text, until) = (format!("{}_{}", live.credential.id, hex(&bytes)), now.after(VALID));
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, open| {
            open.retain(|open| now < open.until);
            !open.is_empty()
        });
        let own = all.entry(live.credential.id.clone()).or_default();
        if own.len() >= MOST {
            let detail = format!("this credential has {MOST} tickets that are not used yet, which is the limit: wait");
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_tickets", detail));
        }
        own.push(Open { key: Sha256::digest(text.as_bytes()).into(), live: Arc::clone(live), until });
        Ok(Ticket { text, until })
    }

    /// Returns the credential of a ticket that is valid, and uses the ticket up.
    pub(crate) fn redeem(&self, text: &str, now: Timestamp) -> Option<Arc<Live>> {
        let id: CredentialId = text.split_once('_')?.0.parse().ok()?;
        let key: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = all.get_mut(&id)?;
        // The hash of an unknown secret says nothing about it, so the comparison may stop early.
        let place = own.iter().position(|open| open.key == key)?;
        let open = own.swap_remove(place);
        (now < open.until).then_some(open.live)
    }
}

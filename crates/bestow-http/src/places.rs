//! The place of a connection among all of a server, and among those of the credential that uses it.

use std::sync::{Arc, Mutex, PoisonError};

use subtle::{Choice, ConstantTimeEq};
use tokio::sync::OwnedSemaphorePermit;

use crate::{
    credentials::{CredentialId, Live},
    shares::Shares,
    strangers::Stranger,
};

/// The place of a connection. Each request of the connection carries it, and a WebSocket keeps it.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionPlace(Arc<Connection>);

#[derive(Debug)]
struct Connection {
    _permit: OwnedSemaphorePermit,
    user: Mutex<Option<User>>,
    /// The place among the connections without a credential, until it shows one.
    stranger: Mutex<Option<Stranger>>,
}

/// The credential of the last request of a connection.
#[derive(Debug)]
struct User {
    live: Arc<Live>,
    /// The token of the request. None if the request had a ticket.
    token: Option<Box<[u8]>>,
    /// The place among the connections of the credential.
    _permit: OwnedSemaphorePermit,
}

impl ConnectionPlace {
    pub(crate) fn new(permit: OwnedSemaphorePermit, stranger: Stranger) -> ConnectionPlace {
        let stranger = Mutex::new(Some(stranger));
        ConnectionPlace(Arc::new(Connection { _permit: permit, user: Mutex::default(), stranger }))
    }

    /// Returns the credential that this token authenticated in the last request of this connection. The caller has to
    /// check that it is still valid. The duration does not depend on the place of a difference.
    pub(crate) fn known(&self, token: &str) -> Option<Arc<Live>> {
        let user = self.0.user.lock().unwrap_or_else(PoisonError::into_inner);
        let user = user.as_ref()?;
        let known = user.token.as_deref()?;
        is_same(known, token.as_bytes()).then(|| Arc::clone(&user.live))
    }

    /// Gives the connection to a credential. Returns false if the credential has its share of connections already.
    pub(crate) fn give(&self, live: &Arc<Live>, token: Option<&str>, shares: &Shares<CredentialId>) -> bool {
        let mut user = self.0.user.lock().unwrap_or_else(PoisonError::into_inner);
        let (id, token) = (&live.credential.id, token.map(|token| token.as_bytes().into()));
        let own = match user.take() {
            Some(User { live: before, _permit: own, .. }) if before.credential.id == *id => Some(own),
            Some(_) | None => shares.try_take(id),
        };
        *user = own.map(|own| User { live: Arc::clone(live), token, _permit: own });
        if user.is_some() {
            *self.0.stranger.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        user.is_some()
    }
}

fn is_same(one: &[u8], other: &[u8]) -> bool {
    let word = |bytes: &[u8]| bytes.iter().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
    let words = one.chunks(8).zip(other.chunks(8));
    let same = words.fold(Choice::from(1), |same, (one, other)| same & word(one).ct_eq(&word(other)));
    one.len() == other.len() && bool::from(same)
}

#[cfg(test)]
mod tests {
    use super::is_same;

    #[test]
    fn tokens_are_equal_if_all_of_their_bytes_are() {
        let token: Vec<u8> = (0..84).collect();
        assert!(is_same(&token, &token));
        for place in 0..token.len() {
            let mut other = token.clone();
            other[place] ^= 1;
            assert!(!is_same(&token, &other), "{place}");
            assert!(!is_same(&token, &token[..place]), "{place}");
        }
        assert!(!is_same(&token, &[token.clone(), vec![0]].concat()));
    }
}

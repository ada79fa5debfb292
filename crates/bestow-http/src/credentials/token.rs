//! The text of a credential: `bestow_ID_SECRET`.

use std::io;

use hmac_sha256::Hash as Sha256;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use super::credential::{CredentialId, ID_DIGITS};
use crate::hex::hex;

/// The first part of every token. Scanners for leaked secrets find it.
const PREFIX: &str = "bestow_";

/// The number of random bytes of a secret.
const SECRET_BYTES: usize = 32;

/// The hash of a secret. The secret is random and long, so a plain hash does not reveal it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct SecretHash(String);

impl SecretHash {
    fn of(secret: &str) -> SecretHash {
        SecretHash(hex(&Sha256::hash(secret.as_bytes())))
    }

    /// Returns true if `secret` is the secret. The duration does not depend on the place of a difference.
    pub(super) fn is_of(&self, secret: &str) -> bool {
        self.0.as_bytes().ct_eq(SecretHash::of(secret).0.as_bytes()).into()
    }
}

/// A new id.
pub(super) fn new_id() -> io::Result<CredentialId> {
    random::<{ ID_DIGITS / 2 }>().map(|bytes| CredentialId::of_digits(hex(&bytes)))
}

/// Returns a new token of the credential `id`, and the hash of its secret.
pub(super) fn issue(id: &CredentialId) -> io::Result<(String, SecretHash)> {
    let secret = hex(&random::<SECRET_BYTES>()?);
    let hash = SecretHash::of(&secret);
    Ok((format!("{PREFIX}{id}_{secret}"), hash))
}

/// Returns the id and the secret in a token.
pub(super) fn parts(token: &str) -> Option<(CredentialId, &str)> {
    let (id, secret) = token.strip_prefix(PREFIX)?.split_once('_')?;
    Some((id.parse().ok()?, secret))
}

fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|why| io::Error::other(why.to_string()))?;
    Ok(bytes)
}

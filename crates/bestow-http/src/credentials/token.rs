//! The text of a credential: `bestow_ID_SECRET`.

use std::io;

use bestow::event::Timestamp;
use hmac_sha256::Hash as Sha256;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use super::credential::{Credential, CredentialId, ID_DIGITS};
use crate::hex::{bytes_of, hex};

/// The first part of every token. Scanners for leaked secrets find it.
const PREFIX: &str = "bestow_";

/// The number of random bytes of a secret.
const SECRET_BYTES: usize = 32;

/// The hash of a secret. The secret is random and long, so a plain hash does not reveal it.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) struct SecretHash([u8; 32]);

impl SecretHash {
    fn of(secret: &str) -> SecretHash {
        SecretHash(Sha256::hash(secret.as_bytes()))
    }

    /// Returns true if `secret` is the secret. The duration does not depend on the place of a difference.
    pub(super) fn is_of(&self, secret: &str) -> bool {
        self.0.ct_eq(&SecretHash::of(secret).0).into()
    }

    /// Returns true if `link`, whose secret has this hash, is a live link with this secret.
    pub(super) fn opens(&self, link: &Credential, secret: &str, now: Timestamp) -> bool {
        link.is_link && link.is_live(now) && self.is_of(secret)
    }
}

impl std::fmt::Debug for SecretHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretHash")
    }
}

/// The error for a text that is not a hash.
#[derive(Debug, thiserror::Error)]
#[error("the hash of a secret has 64 digits from 0-9 and a-f")]
pub(super) struct InvalidHash;

impl TryFrom<String> for SecretHash {
    type Error = InvalidHash;

    fn try_from(text: String) -> Result<SecretHash, InvalidHash> {
        bytes_of(&text).map(SecretHash).ok_or(InvalidHash)
    }
}

impl From<SecretHash> for String {
    fn from(hash: SecretHash) -> String {
        hex(&hash.0)
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

/// Returns the id and the secret in a token. A text that is no id belongs to no credential.
pub(super) fn parts(token: &str) -> Option<(&str, &str)> {
    token.strip_prefix(PREFIX)?.split_once('_')
}

fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|why| io::Error::other(why.to_string()))?;
    Ok(bytes)
}

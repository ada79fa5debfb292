//! The text of a credential: `bestow_ID_SECRET`.

use std::io;

use bestow::action::Digest;
use sha2::{Digest as _, Sha256};

use super::credential::{CredentialId, ID_DIGITS};
use crate::hex::hex;

/// The first part of every token. Scanners for leaked secrets find it.
const PREFIX: &str = "bestow_";

/// The number of random bytes of a secret.
const SECRET_BYTES: usize = 32;

/// Returns the hash of a secret. The secret is random and long, so a plain hash does not reveal it, and neither does
/// the duration of a comparison of hashes.
pub(super) fn hash(secret: &str) -> Digest {
    Digest::from(<[u8; 32]>::from(Sha256::digest(secret.as_bytes())))
}

/// Returns a new id.
pub(super) fn new_id() -> io::Result<CredentialId> {
    random::<{ ID_DIGITS / 2 }>().map(|bytes| CredentialId::of_digits(hex(&bytes)))
}

/// Returns a new token of the credential `id`, and the hash of its secret.
pub(super) fn issue(id: &CredentialId) -> io::Result<(String, Digest)> {
    let secret = hex(&random::<SECRET_BYTES>()?);
    let hash = hash(&secret);
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

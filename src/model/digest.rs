//! Digests that bind an approval to the approved content.

use std::{fmt, str::FromStr};

use hmac_sha256::Hash as Sha256;
use serde::{Deserialize, Serialize, Serializer};

/// A SHA-256 digest, written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Digest([u8; 32]);

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(str::from_utf8(&self.digits()).unwrap_or_default())
    }
}

/// The error for a text that is not a [`Digest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a digest is 64 hexadecimal digits")]
pub struct InvalidDigest;

impl Digest {
    /// Computes the digest of these texts, in this order. The boundaries between the texts are part of the digest.
    pub(crate) fn of_texts<'t>(texts: impl IntoIterator<Item = &'t str>) -> Digest {
        let mut hash = Sha256::new();
        for text in texts {
            hash.update(text.len().to_be_bytes());
            hash.update(text);
        }
        Digest(hash.finalize())
    }

    fn digits(&self) -> [u8; 64] {
        const DIGITS: [u8; 16] = *b"0123456789abcdef";
        let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().unwrap_or(b'0');
        let mut text = [0; 64];
        for (digits, byte) in text.chunks_exact_mut(2).zip(self.0) {
            digits.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
        }
        text
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(str::from_utf8(&self.digits()).unwrap_or_default())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, InvalidDigest> {
        if text.len() != 64 || !text.is_ascii() {
            return Err(InvalidDigest);
        }
        let mut bytes = [0; 32];
        for (place, byte) in bytes.iter_mut().enumerate() {
            let digits = text.get(2 * place..2 * place + 2).ok_or(InvalidDigest)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| InvalidDigest)?;
        }
        Ok(Digest(bytes))
    }
}

impl TryFrom<String> for Digest {
    type Error = InvalidDigest;

    fn try_from(text: String) -> Result<Self, InvalidDigest> {
        text.parse()
    }
}

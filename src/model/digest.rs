//! Digests that bind an approval to the approved content.

use std::{
    fmt::{self, Write},
    ops::Deref,
    str::FromStr,
    sync::OnceLock,
};

use crate::sha256::Sha256;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A SHA-256 digest, written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Digest([u8; 32]);

impl Digest {
    /// Returns the digest of these parts. The boundaries between them are part of it.
    pub(crate) fn of(parts: &[&[u8]]) -> Digest {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part.len().to_be_bytes());
            hash.update(part);
        }
        Digest(hash.finalize())
    }
}

/// The name under which digests are serialized. A serializer that only counts bytes knows their length by it, so that
/// the digest is not computed.
pub(crate) const DIGEST: &str = "Digest";

/// The length of a digest as text.
pub(crate) const DIGEST_LEN: usize = 64;

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_newtype_struct(DIGEST, &Digits(&self))
    }
}

/// The text of a digest.
struct Digits<'d, D>(&'d D);

impl<D: Deref<Target = Digest>> Serialize for Digits<'_, D> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(str::from_utf8(&self.0.digits()).unwrap_or_default())
    }
}

/// The most bytes of texts that wait for their digest. The digest of longer texts is computed at once, so that a record
/// does not keep them.
const MOST_KEPT: usize = 1024;

/// A [`Digest`] that is computed when it is first read. Most digests of a record are never read.
#[derive(Clone)]
pub struct LazyDigest {
    known: OnceLock<Digest>,
    /// The texts with their lengths.
    texts: Vec<u8>,
}

impl Deref for LazyDigest {
    type Target = Digest;

    fn deref(&self) -> &Digest {
        self.known.get_or_init(|| Digest(Sha256::hash(&self.texts)))
    }
}

impl From<Digest> for LazyDigest {
    fn from(digest: Digest) -> LazyDigest {
        LazyDigest { known: OnceLock::from(digest), texts: Vec::new() }
    }
}

impl PartialEq for LazyDigest {
    fn eq(&self, other: &LazyDigest) -> bool {
        // Equal texts have equal digests.
        !self.texts.is_empty() && self.texts == other.texts || **self == **other
    }
}

impl Eq for LazyDigest {}

impl Serialize for LazyDigest {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_newtype_struct(DIGEST, &Digits(self))
    }
}

impl<'d> Deserialize<'d> for LazyDigest {
    fn deserialize<D: Deserializer<'d>>(from: D) -> Result<LazyDigest, D::Error> {
        Digest::deserialize(from).map(LazyDigest::from)
    }
}

impl fmt::Display for LazyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}

impl fmt::Debug for LazyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// Texts whose digest may be needed. The boundaries between the texts are part of the digest.
#[derive(Clone, Default)]
pub(crate) struct DigestTexts(Vec<u8>);

impl DigestTexts {
    /// Adds a text.
    pub(crate) fn add(&mut self, text: &str) {
        self.0.extend_from_slice(&text.len().to_be_bytes());
        self.0.extend_from_slice(text.as_bytes());
    }

    /// Adds the text that `value` is displayed as.
    pub(crate) fn add_shown(&mut self, value: &impl fmt::Display) {
        let start = self.0.len();
        self.add("");
        let text = self.0.len();
        // Writing to a buffer does not fail.
        let _ = write!(Buffer(&mut self.0), "{value}");
        let len = self.0.len().saturating_sub(text).to_be_bytes();
        self.0.get_mut(start..text).into_iter().for_each(|place| place.copy_from_slice(&len));
    }

    /// Returns the digest of the texts.
    pub(crate) fn digest(self) -> LazyDigest {
        let digest = LazyDigest { known: OnceLock::new(), texts: self.0 };
        if digest.texts.len() > MOST_KEPT { LazyDigest::from(*digest) } else { digest }
    }

    /// Creates a list with room for texts of `len` bytes.
    pub(crate) fn with_capacity(len: usize) -> DigestTexts {
        DigestTexts(Vec::with_capacity(len))
    }
}

/// A buffer of bytes for texts.
struct Buffer<'b>(&'b mut Vec<u8>);

impl Write for Buffer<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
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

impl From<[u8; 32]> for Digest {
    fn from(hash: [u8; 32]) -> Digest {
        Digest(hash)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_that_waits_is_the_digest_of_its_texts() {
        let long = "x".repeat(2 * MOST_KEPT);
        for texts in [vec![], vec![""], vec!["a", "bc"], vec!["ab", "c"], vec!["a", &long, "é"]] {
            let expected = Digest::of_texts(texts.iter().copied());
            let (mut added, mut shown) = (DigestTexts::default(), DigestTexts::default());
            texts.iter().for_each(|text| added.add(text));
            texts.iter().for_each(|text| shown.add_shown(text));
            let (added, shown) = (added.digest(), shown.digest());
            assert_eq!(added.known.get().is_some(), texts.contains(&&*long), "only long texts are hashed at once");
            assert!(added.texts.len() <= MOST_KEPT);
            assert_eq!((*added, *shown), (expected, expected));
            assert_eq!(serde_json::to_string(&added).unwrap(), serde_json::to_string(&expected).unwrap());
            assert_eq!(serde_json::from_str::<LazyDigest>(&format!("\"{expected}\"")).unwrap(), added.clone());
        }
    }
}

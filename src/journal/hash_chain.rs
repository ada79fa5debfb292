//! The hash chain: each line carries the hash of itself and of the hash before it.

use std::{fmt, io, str::FromStr};

use crate::sha256::Sha256;

/// The hash of a line and of everything before it (SHA-256).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Hash([u8; 32]);

impl Hash {
    /// The hash before the very first line.
    pub(super) const START: Hash = Hash([0; 32]);

    /// Returns the hash of `line`, which follows a line with this hash.
    pub(super) fn then(self, line: &[u8]) -> Hash {
        let mut hash = Sha256::new();
        hash.update(self.0);
        hash.update(line);
        Hash(hash.finalize())
    }

    /// Returns the hash of `bytes` alone, outside any chain.
    pub(super) fn of(bytes: &[u8]) -> Hash {
        Hash(Sha256::hash(bytes))
    }

    /// Returns the hash of the rest of a file, which is read in parts.
    pub(super) fn of_rest(mut file: impl io::BufRead) -> io::Result<Hash> {
        let mut hash = Sha256::new();
        loop {
            let part = file.fill_buf()?;
            let read = part.len();
            if read == 0 {
                return Ok(Hash(hash.finalize()));
            }
            hash.update(part);
            file.consume(read);
        }
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Hash {
    type Err = InvalidHead;

    fn from_str(text: &str) -> Result<Hash, InvalidHead> {
        Hash::from_hex(text.as_bytes()).ok_or(InvalidHead)
    }
}

impl Hash {
    pub(super) fn from_hex(text: &[u8]) -> Option<Hash> {
        let mut bytes = [0; 32];
        if text.len() != 64 {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            let &[high, low] = pair else { return None };
            *byte = nibble(high)? << 4 | nibble(low)?;
        }
        Some(Hash(bytes))
    }

    pub(super) fn write_hex(self, into: &mut Vec<u8>) {
        const DIGITS: [u8; 16] = *b"0123456789abcdef";
        let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().unwrap_or(b'0');
        into.extend(self.0.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
    }
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

/// The end of a chain. With a copy of it elsewhere, any shortening or rewriting of the earlier records is detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "a place in the chain and what is there")]
pub struct Head {
    /// The number of the last event.
    pub sequence: u64,
    /// The hash of the last event.
    pub hash: Hash,
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.sequence, self.hash)
    }
}

/// The error for a text that is not the head of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a head is the number of an event, a colon and 64 hexadecimal digits, as `bestow audit head` prints it")]
pub struct InvalidHead;

impl FromStr for Head {
    type Err = InvalidHead;

    fn from_str(text: &str) -> Result<Head, InvalidHead> {
        let (sequence, hash) = text.trim().split_once(':').ok_or(InvalidHead)?;
        Ok(Head { sequence: sequence.parse().map_err(|_| InvalidHead)?, hash: hash.parse()? })
    }
}

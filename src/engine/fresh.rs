//! Values that were never used before: ids and seeds.

use std::{
    hash::{BuildHasher, RandomState},
    sync::atomic::{AtomicU64, Ordering},
};

use crate::model::{RequestId, RunId, RuntimeId, Timestamp};

/// Creates a random seed, so that fingerprints differ between engines.
pub(super) fn seed() -> u64 {
    RandomState::new().hash_one("fingerprints")
}

/// Creates a run id that was never used before.
pub(super) fn fresh_run() -> RunId {
    let text = format!("run-{}", uuid::Uuid::now_v7().simple());
    // Letters, digits and a dash: always an id.
    text.parse().unwrap_or_else(|_| fresh_run())
}

/// Creates an engine id that was never used before.
pub(super) fn fresh_runtime() -> RuntimeId {
    let text = format!("engine-{}", uuid::Uuid::now_v7().simple());
    text.parse().unwrap_or_else(|_| fresh_runtime())
}

/// Makes request ids that were never used before, without a system call for each.
#[derive(Debug, Default)]
pub(super) struct RequestIds {
    key: RandomState,
    next: AtomicU64,
}

impl RequestIds {
    /// Returns a new id (uuid v7): the time, a counter for the order within a millisecond, and 48 bits that differ
    /// between engines.
    pub(super) fn next(&self, now: Timestamp) -> RequestId {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let [.., r0, r1, r2, r3, r4, r5] = self.key.hash_one(number).to_be_bytes();
        let [.., c0, c1, c2, c3] = number.to_be_bytes();
        // A uuid v7 has room for 12 bits after the time, and for 62 more: 26 bits of the counter, then the hash.
        let high = (u16::from_be_bytes([c0, c1]) << 2) | u16::from(c2 >> 6);
        let [h0, h1] = (high & 0x0fff).to_be_bytes();
        let bytes = [h0, h1, c2 & 0x3f, c3, r0, r1, r2, r3, r4, r5];
        RequestId::new(uuid::Builder::from_unix_timestamp_millis(now.as_millis(), &bytes).into_uuid())
    }
}

#[cfg(test)]
mod tests;

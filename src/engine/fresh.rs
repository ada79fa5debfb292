//! Values that were never used before: ids and seeds.

use std::hash::{BuildHasher, RandomState};

use crate::model::{RequestId, RunId, RuntimeId};

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

pub(super) fn fresh_request() -> RequestId {
    RequestId::new(uuid::Uuid::now_v7())
}

//! Tests of paths on disk: resolving, opening, and attacks during both.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops where it is wrong; the lints exempt test functions, but not what they share"
)]

pub(crate) mod cases;
mod circumstances;
mod clock;
mod opening;
mod oracles;
pub(crate) mod process;
mod races;
mod resolving;
mod tools;
pub(crate) mod world;

/// The two back ends. Each test of a behaviour runs over both.
const BOTH: [bestow::fs::Backend; 2] = [bestow::fs::Backend::Openat2, bestow::fs::Backend::Walk];

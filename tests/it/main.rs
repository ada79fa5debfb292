//! What bestow does, told by tests: a module for each part, a sentence for each behaviour.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "config")]
mod config;
mod engine;
mod fs;
#[cfg(all(feature = "cli", feature = "sandbox"))]
mod sandbox;
#[cfg(feature = "config")]
mod watch;

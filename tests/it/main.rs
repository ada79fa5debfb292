//! Tests of the behaviour of bestow: a module for each part, a sentence for each behaviour.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::too_many_arguments,
    clippy::type_complexity,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test that cannot go on has failed"
)]

#[cfg(feature = "http")]
mod acp;
mod attacks;
mod cases;
#[cfg(feature = "cli")]
mod cli;
mod command;
#[cfg(feature = "config")]
mod config;
#[cfg(feature = "http")]
mod dashboard;
mod decision;
mod engine;
mod findings;
mod fs;
#[cfg(all(feature = "cli", feature = "http"))]
mod fuzzed;
mod guards;
#[cfg(feature = "http")]
mod hosts;
#[cfg(feature = "http")]
mod http;
mod import_circles;
mod invariants;
mod matrix;
#[cfg(feature = "http")]
mod mcp;
mod model;
mod plain_words;
mod readme;
mod ruled;
#[cfg(all(feature = "cli", feature = "sandbox"))]
mod sandbox;
#[cfg(feature = "schedule")]
mod schedule;
#[cfg(all(feature = "cli", target_os = "linux"))]
mod soak;
#[cfg(feature = "stdio")]
mod stdio;
mod stored;
mod support;
mod theorems;
#[cfg(feature = "config")]
mod watch;

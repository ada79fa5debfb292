//! Tests of the classifier: shell commands and tool calls in three tiers.
#![allow(clippy::expect_used, clippy::string_slice, reason = "a helper of a test fails the test")]

mod additions;
mod beside;
pub(crate) mod cases;
mod differential;
mod documented;
mod expansions;
mod hidden_effects;
mod lines;
mod passed_names;
mod properties;
mod shapes;
mod shells;
mod tools;
mod traps;
mod ways;

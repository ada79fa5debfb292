//! What bestow does, told by tests: a module for each part, a sentence for each behaviour.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking, as tests do")]

mod engine;
mod fs;
mod invariants;
mod matrix;
mod model;
mod support;
mod theorems;

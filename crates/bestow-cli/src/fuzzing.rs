//! The parsers of texts from outside, for tests with arbitrary bytes. They are no part of the public interface.

pub use crate::hook::{question, reply};

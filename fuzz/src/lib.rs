//! The properties of every parser of texts from outside, one function for each. The fuzz targets call these functions,
//! and so do the property tests of the workspace (`tests/it/fuzzed.rs`).

pub mod files;
pub mod hooks;
pub mod lines;
pub mod native;
pub mod texts;

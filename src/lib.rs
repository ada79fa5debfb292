//! placeholder
#![forbid(unsafe_code)]
pub mod fs;
mod model;
pub use model::*;

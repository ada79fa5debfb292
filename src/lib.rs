//! placeholder
#![forbid(unsafe_code)]
mod model;
pub use model::*;

//! placeholder
#![forbid(unsafe_code)]
pub mod command;
mod model;
pub use model::*;

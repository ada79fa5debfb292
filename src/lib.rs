//! placeholder
#![forbid(unsafe_code)]
mod edge;
mod fs;
mod model;
pub use edge::config::{ConfigError, PolicyFile, PolicyText, Position, Problem};
pub use model::*;

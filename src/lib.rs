//! placeholder
#![forbid(unsafe_code)]
mod edge;
pub mod fs;
mod model;
pub use edge::{
    PolicyChange,
    config::{ConfigError, PolicyFile, PolicyText, Position, Problem},
    watch::Change,
};
pub use model::*;

//! placeholder
#![forbid(unsafe_code)]
mod edge;
mod engine;
pub mod fs;
mod kernel;
mod model;
mod seam;
pub use edge::{
    PolicyChange,
    config::{ConfigError, PolicyFile, PolicyText, Position, Problem},
    open::OpenError,
    stdio,
    watch::Change,
};
pub use engine::*;
pub use kernel::{Check, ExecScope, Refusal, Support};
pub use model::*;
pub use seam::*;

//! placeholder
#![forbid(unsafe_code)]
mod engine;
pub mod fs;
mod kernel;
mod model;
mod seam;
pub use engine::*;
pub use kernel::{Check, ExecScope, Refusal, Support};
pub use model::*;
pub use seam::*;

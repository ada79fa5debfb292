//! placeholder
#![forbid(unsafe_code)]
mod kernel;
mod model;
pub use kernel::{Check, ExecScope, Refusal, Support};
pub use model::*;

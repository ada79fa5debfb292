//! The outside. Edges do not name each other; what fits two of them together stands here.

#[cfg(feature = "config")]
pub(crate) mod config;
#[cfg(feature = "sandbox")]
mod exec;
#[cfg(feature = "config")]
mod follow;
#[cfg(feature = "config")]
pub(crate) mod open;
#[cfg(feature = "sandbox")]
pub mod sandbox;
#[cfg(feature = "stdio")]
pub mod stdio;
#[cfg(feature = "config")]
pub(crate) mod watch;

#[cfg(feature = "config")]
pub use follow::PolicyChange;

//! The adapters to the outside. Adapters do not name each other. The files in this folder connect two of them.

#[cfg(feature = "config")]
pub(crate) mod config;
#[cfg(feature = "journal")]
pub mod control;
#[cfg(feature = "journal")]
mod durable;
#[cfg(feature = "sandbox")]
mod exec;
#[cfg(feature = "config")]
mod follow;
#[cfg(all(feature = "sandbox", feature = "schedule"))]
mod gates;
#[cfg(feature = "journal")]
pub mod journal;
#[cfg(feature = "config")]
pub(crate) mod open;
#[cfg(any(feature = "config", feature = "journal"))]
mod open_error;
#[cfg(feature = "sandbox")]
pub mod process;
#[cfg(feature = "stdio")]
mod process_order;
pub mod prompt;
#[cfg(feature = "sandbox")]
pub mod sandbox;
#[cfg(feature = "schedule")]
pub mod schedule;
#[cfg(feature = "stdio")]
pub mod stdio;
#[cfg(feature = "schedule")]
mod tasks;
#[cfg(feature = "config")]
pub(crate) mod watch;

#[cfg(feature = "config")]
pub use follow::PolicyChange;
#[cfg(any(feature = "config", feature = "journal"))]
pub use open_error::OpenError;

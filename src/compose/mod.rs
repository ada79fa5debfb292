//! The connections between adapters. This is the only folder that names two of them.

#[cfg(feature = "journal")]
mod durable;
#[cfg(feature = "sandbox")]
pub(crate) mod exec;
#[cfg(feature = "config")]
mod follow;
#[cfg(all(feature = "sandbox", feature = "schedule"))]
mod gates;
#[cfg(feature = "config")]
pub(crate) mod open;
#[cfg(any(feature = "config", feature = "journal"))]
mod open_error;
#[cfg(feature = "schedule")]
mod tasks;

#[cfg(feature = "config")]
pub use follow::PolicyChange;
#[cfg(any(feature = "config", feature = "journal"))]
pub use open_error::OpenError;

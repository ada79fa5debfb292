//! Tasks in files: when they are due, what they may do, and what becomes of their gates.

mod authority;
mod calendar;
mod expressions;
#[cfg(all(feature = "cli", feature = "sandbox"))]
mod gates;
mod reading;
mod running;
pub(crate) mod stage;

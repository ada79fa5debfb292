//! Tests of tasks in files: their schedules, their permissions, and their gates.

mod authority;
mod calendar;
mod expressions;
#[cfg(all(feature = "cli", feature = "sandbox"))]
mod gates;
mod reading;
mod running;
pub(crate) mod stage;

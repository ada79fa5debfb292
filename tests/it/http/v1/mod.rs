//! Tests of the native API.

mod agent;
mod attacks;
mod config;
mod creation;
mod events;
mod foreign_ids;
mod grants;
mod idempotency;
mod openapi;
mod person;
#[cfg(feature = "cli")]
mod processes;
mod questions;
mod requests;
mod runs;
mod session;
mod suggestions;
mod tickets;
mod trail;
mod undo;

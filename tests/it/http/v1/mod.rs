//! Tests of the native API.

mod agent;
mod attacks;
mod config;
mod events;
mod grants;
mod idempotency;
mod openapi;
mod person;
mod questions;
mod requests;
mod session;
mod suggestions;
mod tickets;
mod trail;
mod undo;

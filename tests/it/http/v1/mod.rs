//! Tests of the native API.

mod agent;
mod attacks;
mod events;
mod grants;
mod idempotency;
mod openapi;
mod person;
mod requests;
mod tickets;
mod trail;

//! Tests of the native API.

mod agent;
mod events;
mod grants;
mod person;
mod requests;

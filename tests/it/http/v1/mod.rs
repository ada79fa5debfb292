//! Tests of the native API.

mod agent;
mod requests;

//! Tests of the server, over real sockets.

mod attribution;
mod classify;
pub(crate) mod client;
mod clients;
mod crash;
mod credentials;
pub(crate) mod daemon;
mod dashboard;
mod decide;
mod description;
mod exact_inputs;
mod facts;
mod frames;
mod hook;
mod hook_servers;
mod malformed;
mod numbers;
mod process;
pub(crate) mod project;
mod raw_socket;
mod relay;
mod runs;
mod shares;
mod socket;
mod stored_events;
mod unix_socket;
mod v1;

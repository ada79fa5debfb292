//! Tests of the server, over real sockets.

mod classify;
pub(crate) mod client;
mod clients;
mod credentials;
pub(crate) mod daemon;
mod dashboard;
mod decide;
mod description;
mod hook;
mod hook_servers;
mod malformed;
mod process;
pub(crate) mod project;
mod relay;
mod runs;
mod socket;
mod unix_socket;
mod v1;

//! Tests of the server, over real sockets.

mod classify;
mod client;
mod credentials;
mod daemon;
mod decide;
mod malformed;
mod process;
#[cfg(feature = "cli")]
mod project;
mod runs;
mod socket;

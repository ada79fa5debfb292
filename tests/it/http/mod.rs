//! Tests of the server, over real sockets.

mod classify;
mod client;
mod credentials;
mod daemon;
mod decide;
mod description;
mod malformed;
mod process;
mod socket;
mod v1;

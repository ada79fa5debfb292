#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod answering;
mod body;
pub mod credentials;
mod dashboard;
mod desk;
mod frames;
#[doc(hidden)]
pub mod fuzzing;
mod guard;
mod head_timer;
mod hex;
mod hosts;
mod identity;
#[cfg(feature = "mcp")]
mod mcp;
mod options;
mod permissions;
mod places;
mod problem;
mod rate;
mod refusal;
mod revocations;
mod router;
mod runs;
mod server;
mod shares;
mod shown;
mod socket;
mod strangers;
mod tickets;
mod unix;
mod v1;

pub use guard::AllowedHosts;
pub use options::Options;
pub use router::router;
pub use server::{Limits, ListenError, Server};
pub use unix::SocketServer;

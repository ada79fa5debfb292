#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod body;
pub mod credentials;
#[doc(hidden)]
pub mod fuzzing;
mod guard;
mod identity;
mod permissions;
mod places;
mod problem;
mod refusal;
mod router;
mod runs;
mod server;
mod shares;
mod socket;

pub use guard::AllowedHosts;
pub use router::{Options, router};
pub use server::{Limits, ListenError, Server};

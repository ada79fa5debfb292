//! HTTP and WebSocket access to a [`bestow::Engine`].
//!
//! This package decides nothing. The credential of a sender shows who sends a message. The message goes to the handle
//! of that agent, approver or operator. Every answer comes from the engine.
//!
//! [`router`] gives an axum router, which an orchestrator can mount in its own program. [`Server`] serves it with the
//! limits of a daemon: `bestow serve` is little more than that.

#![forbid(unsafe_code)]

mod body;
pub mod credentials;
mod guard;
mod identity;
mod permissions;
mod problem;
mod refusal;
mod router;
mod server;

pub use guard::AllowedHosts;
pub use router::{Options, router};
pub use server::{Limits, ListenError, Server};

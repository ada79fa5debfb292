//! Bots over their standard input and output: one JSON object per line, in both directions.
//!
//! The program that starts a bot decides the bot's role, and a [`Bot`] is that decision. A bot acts as *one agent*, or
//! it reaches *the user of one foreground agent*. No line that a bot writes can change its role. `docs/protocol.md`
//! defines the protocol. The messages in this module are its Rust form, for both ends.
//!
//! On the wire, field names are in camelCase: `permission_request_id` is `permissionRequestId` there. The interface for
//! authors of bots is `docs/protocol.md` with `tests/vectors`, not the Rust names.
//!
//! ```no_run
//! # async fn example(engine: bestow::Engine) -> Result<(), Box<dyn std::error::Error>> {
//! use bestow::stdio::Bot;
//!
//! let mut command = tokio::process::Command::new("python3");
//! command.arg("worker.py");
//! let mut running = Bot::agent(&engine, &"worker".parse()?)?.spawn(command)?;
//! println!("{}", running.wait().await);
//! # Ok(()) }
//! ```
//!
//! Deliberately absent: deciding about permissions (the engine does), restarting a bot that ended (the host decides),
//! and confining the process in anything besides its conversation.

mod agent;
mod agent_client;
mod approver_client;
mod base64;
mod bot;
mod connector;
mod denials;
mod error_mapping;
mod holdings;
mod limits;
mod line_codec;
mod message;
mod process;
mod processes;
mod render;
mod session;
mod sinks;
mod writer;

pub use agent_client::AgentClient;
pub use approver_client::ApproverClient;
pub use bot::Bot;
pub use limits::Limits;
pub use line_codec::{Line, Lines};
pub use message::*;
#[cfg(feature = "sandbox")]
pub(crate) use process::log;
pub use process::{Exit, Running};
pub use session::Ended;

//! Bots over their standard input and output: one JSON object for each line, in both directions.
//!
//! Whoever starts a bot decides what it may act as, and a [`Bot`] is that decision: *one agent*, or *the way to the
//! user of one foreground agent*. No line that a bot writes can change it. `docs/protocol.md` is the protocol; the
//! messages here are the same in Rust, for both ends.
//!
//! On the wire, names of fields are in camelCase: `permission_request_id` is `permissionRequestId` there. The interface
//! for whoever writes a bot is `docs/protocol.md` with `tests/vectors`, not the Rust names.
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
//! Deliberately absent: who may do what (the engine decides), starting a bot again when it ended (the host decides),
//! and confining what the process does besides talking.

mod agent;
mod base64;
mod bot;
mod connector;
mod denials;
mod frame;
mod holdings;
mod limits;
mod message;
mod outgoing;
mod process;
mod processes;
mod quote;
mod refused;
mod session;

pub use bot::Bot;
pub use frame::{Line, Lines};
pub use limits::Limits;
pub use message::*;
pub use process::{Exit, Running};
pub use session::Ended;

//! Long-running processes of agents (`sources/004`, "Exec/process scoped permissions").
//!
//! [`Agent::process_start`](crate::Agent::process_start) starts a process. It has the scope and the sandbox that
//! [`Agent::exec`](crate::Agent::exec) gives a command, and it is decided like every action. It ends when somebody
//! stops it. It also ends with each of the things it depends on: a permission that it was started with, its agent, its
//! agent's run, the engine.
//!
//! Deliberately absent: automatic restarts, and a terminal.
//!
//! ```no_run
//! # async fn example(agent: bestow::Agent) -> Result<(), Box<dyn std::error::Error>> {
//! use bestow::{process::{OutputStream, ProcessOptions}, sandbox::{Command, Sandbox}};
//!
//! let sandbox = Sandbox::find()?;
//! let echo = Command::new("sh").args(["-c", "while read line; do echo got $line; done"]);
//! let id = agent.process_start(&sandbox, echo, &[], ProcessOptions::default()).await?;
//! agent.process_write(id, b"hello\n").await?;
//! agent.process_output(id, OutputStream::Stdout, 0).await?;
//! println!("{}", String::from_utf8_lossy(&agent.process_read(id, OutputStream::Stdout, 0, 4096)?.bytes));
//! agent.process_stop(id, std::time::Duration::from_secs(5)).await?;
//! # Ok(()) }
//! ```

mod agent;
mod bot;
mod entry;
mod ordered;
mod registry;
mod ring;
mod supervise;

pub use crate::model::OutputStream;
#[cfg(feature = "journal")]
pub(super) use ordered::action;
#[cfg(feature = "journal")]
pub(super) use registry::{carry_out_for, whose};
pub use ring::Chunk;

/// The maximum number of bytes that are kept of each stream of a process.
const MOST_KEPT: usize = 16 << 20;

/// Options for a long-running process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessOptions {
    /// The number of latest bytes that are kept of each output stream: 256 KiB, and at most 16 MiB.
    pub buffer: usize,
}

impl Default for ProcessOptions {
    fn default() -> ProcessOptions {
        ProcessOptions { buffer: 256 << 10 }
    }
}

impl ProcessOptions {
    /// Returns the options with another number of kept bytes for each output stream.
    #[must_use]
    pub fn buffer(self, buffer: usize) -> ProcessOptions {
        ProcessOptions { buffer }
    }
}

/// A process as its agent sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessStatus {
    /// The identity of the process, and the things it depends on.
    pub process: std::sync::Arc<crate::model::Process>,
    /// Its exit, if it ended.
    pub exit: Option<crate::model::ProcessExit>,
}

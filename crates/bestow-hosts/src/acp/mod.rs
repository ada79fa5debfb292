//! The Agent Client Protocol (ACP): between an editor and a coding agent, and as an agent of an editor.
//!
//! A message of ACP is one line with a JSON object, over the standard input and output of the agent's process.
//! [`Wrapper`] stands between an editor and an agent: it copies every message byte for byte, except the requests of the
//! agent for permission, which an engine answers. Nothing here starts a process.

mod call;
mod calls;
mod envelope;
pub mod foreground;
mod held;
mod judge;
mod lines;
mod options;
mod permission;
mod reply;
mod sessions;
mod tool_call;
mod wrapper;

#[doc(hidden)]
pub use envelope::line_in;
pub use options::{Otherwise, WrapOptions};
pub use wrapper::{Broken, Log, Wrapper};

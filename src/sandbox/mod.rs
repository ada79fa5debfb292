//! Runs commands in child processes that can do no more than the scope of their agent allows (Linux).
//!
//! A [`Profile`] lists the permissions of a command. A [`Sandbox`] applies it to a child process and reports the
//! restrictions that are in force, read back from the kernel. If a part of the profile cannot be enforced, the sandbox
//! returns an error that names it, and the command does not run. `docs/sandbox.md` describes the abilities of each back
//! end.
//!
//! Three things are absent on purpose. This module does not decide who may run a command: the engine does. It has no
//! shell: a command is a list of words. It cannot run a command with weaker restrictions than its profile asks for.
//!
//! ```no_run
//! # async fn example(agent: bestow::Agent) -> Result<(), Box<dyn std::error::Error>> {
//! use bestow::sandbox::{Command, Sandbox};
//!
//! let sandbox = Sandbox::find()?;
//! let write = "@write:/work/site".parse()?;
//! let done = agent.exec(&sandbox, Command::new("make").arg("site"), &[write]).await?;
//! let stdout = String::from_utf8_lossy(&done.stdout.bytes);
//! println!("{}: {stdout} under {}", done.code.unwrap_or(-1), done.facts.backend);
//! # Ok(()) }
//! ```

mod bubblewrap;
mod by_path;
mod cancellation;
mod cgroup;
mod child;
mod command;
mod denial_report;
mod egress_proxy;
mod error;
mod events;
mod export;
mod folding;
mod fuzzing;
mod git;
mod handshake;
mod helper;
mod hops;
mod keeper;
mod lacking;
mod landlock_rules;
mod limits;
mod look;
mod mounts;
mod neighbours;
mod output;
mod own_mounts;
mod places;
mod profile;
mod read_only_paths;
mod run;
mod running;
mod seccomp;
mod status;
mod streams;
mod trusted;
mod unsupported;

pub use crate::model::{Domain, InvalidDomain};
pub use crate::model::{InvalidLimit, Limit, Limits};
pub(super) use cancellation::{CancelOnDrop, Watched, watched};
pub use command::{Command, Stream};
pub use error::{ExecError, ProfileError, SandboxError};
pub(super) use events::Door;
pub use events::{EVENTS_FD, connect_to_engine};
pub use export::{CannotSay, Format, UnknownFormat};
#[doc(hidden)]
pub use fuzzing::{cache_reads, host_reads};
#[doc(hidden)]
pub use handshake::helper_hears;
pub use helper::{HELPER_WORD, enter_if_asked};
pub(super) use output::Heard;
pub use output::{Finished, Output};
pub use profile::{Guard, Profile};
pub use run::Sandbox;
pub(super) use running::{Going, Gone};

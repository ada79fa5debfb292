//! The errors of profiles, of sandboxes, and of commands that agents run.

use std::io;

use crate::{
    engine::Error,
    model::{Escaped, SanitizedPath},
};

/// The reason for which a profile was not created.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// A root contains the whole machine or the home directory of a person, which is too wide to be intended.
    #[error("`{}` is too large a directory for a command: name the paths that it writes", Escaped(.0.as_str()))]
    TooWide(SanitizedPath),
    /// A root does not exist, or cannot be examined.
    #[error("`{}` cannot be a root of a command: {}", Escaped(.0.as_str()), Escaped(.1))]
    NotThere(SanitizedPath, String),
    /// A sensitive name is a link, and the export format cannot keep a link from being replaced.
    #[error("`{}` is a sensitive name and a link, and a link cannot be protected", Escaped(.0.as_str()))]
    SensitiveLink(SanitizedPath),
    /// The sandbox cannot keep this path from the command.
    #[error("`{}` cannot be blocked for the command: {}", Escaped(.0.as_str()), Escaped(.1))]
    NotHeld(SanitizedPath, String),
    /// The agent may write several places, and no one of them is its workspace.
    #[error(
        "the agent may write {}, but not its working directory: name the paths that the command writes with \
         `Agent::exec`",
        listed(.0)
    )]
    SeveralRoots(Vec<SanitizedPath>),
    /// `@events` connects an agent to its engine, and this command belongs to no agent.
    #[error("`@events` leads an agent to its engine: run the command as an agent (`Agent::exec`)")]
    NoSocket,
}

fn listed(paths: &[SanitizedPath]) -> String {
    let paths: Vec<_> = paths.iter().map(|path| format!("`{}`", Escaped(path.as_str()))).collect();
    paths.join(", ")
}

/// The reason for which a command was not run in a sandbox. No part of the command has run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// `sandbox_unavailable`: a list of everything that cannot be enforced here.
    #[error("sandbox_unavailable: the command was not run: {}", .0.join("; "))]
    Unavailable(Vec<String>),
    /// The profile could not be created.
    #[error("{0}")]
    Profile(#[source] ProfileError),
    /// The sandbox is ready, but the program cannot be started in it.
    #[error("the command could not be started: {}", Escaped(.0))]
    NotStarted(String),
    /// The operating system reported an error.
    #[error("the sandbox failed: {0}")]
    Io(#[source] io::Error),
}

/// Returns the error about one part that cannot be enforced.
pub(super) fn unavailable(what: &str) -> SandboxError {
    SandboxError::Unavailable(vec![what.to_owned()])
}

impl From<io::Error> for SandboxError {
    fn from(why: io::Error) -> SandboxError {
        SandboxError::Io(why)
    }
}

impl From<rustix::io::Errno> for SandboxError {
    fn from(why: rustix::io::Errno) -> SandboxError {
        SandboxError::Io(why.into())
    }
}

impl From<ProfileError> for SandboxError {
    fn from(why: ProfileError) -> SandboxError {
        SandboxError::Profile(why)
    }
}

/// The reason for which the command of an agent did not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecError {
    /// The engine denied the command, or could not answer.
    #[error("{0}")]
    Engine(#[source] Error),
    /// The sandbox did not run the command.
    #[error("{0}")]
    Sandbox(#[source] SandboxError),
}

impl From<Error> for ExecError {
    fn from(why: Error) -> ExecError {
        ExecError::Engine(why)
    }
}

impl From<SandboxError> for ExecError {
    fn from(why: SandboxError) -> ExecError {
        ExecError::Sandbox(why)
    }
}

impl From<ProfileError> for ExecError {
    fn from(why: ProfileError) -> ExecError {
        ExecError::Sandbox(why.into())
    }
}

//! The result of a command.

use std::{
    io::Read,
    thread::{self, JoinHandle},
};

use crate::model::{ProcessExit, SandboxFacts, SandboxViolation};

/// The captured output of one stream of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Output {
    /// The first bytes of the output, up to the limit.
    pub bytes: Vec<u8>,
    /// True if the output was longer than the limit.
    pub is_cut: bool,
}

/// The result of a command that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finished {
    /// The exit code, or `None` if a signal ended the command.
    pub code: Option<i32>,
    /// The signal that ended the command.
    pub signal: Option<i32>,
    /// True if the command was killed at its time limit.
    pub timed_out: bool,
    /// The captured standard output.
    pub stdout: Output,
    /// The captured standard error.
    pub stderr: Output,
    /// The restrictions that were in force, read back from the kernel.
    pub facts: SandboxFacts,
    /// The attempts that the profile forbids, as far as the command's own error output shows them.
    pub violations: Vec<SandboxViolation>,
    /// True if the sandbox may have caused the failure, but the error output names no forbidden path.
    pub possible_sandbox_denial: bool,
}

impl Finished {
    /// Returns the end of the command, as events record it.
    pub(crate) fn exit(&self) -> ProcessExit {
        match (self.code, self.signal) {
            _ if self.timed_out => ProcessExit::TimedOut,
            (Some(code), _) => ProcessExit::Exited { code },
            (None, signal) => ProcessExit::Signalled { signal: signal.unwrap_or(0) },
        }
    }
}

/// A callback that receives a stream piece by piece while it is captured.
pub(crate) type Heard = Box<dyn FnMut(&[u8]) + Send>;

/// Reads a stream to its end on its own thread, and keeps at most `limit` bytes.
pub(super) fn captured(
    mut stream: impl Read + Send + 'static,
    limit: usize,
    mut heard: Option<Heard>,
) -> JoinHandle<Output> {
    thread::spawn(move || {
        let (mut output, mut buffer) = (Output::default(), vec![0; 16 << 10]);
        while let Ok(read) = stream.read(&mut buffer) {
            if read == 0 {
                break;
            }
            if let Some(heard) = &mut heard {
                heard(buffer.get(..read).unwrap_or_default());
            }
            let kept = read.min(limit.saturating_sub(output.bytes.len()));
            output.bytes.extend_from_slice(buffer.get(..kept).unwrap_or_default());
            output.is_cut |= kept < read;
        }
        output
    })
}

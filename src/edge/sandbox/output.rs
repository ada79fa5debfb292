//! What came of a command.

use std::{
    io::Read,
    thread::{self, JoinHandle},
};

use crate::model::{SandboxFacts, SandboxViolation};

/// What a command wrote to one stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Output {
    /// The first of it, up to the limit.
    pub bytes: Vec<u8>,
    /// Whether there was more.
    pub is_cut: bool,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finished {
    /// Its exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it was killed because its time was over.
    pub timed_out: bool,
    /// What it wrote to standard output.
    pub stdout: Output,
    /// What it wrote to standard error.
    pub stderr: Output,
    /// What it ran under, read back from the kernel.
    pub facts: SandboxFacts,
    /// What it tried that its profile forbids, where its own words show it.
    pub violations: Vec<SandboxViolation>,
    /// Whether it failed in a way that the sandbox may be the reason of, without evidence of what it was.
    pub possible_sandbox_denial: bool,
}

/// What hears a stream besides, piece by piece.
pub(in crate::edge) type Heard = Box<dyn FnMut(&[u8]) + Send>;

/// Reads a stream to its end, keeping no more than `limit` bytes.
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

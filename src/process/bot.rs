//! A bot whose program runs in the sandbox, with what its agent holds and nothing else.

use std::{os::unix::process::ExitStatusExt, process::ExitStatus, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWrite, AsyncWriteExt, duplex},
    time::{sleep, timeout},
};

use super::{OutputStream, ProcessOptions};
use crate::{
    engine::Agent,
    model::{Permission, ProcessExit, ProcessId},
    sandbox::{Command, ExecError, Profile, Sandbox, SandboxError},
    stdio::{Bot, Exit, Running, log},
};

/// The number of bytes that one step copies.
const STEP: usize = 64 << 10;

/// The number of bytes of output that are kept for the reader. A bot that writes more before they are read is cut off.
const KEPT: usize = 4 << 20;

/// The pause before a full pipe is tried again.
const PAUSE: Duration = Duration::from_millis(5);

impl Bot {
    /// Starts a program in the sandbox and talks to it, like [`Bot::spawn`]. The program may do what its agent holds at
    /// the start: it writes where the agent may write, and has the network if the agent holds `@network`. It ends with
    /// each of the things that a [process](Agent::process_start) depends on.
    ///
    /// # Authority
    ///
    /// The host program decides to start it. Rules, policies and the mode of the agent that deny the command apply. An
    /// approval that only the tier of the command would need is skipped.
    ///
    /// # Errors
    ///
    /// The errors of [`Agent::process_start`]. An I/O error for a bot that does not act as an agent.
    pub async fn spawn_confined(mut self, sandbox: &Sandbox, command: &[String]) -> Result<Running, ExecError> {
        let no_agent = || SandboxError::Io(std::io::Error::other("only a bot that acts as an agent has a sandbox"));
        let (agent, limits) = self.acting_as().ok_or_else(no_agent)?;
        let mut words = command.iter();
        let command = Command::new(words.next().cloned().unwrap_or_default()).args(words.cloned());
        let profile = profile(agent.clone()).await?;
        let options = ProcessOptions::default().buffer(KEPT);
        let process = agent.process_start_confined(sandbox, profile, command, options).await?;
        let stderr = self.take_stderr();
        Ok(Running::talking(None, move |stopped| async move {
            let (ours, theirs) = (duplex(STEP), duplex(STEP));
            let (mut reader, output) = ours;
            let (input, writer) = theirs;
            tokio::spawn(copy_out(agent.clone(), process, OutputStream::Stdout, output));
            tokio::spawn(copy_in(agent.clone(), process, input));
            if let Some(sink) = stderr {
                let (lines, bytes) = duplex(STEP);
                tokio::spawn(copy_out(agent.clone(), process, OutputStream::Stderr, bytes));
                tokio::spawn(log(lines, sink));
            }
            let stop = async {
                tokio::select! {
                    // Dropping the sender is the signal to stop.
                    _ = stopped => {}
                    () = gone(&agent, process, limits.grace) => {}
                }
            };
            let ended = self.serve_until(&mut reader, writer, stop).await;
            if timeout(limits.grace, agent.process_wait(process)).await.is_err() {
                // A process that has ended meanwhile needs no end.
                let _ = agent.process_stop(process, Duration::ZERO).await;
            }
            let status = agent.process_wait(process).await.ok().and_then(status);
            Exit { ended, status }
        }))
    }
}

/// Returns the profile with everything that the agent holds and a process can be given. This looks at every protected
/// path, and a disk may be slow.
async fn profile(agent: Agent) -> Result<Profile, ExecError> {
    let made = tokio::task::spawn_blocking(move || {
        let given = |held: &Permission| !matches!(held, Permission::Tool(_));
        let held: Vec<_> = agent.permissions()?.iter().filter(given).collect();
        agent.sandbox_profile(&held)
    });
    made.await.unwrap_or_else(|why| Err(SandboxError::Io(std::io::Error::other(why)).into()))
}

/// Waits until a process has ended and its last lines were read.
async fn gone(agent: &Agent, process: ProcessId, grace: Duration) {
    let _ = agent.process_wait(process).await;
    sleep(grace).await;
}

/// Copies what a process writes. It ends with the stream, with the reader, or when output was lost.
async fn copy_out(agent: Agent, process: ProcessId, stream: OutputStream, mut to: impl AsyncWrite + Unpin) {
    let mut from = 0;
    loop {
        if agent.process_output(process, stream, from).await.is_err() {
            return;
        }
        let Ok(chunk) = agent.process_read(process, stream, from, STEP) else { return };
        if chunk.dropped > 0 || to.write_all(&chunk.bytes).await.is_err() || chunk.is_end {
            return;
        }
        from = chunk.next;
    }
}

/// Copies what the process is told to its standard input, and closes it at the end.
async fn copy_in(agent: Agent, process: ProcessId, mut from: impl tokio::io::AsyncRead + Unpin) {
    let mut buffer = vec![0; STEP];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        let mut rest = buffer.get(..length).unwrap_or_default();
        while !rest.is_empty() {
            match agent.process_write(process, rest).await {
                Ok(0) => sleep(PAUSE).await,
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(_) => return,
            }
        }
    }
    // A process that has ended has no input.
    let _ = agent.process_close_input(process);
}

fn status(exit: ProcessExit) -> Option<ExitStatus> {
    match exit {
        ProcessExit::Exited { code } => Some(ExitStatus::from_raw(code << 8)),
        ProcessExit::Signalled { signal } => Some(ExitStatus::from_raw(signal)),
        ProcessExit::NotStarted | ProcessExit::TimedOut | ProcessExit::WithEngine => None,
    }
}

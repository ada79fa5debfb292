//! The process of the agent: its pipes, its end, and its exit code.

use std::{
    ffi::OsString,
    io,
    os::unix::process::ExitStatusExt as _,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use bestow::text::Escaped;
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};

use crate::exit::Exit;

/// The time in which an agent ends that was told to.
const GRACE: Duration = Duration::from_secs(5);

/// An agent that runs. Its standard error is that of this process.
pub(super) struct Agent(Child);

impl Agent {
    pub(super) fn start(words: &[OsString]) -> Result<(Agent, ChildStdout, ChildStdin), Exit> {
        let (program, arguments) = words.split_first().ok_or_else(|| Exit::usage("the agent is missing"))?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        // The token belongs to the wrapper.
        command.env_remove("BESTOW_TOKEN");
        let failed = |why: io::Error| {
            let program = Escaped(&program.to_string_lossy()).to_string();
            let way_out = match why.kind() {
                io::ErrorKind::NotFound => ": an editor may have another PATH, so write the absolute path",
                _ => "",
            };
            Exit::failed(format_args!("the agent `{program}` cannot be started: {why}{way_out}"))
        };
        let mut child = command.spawn().map_err(failed)?;
        match (child.stdout.take(), child.stdin.take()) {
            (Some(output), Some(input)) => Ok((Agent(child), output, input)),
            _ => Err(Exit::failed("the agent has no pipes")),
        }
    }

    /// Waits for the end of the process. Dropping the future loses nothing.
    pub(super) async fn ended(&mut self) {
        // A process that cannot be waited for is taken as ended.
        let _ = self.0.wait().await;
    }

    /// Tells the process to end.
    pub(super) fn tell(&self) {
        if let Some(pid) = self.0.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)) {
            // It may have ended meanwhile.
            let _ = kill_process(pid, Signal::TERM);
        }
    }

    /// Waits for the end of the process, tells it to end after a while, and kills it after another one. Returns the
    /// exit code as a shell does.
    pub(super) async fn end(mut self) -> Exit {
        if timeout(GRACE, self.0.wait()).await.is_err() {
            self.tell();
            if timeout(GRACE, self.0.wait()).await.is_err() {
                // Its end is noticed below.
                let _ = self.0.start_kill();
            }
        }
        match self.0.wait().await {
            Ok(status) => Exit::Ended(code(status)),
            Err(why) => Exit::failed(format_args!("the agent cannot be waited for: {why}")),
        }
    }
}

/// Returns the code of a process, or 128 and the number of the signal that ended it.
fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| Some(128 + status.signal()?));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

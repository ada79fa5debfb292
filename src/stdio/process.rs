//! A bot that is a child process.

use std::{
    fmt,
    future::Future,
    io,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, copy, sink},
    process::{Child, Command},
    sync::oneshot,
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::{
    bot::Bot,
    line_codec::{Line, Lines},
    session::Ended,
    sinks::TextSink,
};
use crate::quote::quoted;

/// The maximum length of a standard error line that is passed on, in bytes.
const MAX_LOG_LINE: usize = 64 * 1024;

/// The end of a bot's process and of its conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exit {
    /// The reason why the conversation ended.
    pub ended: Ended,
    /// The exit status of the process; `None` if it cannot be determined.
    pub status: Option<ExitStatus>,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            Some(status) => write!(f, "{}; {status}", self.ended),
            None => write!(f, "{}; the exit status of the process is unknown", self.ended),
        }
    }
}

/// The process of a bot. Dropping this kills the process.
#[derive(Debug)]
#[must_use = "dropping this kills the process"]
pub struct Running {
    pid: Option<u32>,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<Exit>,
    exit: Option<Exit>,
}

impl Running {
    pub(super) fn start(mut bot: Bot, mut command: Command, grace: Duration) -> io::Result<Running> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let sink = bot.stderr.take();
        if sink.is_some() {
            command.stderr(Stdio::piped());
        }
        let mut child = command.spawn().map_err(|why| {
            let program = quoted(&command.as_std().get_program().to_string_lossy());
            io::Error::new(why.kind(), format!("{program} cannot be started: {why}"))
        })?;
        let pid = child.id();
        let pipes = child.stdout.take().zip(child.stdin.take());
        let (stdout, stdin) = pipes.ok_or(io::ErrorKind::BrokenPipe)?;
        let log = child.stderr.take().zip(sink).map(|(stderr, sink)| tokio::spawn(log(stderr, sink)));
        Ok(Running::talking(pid, move |stopped| async move {
            let exit = run(bot, child, (stdout, stdin), stopped, grace).await;
            if let Some(log) = log {
                // Another process may have inherited the pipe and keep it open. The engine does not wait for it.
                let abort = log.abort_handle();
                let _ = timeout(grace, log).await;
                abort.abort();
            }
            exit
        }))
    }

    /// Starts a conversation on a task of its own. It ends with the process of the bot.
    pub(crate) fn talking<F: Future<Output = Exit> + Send + 'static>(
        pid: Option<u32>,
        talk: impl FnOnce(oneshot::Receiver<()>) -> F,
    ) -> Running {
        let (stop, stopped) = oneshot::channel();
        Running { pid, stop: Some(stop), task: tokio::spawn(talk(stopped)), exit: None }
    }

    /// Returns the process id.
    pub fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// Waits until the process has ended.
    ///
    /// # Cancellation
    ///
    /// Dropping the future only stops the waiting.
    pub async fn wait(&mut self) -> Exit {
        if let Some(exit) = &self.exit {
            return exit.clone();
        }
        let exit = (&mut self.task).await.unwrap_or(Exit { ended: Ended::Stopped, status: None });
        self.exit.insert(exit).clone()
    }

    /// Says goodbye, closes the input of the process, waits for at most [`Limits::grace`](super::Limits::grace), and
    /// kills the process if it still runs.
    pub async fn stop(mut self) -> Exit {
        self.stop.take();
        self.wait().await
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Aborting the task drops the child, and dropping the child kills it.
        self.task.abort();
    }
}

impl Bot {
    /// Starts a process and talks to it over its standard input and output. The process is killed if it does not end
    /// within [`Limits::grace`](super::Limits::grace) after the conversation, or when the [`Running`] is dropped. Call
    /// this within a Tokio runtime that does I/O.
    ///
    /// # Errors
    ///
    /// An I/O error if the process cannot be started. The error names the program.
    pub fn spawn(self, command: Command) -> io::Result<Running> {
        let grace = self.limits.grace;
        Running::start(self, command, grace)
    }
}

/// Runs the conversation, and then makes sure that the process ends.
async fn run(
    bot: Bot,
    mut child: Child,
    (mut stdout, stdin): (impl AsyncRead + Unpin + Send, impl AsyncWrite + Unpin + Send),
    stopped: oneshot::Receiver<()>,
    grace: Duration,
) -> Exit {
    let gone = async {
        // The bot's last lines are still read: its output closes before this future completes.
        let _ = child.wait().await;
        sleep(grace).await;
    };
    let stop = async {
        tokio::select! {
            // Dropping the sender is the signal to stop.
            _ = stopped => {}
            () = gone => {}
        }
    };
    let ended = bot.serve_until(&mut stdout, stdin, stop).await;
    // The remaining output is read and discarded, so that the process does not fail while writing it.
    let ends = async {
        let mut nowhere = sink();
        let (status, _) = tokio::join!(child.wait(), copy(&mut stdout, &mut nowhere));
        status
    };
    let status = match timeout(grace, ends).await {
        Ok(status) => status.ok(),
        Err(_) => {
            // The process may have ended at this moment. Then there is nothing to kill.
            let _ = child.start_kill();
            child.wait().await.ok()
        }
    };
    Exit { ended, status }
}

/// Passes each line of standard error on.
pub(crate) async fn log(stderr: impl AsyncRead + Unpin, mut sink: TextSink) {
    let mut lines = Lines::new(stderr, MAX_LOG_LINE);
    while let Ok(Some(line)) = lines.next().await {
        match line {
            Line::Text(text) => sink(&text),
            Line::NotUtf8 => sink("(a line that is not UTF-8)"),
            Line::TooLong => sink("(a line that is too long)"),
            Line::Endless => return,
        }
    }
}

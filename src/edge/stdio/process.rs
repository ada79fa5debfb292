//! A bot that is a child process.

use std::{
    fmt, io,
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
    Bot,
    frame::{Line, Lines},
    session::Ended,
};

/// What hears the lines of a bot's standard error.
pub(super) type Sink = Box<dyn FnMut(&str) + Send>;

/// The most bytes of one line of standard error that are passed on.
const MAX_LOG_LINE: usize = 64 * 1024;

/// How a bot's process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exit {
    /// Why the conversation was over.
    pub ended: Ended,
    /// How the process ended; none if that cannot be found out.
    pub status: Option<ExitStatus>,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            Some(status) => write!(f, "{}; {status}", self.ended),
            None => write!(f, "{}; nobody knows how the process ended", self.ended),
        }
    }
}

/// A bot's process. Dropping this kills it.
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
        let mut child = command.spawn()?;
        let pid = child.id();
        let pipes = child.stdout.take().zip(child.stdin.take());
        let (stdout, stdin) = pipes.ok_or(io::ErrorKind::BrokenPipe)?;
        let log = child.stderr.take().zip(sink).map(|(stderr, sink)| tokio::spawn(log(stderr, sink)));
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            let exit = run(bot, child, (stdout, stdin), stopped, grace).await;
            if let Some(log) = log {
                // A process that inherited the pipe may keep it open; it is not waited for.
                let abort = log.abort_handle();
                let _ = timeout(grace, log).await;
                abort.abort();
            }
            exit
        });
        Ok(Running { pid, stop: Some(stop), task, exit: None })
    }

    /// The process's id, as the system knows it.
    pub fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// Waits until the process has ended.
    ///
    /// # Cancellation
    ///
    /// Dropping the future stops waiting, and nothing else.
    pub async fn wait(&mut self) -> Exit {
        if let Some(exit) = &self.exit {
            return exit.clone();
        }
        let exit = (&mut self.task).await.unwrap_or(Exit { ended: Ended::Stopped, status: None });
        self.exit.insert(exit).clone()
    }

    /// Says goodbye, closes the process's input, waits a little, and kills it if it is still there.
    pub async fn stop(mut self) -> Exit {
        self.stop.take();
        self.wait().await
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // With the task goes the child, which is killed when dropped.
        self.task.abort();
    }
}

/// Talks, and then sees to it that the process ends.
async fn run(
    bot: Bot,
    mut child: Child,
    (mut stdout, stdin): (impl AsyncRead + Unpin + Send, impl AsyncWrite + Unpin + Send),
    stopped: oneshot::Receiver<()>,
    grace: Duration,
) -> Exit {
    let gone = async {
        // Either way the bot's last lines are read first: its output closes before this is over.
        let _ = child.wait().await;
        sleep(grace).await;
    };
    let stop = async {
        tokio::select! {
            // A dropped sender is how stopping is told.
            _ = stopped => {}
            () = gone => {}
        }
    };
    let ended = bot.serve_until(&mut stdout, stdin, stop).await;
    // What it says now is heard by nobody, but it should not die of saying it.
    let ends = async {
        let mut nowhere = sink();
        let (status, _) = tokio::join!(child.wait(), copy(&mut stdout, &mut nowhere));
        status
    };
    let status = match timeout(grace, ends).await {
        Ok(status) => status.ok(),
        Err(_) => {
            // It may have ended in this moment; then there is nothing to kill.
            let _ = child.start_kill();
            child.wait().await.ok()
        }
    };
    Exit { ended, status }
}

async fn log(stderr: impl AsyncRead + Unpin, mut sink: Sink) {
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

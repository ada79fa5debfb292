//! The child process of one run: bubblewrap or the keeper, with the stream to the helper in it.

use std::{
    io::{self, IsTerminal as _, Read as _, Write as _},
    net::Shutdown,
    os::{
        fd::{AsFd as _, BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
    path::Path,
    process::{Child, ExitStatus, Stdio},
    thread,
    time::Duration,
};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rustix::{
    fs::fstat,
    io::retry_on_intr,
    net::sockopt::set_socket_passcred,
    process::{Pid, PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid},
    stdio::{stderr, stdout},
};

use super::{
    SandboxError, Stream,
    cancellation::{Over, Watched},
    error::unavailable,
    output::{Heard, Output, captured},
};

/// The time limit for the start of a sandbox.
pub(super) const TO_STAND: Duration = Duration::from_secs(30);

/// The time in which a process ends by itself that is not needed any more, in milliseconds.
const TO_END: u16 = 5_000;

/// The most bytes of the error output of a process that did not start.
const MOST_WORDS: u64 = 16 << 10;

/// A process that becomes the command, or that already is the command. Dropping it ends the process and all processes
/// that it started.
pub(super) struct Running {
    pub(super) child: Child,
    /// The stream to the helper. Without bubblewrap, its end makes the keeper kill all processes: there, killing the
    /// child does not end a process namespace.
    pub(super) control: UnixStream,
    has_keeper: bool,
    /// The process id of the helper, as the host sees it, once it is known.
    pub(super) leader: Option<Pid>,
    pub(super) stdout: Option<thread::JoinHandle<Output>>,
    pub(super) stderr: Option<thread::JoinHandle<Output>>,
    /// True if this process copies the standard error to its own, to find out what was denied.
    copies_errors: bool,
}

impl Running {
    /// Starts a process, with one end of a stream as its input. Nothing reads its output until [`Running::listen`].
    pub(super) fn start(
        mut process: std::process::Command,
        output: Stream,
        has_keeper: bool,
    ) -> Result<Running, SandboxError> {
        let (control, theirs) = UnixStream::pair()?;
        set_socket_passcred(&control, true)?;
        control.set_read_timeout(Some(TO_STAND))?;
        let program = Path::new(process.get_program()).to_owned();
        process.stdin(Stdio::from(OwnedFd::from(theirs))).current_dir("/");
        let stream = || match output {
            Stream::Captured => Stdio::piped(),
            Stream::Inherit => Stdio::inherit(),
            Stream::Nothing => Stdio::null(),
        };
        let copies_errors = output == Stream::Inherit && can_copy_errors();
        let errors = if copies_errors { Stdio::piped() } else { stream() };
        let spawned = process.stdout(stream()).stderr(errors).spawn();
        let child = spawned.map_err(|why| unavailable(&format!("`{}`: {why}", program.display())))?;
        Ok(Running { child, control, has_keeper, leader: None, stdout: None, stderr: None, copies_errors })
    }

    /// Reads the captured streams from now on, each on its own thread. At most `limit` bytes of each are kept.
    pub(super) fn listen(&mut self, limit: usize, heard: [Option<Heard>; 2]) {
        let [hears_out, hears_err] = heard;
        // Whoever reads the standard error of this process may be gone.
        let copy = || -> Heard { Box::new(|bytes| drop(io::stderr().write_all(bytes))) };
        let hears_err = hears_err.or_else(|| self.copies_errors.then(copy));
        self.stdout = self.child.stdout.take().map(|stream| captured(stream, limit, hears_out));
        self.stderr = self.child.stderr.take().map(|stream| captured(stream, limit, hears_err));
    }

    /// Kills the process and all processes that it started.
    pub(super) fn kill(&mut self) {
        let _ = match self.has_keeper {
            true => self.control.shutdown(Shutdown::Both),
            false => self.child.kill(),
        };
    }

    /// Waits for the end of the command, for its time limit, or for its cancellation. It then kills all that is left
    /// and reaps the child.
    pub(super) fn wait(&mut self, at_most: Duration, watched: &Watched) -> io::Result<(ExitStatus, Over)> {
        let pid = Pid::from_child(&self.child);
        let tell = watched.ended();
        let ended = thread::spawn(move || {
            // The wait does not reap the process, so that its id stays reserved until everything is gone.
            let _ = retry_on_intr(|| waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT));
            tell();
        });
        let over = watched.wait(at_most);
        self.kill();
        let _ = ended.join();
        self.child.wait().map(|status| (status, over))
    }

    /// Ends a process that did not get ready. Returns the error, with the error output of its processes.
    pub(super) fn not_stood(mut self, why: SandboxError) -> SandboxError {
        let stream = self.child.stderr.take();
        drop(self);
        let mut said = Vec::new();
        let _ = stream.map(|stream| stream.take(MOST_WORDS).read_to_end(&mut said));
        let said = String::from_utf8_lossy(&said).trim().to_owned();
        let said = Some(said).filter(|said| !said.is_empty());
        if let SandboxError::Unavailable(missing) = why {
            return SandboxError::Unavailable(missing.into_iter().chain(said).collect());
        }
        match said {
            Some(said) => SandboxError::Unavailable(vec![why.to_string(), said]),
            None => why,
        }
    }

    /// Lets a process end by itself whose helper has not answered yet. bubblewrap takes care of its children only at
    /// the end of its own start, so killing it earlier would leave one of them.
    fn end_by_itself(&self) {
        // The helper sees the end of its stream, and ends.
        let _ = self.control.shutdown(Shutdown::Both);
        let Ok(ended) = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty()) else { return };
        let mut one = [PollFd::new(ended.as_fd(), PollFlags::POLLIN)];
        let _ = poll(&mut one, PollTimeout::from(TO_END));
    }
}

/// Returns true if this process can stand between a command and its own standard error, and nobody notices: it is no
/// terminal, and not the file or pipe of the standard output, where the order of the lines would change.
fn can_copy_errors() -> bool {
    let identity = |stream: BorrowedFd<'_>| fstat(stream).map(|found| (found.st_dev, found.st_ino)).ok();
    let errors = identity(stderr());
    errors.is_some() && errors != identity(stdout()) && !io::stderr().is_terminal()
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.leader.is_none() {
            self.end_by_itself();
        }
        self.kill();
        let _ = self.child.wait();
        // The streams end with the processes. Their output is not needed any more.
        for stream in [self.stdout.take(), self.stderr.take()].into_iter().flatten() {
            let _ = stream.join();
        }
    }
}

//! The parent of a command without a process namespace. It kills all processes of the command, even if the host is
//! killed.
//!
//! With bubblewrap the kernel does this. Without it, all processes of a command stay in its process group, because no
//! process can leave it. One process must remain to kill that group: the keeper. Its stream to the host ends with the
//! host, however the host ends.

use std::{ffi::OsString, io, os::fd::AsFd, os::unix::process::ExitStatusExt, process::Command};

use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
};
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, getpid, kill_process, kill_process_group, pidfd_open, setrlimit,
};

/// The first argument of a program that is started as the keeper.
pub(super) const KEEPER_WORD: &str = "sandbox-keeper";

/// Starts the program in `words` with the streams of this process. Waits until the program ends, or until the host
/// closes the other end of the standard input or is gone. Then kills the program's group. This process ends with the
/// program's exit code or signal.
pub(super) fn keep(mut words: impl Iterator<Item = OsString>) -> io::Result<()> {
    // This process may have to end with a signal that would write its memory to disk.
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    let Some(program) = words.next() else { return Ok(()) };
    let mut child = Command::new(program).args(words).spawn()?;
    let pid = Pid::from_child(&child);
    let ended = pidfd_open(pid, PidfdFlags::empty()).map_err(io::Error::from).and_then(|leader| {
        let host = io::stdin();
        let mut both = [PollFd::new(host.as_fd(), PollFlags::empty()), PollFd::new(leader.as_fd(), PollFlags::POLLIN)];
        loop {
            match poll(&mut both, PollTimeout::NONE) {
                Err(Errno::EINTR) => {}
                answer => return answer.map(drop).map_err(io::Error::from),
            }
        }
    });
    // The child is not reaped yet, so the id of the group is still its own.
    let _ = (kill_process_group(pid, Signal::KILL), child.kill());
    let status = child.wait()?;
    ended?;
    if let Some(signal) = status.signal().and_then(Signal::from_named_raw) {
        kill_process(getpid(), signal)?;
    }
    std::process::exit(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)))
}

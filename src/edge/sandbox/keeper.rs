//! The parent of a command that has no process namespace: it ends what the command started, whatever becomes of the host.
//!
//! With bubblewrap the kernel does that. Without, everything a command starts stays in its process group, which nothing
//! can leave; but somebody has to be there to end it. The stream to the host is over when the host is, however it ended.

use std::{ffi::OsString, io, os::fd::AsFd, os::unix::process::ExitStatusExt, process::Command};

use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
};
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, getpid, kill_process, kill_process_group, pidfd_open, setrlimit,
};

/// The word with which a program is started as the keeper.
pub(super) const KEEPER_WORD: &str = "sandbox-keeper";

/// Starts what `words` name with the streams of this process, and ends it, with all its group, when the host at the other
/// end of the standard input is gone or lets go. Then ends as it did.
pub(super) fn keep(mut words: impl Iterator<Item = OsString>) -> io::Result<()> {
    // It may have to end as from a signal that writes memory to disk.
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
    // It is not waited for yet, so the number of the group is still its own.
    let _ = (kill_process_group(pid, Signal::KILL), child.kill());
    let status = child.wait()?;
    ended?;
    if let Some(signal) = status.signal().and_then(Signal::from_named_raw) {
        kill_process(getpid(), signal)?;
    }
    std::process::exit(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)))
}

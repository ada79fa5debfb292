//! The kernel's report about the process at the other end.

use std::{
    io,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::net::UnixStream,
    },
    sync::Arc,
};

use nix::sys::socket::{getsockopt, sockopt};

use super::{
    super::{
        ancestry::{Origin, Process},
        surfaces::Surfaces,
    },
    Admitted, NotAdmitted, means,
};

/// Names the process that connected, as the kernel reports it.
pub(in super::super) fn named(stream: &UnixStream) -> Arc<str> {
    match getsockopt(stream, sockopt::PeerCredentials) {
        Ok(told) => format!("uid {}, pid {}", told.uid(), told.pid()).into(),
        Err(_) => "a process without information from the kernel".into(),
    }
}

/// Returns true if a terminal controls this process.
pub(in super::super) fn has_own_terminal() -> bool {
    Process::of(std::process::id()).is_ok_and(|own| own.has_terminal)
}

/// Admits the process that connected, or returns the reason for the refusal.
pub(in super::super) fn admit(stream: &UnixStream, surfaces: &Surfaces) -> Result<Admitted, NotAdmitted> {
    let told = getsockopt(stream, sockopt::PeerCredentials).map_err(io::Error::from)?;
    if told.uid() != rustix::process::getuid().as_raw() {
        return Err(NotAdmitted::OtherUser { uid: told.uid() });
    }
    // The kernel reports pid 0 for a process outside this namespace.
    let pid = u32::try_from(told.pid()).ok().filter(|pid| *pid != 0).ok_or(NotAdmitted::Gone)?;
    let engine = std::process::id();
    let attended = |is_attended| Ok(Admitted { means: means(told.uid(), pid), is_attended });
    if pid == engine {
        return attended(true);
    }
    if std::fs::read_link("/proc/self")?.to_str() != Some(engine.to_string().as_str()) {
        return Err(NotAdmitted::Unclear(io::Error::other("`/proc` belongs to another process namespace")));
    }
    let held = Held::of(stream, pid)?;
    let peer = Process::of(pid)?;
    let origin = peer.origin(engine, |process| surfaces.know(process))?;
    // If the process still exists after all these reads, each of them was about this process.
    if !held.is_there(pid)? {
        return Err(NotAdmitted::Gone);
    }
    match origin {
        Origin::Engine => Err(NotAdmitted::FromEngine { pid }),
        Origin::Surface => attended(true),
        Origin::Elsewhere => attended(peer.has_terminal),
    }
}

/// A handle on a process. It shows if the number was reused by another process.
struct Held(OwnedFd);

impl Held {
    fn of(stream: &UnixStream, pid: u32) -> Result<Held, NotAdmitted> {
        if let Ok(held) = getsockopt(stream, sockopt::PeerPidfd) {
            return Ok(Held(held));
        }
        // A kernel before 6.5: use the process that has that number now.
        let number = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw).ok_or(NotAdmitted::Gone)?;
        let held = rustix::process::pidfd_open(number, rustix::process::PidfdFlags::empty());
        held.map(Held).map_err(|_| NotAdmitted::Gone)
    }

    fn is_there(&self, pid: u32) -> io::Result<bool> {
        let told = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", self.0.as_raw_fd()))?;
        let number = told.lines().find_map(|line| line.strip_prefix("Pid:"));
        Ok(number.and_then(|number| number.trim().parse().ok()) == Some(pid))
    }
}

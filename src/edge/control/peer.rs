//! The process at the other end of the control socket, and whether it may give orders.

use std::{
    fmt, io,
    os::{fd::AsRawFd, unix::net::UnixStream},
};

use nix::sys::socket::{getsockopt, sockopt};

use super::{
    process::{Origin, Process},
    surfaces::Surfaces,
};
use crate::model::Means;

/// A process that may give orders.
#[derive(Debug)]
pub(super) struct Admitted {
    /// Through what its person speaks: who they are is a claim, and the kernel says which process makes it.
    pub(super) means: Means,
    /// A person is taken to be there: the host program stands behind it, or a terminal controls it.
    pub(super) is_attended: bool,
}

/// Why a process may not give orders.
#[derive(Debug)]
pub(super) enum NotAdmitted {
    OtherUser { uid: u32 },
    FromEngine { pid: u32 },
    Gone,
    Unclear(io::Error),
}

impl fmt::Display for NotAdmitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotAdmitted::OtherUser { uid } => {
                write!(f, "user {uid} is not the user of this engine, and nobody else gives it orders")
            }
            NotAdmitted::FromEngine { pid } => write!(
                f,
                "process {pid} comes from the engine's own process, as its agents do: no agent answers itself. Say it from \
                 a terminal of your own; a host program whose child is a person's surface says so with \
                 `Engine::surfaces`"
            ),
            NotAdmitted::Gone => f.write_str("the process that connected is gone"),
            NotAdmitted::Unclear(why) => {
                write!(f, "nobody can tell where the process that connected comes from, so it gives no orders: {why}")
            }
        }
    }
}

impl From<io::Error> for NotAdmitted {
    fn from(why: io::Error) -> NotAdmitted {
        NotAdmitted::Unclear(why)
    }
}

/// The words for who speaks: their name is what they say, the rest is what the kernel says.
pub(super) fn means(uid: u32, pid: u32) -> Means {
    format!("cli, name claimed by uid {uid}, pid {pid}").into()
}

/// What the trail says of orders that this process gives itself.
pub(super) fn own_means() -> Means {
    means(rustix::process::getuid().as_raw(), std::process::id())
}

/// Admits the process that connected, or says why not.
pub(super) fn admit(stream: &UnixStream, surfaces: &Surfaces) -> Result<Admitted, NotAdmitted> {
    let told = getsockopt(stream, sockopt::PeerCredentials).map_err(io::Error::from)?;
    if told.uid() != rustix::process::getuid().as_raw() {
        return Err(NotAdmitted::OtherUser { uid: told.uid() });
    }
    // Of a process outside this namespace the kernel says nothing.
    let pid = u32::try_from(told.pid()).ok().filter(|pid| *pid != 0).ok_or(NotAdmitted::Gone)?;
    let engine = std::process::id();
    let attended = |is_attended| Ok(Admitted { means: means(told.uid(), pid), is_attended });
    if pid == engine {
        return attended(true);
    }
    if std::fs::read_link("/proc/self")?.to_str() != Some(engine.to_string().as_str()) {
        return Err(NotAdmitted::Unclear(io::Error::other("`/proc` is that of other processes")));
    }
    let held = Held::of(stream, pid)?;
    let peer = Process::of(pid)?;
    let origin = peer.origin(engine, |process| surfaces.know(process))?;
    // Whatever was read was about this process, if it is there to the end of the reading.
    if !held.is_there(pid)? {
        return Err(NotAdmitted::Gone);
    }
    match origin {
        Origin::Engine => Err(NotAdmitted::FromEngine { pid }),
        Origin::Surface => attended(true),
        Origin::Elsewhere => attended(peer.has_terminal),
    }
}

/// A process that is held: its number cannot become another one's unseen.
struct Held(std::os::fd::OwnedFd);

impl Held {
    fn of(stream: &UnixStream, pid: u32) -> Result<Held, NotAdmitted> {
        if let Ok(held) = getsockopt(stream, sockopt::PeerPidfd) {
            return Ok(Held(held));
        }
        // A kernel before 6.5: what has that number now.
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

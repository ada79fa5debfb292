//! The process at the other end of the control socket, and whether it may give orders.

use crate::model::Means;
use std::{fmt, io};

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

/// The process at the other end, as the kernel tells it: this system does not tell.
#[cfg(not(target_os = "linux"))]
pub(super) fn named(_: &std::os::unix::net::UnixStream) -> std::sync::Arc<str> {
    "a process".into()
}

/// Admits whoever could open the socket, which only its owner can: this system does not tell more.
#[cfg(not(target_os = "linux"))]
pub(super) fn admit(
    _: &std::os::unix::net::UnixStream,
    _: &super::surfaces::Surfaces,
) -> Result<Admitted, NotAdmitted> {
    Ok(Admitted { means: "cli, name claimed".into(), is_attended: true })
}

#[cfg(target_os = "linux")]
pub(super) use linux::{admit, named};

#[cfg(target_os = "linux")]
mod linux;

//! The process at the other end of the control socket, and the check that it may give orders.

use crate::model::Means;
use std::{fmt, io};

/// A process that may give orders.
#[derive(Debug)]
pub(super) struct Admitted {
    /// The means of its person. The person's name is only a claim; the kernel reports the process that makes the claim.
    pub(super) means: Means,
    /// True if a person is assumed to be present: the sender is the host program or one of its surfaces, or a terminal
    /// controls it.
    pub(super) is_attended: bool,
}

/// The reason why a process may not give orders.
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
                write!(f, "user {uid} is not the user of this engine: only the user of the engine may give orders")
            }
            NotAdmitted::FromEngine { pid } => write!(
                f,
                "process {pid} is a descendant of the engine's process, as its agents are: an agent must not answer \
                 its own requests. Give the order from a terminal of your own. A host program whose child process \
                 is a surface for a person declares it with `Engine::surfaces`"
            ),
            NotAdmitted::Gone => f.write_str("the process that connected has ended"),
            NotAdmitted::Unclear(why) => {
                write!(f, "the origin of the connected process is unknown, so it may not give orders: {why}")
            }
        }
    }
}

impl From<io::Error> for NotAdmitted {
    fn from(why: io::Error) -> NotAdmitted {
        NotAdmitted::Unclear(why)
    }
}

/// Returns the text for the means. The person's name is the sender's own claim. User id and process id come from the
/// kernel.
pub(super) fn means(uid: u32, pid: u32) -> Means {
    format!("cli, name claimed by uid {uid}, pid {pid}").into()
}

/// Returns the means that the audit trail records for orders of this process itself.
pub(super) fn own_means() -> Means {
    means(rustix::process::getuid().as_raw(), std::process::id())
}

/// Names the process at the other end. This system does not report it.
#[cfg(not(target_os = "linux"))]
pub(super) fn named(_: &std::os::unix::net::UnixStream) -> std::sync::Arc<str> {
    "a process".into()
}

/// Admits every process that could open the socket, which only its owner can. This system reports nothing more.
#[cfg(not(target_os = "linux"))]
pub(super) fn admit(
    _: &std::os::unix::net::UnixStream,
    _: &super::surfaces::Surfaces,
) -> Result<Admitted, NotAdmitted> {
    Ok(Admitted { means: "cli, name claimed".into(), is_attended: true })
}

/// Returns true if a terminal controls this process. This system does not report it.
#[cfg(not(target_os = "linux"))]
pub(super) fn has_own_terminal() -> bool {
    true
}

#[cfg(target_os = "linux")]
pub(super) use linux::{admit, has_own_terminal, named};

#[cfg(target_os = "linux")]
mod linux;

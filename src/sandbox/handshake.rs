//! The handshake between the host and the helper, over the helper's standard input.
//!
//! The host sends the specification. The helper confines itself and reports that it is ready. The host checks the
//! helper from outside and sends the start signal. Then the helper becomes the command. bubblewrap keeps its own
//! standard input open while it runs. The host therefore learns of the last step from the end of a second stream, which
//! only the helper holds.

use std::{
    collections::BTreeMap,
    io::{self, IoSlice, IoSliceMut, Read, Write},
    mem::MaybeUninit,
    os::{
        fd::{BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
};

use rustix::{
    io::retry_on_intr,
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
        recvmsg, sendmsg,
    },
    process::Pid,
};
use serde::{Deserialize, Serialize};

use super::{
    limits::CountedBy,
    own_mounts::{Own, OwnMount},
};
use crate::model::Limits;
use crate::model::{FileIdentity, SanitizedPath};

/// The specification that the helper carries out.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Spec {
    /// Bytes, because words and variables do not need to be UTF-8.
    pub(super) words: Vec<Vec<u8>>,
    pub(super) environment: BTreeMap<String, Vec<u8>>,
    pub(super) cwd: SanitizedPath,
    pub(super) write: BTreeMap<SanitizedPath, FileIdentity>,
    pub(super) network: bool,
    /// True if the helper runs inside bubblewrap.
    pub(super) has_namespaces: bool,
    /// The bind mounts that the helper makes, parents first.
    pub(super) mounts: Vec<OwnMount>,
    /// The user and the group that the command runs as.
    pub(super) own: Own,
    pub(super) limits: Limits,
    pub(super) counted_by: CountedBy,
    /// The highest Landlock version that the helper may use, if it may not use every version.
    pub(super) landlock_at_most: Option<u32>,
    /// True if the host sends a descriptor that connects to the engine.
    pub(super) events: bool,
    /// True if the helper opens a listener in its network and sends it to the host.
    pub(super) door: bool,
}

/// The report of the helper after it has tried to confine itself.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum HelperMessage {
    /// All restrictions are in force. `landlock` is the Landlock version, and `events` is the descriptor that connects
    /// to the engine. If the network needs a listener, the message carries its descriptor.
    Ready { landlock: Option<u32>, events: Option<i32> },
    /// A guarded path cannot be protected. Another process may have changed it since the host looked, so the host may
    /// try again. The command does not run.
    Changed(String),
    /// A restriction cannot be put in force, so the command does not run.
    Unavailable(String),
    /// The program cannot be started.
    NotStarted(String),
}

impl From<String> for HelperMessage {
    fn from(why: String) -> HelperMessage {
        HelperMessage::Unavailable(why)
    }
}

/// The longest message. It is longer than any specification, so a greater length is an error.
const LONGEST: usize = 64 << 20;

/// The most descriptors in a message: the command's input, the stream that ends when the helper becomes the command,
/// and the connection to the engine.
const MOST_FDS: usize = 3;

pub(super) fn send(socket: &UnixStream, message: &impl Serialize, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let body = serde_json::to_vec(message)?;
    let length = u32::try_from(body.len()).map_err(io::Error::other)?.to_be_bytes();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FDS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::Error::other("too many descriptors"));
    }
    let sent = retry_on_intr(|| sendmsg(socket, &[IoSlice::new(&length)], &mut control, SendFlags::NOSIGNAL))?;
    if sent != length.len() {
        return Err(io::ErrorKind::WriteZero.into());
    }
    (&*socket).write_all(&body)
}

/// A message with its descriptors.
pub(super) struct Received<T> {
    pub(super) message: T,
    pub(super) fds: Vec<OwnedFd>,
    /// The sender, as the kernel reports it, if the socket was set up to ask.
    pub(super) sender: Option<Pid>,
}

/// Receives the next message, or `None` at the end of the stream.
pub(super) fn receive<T: for<'de> Deserialize<'de>>(socket: &UnixStream) -> io::Result<Option<Received<T>>> {
    let mut length = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FDS), ScmCredentials(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    // Any signal interrupts a stream with a time limit, also the signal for the end of a child.
    let got = retry_on_intr(|| {
        recvmsg(socket, &mut [IoSliceMut::new(&mut length)], &mut control, RecvFlags::CMSG_CLOEXEC).map(|got| got.bytes)
    })?;
    if got == 0 {
        return Ok(None);
    }
    let (mut fds, mut sender) = (Vec::new(), None);
    for message in control.drain() {
        match message {
            RecvAncillaryMessage::ScmRights(more) => fds.extend(more),
            RecvAncillaryMessage::ScmCredentials(who) => sender = Some(who.pid),
            _ => {}
        }
    }
    let mut stream = socket;
    stream.read_exact(length.get_mut(got..).unwrap_or_default())?;
    let length = usize::try_from(u32::from_be_bytes(length)).map_err(io::Error::other)?;
    if length > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(Some(Received { message: serde_json::from_slice(&body)?, fds, sender }))
}

/// Parses bytes as the helper would, for tests with arbitrary bytes. Returns true if the bytes are a specification, and
/// false if there are none.
///
/// # Errors
///
/// Fails if the bytes are not a valid message.
#[doc(hidden)]
pub fn helper_hears(bytes: &[u8]) -> io::Result<bool> {
    // The bytes must fit into the socket buffer, because no other thread reads them meanwhile.
    const MOST: usize = 64 << 10;
    let (mut ours, theirs) = UnixStream::pair()?;
    ours.write_all(bytes.get(..MOST).unwrap_or(bytes))?;
    ours.shutdown(std::net::Shutdown::Write)?;
    Ok(receive::<Spec>(&theirs)?.is_some())
}

/// Sends the start signal, which lets the helper become the command.
pub(super) fn say_go(mut socket: &UnixStream) -> io::Result<()> {
    socket.write_all(b"!")
}

/// Waits for the start signal. Any other byte, and the end of the stream, is an error.
pub(super) fn hear_go(socket: &UnixStream) -> io::Result<()> {
    let (mut word, mut stream) = ([0], socket);
    stream.read_exact(&mut word)?;
    if word == *b"!" { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
}

#[cfg(test)]
#[cfg(feature = "property-tests")]
mod tests;

//! What the host and the helper say to each other, over the helper's standard input.
//!
//! The host says what is to be done; the helper confines itself and says that it is ready; the host looks at it from
//! outside and says go; the helper becomes the command. bubblewrap keeps its standard input for as long as it runs, so
//! that the helper became the command is told by the end of another stream, which only the helper has.

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

/// What the helper is to do.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Spec {
    /// Bytes, since words and variables need not be text.
    pub(super) words: Vec<Vec<u8>>,
    pub(super) environment: BTreeMap<String, Vec<u8>>,
    pub(super) cwd: SanitizedPath,
    pub(super) write: BTreeMap<SanitizedPath, FileIdentity>,
    pub(super) network: bool,
    /// Whether bubblewrap stands around the helper.
    pub(super) has_namespaces: bool,
    /// What it mounts over itself, parents before what is below them.
    pub(super) mounts: Vec<OwnMount>,
    /// Whom it stands for.
    pub(super) own: Own,
    pub(super) limits: Limits,
    pub(super) counted_by: CountedBy,
    /// Whether a descriptor that leads to the engine comes along.
    pub(super) events: bool,
    /// Whether a door of its network is opened, and handed to the host.
    pub(super) door: bool,
}

/// What the helper says when it has confined itself.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Told {
    /// Everything is in force; `landlock` is the version, `events` the descriptor that leads to the engine. The door of
    /// its network comes along, if it has one.
    Ready { landlock: Option<u32>, events: Option<i32> },
    /// Something is not, so nothing runs.
    Unavailable(String),
    /// The program cannot be started.
    NotStarted(String),
}

/// More than any spec needs; a length beyond it is noise.
const LONGEST: usize = 64 << 20;

/// At most: the command's input, the stream that ends when the helper has become the command, the way to the engine.
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

/// A message, and what came with it.
pub(super) struct Received<T> {
    pub(super) message: T,
    pub(super) fds: Vec<OwnedFd>,
    /// Who sent it, as the kernel says, if the socket was made to ask.
    pub(super) sender: Option<Pid>,
}

/// The next message; none at the end of the stream.
pub(super) fn receive<T: for<'de> Deserialize<'de>>(socket: &UnixStream) -> io::Result<Option<Received<T>>> {
    let mut length = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FDS), ScmCredentials(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    // A stream with a time limit is interrupted by any signal, a child's end too.
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

/// What the helper makes of bytes that reach it, for tests that send any: true if they are something to do.
///
/// # Errors
///
/// They are nothing that it could do.
#[doc(hidden)]
pub fn helper_hears(bytes: &[u8]) -> io::Result<bool> {
    // Nobody else reads what does not fit into a socket.
    const MOST: usize = 64 << 10;
    let (mut ours, theirs) = UnixStream::pair()?;
    ours.write_all(bytes.get(..MOST).unwrap_or(bytes))?;
    ours.shutdown(std::net::Shutdown::Write)?;
    Ok(receive::<Spec>(&theirs)?.is_some())
}

/// The word that lets the helper become the command.
pub(super) fn say_go(mut socket: &UnixStream) -> io::Result<()> {
    socket.write_all(b"!")
}

/// Waits for that word; anything else, and the end, means no.
pub(super) fn hear_go(socket: &UnixStream) -> io::Result<()> {
    let (mut word, mut stream) = ([0], socket);
    stream.read_exact(&mut word)?;
    if word == *b"!" { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
}

#[cfg(all(test, feature = "property-tests"))]
mod tests;

//! The one unix socket that a command with `@events` reaches (`sources/004`, "Events permission and unix sockets").
//!
//! It has no path: a rule for paths could not keep the others away, since this kernel does not ask anybody before it
//! connects two unix sockets. The command inherits one end of a pair, and can do one thing with it: hand over one end of
//! a new pair, which the engine then talks to. So any number of processes of a command have a conversation each, and
//! there is nothing else that they could connect to.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, AsRawFd, OwnedFd, RawFd},
        unix::net::UnixStream,
    },
};

use nix::sys::socket::{ControlMessage, MsgFlags, UnixAddr, sendmsg};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketType, recvmsg,
    sockopt::{socket_domain, socket_type},
};
use tokio::io::Interest;

/// In the environment of a command that holds `@events`: the number of the descriptor.
pub const EVENTS_FD: &str = "BESTOW_EVENTS_FD";

/// Within a command that holds `@events`: begins a conversation with the engine, as the command's agent.
///
/// What is said is `docs/protocol.md`, in the role of an agent; it ends when the command does, or when the agent no
/// longer holds `@events`.
///
/// # Errors
///
/// [`io::ErrorKind::NotFound`] if this process was not handed a way to the engine, [`io::ErrorKind::InvalidInput`] if the
/// variable names no descriptor, and whatever the system says if that one leads nowhere.
pub fn connect_to_engine() -> io::Result<UnixStream> {
    let way = named_way()?;
    let (ours, theirs) = UnixStream::pair()?;
    let (body, fds) = ([IoSlice::new(b"+")], [theirs.as_raw_fd()]);
    sendmsg::<UnixAddr>(way, &body, &[ControlMessage::ScmRights(&fds)], MsgFlags::MSG_NOSIGNAL, None).map_err(|why| {
        let message = format!(
            "there is no way to the engine behind {EVENTS_FD}={way} ({why}): it is the number of a descriptor that a command \
             under `bestow exec` inherits if its agent holds `@events`; something has closed it or changed the variable"
        );
        io::Error::new(io::Error::from(why).kind(), message)
    })?;
    Ok(ours)
}

fn named_way() -> io::Result<RawFd> {
    let Ok(text) = std::env::var(EVENTS_FD) else {
        let message = format!(
            "there is no way to the engine here: {EVENTS_FD} is not set; run this under `bestow exec`, for an agent that holds \
             `@events`"
        );
        return Err(io::Error::new(io::ErrorKind::NotFound, message));
    };
    text.parse::<RawFd>().ok().filter(|fd| *fd >= 0).ok_or_else(|| {
        let message =
            format!("{EVENTS_FD} is {text:?} and not the number of a descriptor: leave it as `bestow exec` has set it");
        io::Error::new(io::ErrorKind::InvalidInput, message)
    })
}

/// The engine's end.
#[derive(Debug)]
pub(in crate::edge) struct Door(tokio::net::UnixStream);

impl Door {
    /// Within a runtime that does I/O.
    pub(in crate::edge) fn new(ours: UnixStream) -> io::Result<Door> {
        ours.set_nonblocking(true)?;
        tokio::net::UnixStream::from_std(ours).map(Door)
    }

    /// The next conversation; none when the command is gone. What is not a conversation is let go.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing.
    pub(in crate::edge) async fn next(&self) -> Option<UnixStream> {
        loop {
            let got = self.0.async_io(Interest::READABLE, || Ok(received(&self.0)?)).await;
            if let Some(stream) = conversation(got.ok()??) {
                return Some(stream);
            }
        }
    }
}

/// What came with one message; none at the end.
fn received(way: impl AsFd) -> rustix::io::Result<Option<Vec<OwnedFd>>> {
    // More than there is room for is cut off by the kernel, which closes it. Bytes of two messages are never one.
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let (mut control, mut body) = (RecvAncillaryBuffer::new(&mut space), [0; 1]);
    let got = recvmsg(way, &mut [IoSliceMut::new(&mut body)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut fds = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(more) = message {
            fds.extend(more);
        }
    }
    Ok((got.bytes > 0).then_some(fds))
}

/// One stream of the command's own kind, and nothing else: no file, no socket of the internet.
fn conversation(fds: Vec<OwnedFd>) -> Option<UnixStream> {
    let [fd] = <[OwnedFd; 1]>::try_from(fds).ok()?;
    let is_stream = socket_domain(&fd) == Ok(AddressFamily::UNIX) && socket_type(&fd) == Ok(SocketType::STREAM);
    let stream = UnixStream::from(is_stream.then_some(fd)?);
    stream.set_nonblocking(true).ok()?;
    Some(stream)
}

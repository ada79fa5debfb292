//! The one unix socket that a command with `@events` can reach (`sources/004`, "Events permission and unix sockets").
//!
//! The socket has no path. A rule for paths could not block other sockets, because this kernel checks no such rule when
//! two unix sockets connect. The command inherits one end of a socket pair. It can do one thing with it: send one end
//! of a new pair to the engine, which then talks through that pair. Each process of a command can so have its own
//! conversation. There is no other socket to connect to.

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

/// The environment variable with the descriptor number, set for a command that holds `@events`.
pub const EVENTS_FD: &str = "BESTOW_EVENTS_FD";

/// Opens a conversation with the engine as the command's agent. It works within a command that holds `@events`.
///
/// The conversation follows `docs/protocol.md`, in the role of an agent. It ends with the command, or when the agent no
/// longer holds `@events`.
///
/// # Errors
///
/// Returns [`io::ErrorKind::NotFound`] if this process got no connection to the engine. Returns
/// [`io::ErrorKind::InvalidInput`] if the variable names no descriptor. Returns the error of the system if the
/// descriptor does not work.
pub fn connect_to_engine() -> io::Result<UnixStream> {
    let way = named_way()?;
    let (ours, theirs) = UnixStream::pair()?;
    let (body, fds) = ([IoSlice::new(b"+")], [theirs.as_raw_fd()]);
    sendmsg::<UnixAddr>(way, &body, &[ControlMessage::ScmRights(&fds)], MsgFlags::MSG_NOSIGNAL, None).map_err(
        |why| {
            let message = format!(
                "{EVENTS_FD}={way} does not lead to the engine ({why}): a command under `bestow exec` inherits this \
             descriptor if its agent holds `@events`; a program closed the descriptor or changed the variable"
            );
            io::Error::new(io::Error::from(why).kind(), message)
        },
    )?;
    Ok(ours)
}

fn named_way() -> io::Result<RawFd> {
    let Ok(text) = std::env::var(EVENTS_FD) else {
        let message = format!(
            "the engine cannot be reached, because {EVENTS_FD} is not set: run this under `bestow exec`, for an \
             agent that holds `@events`"
        );
        return Err(io::Error::new(io::ErrorKind::NotFound, message));
    };
    text.parse::<RawFd>().ok().filter(|fd| *fd >= 0).ok_or_else(|| {
        let message =
            format!("{EVENTS_FD} is {text:?} and not the number of a descriptor: leave it as `bestow exec` has set it");
        io::Error::new(io::ErrorKind::InvalidInput, message)
    })
}

/// The engine's end of the socket pair.
#[derive(Debug)]
pub(crate) struct Door(tokio::net::UnixStream);

impl Door {
    /// Wraps the engine's end. Call it within a runtime that does I/O.
    pub(crate) fn new(ours: UnixStream) -> io::Result<Door> {
        ours.set_nonblocking(true)?;
        tokio::net::UnixStream::from_std(ours).map(Door)
    }

    /// Returns the next conversation, or `None` after the command has ended. Messages that carry no conversation are
    /// dropped.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing.
    pub(crate) async fn next(&self) -> Option<UnixStream> {
        loop {
            let got = self.0.async_io(Interest::READABLE, || Ok(received(&self.0)?)).await;
            if let Some(stream) = conversation(got.ok()??) {
                return Some(stream);
            }
        }
    }
}

/// Returns the descriptors of one message, or `None` at the end of the stream.
fn received(way: impl AsFd) -> rustix::io::Result<Option<Vec<OwnedFd>>> {
    // The kernel truncates a message with more descriptors than fit, and closes the rest. One read never joins the
    // bytes of two messages.
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

/// Returns the stream if the message carries exactly one unix stream socket. Files and internet sockets are refused.
fn conversation(fds: Vec<OwnedFd>) -> Option<UnixStream> {
    let [fd] = <[OwnedFd; 1]>::try_from(fds).ok()?;
    let is_stream = socket_domain(&fd) == Ok(AddressFamily::UNIX) && socket_type(&fd) == Ok(SocketType::STREAM);
    let stream = UnixStream::from(is_stream.then_some(fd)?);
    stream.set_nonblocking(true).ok()?;
    Some(stream)
}

//! The standard streams of this process that a command may inherit.
//!
//! A command keeps descriptors that were opened before it was confined. A directory gives access to files outside the
//! sandbox's mounts. An unconnected socket can be connected to any address.

use std::os::fd::BorrowedFd;

use rustix::{
    fs::{FileType, OFlags, fcntl_getfl, fstat},
    io::Errno,
    net::{SocketType, getpeername, sockopt::socket_type},
    stdio::{stderr, stdin, stdout},
};

use super::{Command, SandboxError, Stream};

/// Refuses an inherited stream of this process if it gives access to more than its other end.
pub(super) fn may_be_inherited(command: &Command) -> Result<(), SandboxError> {
    let input = (command.input == Stream::Inherit).then(|| [("standard input", stdin())]);
    let output =
        (command.output == Stream::Inherit).then(|| [("standard output", stdout()), ("standard error", stderr())]);
    let all = input.into_iter().flatten().chain(output.into_iter().flatten());
    let wrong =
        all.filter_map(|(name, stream)| Some(format!("the {name} would be {}: give it a pipe", further(stream)?)));
    let wrong: Vec<_> = wrong.collect();
    if wrong.is_empty() { Ok(()) } else { Err(SandboxError::Unavailable(wrong)) }
}

/// Describes a stream that gives access to more than its other end.
fn further(stream: BorrowedFd<'_>) -> Option<&'static str> {
    let kind = match fstat(stream) {
        Ok(stat) => FileType::from_raw_mode(stat.st_mode),
        // This stream is closed.
        Err(Errno::BADF) => return None,
        Err(_) => return Some("something that cannot be looked at"),
    };
    match kind {
        _ if fcntl_getfl(stream).map_or(true, |flags| flags.contains(OFlags::PATH)) => {
            Some("a path that is not opened")
        }
        FileType::RegularFile | FileType::Fifo | FileType::CharacterDevice => None,
        FileType::Socket if is_between_two(stream) => None,
        FileType::Socket => Some("a socket that can connect to any address"),
        FileType::Directory => Some("a directory, beyond what is mounted for the command"),
        FileType::Symlink | FileType::BlockDevice | FileType::Unknown => Some("neither a file nor a pipe"),
    }
}

/// Returns true for a connected socket that cannot be connected to another peer.
fn is_between_two(socket: BorrowedFd<'_>) -> bool {
    let is_stream = socket_type(socket).is_ok_and(|kind| matches!(kind, SocketType::STREAM | SocketType::SEQPACKET));
    is_stream && getpeername(socket).is_ok()
}

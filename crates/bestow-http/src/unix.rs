//! A server on a socket of the file system, which only its owner can open.

use std::{
    fs::{self, File},
    io,
    os::{
        fd::AsRawFd as _,
        unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _},
    },
    path::{Path, PathBuf},
};

use axum::Router;
use tokio::net::{UnixListener, UnixStream};

use crate::server::{Accept, Limits, accepted};

/// A listener on a socket of the file system, with the limits of a daemon.
///
/// It serves the router of the daemon, so every request needs its credential. A web page cannot reach such a socket.
/// The check of `Host` is there all the same: a client sends `Host: localhost`.
#[derive(Debug)]
pub struct SocketServer {
    listener: UnixListener,
    place: Place,
    limits: Limits,
    inode: u64,
}

impl SocketServer {
    /// Listens on a new socket at `path`, with mode 0600. A socket that is there is replaced: the caller states that no
    /// other server runs with this path.
    ///
    /// # Errors
    ///
    /// The system refuses the path, or something else than a socket is there.
    pub fn at(path: &Path, limits: Limits) -> io::Result<SocketServer> {
        let place = Place::of(path)?;
        match fs::symlink_metadata(&place.short) {
            Ok(there) if there.file_type().is_socket() => fs::remove_file(&place.short)?,
            Ok(_) => return Err(io::Error::new(io::ErrorKind::AlreadyExists, "something else is there")),
            Err(why) if why.kind() == io::ErrorKind::NotFound => {}
            Err(why) => return Err(why),
        }
        let listener = UnixListener::bind(&place.short)?;
        fs::set_permissions(&place.short, fs::Permissions::from_mode(0o600))?;
        let inode = fs::symlink_metadata(&place.short)?.ino();
        Ok(SocketServer { listener, place, limits, inode })
    }

    /// Serves `router` as [`Server::serve`](crate::Server::serve) does, and removes the socket at the end.
    ///
    /// # Cancellation
    ///
    /// Dropping the future closes all connections that are not WebSockets, and leaves the socket.
    pub async fn serve(self, router: Router, stop: impl Future<Output = ()>) {
        let SocketServer { listener, place, limits, inode } = self;
        accepted(listener, limits, router, stop).await;
        // A server that was started meanwhile has a socket of its own there.
        if fs::symlink_metadata(&place.short).is_ok_and(|there| there.ino() == inode) {
            let _ = fs::remove_file(&place.short);
        }
    }
}

impl Accept for UnixListener {
    type Stream = UnixStream;

    async fn next(&self) -> io::Result<UnixStream> {
        let (stream, _) = self.accept().await?;
        Ok(stream)
    }
}

/// The path of a socket, in a form that fits the length limit of socket names.
#[derive(Debug)]
struct Place {
    short: PathBuf,
    _directory: File,
}

impl Place {
    fn of(path: &Path) -> io::Result<Place> {
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not the path of a socket"));
        };
        let opened = File::open(if directory.as_os_str().is_empty() { Path::new(".") } else { directory })?;
        let short = PathBuf::from(format!("/proc/self/fd/{}", opened.as_raw_fd()));
        let held = if cfg!(target_os = "linux") { short } else { directory.to_owned() };
        Ok(Place { short: held.join(name), _directory: opened })
    }
}

//! The connection to a server: no redirect is followed, and no proxy is used.
//!
//! A server that was killed leaves its ready file behind, and another program may listen at its address then. So a
//! server that a file names is asked only if it runs as the user of that file.

use std::{
    io,
    os::fd::AsRawFd as _,
    path::{Path, PathBuf},
};

use bestow::text::Escaped;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, UnixStream, lookup_host},
};

use super::{
    peer,
    settings::{Address, Server},
};

/// The most headers of a reply.
pub(crate) const MOST_HEADERS: usize = 64;

/// A connection in both directions.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Send + Sync + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin> Duplex for T {}

/// A connection to a server.
pub(crate) type Stream = Box<dyn Duplex>;

/// Connects to the server. The token is not sent to another machine, unless the settings allow it, nor to a program of
/// another user than the one whose file names the server.
///
/// The address of a server with a socket is used only if this user may not open the socket. A socket without a server
/// means that the server has ended, and anybody may have taken its address.
pub(crate) async fn connect(server: &Server) -> Result<Stream, String> {
    if let Some(socket) = &server.socket {
        match connect_to_socket(socket).await {
            Ok(stream) => {
                let peer = stream.peer_cred().map_err(|why| why.to_string())?.uid();
                // A program of this user could answer in any place that this user names.
                if peer != rustix::process::geteuid().as_raw() {
                    peer::check_user(server.user, peer)?;
                }
                return Ok(Box::new(stream));
            }
            Err(why) if why.kind() == io::ErrorKind::PermissionDenied && server.address.is_some() => {}
            Err(why) => return Err(explain(server, &why)),
        }
    }
    let address = server.address.as_ref().ok_or("it has no address")?;
    let stream = connect_to_address(server, address).await?;
    if let Some(user) = server.user {
        peer::check_holder(&stream, user)?;
    }
    Ok(Box::new(stream))
}

/// Connects to a socket of the file system.
async fn connect_to_socket(socket: &Path) -> io::Result<UnixStream> {
    // The name of a socket has at most 108 bytes.
    let directory = std::fs::File::open(socket.parent().unwrap_or(Path::new("/")))?;
    let name = socket.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let short = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd())).join(name);
    UnixStream::connect(if cfg!(target_os = "linux") { &short } else { socket }).await
}

async fn connect_to_address(server: &Server, address: &Address) -> Result<TcpStream, String> {
    let found = lookup_host((address.host.as_str(), address.port)).await.map_err(|why| why.to_string())?;
    let mut why = "it is another machine, and this command does not encrypt: use a proxy on this machine, or state \
                   with `--allow-plain-http` that the way to it is safe"
        .to_owned();
    for address in found.filter(|address| server.may_be_remote || address.ip().to_canonical().is_loopback()) {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(refused) => why = explain(server, &refused),
        }
    }
    Err(why)
}

/// Explains why there is no connection, with the way out.
fn explain(server: &Server, why: &io::Error) -> String {
    let is_not_there = matches!(why.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound);
    match (&server.ready_file, is_not_there) {
        (Some(file), true) => format!(
            "{why}: the server that {} names does not run any more, and nothing else is asked: start `bestow serve` \
             again",
            Escaped(&file.to_string_lossy())
        ),
        (None, true) => format!("{why}; is `bestow serve` running there?"),
        (_, false) => why.to_string(),
    }
}

//! The connection to a server: no redirect is followed, and no proxy is used.

use std::{
    io,
    os::fd::AsRawFd as _,
    path::{Path, PathBuf},
};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, UnixStream, lookup_host},
};

use super::settings::{Address, Server};

/// The most headers of a reply.
pub(crate) const MOST_HEADERS: usize = 64;

/// A connection in both directions.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Send + Sync + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin> Duplex for T {}

/// A connection to a server.
pub(crate) type Stream = Box<dyn Duplex>;

/// Connects to the server. The token is not sent to another machine, unless the settings allow it.
pub(crate) async fn connect(server: &Server) -> Result<Stream, String> {
    match (&server.socket, &server.address) {
        (Some(socket), None) => to_socket(socket).await.map_err(|why| told(&why)),
        (Some(socket), Some(address)) => match to_socket(socket).await {
            Ok(stream) => Ok(stream),
            // The server may be that of another user, who let this one only use the address.
            Err(_) => to_address(address, server.may_be_remote).await,
        },
        (None, Some(address)) => to_address(address, server.may_be_remote).await,
        (None, None) => Err("it has no address".to_owned()),
    }
}

/// Connects to a socket of the file system.
async fn to_socket(socket: &Path) -> io::Result<Stream> {
    // The name of a socket has at most 108 bytes.
    let directory = std::fs::File::open(socket.parent().unwrap_or(Path::new("/")))?;
    let name = socket.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let short = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd())).join(name);
    let stream = UnixStream::connect(if cfg!(target_os = "linux") { &short } else { socket }).await?;
    Ok(Box::new(stream))
}

async fn to_address(address: &Address, may_be_remote: bool) -> Result<Stream, String> {
    let found = lookup_host((address.host.as_str(), address.port)).await.map_err(|why| why.to_string())?;
    let mut why = "it is another machine, and this command does not encrypt: use a proxy on this machine, or state \
                   with `--allow-plain-http` that the way to it is safe"
        .to_owned();
    for address in found.filter(|address| may_be_remote || address.ip().to_canonical().is_loopback()) {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(Box::new(stream)),
            Err(refused) => why = told(&refused),
        }
    }
    Err(why)
}

fn told(why: &io::Error) -> String {
    let is_not_there = matches!(why.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound);
    if is_not_there { format!("{why}; is `bestow serve` running there?") } else { why.to_string() }
}

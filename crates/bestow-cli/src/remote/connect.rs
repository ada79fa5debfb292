//! The connection to a server: no redirect is followed, and no proxy is used.

use std::io;

use tokio::net::{TcpStream, lookup_host};

use super::Server;

/// The most headers of a reply.
pub(crate) const MOST_HEADERS: usize = 64;

/// Connects to the server. The token is not sent to another machine, unless the settings allow it.
pub(crate) async fn connect(server: &Server) -> Result<TcpStream, String> {
    let found = lookup_host((server.host.as_str(), server.port)).await.map_err(|why| why.to_string())?;
    let mut why = "it is another machine, and this command does not encrypt: use a proxy on this machine, or state \
                   with `--allow-plain-http` that the way to it is safe"
        .to_owned();
    for address in found.filter(|address| server.may_be_remote || address.ip().to_canonical().is_loopback()) {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(refused) if refused.kind() == io::ErrorKind::ConnectionRefused => {
                why = format!("{refused}; is `bestow serve` running there?");
            }
            Err(refused) => why = refused.to_string(),
        }
    }
    Err(why)
}

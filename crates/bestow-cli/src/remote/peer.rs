//! The user at the other end of a connection on this machine.

use std::{fs, io, net::SocketAddr};

use tokio::net::TcpStream;

/// The tables of the system with the TCP sockets of this machine.
const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];

/// The superuser. It can be every other user.
const ROOT: u32 = 0;

/// Refuses the other end of a connection if it belongs to another user than the one expected, or root.
pub(super) fn check_user(expected: Option<u32>, found: u32) -> Result<(), String> {
    match expected {
        Some(expected) if expected != found && found != ROOT => Err(format!(
            "a program of user {found} answers there, and the server is that of user {expected}: it gets no token; \
             start `bestow serve` again"
        )),
        Some(_) | None => Ok(()),
    }
}

/// Refuses a connection whose other end is not held by a program of `user`. The system knows this for connections on
/// one machine alone.
pub(super) fn check_holder(stream: &TcpStream, user: u32) -> Result<(), String> {
    let holders = || holders(stream.peer_addr()?, stream.local_addr()?);
    let holders = holders().map_err(|why| format!("the user of the server cannot be found out: {why}"))?;
    if holders.is_empty() {
        return Err(format!("the system does not say that a program of user {user} answers there: it gets no token"));
    }
    holders.into_iter().try_for_each(|found| check_user(Some(user), found))
}

/// Returns the users whose sockets answer at `server` to `client`: that of the accepted connection, or those that
/// listen as long as nobody has accepted it.
fn holders(server: SocketAddr, client: SocketAddr) -> io::Result<Vec<u32>> {
    let mut rows = Vec::new();
    for table in TABLES {
        match fs::read_to_string(table) {
            Ok(text) => rows.extend(text.lines().skip(1).filter_map(Row::parse)),
            // A system without the newer protocol has no table for it.
            Err(why) if why.kind() == io::ErrorKind::NotFound => {}
            Err(why) => return Err(why),
        }
    }
    let accepted = rows.iter().find(|row| row.is_accepted && row.joins(server, client));
    Ok(match accepted {
        Some(row) => vec![row.user],
        None => rows.iter().filter(|row| row.listens_at(server)).map(|row| row.user).collect(),
    })
}

/// A socket in a table of the system.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    local: SocketAddr,
    remote: SocketAddr,
    listens: bool,
    /// True if a program holds the socket.
    is_accepted: bool,
    user: u32,
}

impl Row {
    /// Reads a line: its number, the local and the remote address, the state, and further on the user and the inode.
    fn parse(line: &str) -> Option<Row> {
        let mut words = line.split_ascii_whitespace().skip(1);
        let (local, remote) = (parse_address(words.next()?)?, parse_address(words.next()?)?);
        let listens = words.next()? == "0A";
        let mut words = words.skip(3);
        let user = words.next()?.parse().ok()?;
        let inode = words.nth(1)?;
        Some(Row { local, remote, listens, is_accepted: inode != "0", user })
    }

    fn joins(&self, local: SocketAddr, remote: SocketAddr) -> bool {
        let is = |one: SocketAddr, other: SocketAddr| {
            one.port() == other.port() && one.ip().to_canonical() == other.ip().to_canonical()
        };
        !self.listens && is(self.local, local) && is(self.remote, remote)
    }

    fn listens_at(&self, address: SocketAddr) -> bool {
        let here = self.local.ip().to_canonical();
        let is_there = here.is_unspecified() || here == address.ip().to_canonical();
        self.listens && self.local.port() == address.port() && is_there
    }
}

/// Reads an address as the tables have it: words of the machine's byte order in hexadecimal digits, and the port.
fn parse_address(text: &str) -> Option<SocketAddr> {
    let (host, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let words = host.as_bytes().chunks(8).map(|word| u32::from_str_radix(str::from_utf8(word).ok()?, 16).ok());
    let bytes: Vec<u8> = words.collect::<Option<Vec<u32>>>()?.into_iter().flat_map(u32::to_ne_bytes).collect();
    if let Ok(four) = <[u8; 4]>::try_from(bytes.as_slice()) {
        return Some((four, port).into());
    }
    Some((<[u8; 16]>::try_from(bytes.as_slice()).ok()?, port).into())
}

#[cfg(test)]
mod tests {
    use tokio::net::{TcpListener, TcpStream};

    use super::{check_holder, check_user, holders};

    #[tokio::test]
    async fn the_system_names_the_holder_of_a_connection() {
        let own = rustix::process::geteuid().as_raw();
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address).await else { continue };
            let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let ends = (stream.peer_addr().unwrap(), stream.local_addr().unwrap());
            assert_eq!(holders(ends.0, ends.1).unwrap(), [own], "{address}: not accepted yet");
            let accepted = listener.accept().await.unwrap();
            drop(listener);
            assert_eq!(holders(ends.0, ends.1).unwrap(), [own], "{address}: accepted");
            check_holder(&stream, own).unwrap();
            drop(accepted);
        }
    }

    #[test]
    fn a_server_of_another_user_is_refused() {
        let why = check_user(Some(1000), 1001).unwrap_err();
        assert!(why.contains("user 1001") && why.contains("user 1000"), "{why}");
        assert_eq!(
            (check_user(Some(1000), 1000), check_user(Some(1000), 0), check_user(None, 7)),
            (Ok(()), Ok(()), Ok(()))
        );
    }
}

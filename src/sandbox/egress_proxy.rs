//! The egress proxy of a command whose network is limited to some hosts.
//!
//! Such a command runs in its own network namespace. That namespace contains only one port of its loopback device, at
//! which this process listens from outside. The listener leads to a proxy of the kind that programs find through
//! `https_proxy`. The proxy connects to the hosts in the list, by name, and to no others. It does not examine the
//! traffic of a tunnel. Of a connection without a tunnel, it forwards one request, written anew, and its body; then the
//! connection ends with the response.
//!
//! Patterns, addresses, other connections in or out, and the decryption of traffic are absent on purpose.

mod asked;
mod body;

use std::{
    collections::BTreeSet,
    fs,
    io::{self, BufReader, Cursor, Read, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs, UdpSocket},
    os::fd::{AsFd, OwnedFd},
    str::SplitWhitespace,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rustix::io::Errno;

use self::{asked::Asked, body::Body};
use crate::model::Domain;

/// The address of the listener in the command's own network namespace, where every other port is free.
const DOOR: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 3128);

/// The variables that tell programs the address of the proxy.
pub(super) const VARIABLES: [&str; 6] =
    ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];

/// The value of these variables.
pub(super) const ADDRESS: &str = "http://127.0.0.1:3128";

/// The most connections at one time. Further ones are closed.
const MOST: usize = 64;

/// The most refused hosts that are kept.
const MAX_REFUSED_HOSTS: usize = 16;

/// The longest request line with its headers, in bytes.
const LONGEST_HEAD: usize = 16 << 10;

/// The time limit for the request line with its headers. Each attempt to connect to an address of the host has a third
/// of it.
const TO_OPEN: Duration = Duration::from_secs(15);

/// The interval at which a waiting thread checks if the command is over.
const LOOKS: Duration = Duration::from_millis(250);

/// Opens the listener in the network namespace of the caller, which is the helper before it becomes the command.
pub(super) fn door() -> io::Result<TcpListener> {
    TcpListener::bind(DOOR)
}

/// The egress proxy. Dropping it stops the proxy.
#[derive(Debug)]
pub(super) struct EgressProxy {
    listener: TcpListener,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    hosts: BTreeSet<Domain>,
    /// The hosts that it refused, each once.
    refused: Mutex<BTreeSet<Domain>>,
    is_over: AtomicBool,
    open: AtomicUsize,
    lead: fn(&Domain, u16) -> io::Result<Vec<SocketAddr>>,
    thread: fn() -> thread::Builder,
}

impl EgressProxy {
    /// Starts a proxy at `door` that connects to `hosts` only.
    pub(super) fn through(door: OwnedFd, hosts: BTreeSet<Domain>) -> io::Result<EgressProxy> {
        EgressProxy::leading(door, hosts, outside)
    }

    fn leading(
        door: OwnedFd,
        hosts: BTreeSet<Domain>,
        lead: fn(&Domain, u16) -> io::Result<Vec<SocketAddr>>,
    ) -> io::Result<EgressProxy> {
        let listener = TcpListener::from(door);
        let theirs = listener.try_clone()?;
        let shared = Arc::new(Shared::new(hosts, lead, named));
        let all = Arc::clone(&shared);
        let next = move || theirs.accept().map(|(client, _)| client);
        let accepting = named().spawn(move || accept(next, &all))?;
        Ok(EgressProxy { listener, shared, accepting: Some(accepting) })
    }
}

impl EgressProxy {
    /// Returns the hosts that it refused so far.
    pub(super) fn refused_hosts(&self) -> Vec<Domain> {
        self.shared.refused.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

impl Drop for EgressProxy {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Release);
        // The accepting thread wakes up at once. The threads of connections check the flag at the next interval.
        let _ = rustix::net::shutdown(self.listener.as_fd(), rustix::net::Shutdown::Both);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

fn named() -> thread::Builder {
    thread::Builder::new().name("sandbox-way-out".into())
}

/// Serves each connection that `next` returns, until the command is over.
fn accept(mut next: impl FnMut() -> io::Result<TcpStream>, shared: &Arc<Shared>) {
    loop {
        let accepted = next();
        if shared.is_over.load(Ordering::Acquire) {
            return;
        }
        let Ok(client) = accepted else {
            // Descriptors may have run out. The pause avoids a busy loop, and the next attempt may succeed.
            thread::park_timeout(LOOKS);
            continue;
        };
        if shared.open.fetch_add(1, Ordering::AcqRel) >= MOST {
            shared.open.fetch_sub(1, Ordering::AcqRel);
            continue;
        }
        let connection = OpenConnection(Arc::clone(shared));
        // Without a thread, the closure is dropped, and the connection with it.
        let _ = (shared.thread)().spawn(move || {
            // The client already has the error response.
            let _ = connection.0.serve(client);
        });
    }
}

/// A connection that counts as open until it is dropped, also when its thread panics or cannot start.
struct OpenConnection(Arc<Shared>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Shared {
    fn new(
        hosts: BTreeSet<Domain>,
        lead: fn(&Domain, u16) -> io::Result<Vec<SocketAddr>>,
        thread: fn() -> thread::Builder,
    ) -> Shared {
        Shared {
            hosts,
            refused: Mutex::default(),
            is_over: AtomicBool::new(false),
            open: AtomicUsize::new(0),
            lead,
            thread,
        }
    }

    fn serve(&self, mut client: TcpStream) -> io::Result<()> {
        client.set_write_timeout(Some(LOOKS))?;
        client.set_read_timeout(Some(LOOKS))?;
        let (head, rest) = self.head(&mut client, now() + TO_OPEN)?;
        let asked = match Asked::read(&head) {
            Ok(asked) => asked,
            Err(why) => return no(&mut client, "400 Bad Request", &why),
        };
        if !self.hosts.contains(&asked.host) {
            let why = format!("`{}` is not among the hosts of this command", asked.host);
            self.note_refused(asked.host);
            return no(&mut client, "403 Forbidden", &why);
        }
        let mut there = match (self.lead)(&asked.host, asked.port).and_then(|all| self.reach(&all)) {
            Ok(there) => there,
            Err(why) => return no(&mut client, "502 Bad Gateway", &format!("`{}`: {why}", asked.host)),
        };
        there.set_write_timeout(Some(LOOKS))?;
        match asked.forward {
            Some(forward) => {
                self.put(&mut there, &forward.head)?;
                self.one_request(client, rest, there, forward.body)
            }
            None => {
                self.put(&mut client, b"HTTP/1.1 200 Connection established\r\n\r\n")?;
                self.put(&mut there, &rest)?;
                self.both_ways(client, there)
            }
        }
    }

    fn note_refused(&self, host: Domain) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.len() < MAX_REFUSED_HOSTS {
            refused.insert(host);
        }
    }

    /// Connects to the first address that answers. No attempt begins once the command is over.
    fn reach(&self, all: &[SocketAddr]) -> io::Result<TcpStream> {
        let mut last = io::ErrorKind::AddrNotAvailable.into();
        for there in all.iter().take(4) {
            if self.is_over.load(Ordering::Acquire) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            match TcpStream::connect_timeout(there, TO_OPEN / 3) {
                Ok(stream) => return Ok(stream),
                Err(why) => last = why,
            }
        }
        Err(last)
    }

    /// Reads the request up to the empty line. Returns it with the bytes after that line. `deadline` and the number of
    /// bytes limit it.
    fn head(&self, client: &mut impl Read, deadline: Instant) -> io::Result<(Vec<u8>, Vec<u8>)> {
        let (mut all, mut part, mut searched) = (Vec::new(), [0; 4096], 0);
        loop {
            let unseen = all.get(searched..).unwrap_or_default();
            if let Some(end) = unseen.windows(4).position(|four| four == b"\r\n\r\n") {
                let rest = all.split_off(searched + end + 4);
                return Ok((all, rest));
            }
            searched = all.len().saturating_sub(3);
            if all.len() > LONGEST_HEAD || now() > deadline || self.is_over.load(Ordering::Acquire) {
                return Err(io::ErrorKind::TimedOut.into());
            }
            match client.read(&mut part) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(length) => all.extend_from_slice(part.get(..length).unwrap_or_default()),
                Err(why) if is_a_pause(&why) => {}
                Err(why) => return Err(why),
            }
        }
    }

    /// Forwards the body of one request, and copies the response. Bytes behind the body are read and dropped: as
    /// another request, they could name another host.
    fn one_request(&self, client: TcpStream, rest: Vec<u8>, there: TcpStream, body: Body) -> io::Result<()> {
        let (from_client, to_client) = (client.try_clone()?, client);
        let (from_there, mut to_there) = (there.try_clone()?, there);
        // `scope.spawn` would panic if the system has no thread left, and the command can use up the threads.
        thread::scope(|scope| {
            (self.thread)().spawn_scoped(scope, move || {
                let patient = Patient { stream: &from_client, is_over: &self.is_over };
                let mut from = BufReader::new(Cursor::new(rest).chain(patient));
                let sent = body.pass_on(&mut from, |bytes| self.put(&mut to_there, bytes));
                let ended = sent.and_then(|()| io::copy(&mut from, &mut io::sink()));
                if ended.and_then(|_| to_there.shutdown(Shutdown::Write)).is_err() {
                    // The response is useless now. The sockets may already be closed.
                    let _ = (from_client.shutdown(Shutdown::Both), to_there.shutdown(Shutdown::Both));
                }
            })?;
            self.one_way(from_there, to_client);
            Ok(())
        })
    }

    /// Copies both directions until both are done, one of them fails, or the command is over.
    fn both_ways(&self, client: TcpStream, there: TcpStream) -> io::Result<()> {
        let (from_client, to_client) = (client.try_clone()?, client);
        let (from_there, to_there) = (there.try_clone()?, there);
        thread::scope(|scope| {
            (self.thread)().spawn_scoped(scope, || self.one_way(from_client, to_there))?;
            self.one_way(from_there, to_client);
            Ok(())
        })
    }

    /// Writes all bytes, even if the reader is slow, until the command is over.
    fn put(&self, to: &mut TcpStream, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            if self.is_over.load(Ordering::Acquire) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            match to.write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(length) => bytes = bytes.get(length..).unwrap_or_default(),
                Err(why) if is_a_pause(&why) => {}
                Err(why) => return Err(why),
            }
        }
        Ok(())
    }

    fn one_way(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut part = [0; 16 << 10];
        let copied = from.set_read_timeout(Some(LOOKS)).and_then(|()| {
            while !self.is_over.load(Ordering::Acquire) {
                match from.read(&mut part) {
                    Ok(0) => return to.shutdown(Shutdown::Write),
                    Ok(length) => self.put(&mut to, part.get(..length).unwrap_or_default())?,
                    Err(why) if is_a_pause(&why) => {}
                    Err(why) => return Err(why),
                }
            }
            Err(io::ErrorKind::Interrupted.into())
        });
        if copied.is_err() {
            // The other direction is useless now. The sockets may already be closed.
            let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
        }
    }
}

/// A stream with a read timeout that waits for bytes until the command is over.
struct Patient<'s> {
    stream: &'s TcpStream,
    is_over: &'s AtomicBool,
}

impl Read for Patient<'_> {
    fn read(&mut self, part: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.is_over.load(Ordering::Acquire) {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            match self.stream.read(part) {
                Err(why) if is_a_pause(&why) => {}
                read => return read,
            }
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the deadline of a socket of this machine, which no engine's clock moves"
)]
fn now() -> Instant {
    Instant::now()
}

fn is_a_pause(why: &io::Error) -> bool {
    matches!(why.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

fn no(client: &mut TcpStream, status: &str, why: &str) -> io::Result<()> {
    let body = format!("bestow: {why}\n");
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close");
    client.write_all(format!("{head}\r\n\r\n{body}").as_bytes())?;
    client.shutdown(Shutdown::Write)
}

/// Resolves a host name to addresses outside this machine. The owner of a name must not gain access to services that
/// listen only on this machine, or to the metadata service of a cloud.
fn outside(host: &Domain, port: u16) -> io::Result<Vec<SocketAddr>> {
    let hosts_file = match fs::read("/etc/hosts") {
        Err(why) if why.kind() != io::ErrorKind::NotFound => return Err(why),
        text => text.unwrap_or_default(),
    };
    let mut all = look_up(host, port, &String::from_utf8_lossy(&hosts_file), |name| name.to_socket_addrs())?;
    all.retain(|there| is_outside(there.ip()) && !is_own(there.ip(), |at| UdpSocket::bind(at).map(drop)));
    if all.is_empty() { Err(io::Error::other("it leads to this machine")) } else { Ok(all) }
}

/// Looks up a host name in the text of the hosts file, then with `resolve` as an absolute name. The search domains of
/// this machine would lead to other hosts. A resolver finds no absolute name in the hosts file.
fn look_up<A: Iterator<Item = SocketAddr>>(
    host: &Domain,
    port: u16,
    hosts_file: &str,
    resolve: impl FnOnce((&str, u16)) -> io::Result<A>,
) -> io::Result<Vec<SocketAddr>> {
    let lines = hosts_file.lines().map(|line| line.split('#').next().unwrap_or_default().split_whitespace());
    let entry = |mut line: SplitWhitespace<'_>| {
        let ip: IpAddr = line.next()?.parse().ok()?;
        line.any(|name| name.eq_ignore_ascii_case(host.as_str())).then_some(SocketAddr::new(ip, port))
    };
    let written: Vec<_> = lines.filter_map(entry).collect();
    if written.is_empty() { Ok(resolve((&format!("{host}."), port))?.collect()) } else { Ok(written) }
}

/// Returns true for an address of this machine, and for one that a gateway translates to it. Only such an address can
/// be bound. Any other failure of `bind` than "no such address" or "no such family of addresses", such as a full table
/// of descriptors, counts as an address of this machine.
fn is_own(there: IpAddr, bind: impl Fn(SocketAddr) -> io::Result<()>) -> bool {
    let foreign = |why: &io::Error| matches!(Errno::from_io_error(why), Some(Errno::ADDRNOTAVAIL | Errno::AFNOSUPPORT));
    let is_here = |ip: IpAddr| !bind((ip, 0).into()).as_ref().is_err_and(foreign);
    let there = there.to_canonical();
    is_here(there) || matches!(there, IpAddr::V6(ip) if embedded(ip).is_some_and(|ip| is_here(ip.into())))
}

/// The addresses of metadata services of clouds that are not link-local. They give credentials to whoever asks.
const METADATA: [IpAddr; 7] = [
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
];

fn is_outside(there: IpAddr) -> bool {
    let there = there.to_canonical();
    if METADATA.contains(&there) {
        return false;
    }
    match there {
        IpAddr::V4(ip) => {
            let is_here = ip.is_loopback() || ip.is_link_local() || ip.octets().starts_with(&[0]);
            !is_here && !ip.is_multicast() && !ip.is_broadcast()
        }
        IpAddr::V6(ip) => {
            let is_here = ip.is_loopback() || ip.is_unspecified() || ip.is_unicast_link_local();
            !is_here && !ip.is_multicast() && embedded(ip).is_none_or(|ip| is_outside(ip.into()))
        }
    }
}

/// Returns the IPv4 address to which a gateway translates an IPv6 address: NAT64 (`64:ff9b::/96`, `64:ff9b:1::/48`) and
/// 6to4 (`2002::/16`). Below `64:ff9b:1::/48`, the IPv4 address can also be in the middle, with zeros at the end. Its
/// place is unknown then, so it counts as unspecified.
fn embedded(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = ip.segments();
    let of = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match [a, b, c, d, e, f] {
        [0x64, 0xff9b, 1, ..] if h == 0 => Some(Ipv4Addr::UNSPECIFIED),
        [0x64, 0xff9b, 0, 0, 0, 0] | [0x64, 0xff9b, 1, ..] => Some(of(g, h)),
        [0x2002, high, low, ..] => Some(of(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;

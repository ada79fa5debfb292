//! The destinations that the proxy opens and refuses. `tests/it/sandbox` shows from inside the sandbox that no other
//! one is open.

use std::{collections::BTreeMap, sync::Mutex};

use super::*;

/// Starts a proxy for `host`, whose name resolves to `there`.
fn proxy(host: &str, there: Option<SocketAddr>) -> (EgressProxy, SocketAddr) {
    let door = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let at = door.local_addr().unwrap();
    let host: Domain = host.parse().unwrap();
    THERE.lock().unwrap().extend(there.map(|there| (host.clone(), there)));
    (EgressProxy::leading(door.into(), BTreeSet::from([host]), lead).unwrap(), at)
}

/// The destinations. Each test that connects somewhere has a host name of its own.
static THERE: Mutex<BTreeMap<Domain, SocketAddr>> = Mutex::new(BTreeMap::new());

fn lead(host: &Domain, _: u16) -> io::Result<Vec<SocketAddr>> {
    Ok(THERE.lock().unwrap().get(host).copied().into_iter().collect())
}

/// Sends a request and returns the whole response.
fn answered(at: SocketAddr, asked: &str) -> String {
    let mut client = TcpStream::connect(at).unwrap();
    client.write_all(asked.as_bytes()).unwrap();
    let mut all = String::new();
    client.read_to_string(&mut all).unwrap();
    all
}

#[test]
fn no_address_of_this_machine_is_outside_whatever_name_leads_there() {
    // This sends no packet. It only finds the address that the machine would use.
    let route = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    let own = route.connect("192.0.2.1:9").and_then(|()| route.local_addr()).map(|own| own.ip());
    let is_own = |ip| is_own(ip, |at| UdpSocket::bind(at).map(drop));
    for own in own.into_iter().chain(["127.0.0.1", "127.1.2.3", "0.0.0.0"].map(|ip| ip.parse().unwrap())) {
        assert!(is_own(own) || !is_outside(own), "{own}");
        let mapped = IpAddr::V6(own.to_string().parse::<Ipv4Addr>().unwrap().to_ipv6_mapped());
        assert!(is_own(mapped) || !is_outside(mapped), "{mapped}");
        let [a, b, c, d] = own.to_string().parse::<Ipv4Addr>().unwrap().octets().map(u16::from);
        let (high, low) = (a << 8 | b, c << 8 | d);
        for translated in [[0x64, 0xff9b, 0, 0, 0, 0, high, low], [0x2002, high, low, 0, 0, 0, 0, 1]] {
            let translated = IpAddr::V6(translated.into());
            assert!(is_own(translated) || !is_outside(translated), "{translated}");
        }
    }
    for far in ["192.0.2.1", "198.51.100.7"] {
        let far: IpAddr = far.parse().unwrap();
        assert!(is_outside(far) && !is_own(far), "{far}");
    }
    let name: Domain = "localhost.localdomain".parse().unwrap();
    assert!(outside(&name, 80).is_err());
}

#[test]
fn a_host_of_the_list_is_reached_through_a_tunnel_and_plainly_and_a_tunnel_ends_with_the_command() {
    let host = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let (way_out, at) = proxy("docs.example.com", Some(host.local_addr().unwrap()));
    let mut client = TcpStream::connect(at).unwrap();
    client.write_all(b"CONNECT Docs.Example.com:443 HTTP/1.1\r\nHost: x\r\n\r\nhello").unwrap();
    let (mut there, _) = host.accept().unwrap();
    let mut got = [0; 5];
    there.read_exact(&mut got).unwrap();
    assert_eq!(&got, b"hello", "and not the line that asked for it");
    there.write_all(b"you").unwrap();
    let mut head = vec![0; "HTTP/1.1 200 Connection established\r\n\r\nyou".len()];
    client.read_exact(&mut head).unwrap();
    assert!(head.starts_with(b"HTTP/1.1 200 ") && head.ends_with(b"you"));

    let plain = "GET http://docs.example.com/a?b HTTP/1.1\r\nHost: evil.com\r\nProxy-Authorization: x\r\nConnection: \
                 keep-alive\r\nAccept: *\r\n\r\n";
    let asked = thread::spawn(move || answered(at, plain));
    let (mut page, _) = host.accept().unwrap();
    let expected = "GET /a?b HTTP/1.1\r\nHost: docs.example.com\r\nConnection: close\r\nAccept: *\r\n\r\n";
    let mut got = vec![0; expected.len()];
    page.read_exact(&mut got).unwrap();
    assert_eq!(String::from_utf8(got).unwrap(), expected, "under the name that was let through, once");
    page.write_all(b"HTTP/1.1 200 OK\r\n\r\npage").unwrap();
    drop(page);
    assert!(asked.join().unwrap().ends_with("page"));

    drop(way_out);
    assert_eq!(there.read(&mut [0]).unwrap_or(0), 0, "the tunnel is closed");
    assert!(TcpStream::connect(at).is_err());
}

#[test]
fn what_is_not_on_the_list_and_what_only_looks_like_it_is_refused() {
    let (_way_out, at) = proxy("docs.example.com", None);
    for target in [
        "evil.com:443",
        "x.docs.example.com:443",
        "docs.example.com.evil.com:443",
        "example.com:443",
        "127.0.0.1:443",
        "[::1]:443",
        "localhost:80",
        "docs.example.com",
        "docs.example.com:0",
        "docs.example.com:99999",
        "docs.example.com.:443",
        "docs.example.com\0.evil.com:443",
        "me@docs.example.com:443",
        "docs.example.com@evil.com:443",
        "*:443",
    ] {
        let told = answered(at, &format!("CONNECT {target} HTTP/1.1\r\n\r\n"));
        assert!(told.starts_with("HTTP/1.1 403") || told.starts_with("HTTP/1.1 400"), "{target}: {told}");
    }
    for line in [
        "GET http://evil.com/docs.example.com HTTP/1.1",
        "GET http://evil.com#docs.example.com HTTP/1.1",
        "GET http://docs.example.com@evil.com/ HTTP/1.1",
        "GET http://evil.com\\@docs.example.com/ HTTP/1.1",
        "GET / HTTP/1.1",
        "GET https://docs.example.com/ HTTP/1.1",
        "GET ftp://docs.example.com/ HTTP/1.1",
        "CONNECT docs.example.com:443 HTTP/2",
        "CONNECT docs.example.com:443",
        "PRI * HTTP/2.0",
        "",
    ] {
        let told = answered(at, &format!("{line}\r\nHost: docs.example.com\r\n\r\n"));
        assert!(told.starts_with("HTTP/1.1 403") || told.starts_with("HTTP/1.1 400"), "{line}: {told}");
    }
}

/// The attack: an allowed name resolves to a service that listens only on this machine.
#[test]
fn a_name_that_leads_to_this_machine_or_to_its_cloud_leads_nowhere() {
    for here in ["127.0.0.1", "127.8.8.8", "0.0.0.0", "0.1.2.3", "169.254.169.254", "224.0.0.1", "255.255.255.255"] {
        assert!(!is_outside(here.parse().unwrap()), "{here}");
        let mapped = format!("::ffff:{here}");
        assert!(!is_outside(mapped.parse().unwrap()), "{mapped}");
    }
    for metadata in [
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:42::42",
        "fd00:ec2::23",
        "fd00:ec2::254",
        "fd20:ce::254",
    ] {
        assert!(!is_outside(metadata.parse().unwrap()), "{metadata}");
    }
    for translated in [
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::127.0.0.1",
        "64:ff9b:1:a9fe:a9:fe00::",
        "64:ff9b:1:a9:fe:a9fe::",
        "64:ff9b:1:0:a9:fea9:fe00:0",
        "2002:7f00:1::",
        "2002:a9fe:a9fe::1",
    ] {
        assert!(!is_outside(translated.parse().unwrap()), "{translated}");
    }
    for here in ["::1", "::", "fe80::1", "ff02::1"] {
        assert!(!is_outside(here.parse().unwrap()), "{here}");
    }
    assert!(
        ["192.0.2.1", "10.0.0.1", "2001:db8::1", "64:ff9b::192.0.2.1", "64:ff9b:1:2::192.0.2.1"]
            .iter()
            .all(|there| is_outside(there.parse().unwrap()))
    );
}

#[test]
fn a_head_that_does_not_end_is_not_waited_for_for_ever() {
    let (_way_out, at) = proxy("nowhere.example.com", None);
    let long = "x".repeat(LONGEST_HEAD + 8192);
    let mut client = TcpStream::connect(at).unwrap();
    // The proxy may close the connection before everything is sent.
    let _ = client.write_all(format!("GET http://a.b/ HTTP/1.1\r\nX: {long}").as_bytes());
    assert_eq!(client.read(&mut [0]).unwrap_or(0), 0);
}

/// A stream that yields one byte at a time.
struct Dripping<'b>(&'b [u8]);

impl Read for Dripping<'_> {
    fn read(&mut self, part: &mut [u8]) -> io::Result<usize> {
        let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
        part[0] = *first;
        self.0 = rest;
        Ok(1)
    }
}

#[test]
fn a_head_in_many_small_segments_is_read_and_one_that_is_late_or_too_long_is_not() {
    let hosts = BTreeSet::new();
    let shared = Shared::new(hosts, lead, named);
    let head = format!("GET http://a.b/{} HTTP/1.1\r\n\r\n", "x".repeat(400));
    let sent = format!("{head}body");
    let read = shared.head(&mut Dripping(sent.as_bytes()), now() + Duration::from_secs(3600)).unwrap();
    assert_eq!(read, (head.clone().into_bytes(), Vec::new()));
    // The deadline is over although each read yields something.
    let late = shared.head(&mut Dripping(sent.as_bytes()), now() - Duration::from_millis(1)).unwrap_err();
    assert_eq!(late.kind(), io::ErrorKind::TimedOut);
    let long = "x".repeat(LONGEST_HEAD + 8);
    let long = shared.head(&mut Dripping(long.as_bytes()), now() + Duration::from_secs(3600)).unwrap_err();
    assert_eq!(long.kind(), io::ErrorKind::TimedOut);
}

/// The attack: a second request on the same connection names another host, which the first host also serves.
#[test]
fn nothing_behind_the_first_request_of_a_connection_reaches_the_host() {
    let host = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let (_way_out, at) = proxy("one.example.com", Some(host.local_addr().unwrap()));
    let second = "GET http://evil.com/ HTTP/1.1\r\nHost: evil.com\r\n\r\n";
    for (headers, body, expected) in [
        ("", "", ""),
        ("Content-Length: 3\r\n", "abc", "Content-Length: 3\r\n\r\nabc"),
        ("content-length: 0\r\n", "", "Content-Length: 0\r\n\r\n"),
        (
            "Transfer-Encoding: Chunked\r\nTE: trailers\r\n",
            "3;name=value\r\nabc\r\n0A\r\n0123456789\r\n0\r\nHost: evil.com\r\n\r\n",
            "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\na\r\n0123456789\r\n0\r\n\r\n",
        ),
        // The host of the request is the one of its target.
        ("Host: evil.com\r\nHost: evil.org\r\nConnection: keep-alive, Host\r\n", "", ""),
    ] {
        let mut client = TcpStream::connect(at).unwrap();
        let first = format!("POST http://one.example.com/a HTTP/1.1\r\n{headers}\r\n{body}");
        client.write_all(format!("{first}{second}{second}").as_bytes()).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let (mut there, _) = host.accept().unwrap();
        let mut got = String::new();
        there.read_to_string(&mut got).unwrap();
        let expected = if expected.is_empty() { "\r\n" } else { expected };
        let head = "POST /a HTTP/1.1\r\nHost: one.example.com\r\nConnection: close\r\n";
        assert_eq!(got, format!("{head}{expected}"));
        there.write_all(b"HTTP/1.1 200 OK\r\n\r\npage").unwrap();
        drop(there);
        let mut told = String::new();
        client.read_to_string(&mut told).unwrap();
        assert!(told.ends_with("page"), "{told}");
    }
}

/// The attack: the proxy and the host disagree about the end of the body.
#[test]
fn a_body_of_ambiguous_length_is_refused() {
    let (_way_out, at) = proxy("two.example.com", None);
    for headers in [
        "Content-Length: 3\r\nTransfer-Encoding: chunked",
        "Content-Length: 3\r\nContent-Length: 3",
        "Content-Length: 3, 3",
        "Content-Length: +3",
        "Content-Length: 0x3",
        "Content-Length:",
        "Content-Length: 99999999999999999999",
        "Content_Length: 3",
        "Transfer_Encoding: chunked",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: identity",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding:\r\n chunked",
        "X: a\r\n\tTransfer-Encoding: chunked",
        "X: a\0b",
        "X: a\n\nGET http://evil.com/ HTTP/1.1",
    ] {
        let told = answered(at, &format!("POST http://two.example.com/ HTTP/1.1\r\n{headers}\r\n\r\n"));
        assert!(told.starts_with("HTTP/1.1 400"), "{headers}: {told}");
    }
    let old = "POST http://two.example.com/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert!(answered(at, old).starts_with("HTTP/1.1 400"));
    let clear = "POST http://two.example.com/ HTTP/1.1\r\nContent-Length: 0\r\n\r\n";
    assert!(answered(at, clear).starts_with("HTTP/1.1 502"), "it leads nowhere, and is no mistake");
}

#[test]
fn a_chunk_that_is_none_ends_the_connection() {
    for body in
        ["x\r\n", "3\r\nabcd\r\n", "3\nabc\n0\n\n", "3\r\nab", "-1\r\n", "10000000000000000\r\n", "0\r\nX: y\r\n"]
    {
        let mut sent = Vec::new();
        let passed = Body::Chunked.pass_on(&mut body.as_bytes(), |bytes| {
            sent.extend_from_slice(bytes);
            Ok(())
        });
        assert!(passed.is_err(), "{body}: {}", String::from_utf8_lossy(&sent));
        assert!(!sent.ends_with(b"0\r\n\r\n"));
    }
}

#[test]
fn a_failure_that_says_nothing_about_an_address_counts_as_one_of_this_machine() {
    let far: IpAddr = "192.0.2.1".parse().unwrap();
    for (errno, own) in [
        (Errno::ADDRNOTAVAIL, false),
        (Errno::AFNOSUPPORT, false),
        (Errno::MFILE, true),
        (Errno::NFILE, true),
        (Errno::NOBUFS, true),
        (Errno::NOMEM, true),
        (Errno::ACCESS, true),
        (Errno::PERM, true),
        (Errno::ADDRINUSE, true),
    ] {
        assert_eq!(is_own(far, |_| Err(errno.into())), own, "{errno}");
    }
    assert!(is_own(far, |_| Ok(())));
    assert!(is_own(far, |_| Err(io::Error::other("no code"))));
    let only_far = |at: SocketAddr| if at.ip() == far { Ok(()) } else { Err(Errno::ADDRNOTAVAIL.into()) };
    for translated in ["64:ff9b::192.0.2.1", "64:ff9b:1::192.0.2.1", "2002:c000:201::1", "::ffff:192.0.2.1"] {
        assert!(is_own(translated.parse().unwrap(), only_far), "{translated}");
    }
    assert!(!is_own("64:ff9b::192.0.2.2".parse().unwrap(), only_far));
}

/// The attack: a search domain of the machine adds an ending to the name, whose owner then is another one.
#[test]
fn a_name_is_looked_up_in_the_hosts_file_and_then_as_an_absolute_one() {
    let name: Domain = "docs.example.com".parse().unwrap();
    let there: SocketAddr = "192.0.2.1:443".parse().unwrap();
    let hosts_file = "# 192.0.2.8 docs.example.com\n192.0.2.9 x.docs.example.com docs.example.com.x # docs.example.com\
                      \ndocs.example.com\nfe80::1%lo docs.example.com\n";
    let resolved = look_up(&name, 443, hosts_file, |(name, port)| {
        assert_eq!((name, port), ("docs.example.com.", 443));
        Ok([there].into_iter())
    });
    assert_eq!(resolved.unwrap(), [there]);
    let refused = look_up(&name, 443, hosts_file, |_| Err::<std::vec::IntoIter<_>, _>(io::Error::other("unknown")));
    assert!(refused.is_err());
    let hosts_file = format!("{hosts_file}192.0.2.1\tdocs Docs.Example.com # here\n::1 docs.example.com");
    let written = look_up(&name, 443, &hosts_file, |_| -> io::Result<std::vec::IntoIter<_>> { panic!("it is known") });
    assert_eq!(written.unwrap(), [there, "[::1]:443".parse().unwrap()]);
}

#[test]
fn no_connection_begins_once_the_command_is_over() {
    let host = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    host.set_nonblocking(true).unwrap();
    let shared = Shared::new(BTreeSet::new(), lead, named);
    shared.is_over.store(true, Ordering::Release);
    assert!(shared.reach(&[host.local_addr().unwrap()]).is_err());
    assert_eq!(host.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    shared.is_over.store(false, Ordering::Release);
    shared.reach(&[host.local_addr().unwrap()]).unwrap();
    host.accept().unwrap();
}

/// Threads that the system cannot start, because no memory has room for their stack.
fn too_large() -> thread::Builder {
    thread::Builder::new().stack_size(1 << 60)
}

/// Returns both ends of a connection.
fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (one, listener.accept().unwrap().0)
}

#[test]
fn without_descriptors_or_threads_connections_close_and_the_proxy_goes_on() {
    let shared = Arc::new(Shared::new(BTreeSet::new(), lead, too_large));
    let mut clients = Vec::new();
    // The first pause ends at once.
    thread::current().unpark();
    let mut calls = 0;
    let next = || {
        calls += 1;
        match calls {
            1 => Err(Errno::MFILE.into()),
            // One more than may be open at one time.
            2..=66 => {
                let (mut client, accepted) = pair();
                client.write_all(b"GET http://a.b/ HTTP/1.1\r\n\r\n").unwrap();
                clients.push(client);
                Ok(accepted)
            }
            _ => {
                shared.is_over.store(true, Ordering::Release);
                Err(Errno::MFILE.into())
            }
        }
    };
    accept(next, &shared);
    assert_eq!(calls, 67);
    assert_eq!(shared.open.load(Ordering::Acquire), 0, "none counts as open");
    assert_eq!(clients.len(), MOST + 1);
    for client in &mut clients {
        assert_eq!(client.read(&mut [0]).unwrap_or(0), 0, "it is closed without an answer");
    }
}

#[test]
fn without_a_thread_for_the_way_back_a_connection_ends_on_both_sides() {
    let shared = Shared::new(BTreeSet::new(), lead, too_large);
    let body = Body::Length(Some(5));
    let ways: [&dyn Fn(TcpStream, TcpStream) -> io::Result<()>; 2] =
        [&|client, there| shared.both_ways(client, there), &|client, there| {
            shared.one_request(client, b"hello".to_vec(), there, body)
        }];
    for way in ways {
        let ((mut client, from_client), (to_there, mut there)) = (pair(), pair());
        assert!(way(from_client, to_there).is_err());
        assert_eq!((client.read(&mut [0]).unwrap(), there.read(&mut [0]).unwrap()), (0, 0));
    }
}

#[test]
fn a_connection_whose_thread_panics_is_not_open_any_more() {
    let shared = Arc::new(Shared::new(BTreeSet::new(), lead, named));
    shared.open.fetch_add(1, Ordering::AcqRel);
    let connection = OpenConnection(Arc::clone(&shared));
    let panicked = thread::spawn(move || {
        let _connection = connection;
        panic!("a test");
    });
    assert!(panicked.join().is_err());
    assert_eq!(shared.open.load(Ordering::Acquire), 0);
}

//! The destinations that the proxy opens and refuses. `tests/it/sandbox` shows from inside the sandbox that no other
//! one is open.

use super::*;

/// Starts a proxy for `docs.example.com`. Every name resolves to `there`.
fn proxy(there: Option<SocketAddr>) -> (EgressProxy, SocketAddr) {
    let door = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let at = door.local_addr().unwrap();
    if let Some(there) = there {
        THERE.set(there).unwrap();
    }
    let hosts = BTreeSet::from(["docs.example.com".parse().unwrap()]);
    (EgressProxy::leading(door.into(), hosts, lead).unwrap(), at)
}

/// The destination, set by the one test that connects somewhere.
static THERE: std::sync::OnceLock<SocketAddr> = std::sync::OnceLock::new();

fn lead(_: &Domain, _: u16) -> io::Result<Vec<SocketAddr>> {
    Ok(THERE.get().copied().into_iter().collect())
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
    for own in own.into_iter().chain(["127.0.0.1", "127.1.2.3", "0.0.0.0"].map(|ip| ip.parse().unwrap())) {
        assert!(is_own(own) || !is_outside(own), "{own}");
        let mapped = IpAddr::V6(own.to_string().parse::<Ipv4Addr>().unwrap().to_ipv6_mapped());
        assert!(is_own(mapped) || !is_outside(mapped), "{mapped}");
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
    let (way_out, at) = proxy(Some(host.local_addr().unwrap()));
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
    let (_way_out, at) = proxy(None);
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
    for here in ["::1", "::", "fe80::1", "ff02::1"] {
        assert!(!is_outside(here.parse().unwrap()), "{here}");
    }
    assert!(["192.0.2.1", "10.0.0.1", "2001:db8::1"].iter().all(|there| is_outside(there.parse().unwrap())));
}

#[test]
fn a_head_that_does_not_end_is_not_waited_for_for_ever() {
    let (_way_out, at) = proxy(None);
    let long = "x".repeat(LONGEST_HEAD + 8192);
    let mut client = TcpStream::connect(at).unwrap();
    // The proxy may close the connection before everything is sent.
    let _ = client.write_all(format!("GET http://a.b/ HTTP/1.1\r\nX: {long}").as_bytes());
    assert_eq!(client.read(&mut [0]).unwrap_or(0), 0);
}

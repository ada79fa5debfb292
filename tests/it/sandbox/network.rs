//! Tests of the addresses that a command can reach by sockets.

use std::{
    net::{TcpListener, UdpSocket},
    os::unix::net::{UnixDatagram, UnixListener},
};

use bestow::{Permission, event::BlockedAccess};

use super::ground::{Ground, everywhere, shown, with_bubblewrap};

fn python(ground: &Ground, network: bool, program: &str) -> bestow::sandbox::Finished {
    let more: &[Permission] = if network { &[Permission::Network] } else { &[] };
    ground.sh_under(&ground.profile_with(more), &format!("exec python3 -c '{program}'"))
}

#[test]
pub(super) fn without_the_permission_there_is_no_network_and_with_it_there_is() {
    everywhere(|ground| {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        udp.set_nonblocking(true).unwrap();
        let (tcp_port, udp_port) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
        let connect = format!("import socket; socket.create_connection((\"127.0.0.1\", {tcp_port}), 5)");
        let send = format!(
            "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\
             .sendto(b\"x\", (\"127.0.0.1\", {udp_port}))"
        );
        for program in [&connect, &send] {
            assert_ne!(python(ground, false, program).code, Some(0), "{ground}: {program}");
        }
        assert!(udp.recv(&mut [0; 8]).is_err(), "{ground}: something arrived");
        for program in [&connect, &send] {
            let done = python(ground, true, program);
            assert_eq!(done.code, Some(0), "{ground}: {program}: {}", shown(&done.stderr.bytes));
        }
    });
}

#[test]
fn no_unix_socket_is_reached_by_path_name_or_pair_with_a_network_or_without() {
    everywhere(|ground| {
        let _listener = UnixListener::bind(ground.path("outside/dir/sock")).unwrap();
        let datagram = UnixDatagram::bind(ground.path("outside/dir/dgram")).unwrap();
        datagram.set_nonblocking(true).unwrap();
        let (stream, dgram) = (ground.world.text("outside/dir/sock"), ground.world.text("outside/dir/dgram"));
        for network in [false, true] {
            for program in [
                format!("import socket; socket.socket(socket.AF_UNIX).connect(\"{stream}\")"),
                format!("import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b\"x\", \"{dgram}\")"),
                format!(
                    "import socket; socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b\"x\", \"{dgram}\")"
                ),
                format!(
                    "import socket; socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW)[0].sendto(b\"x\", \"{dgram}\")"
                ),
            ] {
                assert_ne!(python(ground, network, &program).code, Some(0), "{ground}, {network}: {program}");
            }
            let pair = "import socket; a, b = socket.socketpair(); a.send(b\"x\"); assert b.recv(1) == b\"x\"";
            assert_eq!(python(ground, network, pair).code, Some(0), "{ground}");
        }
        assert!(datagram.recv(&mut [0; 8]).is_err(), "{ground}: something arrived");
    });
}

/// The attacks: every way around the egress proxy, and every host outside the list through the proxy.
#[test]
pub(super) fn a_network_that_is_kept_to_hosts_leads_to_them_and_nowhere_else() {
    with_bubblewrap(|ground| {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        tcp.set_nonblocking(true).unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        udp.set_nonblocking(true).unwrap();
        let (tcp_port, udp_port) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
        let hosts = ["docs.example.invalid", "localhost.localdomain"].map(|name| name.parse().unwrap());
        let profile = ground.profile_with(&[Permission::Network]).only_to(hosts);
        let asked = |line: &str| {
            let program = format!(
                "import socket; s = socket.create_connection((\"127.0.0.1\", 3128), 5)\n\
                 s.sendall(b\"{line} HTTP/1.1\\r\\n\\r\\n\"); print(s.makefile().read())"
            );
            let done = ground.sh_under(&profile, &format!("exec python3 -c '{program}'"));
            assert_eq!(done.code, Some(0), "{ground}: {line}: {}", shown(&done.stderr.bytes));
            assert_eq!(done.facts.hosts, ["docs.example.invalid", "localhost.localdomain"]);
            shown(&done.stdout.bytes)
        };
        // Around the proxy: the host's loopback, its other addresses, another machine, and other kinds of sockets.
        for program in [
            format!("import socket; socket.create_connection((\"127.0.0.1\", {tcp_port}), 2)"),
            format!("import socket; socket.create_connection((\"::1\", {tcp_port}), 2)"),
            "import socket; socket.create_connection((\"192.0.2.1\", 443), 2)".to_owned(),
            "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b\"x\", (\"192.0.2.1\", 53))"
                .to_owned(),
            "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)".to_owned(),
            "import socket; socket.getaddrinfo(\"docs.example.invalid\", 443)".to_owned(),
        ] {
            let done = ground.sh_under(&profile, &format!("exec python3 -c '{program}'"));
            assert_ne!(done.code, Some(0), "{ground}: {program}");
        }
        let send = format!(
            "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\
             .sendto(b\"x\", (\"127.0.0.1\", {udp_port}))"
        );
        ground.sh_under(&profile, &format!("exec python3 -c '{send}'"));
        // Through the proxy.
        for target in [format!("127.0.0.1:{tcp_port}"), "evil.example:443".into(), "x.docs.example.invalid:443".into()]
        {
            let told = asked(&format!("CONNECT {target}"));
            assert!(told.starts_with("HTTP/1.1 40"), "{ground}: {target}: {told}");
        }
        let evil = "import socket; s = socket.create_connection((\"127.0.0.1\", 3128), 5)\n\
                    s.sendall(b\"CONNECT evil.example:443 HTTP/1.1\\r\\n\\r\\n\"); s.recv(9)";
        let done = ground.sh_under(&profile, &format!("exec python3 -c '{evil}'"));
        assert_eq!(done.violations.len(), 1, "{ground}: {done:?}");
        assert_eq!(done.violations[0].access, BlockedAccess::Host("evil.example".parse().unwrap()), "{ground}");
        // The first name is on the list and does not exist: it is looked up outside. The second is on the list and is
        // this machine: it is refused as well.
        for target in ["docs.example.invalid:443".to_owned(), format!("localhost.localdomain:{tcp_port}")] {
            let told = asked(&format!("CONNECT {target}"));
            assert!(told.starts_with("HTTP/1.1 502"), "{ground}: {target}: {told}");
        }
        assert!(tcp.accept().is_err() && udp.recv(&mut [0; 8]).is_err(), "{ground}: something arrived");
        let done = ground.sh_under(&profile, "echo $https_proxy $http_proxy");
        assert_eq!(shown(&done.stdout.bytes), "http://127.0.0.1:3128 http://127.0.0.1:3128\n");
    });
}

#[test]
fn without_the_permission_to_a_network_hosts_give_none() {
    with_bubblewrap(|ground| {
        let profile = ground.profile_with(&[]).only_to(["docs.example.invalid".parse().unwrap()]);
        let done =
            ground.sh_under(&profile, "python3 -c 'import socket; socket.socket(socket.AF_INET)'; echo [$https_proxy]");
        assert!(shown(&done.stderr.bytes).contains("PermissionError") && done.stdout.bytes == *b"[]\n", "{done:?}");
        assert_eq!(done.facts.hosts, [""; 0]);
    });
}

#[test]
fn other_families_of_sockets_do_not_exist() {
    everywhere(|ground| {
        for network in [false, true] {
            // AF_NETLINK, AF_PACKET, AF_ALG, AF_VSOCK.
            for (family, kind) in [(16, 3), (17, 3), (38, 5), (40, 1)] {
                let program = format!("import socket; socket.socket({family}, {kind})");
                let done = python(ground, network, &program);
                assert!(shown(&done.stderr.bytes).contains("PermissionError"), "{ground}: {family}: {done:?}");
            }
        }
    });
}

#[test]
fn the_machines_own_address_is_no_way_round() {
    everywhere(|ground| {
        let tcp = TcpListener::bind("0.0.0.0:0").unwrap();
        let port = tcp.local_addr().unwrap().port();
        // No packet is sent: the call only selects the address that would be used.
        let route = UdpSocket::bind("0.0.0.0:0").unwrap();
        let own = route.connect("192.0.2.1:9").and_then(|()| route.local_addr()).map(|own| own.ip().to_string());
        for address in ["127.0.0.1".to_owned()].into_iter().chain(own) {
            let connect = format!("import socket; socket.create_connection((\"{address}\", {port}), 5)");
            assert_ne!(python(ground, false, &connect).code, Some(0), "{ground}: {address}");
            assert_eq!(python(ground, true, &connect).code, Some(0), "{ground}: {address}");
        }
    });
}

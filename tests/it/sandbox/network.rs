//! What a command can reach by sockets.

use std::{
    net::{TcpListener, UdpSocket},
    os::unix::net::{UnixDatagram, UnixListener},
};

use bestow::Permission;

use super::ground::{Ground, everywhere, shown};

fn python(ground: &Ground, network: bool, program: &str) -> bestow::sandbox::Finished {
    let more: &[Permission] = if network { &[Permission::Network] } else { &[] };
    ground.sh_under(&ground.profile_with(more), &format!("exec python3 -c '{program}'"))
}

#[test]
fn without_the_right_there_is_no_network_and_with_it_there_is() {
    everywhere(|ground| {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        udp.set_nonblocking(true).unwrap();
        let (tcp_port, udp_port) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
        let connect = format!("import socket; socket.create_connection((\"127.0.0.1\", {tcp_port}), 5)");
        let send = format!(
            "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b\"x\", (\"127.0.0.1\", {udp_port}))"
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
        // Nothing is sent: this only asks which address would be used.
        let route = UdpSocket::bind("0.0.0.0:0").unwrap();
        let own = route.connect("192.0.2.1:9").and_then(|()| route.local_addr()).map(|own| own.ip().to_string());
        for address in ["127.0.0.1".to_owned()].into_iter().chain(own) {
            let connect = format!("import socket; socket.create_connection((\"{address}\", {port}), 5)");
            assert_ne!(python(ground, false, &connect).code, Some(0), "{ground}: {address}");
            assert_eq!(python(ground, true, &connect).code, Some(0), "{ground}: {address}");
        }
    });
}

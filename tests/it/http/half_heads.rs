//! Clients that open connections and show no credential.
#![cfg(feature = "cli")]

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    os::unix::net::UnixStream,
    process::Command,
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::project::Project;
use crate::support::BESTOW;

/// The connections that the attacker opens, at the address and at the socket each.
const HEADS: usize = 1_000;

/// The attack: a client without a credential opens a thousand connections, begins a request on each, and waits.
#[test]
fn half_a_thousand_heads_keep_no_person_and_no_agent_out() {
    // This test has the other end of each connection.
    let may = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: may.maximum, maximum: may.maximum }).unwrap();
    for descriptors in ["512", "1024"] {
        let mut project = Project::new();
        let token = project.agent();
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -n {descriptors}; exec \"$0\" \"$@\""), BESTOW]);
        project.serve_as(shell, "127.0.0.1:0");
        let half = "GET /v1/session HTTP/1.1\r\nhost: localhost\r\nx-more: ";
        let mut open: Vec<Box<dyn std::any::Any>> = Vec::new();
        for _ in 0..HEADS {
            let mut stream = TcpStream::connect(project.address()).unwrap();
            // The server may have closed it already.
            let _ = stream.write_all(half.as_bytes());
            open.push(Box::new(stream));
            let mut stream = UnixStream::connect(project.path().join("state/server.sock")).unwrap();
            let _ = stream.write_all(half.as_bytes());
            open.push(Box::new(stream));
        }
        for command in ["requests", "grants"] {
            let done = project.bestow(&[command, "--state", "state"]);
            assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
        }
        let mut stream = TcpStream::connect(project.address()).unwrap();
        let request = format!(
            "GET /v1/session HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        assert!(reply.starts_with("HTTP/1.1 200"), "{descriptors}: {reply}");
        drop(open);
    }
}

//! The official conformance suite for servers. It sends no credential, so a door before the server adds one.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
    process::Command,
};

use super::installed;
use crate::http::project::Project;

/// The scenarios that ask for nothing but the protocol. The others call tools, prompts and resources with names of the
/// suite's own.
const SCENARIOS: [&str; 5] = ["server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection"];

/// Adds a token to the first request of each connection, and closes the connection after it.
async fn door(to: SocketAddr, token: String) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(carried(client, to, token.clone()));
        }
    });
    address
}

async fn carried(mut client: TcpStream, to: SocketAddr, token: String) -> Option<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        head.push(client.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).ok()?;
    let (line, rest) = head.split_once("\r\n")?;
    let rest: String =
        rest.split_inclusive("\r\n").filter(|line| !line.to_lowercase().starts_with("connection:")).collect();
    let mut server = TcpStream::connect(to).await.ok()?;
    let head = format!("{line}\r\nconnection: close\r\nauthorization: Bearer {token}\r\n{rest}");
    server.write_all(head.as_bytes()).await.ok()?;
    copy_bidirectional(&mut client, &mut server).await.ok()?;
    Some(())
}

#[tokio::test]
async fn the_official_conformance_suite_passes_where_it_asks_for_the_protocol_alone() {
    let Some(place) = installed("node_modules/.bin/conformance") else { return };
    let mut project = Project::new();
    let token = project.agent();
    project.serve();
    let url = format!("http://{}/mcp", door(project.address(), token).await);
    for scenario in SCENARIOS {
        let mut command = Command::new(place.join("node_modules/.bin/conformance"));
        command.args(["server", "--url", &url, "--scenario", scenario]).current_dir(project.path()).kill_on_drop(true);
        let output = command.output().await.unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{scenario}: {told}{}", String::from_utf8_lossy(&output.stderr));
        assert!(!told.contains("FAILURE"), "{scenario}: {told}");
    }
}

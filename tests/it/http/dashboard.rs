//! `bestow dashboard` and `bestow demo`, as processes of their own, and the pages that the server sends.
#![cfg(feature = "cli")]

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{client::call, project::Project};
use crate::support::BESTOW;

/// Returns the token of the session that a link opens.
async fn session(link: &str) -> (std::net::SocketAddr, Value) {
    let (url, secret) = link.trim().split_once("/#link=").unwrap();
    let address = url.strip_prefix("http://").unwrap().parse().unwrap();
    let body = json!({ "link": secret }).to_string();
    let opened = call(address, "POST", "/v1/session", &[("content-type", "application/json")], &body).await;
    assert_eq!(opened.status, 200, "{opened:?}");
    (address, opened.json)
}

#[tokio::test]
async fn a_printed_link_opens_a_session_for_the_only_owner() {
    let mut project = Project::new();
    project.serve();
    let printed = project.bestow(&["dashboard", "--print-link", "--by", "ann"]);
    assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
    let (address, opened) = session(&String::from_utf8(printed.stdout).unwrap()).await;
    assert_eq!(address, project.address());
    assert_eq!((&opened["session"]["ownerId"], &opened["session"]["by"]), (&json!("you"), &json!("ann")));
    let bot = project.agent();
    project.classify(&bot, "node a.js").await;
    let waiting = project.get(opened["token"].as_str().unwrap(), "/v1/requests").await.json;
    assert_eq!(waiting["requests"][0]["question"]["action"]["resource"], "node a.js");
}

#[tokio::test]
async fn without_a_server_or_with_several_owners_the_way_out_is_named() {
    let mut project = Project::new();
    let refused = |project: &Project, words: &[&str]| {
        let output = project.bestow(words);
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let none = refused(&project, &["dashboard", "--print-link"]);
    assert!(none.contains("`bestow serve --state state`"), "{none}");
    project.serve();
    project.policy(
        "[defaults]\nworking_dir = \".\"\n[agents.bot]\nkind = \"subagent\"\nowner = \"you\"\n\
         [agents.other]\nkind = \"subagent\"\nowner = \"them\"\n",
    );
    let several = refused(&project, &["dashboard", "--print-link"]);
    assert!(several.contains("`--owner`") && several.contains("`them`, `you`"), "{several}");
}

/// A killed server leaves its file, and another program may then have its address.
#[tokio::test]
async fn no_link_is_made_for_a_program_that_took_the_address_of_a_killed_server() {
    let mut project = Project::new();
    project.serve();
    let address = project.address();
    project.end(Signal::KILL);
    assert!(project.path().join("state/server.json").exists());
    let _other = std::net::TcpListener::bind(address).unwrap();
    let output = project.bestow(&["dashboard", "--print-link"]);
    let why = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && output.stdout.is_empty(), "{why}");
    assert!(why.contains("no server runs on the state directory state"), "{why}");
}

#[tokio::test]
async fn the_pages_are_sent_with_a_policy_that_allows_nothing_from_elsewhere() {
    let mut project = Project::new();
    project.serve();
    let page = call(project.address(), "GET", "/", &[], "").await;
    assert_eq!(page.status, 200);
    for header in [
        "content-type: text/html; charset=utf-8",
        "default-src 'none'; script-src 'self'; style-src 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "x-content-type-options: nosniff",
        "x-frame-options: deny",
        "referrer-policy: no-referrer",
        "cross-origin-opener-policy: same-origin",
    ] {
        assert!(page.head.to_lowercase().contains(header), "{header}: {}", page.head);
    }
    for name in ["main.js", "style.css"] {
        assert_eq!(call(project.address(), "GET", &format!("/dashboard/{name}"), &[], "").await.status, 200, "{name}");
    }
    for name in ["tsconfig.json", "types.d.ts", "..%2Fsrc%2Flib.rs", "%2e%2e/Cargo.toml", "", "x.js"] {
        assert_eq!(call(project.address(), "GET", &format!("/dashboard/{name}"), &[], "").await.status, 404, "{name}");
    }
}

#[tokio::test]
async fn a_browser_gets_less_than_150_kilobytes_for_all_pages_together() {
    let mut project = Project::new();
    project.serve();
    let (mut bytes, mut plain_bytes) = (0, 0);
    for name in names() {
        let path = if name == "index.html" { "/".to_owned() } else { format!("/dashboard/{name}") };
        let headers = [("accept-encoding", "gzip, deflate, br")];
        let (head, body) = raw_body(project.address(), &path, &headers).await;
        assert!(head.contains("content-encoding: gzip") && body.starts_with(&[0x1f, 0x8b]), "{name}: {head}");
        bytes += body.len();
        plain_bytes += std::fs::read(directory().join(&name)).unwrap().len();
        let (head, plain) = raw_body(project.address(), &path, &[("accept-encoding", "gzip;q=0")]).await;
        assert!(
            !head.contains("content-encoding") && plain == std::fs::read(directory().join(&name)).unwrap(),
            "{name}"
        );
    }
    // The first number is what the browser gets, the second one what the files have.
    println!("{bytes} bytes as they are sent, {plain_bytes} bytes without compression");
    assert!((30_000..150_000).contains(&bytes), "{bytes}");
    assert!((100_000..350_000).contains(&plain_bytes), "{plain_bytes}");
}

/// Returns the head and the bytes of the reply to a request.
async fn raw_body(address: std::net::SocketAddr, path: &str, headers: &[(&str, &str)]) -> (String, Vec<u8>) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).await.unwrap();
    let end = reply.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    (String::from_utf8(reply[..end].to_vec()).unwrap(), reply[end + 4..].to_vec())
}

fn directory() -> &'static std::path::Path {
    std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/bestow-http/dashboard"))
}

/// Returns the names of the files that browsers get.
fn names() -> Vec<String> {
    let all = std::fs::read_dir(directory()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let is_page = |name: &String| {
        let kind = name.rsplit('.').next().unwrap();
        ["html", "css", "js", "svg"].contains(&kind)
    };
    all.filter(is_page).collect()
}

#[test]
fn the_pages_name_nothing_outside_and_make_no_markup_of_text() {
    for name in names() {
        let text = std::fs::read_to_string(directory().join(&name)).unwrap();
        for forbidden in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"] {
            assert!(!text.contains(forbidden), "{name} has `{forbidden}`");
        }
        let outside = text.replace("http://www.w3.org/", "");
        assert!(!outside.contains("https://"), "{name} names something outside");
    }
}

#[tokio::test]
async fn the_demo_shows_waiting_agents_and_leaves_nothing_behind() {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(BESTOW);
    command.args(["demo", "--print-link"]).env("TMPDIR", home.path()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut demo = command.spawn().unwrap();
    let mut lines = BufReader::new(demo.stdout.take().unwrap()).lines();
    let (address, opened) = session(&lines.next().unwrap().unwrap()).await;
    let token = opened["token"].as_str().unwrap();
    let headers = [("authorization", &*format!("Bearer {token}"))];
    loop {
        let waiting = call(address, "GET", "/v1/requests", &headers, "").await.json;
        if waiting["requests"].as_array().unwrap().len() == 3 {
            break;
        }
        tokio::task::yield_now().await;
    }
    let tasks = call(address, "GET", "/v1/tasks", &headers, "").await.json;
    let task = &tasks["tasks"][0];
    assert_eq!((&task["schedule"], task["upcoming"].as_array().unwrap().len()), (&json!("0 3 * * *"), 5), "{tasks}");
    assert_eq!(task["gate"]["missing"], json!(["@network"]), "{tasks}");
    let config = call(address, "GET", "/v1/config", &headers, "").await.json;
    assert_eq!((&config["problems"], config["text"].is_string()), (&json!([]), true), "{config}");
    kill_process(Pid::from_child(&demo), Signal::TERM).unwrap();
    assert_eq!(demo.wait().unwrap().code(), Some(0));
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}

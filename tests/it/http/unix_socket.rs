//! The socket of `bestow serve` in its state directory.
#![cfg(feature = "cli")]

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    os::unix::{
        fs::{FileTypeExt as _, PermissionsExt as _},
        net::UnixStream,
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::project::Project;
use crate::support::{BESTOW, real};

fn ready(project: &Project) -> Value {
    serde_json::from_slice(&fs::read(project.path().join("ready.json")).unwrap()).unwrap()
}

fn socket(project: &Project) -> PathBuf {
    PathBuf::from(ready(project)["socket"].as_str().unwrap())
}

/// A running server, and a file with the token of its agent.
fn served() -> Project {
    let mut project = Project::new();
    fs::write(project.path().join("token"), project.agent()).unwrap();
    project.serve();
    project
}

/// Sends a request over the socket. Returns the status line.
fn status(socket: &Path, host: &str, token: Option<&str>) -> String {
    let mut stream = UnixStream::connect(socket).unwrap();
    let token = token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default();
    let text = format!("GET /v1/session HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{token}\r\n");
    stream.write_all(text.as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply.lines().next().unwrap_or_default().to_owned()
}

/// Asks with the hook for any host. Returns its answer, and the text on standard error.
fn asked(project: &Project, words: &[&str]) -> (Value, String) {
    let mut command = Command::new(BESTOW);
    command.args(["hook", "pre-tool-use", "--token-file", "token"]).args(words).current_dir(project.path());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let call = json!({ "toolName": "bash", "toolInput": { "command": "ls" } });
    child.stdin.take().unwrap().write_all(call.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (serde_json::from_slice(&output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn only_its_owner_can_open_the_socket_and_every_request_needs_a_credential_and_a_name_of_the_server() {
    let mut project = served();
    let socket = socket(&project);
    assert_eq!(socket, real(project.path()).join("state/server.sock"));
    assert_eq!(fs::symlink_metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    let token = fs::read_to_string(project.path().join("token")).unwrap();
    for (host, token, expected) in [
        ("localhost", None, "401"),
        ("localhost", Some("nonsense"), "401"),
        ("localhost", Some(&*token), "200"),
        ("evil.example", Some(&*token), "421"),
        ("", Some(&*token), "400"),
    ] {
        let told = status(&socket, host, token);
        assert!(told.contains(expected), "{host} {token:?}: {told}");
    }
    project.end(Signal::TERM);
    assert!(!socket.exists(), "it ends with the server");
}

#[test]
fn a_command_uses_the_socket_of_the_ready_file_alone() {
    let project = served();
    let whole = ready(&project);
    let to_socket = format!("unix://{}", socket(&project).display());
    assert_eq!(asked(&project, &["--url", &to_socket]).0["allow"], true);
    let with = |url: &Value, socket: &Value| {
        let text = json!({ "url": url, "socket": socket, "pid": 1 }).to_string();
        fs::write(project.path().join("changed.json"), text).unwrap();
        asked(&project, &["--ready-file", "changed.json"])
    };
    let (nowhere, none) = (json!("http://127.0.0.1:1"), json!("/does/not/exist.sock"));
    for (url, socket, is_answered) in [
        (&whole["url"], &whole["socket"], true),
        (&nowhere, &whole["socket"], true),
        (&whole["url"], &none, false),
        (&whole["url"], &Value::Null, true),
        (&nowhere, &none, false),
        (&nowhere, &json!("state/server.sock"), false),
    ] {
        let (answer, told) = with(url, socket);
        assert_eq!(answer["allow"], is_answered, "{url} {socket}: {told}");
    }
}

#[test]
fn the_path_of_a_socket_that_is_wrong_is_named() {
    let project = served();
    for (url, why) in [
        ("unix://state/server.sock", "is absolute"),
        ("unix:///does/not/exist.sock", "/does/not/exist.sock"),
        ("unix:///etc/passwd", "/etc/passwd"),
    ] {
        let (answer, told) = asked(&project, &["--url", url]);
        assert!(answer["allow"] == false && told.contains(why), "{url}: {told}");
    }
}

/// The name of a socket has at most 108 bytes, and a path more.
#[test]
fn a_state_directory_with_a_long_name_has_a_socket_too() {
    let project = Project::new();
    fs::write(project.path().join("token"), project.agent()).unwrap();
    let long = real(project.path()).join("x".repeat(200));
    fs::create_dir(&long).unwrap();
    let state = long.join("state");
    fs::rename(project.path().join("state"), &state).unwrap();
    let mut command = Command::new(BESTOW);
    command.args(["serve", "--listen", "127.0.0.1:0", "--state"]).arg(&state).current_dir(project.path());
    let mut server = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = format!("unix://{}", state.join("server.sock").display());
    let (answer, told) = asked(&project, &["--url", &url]);
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(line.starts_with("listening") && answer["allow"] == true, "{line} {told}");
}

#[test]
fn a_socket_that_a_killed_server_left_is_replaced_and_nothing_else_is() {
    let mut project = served();
    let socket = socket(&project);
    project.end(Signal::KILL);
    assert!(fs::symlink_metadata(&socket).unwrap().file_type().is_socket());
    project.serve();
    assert_eq!(asked(&project, &["--url", &format!("unix://{}", socket.display())]).0["allow"], true);
    project.end(Signal::TERM);
    fs::write(&socket, "mine").unwrap();
    let refused = project.bestow(&["serve", "--state", "state", "--listen", "127.0.0.1:0"]);
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(1) && told.contains("server.sock"), "{told}");
    assert_eq!(fs::read_to_string(&socket).unwrap(), "mine");
}

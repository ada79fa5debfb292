//! Another program in the place of `bestow serve`: it gets no token, and its answers do not count.
#![cfg(all(feature = "cli", target_os = "linux"))]

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _},
        net::UnixListener,
        process::CommandExt as _,
    },
    path::Path,
    process::{Command, Stdio},
    thread::{self, JoinHandle},
};

use rustix::process::{Signal, geteuid};
use serde_json::{Value, json};

use super::project::Project;
use crate::support::BESTOW;

/// The user of a program that is neither the server's nor this one.
const ANOTHER: u32 = 65_533;

/// The user of a client that may not open the socket of the server.
const CLIENT: u32 = 65_534;

/// A running server, and a file with the token of its agent.
fn served() -> Project {
    let mut project = Project::new();
    fs::write(project.path().join("token"), project.agent()).unwrap();
    project.serve();
    project
}

/// Asks about a destructive call with the hook of Claude Code or that for any host, as this user.
fn ask(project: &Project, hook: &[&str], user: Option<u32>) -> String {
    let mut command = Command::new(BESTOW);
    command.arg("hook").args(hook).args(["--ready-file", "ready.json", "--token-file", "token"]);
    command.current_dir(project.path()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
    let mut child = command.spawn().unwrap();
    let input = json!({ "command": "rm -rf /" });
    let call = json!({
        "session_id": "s",
        "transcript_path": "/t",
        "cwd": project.path(),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": input,
        "tool_use_id": "u",
        "permission_mode": "default",
    });
    child.stdin.take().unwrap().write_all(call.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Answers every request with yes, in the form that the hook wants. Returns what it was sent, after one connection or
/// when the listener is asked to end.
fn say_yes(listener: TcpListener) -> JoinHandle<String> {
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut heard = vec![0; 64 << 10];
        let length = stream.read(&mut heard).unwrap_or_default();
        let yes = json!({ "answer": "allowed", "allow": true, "tier": "safe", "reason": "yes" }).to_string();
        let _ = write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{yes}", yes.len());
        String::from_utf8_lossy(heard.get(..length).unwrap_or_default()).into_owned()
    })
}

/// Ends a listener that may have heard nothing, and returns what it heard.
fn heard(impostor: JoinHandle<String>, address: &str) -> String {
    // It may have ended already.
    let _ = std::net::TcpStream::connect(address);
    impostor.join().unwrap()
}

/// The attack: the server is killed, and another program takes its port and answers with yes.
#[test]
fn a_program_that_takes_the_port_of_a_killed_server_is_not_asked() {
    for hook in [&["pre-tool-use"][..], &["claude"]] {
        let mut project = served();
        let address = project.address();
        project.end(Signal::KILL);
        let impostor = say_yes(TcpListener::bind(address).unwrap());
        let told = ask(&project, hook, None);
        assert!(!told.contains("\"allow\":true") && !told.contains("\"allow\"}"), "{hook:?}: {told}");
        assert!(told.contains("ready.json") && told.contains("start `bestow serve` again"), "{hook:?}: {told}");
        assert_eq!(heard(impostor, &address.to_string()), "", "{hook:?}: it was sent something");
    }
}

/// The attack: a program of another user listens at the path that the ready file names.
#[test]
fn a_socket_that_another_user_holds_gets_no_token() {
    if !geteuid().is_root() {
        return;
    }
    let project = served();
    let place = project.path().join("place");
    let socket = place.join("s.sock");
    fs::create_dir(&place).unwrap();
    let listener = UnixListener::bind(&socket).unwrap();
    let ready = project.path().join("ready.json");
    let text = json!({ "url": "http://127.0.0.1:1", "socket": socket, "pid": 1 }).to_string();
    fs::write(&ready, text).unwrap();
    // The file is of the client, and the program that listens is of root, who may be any user.
    make_open(project.path());
    std::os::unix::fs::chown(&ready, Some(CLIENT), Some(CLIENT)).unwrap();
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o666)).unwrap();
    drop(listener);
    let held = Command::new("python3")
        .args(["-c", HOLD])
        .arg(&socket)
        .uid(ANOTHER)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut held = held.unwrap();
    let mut line = [0; 6];
    held.stdout.as_mut().unwrap().read_exact(&mut line).unwrap();
    let told = ask(&project, &["pre-tool-use"], Some(CLIENT));
    held.kill().unwrap();
    let heard = held.wait_with_output().unwrap().stdout;
    assert!(told.contains("\"allow\":false") && told.contains("user 65533"), "{told}");
    assert!(!String::from_utf8_lossy(&heard).contains("Bearer"), "{told}");
}

/// Listens on a socket, says so, and prints what it is sent.
const HOLD: &str = "\
import os, socket, sys
os.unlink(sys.argv[1])
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); os.chmod(sys.argv[1], 0o666); s.listen()
print('ready', flush=True)
while True:
    c, _ = s.accept(); print(c.recv(65536), flush=True)
";

/// The attack: a client that may not open the socket uses the address, which another user has taken.
#[test]
fn a_port_that_another_user_holds_gets_no_token() {
    if !geteuid().is_root() {
        return;
    }
    let mut project = served();
    make_open(project.path());
    let asked = ask(&project, &["pre-tool-use"], Some(CLIENT));
    assert!(
        asked.contains("\"tier\":\"destructive\""),
        "the real server answers a user who may use the address: {asked}"
    );
    let address = project.address();
    project.end(Signal::KILL);
    let listening = format!(
        "import socket; s = socket.create_server(('127.0.0.1', {})); print('ready', flush=True)\n\
         while True:\n    c, _ = s.accept(); print(c.recv(65536), flush=True)",
        address.port()
    );
    let held = Command::new("python3").args(["-c", &listening]).uid(ANOTHER).stdout(Stdio::piped()).spawn();
    let mut held = held.unwrap();
    held.stdout.as_mut().unwrap().read_exact(&mut [0; 6]).unwrap();
    let told = ask(&project, &["pre-tool-use"], Some(CLIENT));
    held.kill().unwrap();
    let heard = held.wait_with_output().unwrap().stdout;
    assert!(told.contains("\"allow\":false") && told.contains("user 65533"), "{told}");
    assert!(!String::from_utf8_lossy(&heard).contains("Bearer"), "{told}");
}

/// The attack: another user puts a ready file into a directory that is open to all, and waits for a token.
#[test]
fn a_ready_file_that_another_user_put_into_an_open_directory_is_not_believed() {
    assert!(geteuid().is_root(), "this test becomes another user");
    let project = Project::new();
    fs::write(project.path().join("token"), "secret").unwrap();
    let lure = TcpListener::bind("127.0.0.1:0").unwrap();
    let ready = json!({ "url": format!("http://{}", lure.local_addr().unwrap()), "pid": std::process::id() });
    let file = project.path().join("ready.json");
    fs::write(&file, ready.to_string()).unwrap();
    std::os::unix::fs::chown(&file, Some(ANOTHER), Some(ANOTHER)).unwrap();
    make_open(project.path());
    let told = ask(&project, &["pre-tool-use"], None);
    assert!(told.contains("is not believed") && told.contains("`server.json`"), "{told}");
    lure.set_nonblocking(true).unwrap();
    assert!(lure.accept().is_err(), "nobody is asked");
}

/// Lets every user read the directory of the project, as a ready file and a token that are shared are.
fn make_open(path: &Path) {
    let readable = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    readable(path, 0o777);
    readable(&path.join("token"), 0o644);
    let place = path.join("place");
    if place.exists() {
        readable(&place, 0o777);
    }
}

/// The writer of the ready file names the server.
#[test]
fn nobody_else_can_write_a_ready_file_whatever_the_mask_says() {
    let mut project = Project::new();
    let _ = project.agent();
    let mut shell = Command::new("sh");
    shell.args(["-c", "umask 0; exec \"$0\" \"$@\"", BESTOW]);
    project.serve_as(shell, "127.0.0.1:0");
    for file in ["ready.json", "state/server.json"] {
        let mode = fs::metadata(project.path().join(file)).unwrap().mode();
        assert_eq!(mode & 0o777, 0o644, "{file}");
    }
    let ready: Value = serde_json::from_slice(&fs::read(project.path().join("ready.json")).unwrap()).unwrap();
    assert_eq!(ready["pid"], project.process());
}

//! Measures a check over the Model Context Protocol: one call after the other over standard input and output of
//! `bestow mcp`, with an engine of its own, and through the relay to `bestow serve`. Beside them, a `ping`, which asks
//! the engine nothing. The programs are processes of their own: `cargo bench -p bestow-benches --bench mcp`. Prints a
//! table. It makes no assertions about time.
#![allow(missing_docs, reason = "a bench has no reader but its author and the next one")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a bench may stop, and looks at the clock"
)]

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

const BESTOW: &str = env!("CARGO_BIN_EXE_bestow-measured");

const CALLS: usize = 5_000;

const POLICY: &str = "\
[defaults]
owner = \"you\"
working_dir = \".\"

[agents.bot]
kind = \"subagent\"
permissions = [\"@network\"]
";

/// A running `bestow mcp`.
struct Mcp {
    child: Child,
    write: ChildStdin,
    read: BufReader<ChildStdout>,
    line: String,
}

impl Mcp {
    fn start(directory: &Path, words: &[&str]) -> Mcp {
        let mut child = bestow(directory, &[&["mcp"], words].concat()).stdin(Stdio::piped()).spawn().unwrap();
        let (write, read) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut mcp = Mcp { child, write, read, line: String::new() };
        let client = json!({ "name": "bench", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        mcp.call("initialize", &hello);
        mcp.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        mcp
    }

    fn send(&mut self, message: &Value) {
        self.write.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    fn call(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
        self.line.clear();
        self.read.read_line(&mut self.line).unwrap();
    }

    /// Returns the times of calls, shortest first.
    fn times(&mut self, method: &str, params: &Value, expected: &str) -> Vec<Duration> {
        let mut times: Vec<_> = (0..CALLS)
            .map(|_| {
                let begin = Instant::now();
                self.call(method, params);
                begin.elapsed()
            })
            .collect();
        assert!(self.line.contains(expected), "{}", self.line);
        times.sort_unstable();
        times
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn bestow(directory: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(BESTOW);
    command.args(words).current_dir(directory).stdout(Stdio::piped());
    command
}

fn tell(what: &str, mcp: &mut Mcp) {
    let check = json!({ "name": "check_permission", "arguments": { "permissions": ["@network"] } });
    for (call, times) in [
        ("check_permission", mcp.times("tools/call", &check, "\"held\":\"held\"")),
        ("ping", mcp.times("ping", &json!({}), "\"result\":{}")),
    ] {
        let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e6;
        println!("{what}, {call}: median {:.0} us, p99 {:.0} us, longest {:.0} us", at(0.5), at(0.99), at(1.0));
    }
}

fn main() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    fs::write(place.join("agents.toml"), POLICY).unwrap();
    tell("an engine of its own", &mut Mcp::start(place, &["--agent", "bot"]));
    let create =
        ["token", "create", "--role", "agent", "--agent", "bot", "--json", "--token-file", "state/approver-token"];
    let token = bestow(place, &create).output().unwrap();
    let token: Value = serde_json::from_slice(&token.stdout).unwrap();
    fs::write(place.join("token"), token["token"].as_str().unwrap()).unwrap();
    let mut server =
        bestow(place, &["serve", "--listen", "127.0.0.1:0", "--ready-file", "ready.json"]).spawn().unwrap();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    tell("the relay to a server", &mut Mcp::start(place, &["--ready-file", "ready.json", "--token-file", "token"]));
    server.kill().unwrap();
    server.wait().unwrap();
}

//! A server in a process of its own, on a real socket.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;

/// The command line of bestow.
const BESTOW: &str = env!("CARGO_BIN_EXE_bestow-measured");

/// The policy: agents that may ask as much as they like, and two that belong to other people.
const POLICY: &str = r#"
[engine]
max_pending = 1000000
max_asks_per_minute = 1000000
max_facts_per_minute = 1000000
max_changes_per_minute = 1000000

[defaults]
owner = "you"
working_dir = "."

[agents.bot0]
kind = "subagent"
permissions = ["@write:/srv/work", "@network"]

[agents.bot1]
kind = "subagent"

[agents.bot2]
kind = "subagent"

[agents.bot3]
kind = "subagent"
"#;

/// Creates a directory in which no other program writes: a server follows its policy file from the root on.
pub(crate) fn directory() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// The ticks of a second in `/proc/PID/stat`.
const TICKS: f64 = 100.0;

/// A server process. It ends with this value.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    process: Child,
    /// The policy file and the state.
    directory: TempDir,
}

impl Server {
    /// Starts `bestow serve` as people start it, with its state on the disk.
    pub(crate) fn bestow() -> Server {
        let directory = directory();
        fs::write(directory.path().join("agents.toml"), POLICY).unwrap();
        let words = ["serve", "--state", "state", "--listen", "127.0.0.1:0"];
        // The clients of this bench are as fast as they can be.
        let shares = ["--requests-per-second", "10000000", "--connections-per-credential", "10000"];
        Server::start(Command::new(BESTOW).args(words).args(shares), directory)
    }

    /// Starts the server to compare with.
    pub(crate) fn bare() -> Server {
        let mut command = Command::new(std::env::current_exe().unwrap());
        Server::start(command.arg("bare"), directory())
    }

    fn start(command: &mut Command, directory: TempDir) -> Server {
        command.current_dir(directory.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap().parse().unwrap();
        Server { address, process, directory }
    }

    /// Returns a token of an agent.
    pub(crate) fn agent(&self, name: &str) -> String {
        self.token(&["--role", "agent", "--agent", name])
    }

    /// Returns a token of a person who decides for the owner of the agents.
    pub(crate) fn approver(&self) -> String {
        self.token(&["--role", "approver", "--owner", "you", "--by", "ann"])
    }

    fn token(&self, words: &[&str]) -> String {
        let mut command = Command::new(BESTOW);
        command
            .args(["token", "create", "--json", "--token-file", "state/approver-token"])
            .args(words)
            .current_dir(self.directory.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let issued: Value = serde_json::from_slice(&output.stdout).unwrap();
        issued["token"].as_str().unwrap().to_owned()
    }

    /// Returns the resident memory in bytes.
    pub(crate) fn memory(&self) -> u64 {
        let status = self.proc("status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() << 10
    }

    /// Returns the processor time of the process so far.
    pub(crate) fn work(&self) -> Duration {
        let stat = self.proc("stat");
        let fields: Vec<_> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        let ticks: u32 = fields[11..13].iter().map(|ticks| ticks.parse::<u32>().unwrap()).sum();
        Duration::from_secs_f64(f64::from(ticks) / TICKS)
    }

    fn proc(&self, file: &str) -> String {
        fs::read_to_string(Path::new("/proc").join(self.process.id().to_string()).join(file)).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

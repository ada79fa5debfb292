//! Coding agents of others, with `bestow` as their hook and a model that the test plays. `scripts/counterparts/hooks`
//! installs them.
#![cfg(feature = "cli")]

mod claude_code;
mod codex;
mod copilot;
mod gemini;
pub(crate) mod mcp;
pub(crate) mod model;
mod schemas;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};

use crate::{
    http::project::Project,
    support::{BESTOW, ROOT, real},
};

/// Returns the path of an installed program. In CI it must be there.
pub(crate) fn installed(file: &str) -> Option<PathBuf> {
    let path = Path::new(ROOT).join("target/counterparts/hooks").join(file);
    let is_there = path.exists();
    assert!(is_there || std::env::var_os("CI").is_none(), "{} is missing", path.display());
    if !is_there {
        eprintln!("notice: not run, because {} is missing: run scripts/counterparts/hooks", path.display());
    }
    is_there.then(|| real(&path))
}

/// The name of the machine in the packages of programs that are made for one.
pub(crate) const MACHINE: &str = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };

/// A project with the coding agent `host`, which may write below `work`.
pub(crate) struct Desk {
    pub(crate) project: Project,
    host: &'static str,
    /// False if the hook opens an engine of its own.
    is_served: bool,
}

impl Desk {
    /// Creates a project with a server.
    pub(crate) fn served(host: &'static str) -> Desk {
        let mut desk = Desk::own(host);
        let token = desk.project.token(&["--role", "agent", "--agent", host]);
        std::fs::write(desk.path("token"), token).unwrap();
        desk.project.serve();
        desk.is_served = true;
        desk
    }

    /// Creates a project whose hooks open an engine of their own.
    pub(crate) fn own(host: &'static str) -> Desk {
        let project = Project::new();
        for name in ["work", "home"] {
            std::fs::create_dir(project.path().join(name)).unwrap();
        }
        project.policy(&format!(
            "[defaults]\nowner = \"you\"\nworking_dir = \".\"\n\n[agents.{host}]\nkind = \"permanent\"\n\
             working_dir = \"work\"\npermissions = [\"@write:work\"]\n\n[agents.\"{host}:general-purpose\"]\n\
             kind = \"permanent\"\nmode = \"plan\"\n\n[[tools]]\nname = \"Agent\"\noperation = \"tool\"\n\n\
             [[agents.{host}.rules]]\nverdict = \"allow\"\ntool = \"Agent\"\nchildren = true\n"
        ));
        Desk { project, host, is_served: false }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.project.path().join(name)
    }

    /// Returns the words that name the engine: a server, or one of its own.
    pub(crate) fn engine(&self) -> Vec<String> {
        let named = |option: &str, file: &str| [option.to_owned(), self.path(file).to_str().unwrap().to_owned()];
        let agent = ["--agent".to_owned(), self.host.to_owned()];
        match self.is_served {
            true => [named("--ready-file", "ready.json"), named("--token-file", "token")].concat(),
            false => [agent, named("--config", "agents.toml"), named("--state", "state")].concat(),
        }
    }

    /// Returns the command line of the hook.
    fn hook(&self, more: &str) -> String {
        format!("{BESTOW} hook {} {}{more}", self.host, self.engine().join(" "))
    }

    /// Writes a file of the home directory.
    pub(crate) fn write(&self, name: &str, content: &Value) {
        let path = self.path("home").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content.to_string()).unwrap();
    }

    /// Returns a command in the directory `work`, with a home directory of its own.
    pub(crate) fn command(&self, program: impl Into<OsString>) -> Command {
        let mut command = Command::new(program.into());
        command.current_dir(self.path("work")).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        command.env("HOME", self.path("home")).stdin(Stdio::null());
        command
    }

    /// Returns the begins and ends of the sessions and subagents whose ids begin with this text, in their order.
    fn lives(&self, prefix: &str) -> Vec<String> {
        let shown = self.project.bestow(&["audit", "show", "--state", "state", "--json"]);
        let text = String::from_utf8(shown.stdout).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter_map(|line| life(&line, prefix)).collect()
    }
}

/// Returns the begin or the end of an agent, if the line is about one.
fn life(line: &Value, prefix: &str) -> Option<String> {
    let kind = line["type"].as_str()?;
    let (how, id) = match kind {
        "agent.registered" => ("begins", line.pointer("/event/profile/id")?),
        "agent.retired" => ("ends", line.pointer("/event/agent")?),
        _ => return None,
    };
    let id = id.as_str()?.strip_prefix(prefix)?;
    // The agent that limits a type of subagents is in the policy file.
    (id != "general-purpose").then(|| format!("{} {how}", if id.contains(':') { "subagent" } else { "session" }))
}

/// Returns the output of a coding agent that has said that it is done.
pub(crate) fn done(mut command: Command) -> Output {
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("done"), "{output:?}");
    output
}

/// Returns the hooks for these events, in the form that several hosts share.
fn hooks(events: &[&str], command: &str, timeout: u64) -> Value {
    let group = json!([{ "matcher": "*", "hooks": [{ "type": "command", "command": command, "timeout": timeout }] }]);
    events.iter().map(|event| ((*event).to_owned(), group.clone())).collect::<serde_json::Map<_, _>>().into()
}

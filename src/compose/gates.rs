//! Gates in the sandbox. A gate runs as a command of its task's agent, with the declared permissions and nothing else.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;

use crate::{
    engine::{Agent, Engine},
    fs,
    kernel::Explanation,
    model::{Access, GateOutcome, Permission, SanitizedPath},
};
use crate::{
    sandbox::{Command, Sandbox},
    schedule::{self, Asked, Gate, Gatekeeper, NoSandbox, Scheduler, Surveyed},
};

/// The number of bytes that are kept of each stream.
const MOST_OUTPUT: usize = 64 << 10;

/// The words are arguments beside the script, so that the shell never interprets a part of them as code.
const THERE: &str = r#"cd -- "$1" && exec /bin/sh -c "$2""#;

#[derive(Debug)]
struct InSandbox(Sandbox);

/// Returns a gatekeeper with the sandbox that this machine offers.
pub(super) fn usual() -> Arc<dyn Gatekeeper> {
    match Sandbox::find() {
        Ok(sandbox) => Arc::new(InSandbox(sandbox)),
        Err(why) => Arc::new(NoSandbox(why.to_string())),
    }
}

impl Scheduler {
    /// Returns the scheduler with gates that run in this sandbox. Without this call it is the sandbox that
    /// [`Sandbox::find`] finds. Without any sandbox, no gate runs, and no task with a gate.
    #[must_use]
    pub fn with_sandbox(self, sandbox: Sandbox) -> Scheduler {
        Scheduler { keeper: Some(Arc::new(InSandbox(sandbox))), ..self }
    }
}

#[async_trait]
impl Gatekeeper for InSandbox {
    async fn ask(&self, agent: &Agent, gate: &Gate, time: Duration) -> Asked {
        match self.run(agent, gate, time).await {
            Ok(asked) => asked,
            Err(why) => Asked::could_not_run(why),
        }
    }
}

impl InSandbox {
    async fn run(&self, agent: &Agent, gate: &Gate, time: Duration) -> Result<Asked, String> {
        let cwd = starts_in(agent, gate)?;
        let profile = agent.sandbox_profile(&gate.permissions).map_err(|why| why.to_string())?;
        let mut limits = profile.limits().clone();
        (limits.time, limits.output) = (Some(time), MOST_OUTPUT);
        let profile = profile.limited(limits);
        let profile = profile.only_to(gate.domains.iter().cloned());
        let command = command(gate, cwd.as_str());
        // A gate runs while no person is present, within its declared permissions. Denials by rules and by the mode
        // still apply.
        let done = agent.exec_confined(&self.0, profile, command).await.map_err(|why| why.to_string())?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let output = schedule::output(&text(&done.stdout.bytes), &text(&done.stderr.bytes));
        if done.timed_out {
            return Err(format!("it did not end within {time:?}, and was killed"));
        }
        let outcome = match (done.code, done.signal) {
            (Some(0), _) => GateOutcome::Passed,
            (Some(code), _) => match signal_told_by(code) {
                None => GateOutcome::Failed { code, wrote: schedule::tail(&output) },
                // Shells and bubblewrap use this exit code for a signal. A program that exits with this very number
                // cannot be distinguished.
                Some(signal) => return Err(format!("it was ended by signal {signal} (exit code {code})")),
            },
            (None, signal) => return Err(format!("it was ended by signal {}", signal_name(signal.unwrap_or(0)))),
        };
        Ok(Asked { outcome, output })
    }
}

/// Returns the command for a gate that starts in `cwd`.
fn command(gate: &Gate, cwd: &str) -> Command {
    let command = Command::new("/bin/sh").args(["-c", THERE, "gate", cwd, &gate.command]);
    let command = gate.env.iter().fold(command, |command, (name, value)| command.env(name, value));
    gate.home.iter().fold(command, |command, home| command.env("HOME", home))
}

impl Surveyed {
    /// Explains the decision about running the gate now, for the task's agent and with the declared permissions that
    /// the agent holds. It sends no request, consumes nothing, records nothing and calls no hooks. A gate is a command
    /// that runs while no person is present: it runs only if it is allowed.
    ///
    /// Returns `None` if there is no gate, or no agent for it ([`Surveyed::hindered`]).
    ///
    /// # Errors
    ///
    /// The reason why no such command can be made, for example a root that no command may have.
    pub fn explain_gate(&self, engine: &Engine) -> Option<Result<Explanation, String>> {
        let task = self.task.as_ref().ok()?;
        let (gate, agent) = (task.gate.as_ref()?, schedule::agent_of(engine, task).ok()?);
        Some(explained(gate, &agent))
    }
}

fn explained(gate: &Gate, agent: &Agent) -> Result<Explanation, String> {
    let lacks = schedule::missing(agent, gate);
    let held: Vec<_> = gate.permissions.iter().filter(|wanted| !lacks.contains(wanted)).cloned().collect();
    let profile = agent.sandbox_profile(&held).map_err(|why| why.to_string())?.only_to(gate.domains.iter().cloned());
    let home = agent.profile().map_err(|why| why.to_string())?.working_dir.clone();
    let cwd = match gate.cwd.as_deref() {
        None => home.to_string(),
        Some(cwd) if cwd.starts_with('/') => cwd.to_owned(),
        Some(cwd) => format!("{home}/{cwd}"),
    };
    let action = profile.action(&command(gate, &cwd)).map_err(|why| why.to_string())?;
    agent.explain_confined(&action).map_err(|why| why.to_string())
}

/// Returns the directory in which the gate starts. It is the agent's working directory, a directory below it, or one
/// that the agent may read or write by a permission of its own.
fn starts_in(agent: &Agent, gate: &Gate) -> Result<SanitizedPath, String> {
    let set = agent.permissions().map_err(|why| why.to_string())?;
    let home = set.working_dir().clone();
    let Some(cwd) = &gate.cwd else { return Ok(home) };
    let wanted = if cwd.starts_with('/') { cwd.clone() } else { format!("{home}/{cwd}") };
    let real = fs::real(&wanted).map_err(|why| format!("its `cwd`: {why}"))?;
    let within = fs::real(home.as_str()).is_ok_and(|home| home.path().contains(real.path()));
    let held = set.iter().any(|held| match &held {
        Permission::Path(Access::Read | Access::Write, root) => root.contains(real.path()),
        Permission::Network | Permission::Events | Permission::Tool(_) => false,
    });
    if real.identity().is_some() && real.path().as_path().is_dir() && (within || held) {
        return Ok(real.path().clone());
    }
    Err(format!("its `cwd` {cwd:?} is not a directory in which {} works or which it may read", agent.id()))
}

/// The signals that a gate may meet, by number. The numbers are equal on all supported Linux architectures.
const SIGNALS: [(i32, &str); 18] = [
    (1, "HUP"),
    (2, "INT"),
    (3, "QUIT"),
    (4, "ILL"),
    (5, "TRAP"),
    (6, "ABRT"),
    (7, "BUS"),
    (8, "FPE"),
    (9, "KILL"),
    (10, "USR1"),
    (11, "SEGV"),
    (12, "USR2"),
    (13, "PIPE"),
    (14, "ALRM"),
    (15, "TERM"),
    (24, "XCPU"),
    (25, "XFSZ"),
    (31, "SYS"),
];

fn signal_name(number: i32) -> String {
    let known = SIGNALS.iter().find(|(signal, _)| *signal == number);
    known.map_or_else(|| number.to_string(), |(_, name)| (*name).to_owned())
}

/// Returns the signal that an exit code above 128 stands for.
fn signal_told_by(code: i32) -> Option<&'static str> {
    SIGNALS.iter().find(|(signal, _)| code - 128 == *signal).map(|(_, name)| *name)
}

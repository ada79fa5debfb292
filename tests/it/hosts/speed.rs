//! Measurements of the hooks as real processes. `scripts/hook-bench` runs them on a quiet machine.
#![cfg(feature = "cli")]

use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{http::project::Project, support::BESTOW};

/// The number of starts of each program.
const TIMES: usize = 200;

/// Returns the time from the start of a program to its end.
#[expect(clippy::disallowed_methods, reason = "a measurement")]
fn run(program: &str, words: &[&str], directory: &Path, text: &str) -> Duration {
    let began = Instant::now();
    let mut command = Command::new(program);
    command.args(words).current_dir(directory).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    // `true` reads nothing.
    let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
    let output = child.wait_with_output().unwrap();
    let took = began.elapsed();
    assert!(output.status.success() && (program == "true" || output.stdout.starts_with(b"{")), "{output:?}");
    took
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1_000.0
}

#[test]
#[ignore = "a measurement, for a quiet machine"]
fn a_hook_beside_the_smallest_program() {
    // Another build of the program can be measured.
    let program = std::env::var("BESTOW_PROGRAM").unwrap_or_else(|_| BESTOW.to_owned());
    let mut project = Project::new();
    std::fs::create_dir(project.path().join("work")).unwrap();
    let owner = "[defaults]\nowner = \"you\"\nworking_dir = \".\"\n";
    project.policy(&format!("{owner}\n[agents.claude]\nkind = \"permanent\"\npermissions = [\"@write:work\"]\n"));
    let token = project.token(&["--role", "agent", "--agent", "claude"]);
    std::fs::write(project.path().join("token"), token).unwrap();
    project.serve();
    let event = json!({
        "session_id": "s1", "cwd": project.path().join("work"), "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": { "command": "git status" },
    });
    let text = event.to_string();
    let served = ["hook", "claude", "--ready-file", "ready.json", "--token-file", "token"];
    let own = ["hook", "claude", "--agent", "claude", "--config", "agents.toml", "--state", "own"];
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..TIMES {
        times[0].push(run("true", &[], project.path(), ""));
        times[1].push(run(&program, &served, project.path(), &text));
        times[2].push(run(&program, &own, project.path(), &text));
    }
    let [nothing, served, own] = times.map(median);
    println!("true: {nothing:.2} ms");
    println!("a hook that asks a server: {served:.2} ms, {:.1} times as long", served / nothing);
    println!("a hook with an engine of its own: {own:.2} ms, {:.1} times as long", own / nothing);
}

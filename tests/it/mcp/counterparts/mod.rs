//! The programs of others: the official SDKs, the inspector and the conformance suite. `scripts/counterparts/mcp`
//! installs them. Without them the tests pass with a notice, except in CI.
#![cfg(feature = "cli")]

mod conformance;
mod inspector;
mod sdk;

use std::path::PathBuf;

use serde_json::Value;
use tokio::process::Command;

use crate::support::ROOT;

/// Returns the directory with an installed program, or none if it is not there and that is no failure.
pub(super) fn installed(program: &str) -> Option<PathBuf> {
    let place = PathBuf::from(ROOT).join("target/counterparts/mcp");
    if place.join(program).exists() {
        return Some(place);
    }
    assert!(std::env::var_os("CI").is_none(), "{program} is missing: scripts/counterparts/mcp installs it");
    eprintln!("notice: not run, because {program} is missing: scripts/counterparts/mcp installs it");
    None
}

/// Runs a program, and returns the last line of its standard output as JSON.
pub(super) async fn told(command: &mut Command) -> Value {
    let output = command.kill_on_drop(true).output().await.unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {out}{err}");
    let line = out.trim().lines().last().unwrap_or_default();
    serde_json::from_str(line).unwrap_or_else(|why| panic!("{command:?}: {why}: {out}{err}"))
}

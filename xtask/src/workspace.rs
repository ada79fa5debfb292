//! The workspace: where it is, what is in it, and commands that run in it.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use super::Result;

/// Returns the root directory of the workspace.
pub(crate) fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_owned()
}

/// Returns the directory that holds what cargo builds.
pub(crate) fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |target| root().join(target))
}

/// Returns a command that runs cargo in the root directory.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Runs `command`, whose output the caller of this program sees.
///
/// # Errors
///
/// A text that begins with `failure`, when the command does not start or does not succeed.
pub(crate) fn run(command: &mut Command, failure: &str) -> Result<()> {
    let status = command.status().map_err(|why| format!("{failure}: {why}"))?;
    if status.success() { Ok(()) } else { Err(format!("{failure}: {status}").into()) }
}

/// Returns what `cargo metadata` tells about the workspace and its dependencies.
pub(crate) fn metadata() -> Result<Value> {
    let output = cargo().args(["metadata", "--format-version", "1", "--all-features", "--locked"]).output()?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Returns the elements of a list; nothing for any other value.
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns a text; an empty one for any other value.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns the names of the members that may be published.
pub(crate) fn publishable(metadata: &Value) -> Vec<&str> {
    let members = list(&metadata["workspace_members"]);
    let packages = list(&metadata["packages"]).iter();
    // `publish = false` is an empty list of registries; without the key there is no list.
    let packages = packages.filter(|package| members.contains(&package["id"]) && package["publish"].is_null());
    packages.map(|package| text(&package["name"])).collect()
}

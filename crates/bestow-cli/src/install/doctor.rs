//! The settings as Claude Code itself reads them (`claude doctor`).

use std::{
    fs,
    process::{Command, Stdio},
    time::Duration,
};

use bestow::text::Escaped;

/// The first version of which `claude doctor` is known to name invalid settings without a terminal.
const NAMES_SETTINGS: [u64; 3] = [2, 1, 330];

/// The longest time that the program may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The line before the settings that are invalid.
const HEADING: &str = "Invalid settings";

/// The words with which Claude Code says that it passes over one entry alone, and loads the rest.
const PASSED_OVER: [&str; 2] = ["ignored", "skipped"];

/// Lets the Claude Code that is installed read these settings, in a directory of their own. It starts no hook of them.
/// Returns its remarks for people, a line each. Without an answer of it, there are none.
///
/// # Errors
///
/// Claude Code would not load the settings. The reason is in its words.
pub(super) fn checked(text: &str, version: Option<[u64; 3]>) -> Result<String, String> {
    if version.is_none_or(|version| version < NAMES_SETTINGS) {
        return Ok(String::new());
    }
    let said = crate::hook::within(PATIENCE, {
        let text = text.to_owned();
        move || said(&text)
    });
    let Ok(Some(said)) = said else { return Ok(String::new()) };
    let (passed_over, fatal): (Vec<_>, Vec<_>) =
        invalid(&said).partition(|line| PASSED_OVER.iter().any(|word| line.contains(word)));
    match fatal.first() {
        Some(_) => Err(fatal.join("; ")),
        None => Ok(passed_over.iter().map(|line| format!("note: Claude Code says: {line}\n")).collect()),
    }
}

/// Returns the report of Claude Code about these settings as those of a project.
fn said(text: &str) -> Option<String> {
    let place = tempfile::tempdir().ok()?;
    let (project, home) = (place.path().join("project"), place.path().join("home"));
    fs::create_dir_all(project.join(".claude")).ok()?;
    fs::create_dir(&home).ok()?;
    fs::write(project.join(".claude/settings.json"), text).ok()?;
    let mut command = Command::new("claude");
    command.arg("doctor").current_dir(&project).env("HOME", &home).env_remove("CLAUDE_CONFIG_DIR");
    command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("DISABLE_AUTOUPDATER", "1");
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    String::from_utf8(output.stdout).ok()
}

/// Returns the entries below the heading, without the name of the file.
fn invalid(said: &str) -> impl Iterator<Item = String> + '_ {
    let below = said.lines().map(str::trim_end).skip_while(|line| line.trim() != HEADING).skip(1);
    let entries = below.take_while(|line| !line.is_empty()).filter_map(|line| line.trim_start().strip_prefix("- "));
    entries.map(|entry| {
        let (_, told) = entry.split_once("settings.json").unwrap_or(("", entry));
        Escaped(told.trim_start_matches([' ', ':', '\u{203a}'])).to_string()
    })
}

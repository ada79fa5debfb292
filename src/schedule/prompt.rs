//! The prompt of an agent: the text of the task file, and below a marker the output of the gate.

#[cfg(feature = "sandbox")]
use std::sync::Arc;

use super::Task;
#[cfg(feature = "sandbox")]
use crate::model::redacted;

/// The heading above the output of a gate.
const MARKER: &str = "## Gate output";

/// The most output of a gate that is passed on, in bytes.
const MOST: usize = 16 << 10;

/// The most output of a failed gate that is stored, in bytes.
#[cfg(feature = "sandbox")]
const MOST_KEPT: usize = 1 << 10;

/// Joins the output of a gate on its two streams. Each is trimmed and begins on its own line.
#[cfg(feature = "sandbox")]
pub(crate) fn output(stdout: &str, stderr: &str) -> String {
    let parts = [stdout.trim(), stderr.trim()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Returns the end of the output, to explain the failure of a gate. Secrets are removed, because this text is stored.
#[cfg(feature = "sandbox")]
pub(crate) fn tail(output: &str) -> Arc<str> {
    // The redaction comes before the cut, because it would not recognize half of a secret.
    let output = redacted(output);
    let output = output.trim();
    let start = output.len().saturating_sub(MOST_KEPT);
    let start = (start..=output.len()).find(|start| output.is_char_boundary(*start)).unwrap_or(0);
    match output.split_at_checked(start) {
        Some((cut, kept)) if !cut.is_empty() => format!("(after {} more bytes) {kept}", cut.len()).into(),
        _ => output.into(),
    }
}

/// Builds the prompt of one task. If its gate wrote no output, the prompt is the text of the file.
pub(super) fn of(task: &Task, output: &str) -> String {
    let output = output.trim();
    if output.is_empty() {
        return task.prompt.to_string();
    }
    let end = (0..=output.len().min(MOST)).rev().find(|end| output.is_char_boundary(*end)).unwrap_or(0);
    let (kept, cut) = output.split_at_checked(end).unwrap_or((output, ""));
    let cut = if cut.is_empty() { String::new() } else { format!("\n(and {} more bytes)", cut.len()) };
    format!("{}\n\n{MARKER}\n\n{kept}{cut}", task.prompt)
}

/// Builds the prompt of several tasks, each below its title.
pub(super) fn of_all(tasks: &mut [(&Task, String)]) -> String {
    if let [(_, prompt)] = tasks {
        return std::mem::take(prompt);
    }
    tasks.sort_by(|(one, _), (other, _)| (&one.title, &one.id).cmp(&(&other.title, &other.id)));
    let parts = tasks.iter().map(|(task, prompt)| format!("# {}\n\n{prompt}", task.title));
    parts.collect::<Vec<_>>().join("\n\n")
}

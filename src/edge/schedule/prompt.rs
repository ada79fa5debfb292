//! What an agent is told to do: the text of the file, and below a marker what the gate wrote.

#[cfg(feature = "sandbox")]
use std::sync::Arc;

use super::Task;
#[cfg(feature = "sandbox")]
use crate::model::redacted;

/// Above what a gate wrote.
const MARKER: &str = "## Gate output";

/// How much of that is passed on, in bytes.
const MOST: usize = 16 << 10;

/// How much of it is kept of a gate that failed, in bytes.
#[cfg(feature = "sandbox")]
const MOST_KEPT: usize = 1 << 10;

/// What a gate wrote to its two streams: trimmed, each on lines of its own.
#[cfg(feature = "sandbox")]
pub(crate) fn output(stdout: &str, stderr: &str) -> String {
    let parts = [stdout.trim(), stderr.trim()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The end of that, for whoever wants to know why a gate failed: it is kept, so no secret stays in it.
#[cfg(feature = "sandbox")]
pub(crate) fn tail(output: &str) -> Arc<str> {
    // Before it is cut, since half a secret is not known for one.
    let output = redacted(output);
    let output = output.trim();
    let start = output.len().saturating_sub(MOST_KEPT);
    let start = (start..=output.len()).find(|start| output.is_char_boundary(*start)).unwrap_or(0);
    match output.split_at_checked(start) {
        Some((cut, kept)) if !cut.is_empty() => format!("(after {} bytes more) {kept}", cut.len()).into(),
        _ => output.into(),
    }
}

/// The prompt of one task. Nothing is added if its gate wrote nothing.
pub(super) fn of(task: &Task, output: &str) -> String {
    let output = output.trim();
    if output.is_empty() {
        return task.prompt.to_string();
    }
    let end = (0..=output.len().min(MOST)).rev().find(|end| output.is_char_boundary(*end)).unwrap_or(0);
    let (kept, cut) = output.split_at_checked(end).unwrap_or((output, ""));
    let cut = if cut.is_empty() { String::new() } else { format!("\n(and {} bytes more)", cut.len()) };
    format!("{}\n\n{MARKER}\n\n{kept}{cut}", task.prompt)
}

/// The prompt of several tasks, each below its title.
pub(super) fn of_all(tasks: &mut [(&Task, String)]) -> String {
    if let [(_, prompt)] = tasks {
        return std::mem::take(prompt);
    }
    tasks.sort_by(|(one, _), (other, _)| (&one.title, &one.id).cmp(&(&other.title, &other.id)));
    let parts = tasks.iter().map(|(task, prompt)| format!("# {}\n\n{prompt}", task.title));
    parts.collect::<Vec<_>>().join("\n\n")
}

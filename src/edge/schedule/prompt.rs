//! What an agent is told to do: the text of the file, and below a marker what the gate wrote.

use super::Task;

/// Above what a gate wrote.
const MARKER: &str = "## Gate output";

/// How much of that is passed on, in bytes.
const MOST: usize = 16 << 10;

/// What a gate wrote to its two streams: trimmed, each on lines of its own.
#[cfg(feature = "sandbox")]
pub(crate) fn output(stdout: &str, stderr: &str) -> String {
    let parts = [stdout.trim(), stderr.trim()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
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

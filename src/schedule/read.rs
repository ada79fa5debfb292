//! The parser of task files. It returns a task, or all problems of the file.

use std::path::Path;

use super::{
    Problem, Task, TimeZone, When,
    table::Table,
    yaml::{self, Node, Value},
};
use crate::{
    model::{AgentId, TaskId, TaskKind},
    quote::quoted,
    suggest::did_you_mean,
};

/// A parsed task, with the permissions that its file lists in vain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) task: Task,
    pub(super) ignored: Option<String>,
    /// The lines of the agent's name and of the gate, if the file has them.
    pub(super) agent_line: Option<u32>,
    pub(super) gate_line: Option<u32>,
}

/// The keys that only a task with its own schedule can have.
const CRON_ONLY: [&str; 10] = [
    "schedule",
    "cron",
    "time_zone",
    "timezone",
    "timeZone",
    "agent",
    "agentId",
    "once",
    "deleteAfterRun",
    "time_limit",
];

const AGENT: [&str; 2] = ["agent", "agentId"];
const SCHEDULE: [&str; 2] = ["schedule", "cron"];

/// Parses `text`, the file of `id`. `dir` is the task's own directory, if it has one. `zone` is the time zone for
/// schedules that name none.
pub(super) fn read(id: &TaskId, text: &str, dir: Option<&Path>, zone: &TimeZone) -> Result<Read, Vec<Problem>> {
    let (front, body) = split(text).map_err(|why| vec![why])?;
    let entries = match front {
        Some(front) => yaml::map(front, 2).map_err(|why| vec![why])?,
        None => Vec::new(),
    };
    let mut table = Table::new("a task", &entries);
    if id.kind() == TaskKind::Heartbeat {
        table.refuse(&CRON_ONLY, "is only for tasks below `cron/`: heartbeat tasks run together, as one agent");
    }
    let (agent_line, gate_line) = (table.line(AGENT), table.line("gate"));
    let ignored = table.value("permissions").map(shown);
    let title = table.text(["title", "name"]).map(|title| title.value).filter(|title| !title.is_empty());
    let when = match id.kind() {
        TaskKind::Cron => table.schedule(zone),
        TaskKind::Heartbeat => Some(When::WithTheHeartbeat),
    };
    let is_cron = id.kind() == TaskKind::Cron;
    let agent = if is_cron { table.parsed::<AgentId>(AGENT) } else { None };
    let once = is_cron && table.flag(["once", "deleteAfterRun"]).unwrap_or(false);
    let enabled = table.flag("enabled").unwrap_or(true);
    let time_limit = if is_cron { table.duration("time_limit") } else { None };
    let gate = table.gate(dir);
    // `description` is for people. `taskId` is a key in files of the first engine.
    table.table.know("description");
    table.table.know("taskId");
    let prompt = body.trim();
    if prompt.is_empty() {
        table.problems.push(Problem::of_file("there is no prompt below the front matter"));
    }
    let problems = table.finish();
    let title = title.map(str::to_owned).or_else(|| heading(prompt)).unwrap_or_else(|| id.name().to_owned());
    match when {
        Some(when) if problems.is_empty() => {
            let (title, prompt) = (title.trim().into(), prompt.into());
            let task = Task { id: id.clone(), title, when, agent, enabled, once, time_limit, gate, prompt };
            Ok(Read { task, ignored, agent_line, gate_line })
        }
        _ => Err(Problem::sorted(problems)),
    }
}

/// Parses the text of a task file, for tests with arbitrary text.
///
/// # Errors
///
/// Fails with the problems of the file.
#[doc(hidden)]
pub fn task_in(id: &TaskId, text: &str) -> Result<Task, Vec<Problem>> {
    read(id, text, None, &TimeZone::utc()).map(|read| read.task)
}

/// Splits a text into the front matter, between two lines of three dashes, and the rest.
fn split(text: &str) -> Result<(Option<&str>, &str), Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some((first, rest)) = text.split_once('\n').filter(|(first, _)| first.trim_end() == "---") else {
        return Ok((None, text));
    };
    let _ = first;
    let mut offset = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            let (front, below) = rest.split_at_checked(offset).unwrap_or((rest, ""));
            return Ok((Some(front), below.strip_prefix(line).unwrap_or("")));
        }
        offset += line.len();
    }
    Err(Problem::at(1, "the front matter does not end: a line `---` is missing"))
}

/// Returns the first heading of a prompt, at any depth.
fn heading(prompt: &str) -> Option<String> {
    let mut headings = prompt.lines().filter(|line| line.starts_with('#'));
    let title = headings.find_map(|line| line.trim_start_matches('#').strip_prefix(' '))?.trim();
    (!title.is_empty()).then(|| title.to_owned())
}

impl Table<'_> {
    fn schedule(&mut self, zone: &TimeZone) -> Option<When> {
        let zone = match self.text(["time_zone", "timezone", "timeZone"]) {
            None => Some(zone.clone()),
            Some(text) => {
                let found = text.value.parse::<TimeZone>().ok();
                if found.is_none() {
                    self.problems.push(Problem::at(text.place, no_zone(text.value)));
                }
                found
            }
        };
        let expression = self.parsed(SCHEDULE);
        if expression.is_none() && !self.table.has(SCHEDULE) {
            self.problems
                .push(Problem::of_file("`schedule` is missing: five fields, as in `schedule: \"0 9 * * 1-5\"`"));
        }
        Some(When::At(expression?, zone?))
    }
}

fn no_zone(text: &str) -> String {
    let near = did_you_mean(text, TimeZone::names());
    let help = near.unwrap_or_else(|| "its name is like `Europe/Berlin` or `UTC`".to_owned());
    format!("`time_zone`: there is no {}: {help}", quoted(text))
}

/// Formats the listed permissions, which give nothing, in one line.
fn shown(node: &Node) -> String {
    match &node.value {
        Value::Nothing => "nothing".into(),
        Value::Text { text, .. } => text.chars().take(200).collect(),
        Value::List(nodes) => nodes.iter().take(16).map(shown).collect::<Vec<_>>().join(", "),
        Value::Map(entries) => entries.iter().take(16).map(|(key, _)| key.clone()).collect::<Vec<_>>().join(", "),
    }
}

//! From the text of a file to a task, or to everything that is wrong with it.

use std::{collections::BTreeMap, path::Path, str::FromStr, time::Duration};

use chrono_tz::Tz;
use strsim::jaro_winkler;

use super::{
    Gate, Problem, Task, When, hosts,
    yaml::{self, Node, Value},
};
use crate::model::{AgentId, Permission, TaskId, TaskKind};

/// A task, and what its file lists without giving it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) task: Task,
    pub(super) ignored: Option<String>,
}

/// Understands `text`, the file of `id`. `dir` is the task's own directory, if it has one; `zone` is for schedules without one.
pub(super) fn read(id: &TaskId, text: &str, dir: Option<&Path>, zone: Tz) -> Result<Read, Vec<Problem>> {
    let (front, body) = split(text).map_err(|why| vec![why])?;
    let entries = match front {
        Some(front) => yaml::map(front, 2).map_err(|why| vec![why])?,
        None => Vec::new(),
    };
    let mut table = Table { entries, known: Vec::new(), problems: Vec::new(), name: "a task" };
    let ignored = table.take(&["permissions"]).map(|node| shown(&node));
    let title = table.text(&["title", "name"]).filter(|title| !title.trim().is_empty());
    let when = match id.kind() {
        TaskKind::Cron => table.schedule(zone),
        TaskKind::Heartbeat => Some(When::WithTheHeartbeat),
    };
    let is_cron = id.kind() == TaskKind::Cron;
    let agent = if is_cron { table.parsed::<AgentId>(&["agent", "agentId"]) } else { None };
    let once = is_cron && table.flag(&["once", "deleteAfterRun"]).unwrap_or(false);
    let enabled = table.flag(&["enabled"]).unwrap_or(true);
    let time_limit = if is_cron { table.duration(&["time_limit"]) } else { None };
    let gate = table.gate(dir);
    // Words for people, and the name that files of the first engine carry.
    let _about = (table.take(&["description"]), table.take(&["taskId"]));
    let prompt = body.trim();
    if prompt.is_empty() {
        table.problems.push(Problem::of_file("there is no prompt below the front matter: nothing is to be done"));
    }
    table.finish();
    let title = title.or_else(|| heading(prompt)).unwrap_or_else(|| id.name().to_owned());
    match when {
        Some(when) if table.problems.is_empty() => {
            let (title, prompt) = (title.trim().into(), prompt.into());
            let task = Task { id: id.clone(), title, when, agent, enabled, once, time_limit, gate, prompt };
            Ok(Read { task, ignored })
        }
        _ => Err(table.problems),
    }
}

/// The front matter between two lines of three dashes, and what is below it.
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

/// The first heading of a prompt, of whatever depth.
fn heading(prompt: &str) -> Option<String> {
    let mut headings = prompt.lines().filter(|line| line.starts_with('#'));
    let title = headings.find_map(|line| line.trim_start_matches('#').strip_prefix(' '))?.trim();
    (!title.is_empty()).then(|| title.to_owned())
}

/// One map of the file, and which keys somebody asked for: the rest is unknown.
struct Table {
    entries: Vec<(String, Node)>,
    known: Vec<&'static str>,
    problems: Vec<Problem>,
    name: &'static str,
}

impl Table {
    /// What stands under the first of `names` or another of them.
    fn take(&mut self, names: &[&'static str]) -> Option<Node> {
        self.known.extend(names);
        let found: Vec<_> = self.entries.iter().filter(|(key, _)| names.contains(&key.as_str())).cloned().collect();
        if let [(one, _), (other, node), ..] = found.as_slice() {
            self.problems.push(Problem::at(node.line, format!("`{one}` and `{other}` mean the same: keep one")));
        }
        found.into_iter().next().map(|(_, node)| node).filter(|node| node.value != Value::Nothing)
    }

    fn text(&mut self, names: &[&'static str]) -> Option<String> {
        self.text_at(names).map(|(text, _)| text)
    }

    fn text_at(&mut self, names: &[&'static str]) -> Option<(String, u32)> {
        let node = self.take(names)?;
        if let Value::Text { text, .. } = node.value {
            return Some((text.trim().to_owned(), node.line));
        }
        self.wrong(node.line, names, "is a text");
        None
    }

    fn wrong(&mut self, line: u32, names: &[&'static str], what: &str) {
        let name = names.first().copied().unwrap_or_default();
        self.problems.push(Problem::at(line, format!("`{name}` {what}")));
    }

    fn parsed<T: FromStr<Err: std::fmt::Display>>(&mut self, names: &[&'static str]) -> Option<T> {
        let (text, line) = self.text_at(names)?;
        text.parse().map_err(|why| self.wrong(line, names, &format!("cannot be taken: {why}"))).ok()
    }

    fn flag(&mut self, names: &[&'static str]) -> Option<bool> {
        let node = self.take(names)?;
        match node.value {
            Value::Text { ref text, plain: true } if text == "true" => Some(true),
            Value::Text { ref text, plain: true } if text == "false" => Some(false),
            _ => {
                self.wrong(node.line, names, "is `true` or `false`");
                None
            }
        }
    }

    fn duration(&mut self, names: &[&'static str]) -> Option<Duration> {
        let (text, line) = self.text_at(names)?;
        let found = duration(&text).filter(|duration| !duration.is_zero());
        if found.is_none() {
            self.wrong(
                line,
                names,
                "is a number and a unit (ms, s, m, h, d), as in `5m`, above zero and at most a year",
            );
        }
        found
    }

    /// Texts: one, or a list of them; numbers and blanks are told.
    fn texts(&mut self, names: &[&'static str]) -> Vec<(String, u32)> {
        let Some(node) = self.take(names) else { return Vec::new() };
        let line = node.line;
        let nodes = if let Value::List(nodes) = node.value { nodes } else { vec![node] };
        let mut all: Vec<(String, u32)> = Vec::new();
        for node in nodes {
            match node.value {
                Value::Text { text, .. } if !text.trim().is_empty() => {
                    let text = text.trim().to_owned();
                    if !all.iter().any(|(known, _)| *known == text) {
                        all.push((text, node.line));
                    }
                }
                _ => self.wrong(line, names, "is a list of texts, none of them blank"),
            }
        }
        all
    }

    fn schedule(&mut self, zone: Tz) -> Option<When> {
        let zone = match self.text_at(&["time_zone", "timezone", "timeZone"]) {
            None => Some(zone),
            Some((text, line)) => {
                let found = text.parse::<Tz>().ok();
                if found.is_none() {
                    self.wrong(line, &["time_zone"], "is the name of a time zone, as in `Europe/Berlin`");
                }
                found
            }
        };
        let expression = self.parsed(&["schedule", "cron"]);
        if expression.is_none() && !self.entries.iter().any(|(key, _)| key == "schedule" || key == "cron") {
            self.problems
                .push(Problem::of_file("`schedule` is missing: five fields, as in `schedule: \"0 9 * * 1-5\"`"));
        }
        Some(When::At(expression?, zone?))
    }

    fn gate(&mut self, dir: Option<&Path>) -> Option<Gate> {
        let node = self.take(&["gate"])?;
        let Value::Map(entries) = node.value else {
            self.wrong(node.line, &["gate"], "is a map with at least a `command`");
            return None;
        };
        let mut table = Table { entries, known: Vec::new(), problems: Vec::new(), name: "`gate`" };
        let gate = table.gate_itself(node.line, dir);
        table.finish();
        self.problems.append(&mut table.problems);
        gate
    }

    fn gate_itself(&mut self, line: u32, dir: Option<&Path>) -> Option<Gate> {
        let command = self.text(&["command"]).filter(|command| !command.is_empty());
        if command.is_none() {
            self.problems.push(Problem::at(line, "a gate needs a `command`"));
        }
        let permissions = self.permissions(dir);
        let has_network = permissions.contains(&Permission::Network);
        let gate = Gate {
            command: command?,
            cwd: self.text(&["cwd"]),
            home: self.home(&permissions, dir),
            env: self.env(),
            time_limit: self.gate_time(),
            domains: self.domains(has_network),
            permissions,
        };
        Some(gate)
    }

    fn permissions(&mut self, dir: Option<&Path>) -> Vec<Permission> {
        let mut all = Vec::new();
        for (tag, line) in self.texts(&["permissions"]) {
            match below(&tag, dir).parse::<Permission>() {
                Ok(permission) if all.contains(&permission) => {}
                Ok(permission) => all.push(permission),
                Err(why) => self.problems.push(Problem::at(line, format!("`{}`: {why}", tag.escape_debug()))),
            }
        }
        all
    }

    fn home(&mut self, permissions: &[Permission], dir: Option<&Path>) -> Option<String> {
        let (home, line) = self.text_at(&["home"])?;
        let wanted = below(&format!("@write:{home}"), dir).parse::<Permission>();
        match wanted {
            Ok(wanted) if permissions.iter().any(|held| held.covers(&wanted)) => {
                wanted.path().map(|path| path.as_str().to_owned())
            }
            _ => {
                self.wrong(line, &["home"], "is an absolute path below something that the gate declares to write");
                None
            }
        }
    }

    fn env(&mut self) -> BTreeMap<String, String> {
        let Some(node) = self.take(&["env"]) else { return BTreeMap::new() };
        let Value::Map(entries) = node.value else {
            self.wrong(node.line, &["env"], "is a map of names and texts");
            return BTreeMap::new();
        };
        let mut all = BTreeMap::new();
        for (name, node) in entries {
            let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            let is_name = is_name && name.chars().next().is_some_and(|c| !c.is_ascii_digit());
            match node.value {
                Value::Text { text, .. } if is_name && !text.contains('\0') => {
                    all.insert(name, text);
                }
                Value::Nothing if is_name => {
                    all.insert(name, String::new());
                }
                _ => {
                    let why = format!("`{}` is no variable with a text", name.escape_debug());
                    self.problems.push(Problem::at(node.line, why));
                }
            }
        }
        all
    }

    /// From a tenth of a second to five minutes.
    fn gate_time(&mut self) -> Option<Duration> {
        let (text, line) = self.text_at(&["timeout", "timeoutMs"])?;
        let millis = text.parse::<u64>().ok().map(Duration::from_millis);
        let found = millis.or_else(|| duration(&text));
        let range = Duration::from_millis(100)..=Duration::from_secs(300);
        let found = found.filter(|time| range.contains(time));
        if found.is_none() {
            self.wrong(line, &["timeout"], "is from `100ms` to `5m`");
        }
        found
    }

    fn domains(&mut self, has_network: bool) -> Vec<String> {
        let mut all = Vec::new();
        let mut first = None;
        for (name, line) in self.texts(&["allowed_domains", "allowedDomains"]) {
            first = first.or(Some(line));
            match hosts::valid(&name) {
                Ok(()) => all.push(name),
                Err(why) => self.problems.push(Problem::at(line, why)),
            }
        }
        for (name, line) in self.texts(&["package_managers", "packageManagers"]) {
            first = first.or(Some(line));
            match hosts::of_packages(&name) {
                Some(hosts) => all.extend(hosts.iter().map(|host| (*host).to_owned())),
                None => {
                    let known = hosts::PACKAGES.map(|(name, _)| name).join(", ");
                    let why = format!("`{}` is none of the package managers: {known}", name.escape_debug());
                    self.problems.push(Problem::at(line, why));
                }
            }
        }
        if let Some(line) = first.filter(|_| !has_network) {
            let why = "hosts are reached with `@network` only: add it to the gate's `permissions`";
            self.problems.push(Problem::at(line, why));
        }
        let mut known = std::collections::BTreeSet::new();
        all.retain(|host| known.insert(host.clone()));
        all
    }

    fn finish(&mut self) {
        let unknown = self.entries.iter().filter(|(key, _)| !self.known.contains(&key.as_str()));
        for (key, node) in unknown {
            let near = self.known.iter().map(|known| (jaro_winkler(key, known), known));
            let near = near.filter(|(near, _)| *near > 0.8).max_by(|(one, _), (other, _)| one.total_cmp(other));
            let help = near.map(|(_, known)| format!(": did you mean `{known}`?")).unwrap_or_default();
            let why = format!("{} has no `{}`{help}", self.name, key.escape_debug());
            self.problems.push(Problem::at(node.line, why));
        }
    }
}

/// A tag whose path, if it is relative, is below `dir`.
fn below(tag: &str, dir: Option<&Path>) -> String {
    match (tag.split_once(':'), dir) {
        (Some((access @ ("@read" | "@write"), path)), Some(dir))
            if !path.trim().is_empty() && !path.starts_with('/') =>
        {
            let path = path.strip_prefix("./").unwrap_or(path);
            format!("{access}:{}/{path}", dir.display())
        }
        _ => tag.to_owned(),
    }
}

/// What was listed and gives nothing, in one line.
fn shown(node: &Node) -> String {
    match &node.value {
        Value::Nothing => "nothing".into(),
        Value::Text { text, .. } => text.chars().take(200).collect(),
        Value::List(nodes) => nodes.iter().take(16).map(shown).collect::<Vec<_>>().join(", "),
        Value::Map(entries) => entries.iter().take(16).map(|(key, _)| key.clone()).collect::<Vec<_>>().join(", "),
    }
}

const UNITS: [(&str, u64); 5] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

fn duration(text: &str) -> Option<Duration> {
    let (digits, millis) = UNITS.iter().find_map(|(unit, millis)| Some((text.strip_suffix(unit)?, millis)))?;
    let number = Some(digits).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?.parse::<u64>().ok()?;
    let duration = Duration::from_millis(number.checked_mul(*millis)?);
    (duration <= Duration::from_secs(365 * 86_400)).then_some(duration)
}

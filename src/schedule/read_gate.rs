//! The parser for the gate of a task in front matter.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::Duration,
};

use super::{
    Gate, Problem, package_registries,
    table::{Table, TextAt},
    yaml::Value,
};
use crate::model::{Domain, InvalidPermission, Permission, parse_duration_or_bare};

/// The help text for the permissions of a gate.
const FORMS: &str = "a permission is `@network`, `@read:<path>` or `@write:<path>`, and a relative path is below the \
    task's own directory, as in `@write:files`";

impl Table<'_> {
    /// Reads the gate, if there is one. `dir` is the base of relative paths.
    pub(super) fn gate(&mut self, dir: Option<&Path>) -> Option<Gate> {
        let node = self.value("gate")?;
        let Value::Map(entries) = &node.value else {
            self.wrong(node.line, "gate", "must be a map: write at least `command: ...` below it, indented");
            return None;
        };
        let mut table = Table::new("`gate`", entries);
        let gate = table.gate_itself(node.line, dir);
        self.problems.append(&mut table.finish());
        gate
    }

    fn gate_itself(&mut self, line: u32, dir: Option<&Path>) -> Option<Gate> {
        let command = self.text("command").map(|command| command.value.to_owned()).filter(|line| !line.is_empty());
        if command.is_none() && self.problems.is_empty() {
            let why = "`command` is missing from `gate`: a line for the shell, as in `command: test -s /srv/inbox`";
            self.problems.push(Problem::at(line, why));
        }
        let permissions = self.permissions(dir);
        let has_network = permissions.contains(&Permission::Network);
        let cwd = self.text("cwd").map(|cwd| cwd.value.to_owned());
        let home = self.home(&permissions, dir);
        let (env, time_limit, domains) = (self.env(), self.gate_time(), self.domains(has_network));
        // This check comes last. A missing command then does not make the other keys unknown.
        Some(Gate { command: command?, cwd, home, env, time_limit, permissions, domains })
    }

    fn permissions(&mut self, dir: Option<&Path>) -> Vec<Permission> {
        let mut all = Vec::new();
        for TextAt { place: line, value: tag } in self.texts("permissions") {
            match below(tag, dir).parse::<Permission>() {
                Ok(permission) if all.contains(&permission) => {}
                Ok(permission) => all.push(permission),
                Err(why) => {
                    let why = match why {
                        InvalidPermission::Path(why) => why.to_string(),
                        InvalidPermission::Tool(why) => why.to_string(),
                        // The path may be relative here, so the usual help text does not fit.
                        InvalidPermission::ReadWithoutPath
                        | InvalidPermission::WriteWithoutPath
                        | InvalidPermission::UnknownForm => FORMS.to_owned(),
                    };
                    self.problems.push(Problem::at(line, format!("`{}`: {why}", tag.escape_debug())));
                }
            }
        }
        all
    }

    fn home(&mut self, permissions: &[Permission], dir: Option<&Path>) -> Option<String> {
        let TextAt { place: line, value: home } = self.text("home")?;
        let wanted = below(&format!("@write:{home}"), dir).parse::<Permission>();
        match wanted {
            Ok(wanted) if permissions.iter().any(|held| held.covers(&wanted)) => {
                wanted.path().map(|path| path.as_str().to_owned())
            }
            _ => {
                self.wrong(
                    line,
                    "home",
                    "is a path below something that the gate declares to write (`@write:...` among its `permissions`)",
                );
                None
            }
        }
    }

    fn env(&mut self) -> BTreeMap<String, String> {
        let Some(node) = self.value("env") else { return BTreeMap::new() };
        let Value::Map(entries) = &node.value else {
            self.wrong(node.line, "env", "must be a map of names and texts");
            return BTreeMap::new();
        };
        let mut all = BTreeMap::new();
        for (name, node) in entries {
            let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            let is_name = is_name && name.chars().next().is_some_and(|c| !c.is_ascii_digit());
            match &node.value {
                Value::Text { text, .. } if is_name && !text.contains('\0') => {
                    all.insert(name.clone(), text.clone());
                }
                Value::Nothing if is_name => {
                    all.insert(name.clone(), String::new());
                }
                Value::Nothing | Value::Text { .. } | Value::List(_) | Value::Map(_) => {
                    let why = format!("`{}` is not a variable with a text", name.escape_debug());
                    self.problems.push(Problem::at(node.line, why));
                }
            }
        }
        all
    }

    /// Reads the time limit, from 100 milliseconds to 5 minutes.
    fn gate_time(&mut self) -> Option<Duration> {
        let range = Duration::from_millis(100)..=Duration::from_secs(300);
        let parse = |text: &str| parse_duration_or_bare(text, Duration::from_millis);
        let shown = "`100ms` to `5m`";
        self.table.duration_within(["timeout", "timeoutMs"], range, shown, parse, &mut self.problems)
    }

    fn domains(&mut self, has_network: bool) -> Vec<Domain> {
        let mut all = Vec::new();
        let mut first = None;
        self.refuse_empty(["allowed_domains", "allowedDomains"]);
        self.refuse_empty(["package_managers", "packageManagers"]);
        for TextAt { place: line, value: name } in self.texts(["allowed_domains", "allowedDomains"]) {
            first = first.or(Some(line));
            match name.parse() {
                Ok(host) => all.push(host),
                Err(why) => self.problems.push(Problem::at(line, format!("`{}`: {why}", name.escape_debug()))),
            }
        }
        for TextAt { place: line, value: name } in self.texts(["package_managers", "packageManagers"]) {
            first = first.or(Some(line));
            match package_registries::of_packages(name) {
                Some(hosts) => all.extend(hosts),
                None => {
                    let known = package_registries::PACKAGES.map(|(name, _)| name).join(", ");
                    let why = format!("`{}` is none of the package managers: {known}", name.escape_debug());
                    self.problems.push(Problem::at(line, why));
                }
            }
        }
        if let Some(line) = first.filter(|_| !has_network) {
            let why = "hosts are reached with `@network` only: add it to the gate's `permissions`";
            self.problems.push(Problem::at(line, why));
        }
        let mut known = BTreeSet::new();
        all.retain(|host| known.insert(host.clone()));
        all
    }

    /// Refuses a list of hosts that is there and names none. Without the key the gate reaches every host, so an empty
    /// list would mean the opposite of what it says.
    fn refuse_empty(&mut self, key: [&'static str; 2]) {
        if let Some(line) = self.blank(key) {
            let why = "names nothing: leave out `@network` for no host, or the key for every host";
            self.wrong(line, key, why);
        }
    }
}

/// Makes the path of a tag absolute, with `dir` as the base of relative paths.
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

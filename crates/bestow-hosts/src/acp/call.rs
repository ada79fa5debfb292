//! The tool call of an agent as the engine decides it. Nothing here decides.
//!
//! A call with the name of its tool and an input is a call of that tool. Everything else is a call of an undeclared
//! tool, `acp.KIND`: the engine takes each of its texts as a path and a command line, and it is at least dangerous. The
//! kind is what the agent says about itself. It never makes a call less dangerous: a call of a tool that reads, with a
//! kind that does more, is one of an undeclared tool.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use bestow::{action::Operation, command::built_in_tools, tool::ToolName};
use serde_json::{Map, Value, json};

use super::{permission::Subject, tool_call::ToolCall};

/// The kinds of the protocol.
const KINDS: [&str; 10] =
    ["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"];

/// The kinds of a call that changes something.
const CHANGING: [&str; 4] = ["edit", "delete", "move", "execute"];

/// The tool of a command without one.
const SHELL: &str = "bash";

/// A tool, and its input.
pub(super) type Meant = (ToolName, Value);

/// Returns the call that `subject` means in a session that began in this directory. `known` is what the agent told
/// about the call before. None if the subject is not known.
pub(super) fn meant(subject: &Subject, known: Option<ToolCall>, cwd: &Path) -> Option<Meant> {
    match subject {
        Subject::Call(call) => of_call(&known.unwrap_or_default().updated((**call).clone()), cwd),
        Subject::Command { command, .. } => Some((SHELL.parse().ok()?, json!({ "command": command }))),
        Subject::Unknown(_) => None,
    }
}

fn of_call(call: &ToolCall, cwd: &Path) -> Option<Meant> {
    declared(call, cwd).or_else(|| undeclared(call, cwd))
}

/// Returns the call of the tool that the agent names.
fn declared(call: &ToolCall, cwd: &Path) -> Option<Meant> {
    let name = call.tool_name()?;
    let input = call.raw_input.as_ref()?;
    let does_more = call.kind.as_deref().is_some_and(|kind| CHANGING.contains(&kind)) && only_reads(name);
    if does_more || !unnamed_paths(call, cwd).is_empty() {
        return None;
    }
    Some((name.parse().ok()?, input.clone()))
}

/// Returns the call of an undeclared tool.
fn undeclared(call: &ToolCall, cwd: &Path) -> Option<Meant> {
    let kind = call.kind.as_deref().filter(|kind| KINDS.contains(kind)).unwrap_or("other");
    let mut input = Map::new();
    let mut put = |name: &str, value: Value| input.insert(name.to_owned(), value);
    if let Some(name) = call.tool_name() {
        put("name", name.into());
    }
    if let Some(title) = &call.title {
        put("title", title.as_str().into());
    }
    match &call.raw_input {
        Some(raw) => drop(put("rawInput", raw.clone())),
        None => {
            let content: Vec<Value> = call.diffs().map(without_old_text).collect();
            if !content.is_empty() {
                put("content", content.into());
            }
        }
    }
    let paths = unnamed_paths(call, cwd);
    if !paths.is_empty() {
        put("locations", paths.into());
    }
    Some((format!("acp.{kind}").parse().ok()?, input.into()))
}

/// Returns a change of a file without the text that it replaces.
fn without_old_text(diff: &Value) -> Value {
    let mut diff = diff.clone();
    if let Value::Object(fields) = &mut diff {
        fields.remove("oldText");
    }
    diff
}

/// Returns the paths of the call that its input does not name.
fn unnamed_paths<'c>(call: &'c ToolCall, cwd: &Path) -> Vec<&'c str> {
    let paths = call.paths();
    if paths.is_empty() {
        return paths;
    }
    let mut named = Vec::new();
    if let Some(input) = &call.raw_input {
        texts_in(input, &mut named);
    }
    let named: Vec<PathBuf> = named.into_iter().map(|text| cwd.join(text)).collect();
    let mut unnamed: Vec<&str> = paths.into_iter().filter(|path| !named.contains(&cwd.join(path))).collect();
    unnamed.sort_unstable();
    unnamed.dedup();
    unnamed
}

/// Collects the texts of an input that may be paths.
fn texts_in<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    /// The longest path.
    const LONGEST: usize = 4096;
    match value {
        Value::String(text) if text.len() <= LONGEST => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| texts_in(item, texts)),
        Value::Object(fields) => fields.values().for_each(|value| texts_in(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns true if a well-known tool of this name changes nothing.
fn only_reads(name: &str) -> bool {
    static TABLE: LazyLock<HashMap<ToolName, Operation>> = LazyLock::new(|| {
        built_in_tools().into_iter().map(|(_, tool)| (tool.name().clone(), tool.operation())).collect()
    });
    let operation = name.parse().ok().and_then(|name: ToolName| TABLE.get(&name));
    matches!(operation, Some(Operation::Read | Operation::Network))
}

#[cfg(test)]
mod tests;

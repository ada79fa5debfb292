//! The tool call of an agent as the engine decides it. Nothing here decides.
//!
//! A call with the name of its tool and an input is a call of that tool. Everything else is a call of an undeclared
//! tool, `acp.KIND`: the engine takes each of its texts as a path and a command line, and it is at least dangerous. The
//! kind is what the agent says about itself. It never makes a call less dangerous: a call of a tool that reads, with a
//! kind that does more, is one of an undeclared tool. Nobody can declare `acp.KIND`
//! ([`is_unclear`](bestow::tool::ToolName::is_unclear)): a declaration would name the texts that count, and an agent
//! could put the others wherever it does not look.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use bestow::{action::Operation, command::built_in_tools, tool::ToolName};
use serde_json::{Map, Value, json};

use super::{calls::Known, permission::Subject, tool_call::ToolCall};

/// The kinds of the protocol.
const KINDS: [&str; 10] =
    ["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"];

/// The kinds of a call that changes something.
const CHANGING: [&str; 4] = ["edit", "delete", "move", "execute"];

/// The tool of a command without one.
const SHELL: &str = "bash";

/// The kind of a call that names its tool and contradicts itself.
const UNCLEAR: &str = "unclear";

/// The longest path.
const LONGEST_PATH: usize = 4096;

/// A tool, and its input.
pub(super) type Meant = (ToolName, Value);

/// Returns the call that `subject` means in a session that began in this directory. `known` is what the agent told
/// about the call before. None if the subject is not known.
pub(super) fn meant(subject: &Subject, known: Known, cwd: &Path) -> Option<Meant> {
    match subject {
        Subject::Call(call) => match known {
            Known::Nothing => of_call(call, cwd),
            Known::Told(known) => of_call(&known.updated((**call).clone()), cwd),
            // The request may leave out what was told before and is not known.
            Known::Unclear => undeclared(call, UNCLEAR, cwd),
        },
        Subject::Command { command, .. } => Some((SHELL.parse().ok()?, json!({ "command": command }))),
        Subject::Unknown(_) => None,
    }
}

fn of_call(call: &ToolCall, cwd: &Path) -> Option<Meant> {
    declared(call, cwd).or_else(|| undeclared(call, kind(call), cwd))
}

/// Returns the kind of a call whose tool is not known.
fn kind(call: &ToolCall) -> &str {
    // A rule about a kind is not meant for a call that contradicts itself.
    let contradicts = call.tool_name().is_some() && call.input().is_some();
    let known = || call.kind.as_deref().filter(|kind| KINDS.contains(kind)).unwrap_or("other");
    if contradicts { UNCLEAR } else { known() }
}

/// Returns the call of the tool that the agent names.
fn declared(call: &ToolCall, cwd: &Path) -> Option<Meant> {
    let name = call.tool_name()?;
    let input = call.input()?;
    is_whole(call, name, cwd).then(|| Some((name.parse().ok()?, input.clone())))?
}

/// Returns true if the input of a call says everything that the call says elsewhere.
fn is_whole(call: &ToolCall, name: &str, cwd: &Path) -> bool {
    let does_more = call.kind.as_deref().is_some_and(|kind| CHANGING.contains(&kind)) && only_reads(name);
    !does_more && unnamed_paths(call, cwd).is_empty() && unsaid_diffs(call).is_empty()
}

/// Returns the call of an undeclared tool.
fn undeclared(call: &ToolCall, kind: &str, cwd: &Path) -> Option<Meant> {
    let mut input = Map::new();
    let mut put = |name: &str, value: Value| input.insert(name.to_owned(), value);
    if let Some(name) = call.tool_name() {
        put("name", name.into());
    }
    if let Some(title) = &call.title {
        put("title", title.as_str().into());
    }
    if let Some(raw) = call.input() {
        put("rawInput", raw.clone());
    }
    let content: Vec<Value> = unsaid_diffs(call).into_iter().map(without_old_text).collect();
    if !content.is_empty() {
        put("content", content.into());
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

/// Returns the changes of files whose new text is not in the input of the call.
fn unsaid_diffs(call: &ToolCall) -> Vec<&Value> {
    let mut said = Vec::new();
    if let Some(input) = call.input() {
        all_texts_in(input, &mut said);
    }
    let is_said = |text: &str| said.iter().any(|said| said.contains(text));
    call.diffs().filter(|diff| !new_texts(diff).into_iter().all(is_said)).collect()
}

/// Returns the texts that a change of a file brings.
fn new_texts(diff: &Value) -> Vec<&str> {
    let mut texts = Vec::new();
    for (name, value) in diff.as_object().into_iter().flatten() {
        let is_about = name == "type" || name == "oldText" || name == "_meta" || name.to_lowercase().ends_with("path");
        if !is_about {
            all_texts_in(value, &mut texts);
        }
    }
    texts
}

fn all_texts_in<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| all_texts_in(item, texts)),
        Value::Object(fields) => fields.values().for_each(|value| all_texts_in(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the paths of the call that its input does not name.
fn unnamed_paths<'c>(call: &'c ToolCall, cwd: &Path) -> Vec<&'c str> {
    let paths = call.paths();
    if paths.is_empty() {
        return paths;
    }
    let mut named = Vec::new();
    if let Some(input) = call.input() {
        all_texts_in(input, &mut named);
    }
    let is_short = |text: &&str| text.len() <= LONGEST_PATH;
    let named: Vec<PathBuf> = named.into_iter().filter(is_short).map(|text| cwd.join(text)).collect();
    let mut unnamed: Vec<&str> = paths.into_iter().filter(|path| !named.contains(&cwd.join(path))).collect();
    unnamed.sort_unstable();
    unnamed.dedup();
    unnamed
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

//! The facts that an agent has told about one call of a tool.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The fields of a tool call, or of an update of one. Null means that the field is not told. A name and an input that
/// are null are taken back.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ToolCall {
    pub(super) tool_call_id: Option<String>,
    pub(super) title: Option<String>,
    #[serde(deserialize_with = "told")]
    pub(super) name: Option<Option<String>>,
    pub(super) kind: Option<String>,
    #[serde(deserialize_with = "told")]
    pub(super) raw_input: Option<Option<Value>>,
    pub(super) locations: Option<Vec<Location>>,
    pub(super) content: Option<Vec<Value>>,
    #[serde(rename = "_meta")]
    pub(super) meta: Option<Value>,
    /// The content that was told part by part (version 2).
    #[serde(skip)]
    pub(super) more_content: Vec<Value>,
}

/// A file that a call works with.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct Location {
    pub(super) path: String,
}

impl ToolCall {
    /// Returns this call with the fields that `update` tells anew.
    pub(super) fn updated(self, update: ToolCall) -> ToolCall {
        // New content takes the place of all that was told before.
        let before = if update.content.is_some() { Vec::new() } else { self.more_content };
        ToolCall {
            more_content: before.into_iter().chain(update.more_content).collect(),
            tool_call_id: update.tool_call_id.or(self.tool_call_id),
            title: update.title.or(self.title),
            name: update.name.or(self.name),
            kind: update.kind.or(self.kind),
            raw_input: update.raw_input.or(self.raw_input),
            locations: update.locations.or(self.locations),
            content: update.content.or(self.content),
            meta: update.meta.or(self.meta),
        }
    }

    /// Returns the name of the tool, if the agent tells it. Older adapters of Claude Code tell it in `_meta`.
    pub(super) fn tool_name(&self) -> Option<&str> {
        let of_meta = || self.meta.as_ref()?.get("claudeCode")?.get("toolName")?.as_str();
        self.name.as_ref().and_then(Option::as_deref).or_else(of_meta)
    }

    /// Returns the input of the tool, if the agent tells it.
    pub(super) fn input(&self) -> Option<&Value> {
        self.raw_input.as_ref()?.as_ref()
    }

    /// Iterates over the changes of files among the content.
    pub(super) fn diffs(&self) -> impl Iterator<Item = &Value> {
        let is_diff = |item: &&Value| item.get("type").and_then(Value::as_str) == Some("diff");
        self.content.iter().flatten().chain(&self.more_content).filter(is_diff)
    }

    /// Returns the paths that the call works with: its locations, and the files that it changes.
    pub(super) fn paths(&self) -> Vec<&str> {
        let mut paths: Vec<&str> = self.locations.iter().flatten().map(|location| &*location.path).collect();
        self.diffs().for_each(|diff| paths_in(diff, &mut paths));
        paths
    }
}

/// Reads a field that is there. One that is not there is told nothing.
fn told<'de, T: Deserialize<'de>, D: Deserializer<'de>>(field: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(field).map(Some)
}

/// Collects the values of every field that is named as a path: `path`, `oldPath`, …
fn paths_in<'v>(value: &'v Value, paths: &mut Vec<&'v str>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| match value.as_str() {
            Some(path) if name.to_ascii_lowercase().ends_with("path") => paths.push(path),
            Some(_) => {}
            None => paths_in(value, paths),
        }),
        Value::Array(items) => items.iter().for_each(|item| paths_in(item, paths)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

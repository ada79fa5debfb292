//! The tools that coding agents offer to their models, as the tests that run them have taken them
//! (`fixtures/host-tools`), against the tables of known tools.

use std::collections::BTreeMap;

use bestow::{
    command::{
        built_in_tools,
        internal::{Call, read_call},
        session_tools,
    },
    tool::{CodingAgent, ToolName, Tools},
};
use serde_json::{Map, Value, json};

/// The tools that need a person each time: they have an effect that no declaration describes.
const ASKED: &[(CodingAgent, &str)] = &[
    (CodingAgent::Claude, "CronCreate"),
    (CodingAgent::Claude, "CronDelete"),
    (CodingAgent::Claude, "DeferredToolPlaceholder"),
    (CodingAgent::Claude, "EnterWorktree"),
    (CodingAgent::Claude, "ExitWorktree"),
    (CodingAgent::Claude, "Workflow"),
    (CodingAgent::Copilot, "session_store_sql"),
    (CodingAgent::Copilot, "sql"),
];

/// The fields of known tools that may change what happens, so they are read like those of an unknown tool.
const READ: &[&str] = &["dangerouslyDisableSandbox", "prefix_rule", "sandbox_permissions", "shell", "items[].path"];

/// The versions whose tools are in the fixtures. `scripts/counterparts/hooks` installs the same.
pub(super) const VERSIONS: [(CodingAgent, &str); 4] = [
    (CodingAgent::Claude, "2.1.330"),
    (CodingAgent::Codex, "0.169.0"),
    (CodingAgent::Gemini, "0.61.0"),
    (CodingAgent::Copilot, "1.0.102"),
];

/// The name and the fields of each tool. A field has its place and its type: `edits[].old_string: string`.
pub(super) type Schemas = BTreeMap<String, Vec<String>>;

/// Returns the file with the tools of a coding agent.
pub(super) fn file(of: CodingAgent) -> String {
    let (_, version) = VERSIONS.iter().find(|(agent, _)| *agent == of).unwrap();
    format!("fixtures/host-tools/{of}-{version}.txt")
}

/// Returns the text of such a file: a line for each tool.
pub(super) fn text(schemas: &Schemas) -> String {
    schemas.iter().map(|(name, fields)| format!("{name} | {}\n", fields.join(" | "))).collect()
}

fn schemas(of: CodingAgent) -> Schemas {
    let text = std::fs::read_to_string(file(of)).unwrap();
    let line = |line: &str| {
        let mut parts = line.split(" | ").map(|part| part.trim_end_matches(" |").to_owned());
        let name = parts.next().unwrap();
        (name, parts.filter(|part| !part.is_empty()).collect())
    };
    text.lines().map(line).collect()
}

/// Returns the fields of a JSON schema, each with its place and its type.
pub(super) fn fields(schema: &Value, place: &str, found: &mut Vec<String>) {
    let any = schema["anyOf"].as_array().into_iter().flatten();
    any.for_each(|one| fields(one, place, found));
    if let Some(inner) = schema["properties"].as_object() {
        for (name, inner) in inner {
            let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
            fields(inner, &place, found);
        }
    } else if schema["items"].is_object() {
        fields(&schema["items"], &format!("{place}[]"), found);
    } else if !place.is_empty() && schema["anyOf"].is_null() {
        let kind = schema["type"].as_str().map(str::to_lowercase);
        let kind = kind.or_else(|| schema["enum"].is_array().then(|| "string".to_owned()));
        found.push(format!("{place}: {}", kind.unwrap_or_else(|| "any".to_owned())));
    }
}

/// Sets the value at a place such as `edits[].old_string`.
fn set(input: &mut Value, place: &str, value: Value) {
    let (first, rest) = place.split_once('.').map_or((place, None), |(first, rest)| (first, Some(rest)));
    let name = first.trim_end_matches("[]");
    let inner = input.as_object_mut().unwrap().entry(name).or_insert(Value::Null);
    let inner = if first.ends_with("[]") {
        if !inner.is_array() {
            *inner = json!([null]);
        }
        &mut inner[0]
    } else {
        inner
    };
    match rest {
        None => *inner = value,
        Some(rest) => {
            if !inner.is_object() {
                *inner = json!({});
            }
            set(inner, rest, value);
        }
    }
}

/// Returns a value of this type. No text is a path, a host or a command.
fn value(kind: &str) -> Value {
    match kind {
        "number" | "integer" => json!(3),
        "boolean" => json!(true),
        _ => json!("text"),
    }
}

fn places(value: &Value, place: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, inner)| {
            places(inner, &if place.is_empty() { name.clone() } else { format!("{place}.{name}") }, found);
        }),
        Value::Array(all) => all.iter().for_each(|inner| places(inner, &format!("{place}[]"), found)),
        Value::String(_) => found.push(place.to_owned()),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns an input with this field, and with the other values that the tool needs.
fn input_with(all: &[String], field: &str) -> Value {
    let (place, kind) = field.split_once(": ").unwrap();
    let mut input = json!({});
    for other in all {
        let (other, kind) = other.split_once(": ").unwrap();
        let root = |place: &str| place.split(['.', '[']).next().unwrap().to_owned();
        if root(other) != root(place) && !READ.contains(&other) {
            set(&mut input, other, value(kind));
        }
    }
    set(&mut input, place, value(kind));
    input
}

#[test]
fn every_text_that_a_coding_agent_sends_has_a_meaning_in_the_table() {
    let mut unknown = Vec::new();
    for (agent, _) in VERSIONS {
        for (name, all) in schemas(agent) {
            if ASKED.contains(&(agent, &name)) {
                continue;
            }
            // Each value alone, since two names of one value contradict each other.
            let alone = all.iter().map(|field| input_with(&all, field));
            for input in alone.chain(all.is_empty().then(|| json!({}))) {
                let input = if name == "web_fetch" { json!({ "prompt": "text" }) } else { input };
                let mut input = input;
                if input["url"].is_string() {
                    input["url"] = json!("https://a.example");
                }
                if input["ws"].is_object() {
                    input["ws"]["url"] = json!("wss://a.example");
                }
                match read_call(&Tools::default(), Some(agent), &name, &input) {
                    Call::Declared(call) | Call::Session(call) => {
                        let mut found = Vec::new();
                        places(&Value::Object(Map::clone(&call.unnamed)), "", &mut found);
                        found.retain(|place| !READ.contains(&place.trim_end_matches("[]")));
                        unknown.extend(found.iter().map(|place| format!("{agent} {name}: {place}")));
                    }
                    Call::Invalid(_, why) => unknown.push(format!("{agent} {name}: {input} is refused: {why}")),
                    Call::Undeclared => unknown.push(format!("{agent} {name} is not in the table")),
                }
            }
        }
    }
    unknown.sort();
    unknown.dedup();
    assert!(unknown.is_empty(), "{unknown:#?}");
}

#[test]
fn a_tool_of_a_session_is_known_by_its_coding_agent_alone() {
    let tools = session_tools();
    assert!(tools.len() >= 60, "{}", tools.len());
    for (agent, tool) in &tools {
        let name: &ToolName = tool.name();
        assert!(
            !built_in_tools().iter().any(|(_, built_in)| built_in.name() == name),
            "{name} of {agent} is in the built-in table"
        );
        let input = json!({});
        let read = |host| read_call(&Tools::default(), host, name.as_str(), &input);
        assert!(matches!(read(Some(*agent)), Call::Session(_)), "{name} of {agent}");
        assert!(matches!(read(None), Call::Undeclared), "{name} of anybody");
        for other in CodingAgent::ALL {
            let has = tools.iter().any(|(of, tool)| *of == other && tool.name() == name);
            assert_eq!(matches!(read(Some(other)), Call::Session(_)), has, "{name} of {other}");
        }
    }
}

//! Tests of `agents.schema.json`: it is made from one table, and agrees with the reader of the file.

mod json;
mod table;
mod validate;

use std::{fs, path::Path};

use serde_json::{Value as Json, json};

use self::{
    table::{Form, Key, TABLES, Table, Value},
    validate::disagreement,
};
use super::Place;
use crate::support::{ROOT, as_written};

/// A file with every table. Each test changes one key of it.
const WHOLE: &str = r#"
[engine]
[commands]
[[commands.safe]]
program = "inventory"
subcommand = ["list"]
match = ["inventory list"]
not_match = ["inventory drop"]
[[commands.raise]]
program = "kubectl"
tier = "destructive"
words = ["prod"]
match = ["kubectl apply prod"]
not_match = ["kubectl apply"]
[limits]
[[tools]]
name = "save"
operation = "fs.write"
path = "file"
[defaults]
[agents.lead]
kind = "foreground"
owner = "you"
working_dir = "/nowhere"
command = ["true"]
[[agents.lead.rules]]
verdict = "allow"
[tasks]
[gates]
[[test]]
agent = "lead"
read = "/nowhere/file"
expect = "allow"
"#;

fn schema() -> Json {
    serde_json::from_str(&fs::read_to_string(Path::new(ROOT).join("agents.schema.json")).unwrap()).unwrap()
}

/// Returns TOML as JSON. Dates become texts.
fn parsed(toml: &str) -> Json {
    fn json_of(value: toml::Value) -> Json {
        match value {
            toml::Value::String(text) => Json::String(text),
            toml::Value::Integer(number) => number.into(),
            toml::Value::Float(number) => json!(number),
            toml::Value::Boolean(flag) => Json::Bool(flag),
            toml::Value::Datetime(moment) => Json::String(moment.to_string()),
            toml::Value::Array(list) => list.into_iter().map(json_of).collect(),
            toml::Value::Table(table) => table.into_iter().map(|(key, value)| (key, json_of(value))).collect(),
        }
    }
    json_of(toml::Value::Table(toml.parse().unwrap_or_else(|why| panic!("{why}\n{toml}"))))
}

/// Begins a text that stands for a value as it is written in TOML.
const AS_WRITTEN: char = '\0';

/// Returns JSON as a value of TOML in one line.
fn inline(value: &Json) -> String {
    let of_table = |table: &serde_json::Map<String, Json>| {
        table.iter().map(|(key, value)| format!("{key} = {}", inline(value))).collect::<Vec<_>>().join(", ")
    };
    match value {
        Json::String(text) if text.starts_with(AS_WRITTEN) => text[1..].to_owned(),
        Json::Object(table) => format!("{{ {} }}", of_table(table)),
        Json::Array(list) => format!("[{}]", list.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => value.to_string(),
    }
}

/// Returns [`WHOLE`] with `value`, as it is written in TOML, as the value of `key` in `table`; without the key if there
/// is none.
fn with(table: &Table, key: &str, value: Option<&str>) -> String {
    let place = match table.name {
        "file" => String::new(),
        "safe" | "raise" => format!("/commands/{}/0", table.name),
        "tool" => "/tools/0".to_owned(),
        "agent" => "/agents/lead".to_owned(),
        "rule" => "/agents/lead/rules/0".to_owned(),
        "test" => "/test/0".to_owned(),
        name => format!("/{name}"),
    };
    let mut whole = parsed(WHOLE);
    if !matches!(table.name, "file" | "commands" | "safe" | "raise") {
        // Their examples are run each time, which takes long.
        whole["commands"] = json!({});
    }
    let changed = whole.pointer_mut(&place).unwrap().as_object_mut().unwrap();
    changed.remove(key);
    if let Some(value) = value {
        changed.insert(key.to_owned(), Json::String(format!("{AS_WRITTEN}{value}")));
    }
    whole.as_object().unwrap().iter().map(|(key, value)| format!("{key} = {}\n", inline(value))).collect()
}

/// Returns all problems of a text, as the file of a place. Tests of thousands of texts have one place.
fn complaints(place: &Place, text: &str) -> String {
    place.write("policy/agents.toml", text);
    place.complaints()
}

fn all_keys() -> impl Iterator<Item = (&'static Table, &'static Key)> {
    TABLES.iter().flat_map(|table| table.keys.iter().map(move |key| (table, key)))
}

#[test]
fn the_schema_is_made_from_the_table() {
    let file = Path::new(ROOT).join("agents.schema.json");
    as_written(file.to_str().unwrap(), &format!("{:#}\n", json::schema()));
}

#[test]
fn a_file_with_every_table_is_accepted_by_both() {
    let place = Place::new();
    assert_eq!(complaints(&place, WHOLE), "nothing");
    assert_eq!(disagreement(&schema(), &schema(), &parsed(WHOLE)), None);
}

#[test]
fn the_reader_knows_every_key_and_names_the_values_of_the_table() {
    let place = Place::new();
    for (table, key) in all_keys() {
        // No value of a key is a date but the input of a tool, which takes anything.
        let date = complaints(&place, &with(table, key.name, Some("2026-01-01")));
        let about = format!("{} of {}: {date}", key.name, table.header);
        assert!(!date.contains("unknown"), "{about}");
        let says = |text: &str| date.contains(text);
        match key.value {
            Value::Word(_) | Value::Text(_) => {
                assert!(says("text in quotes") || says("duration in quotes") || says("text or a number"), "{about}")
            }
            Value::Words(_) | Value::OneOrMore(_) => assert!(says("must be a text or a list of texts"), "{about}"),
            Value::Texts(_) | Value::SomeTexts(_) => assert!(says("must be a list of texts"), "{about}"),
            Value::Flag => assert!(says("must be `true` or `false`"), "{about}"),
            Value::Number(least, most) => assert!(says(&format!("a whole number from {least} to {most}")), "{about}"),
            Value::Limit(_) => assert!(says("must be a text or a number"), "{about}"),
            Value::Table(_) | Value::Named(..) => assert!(says("must be a table"), "{about}"),
            Value::Tables(_) => assert!(says("must be a list of tables"), "{about}"),
            Value::Any => assert!(says("`input` belongs to a `tool`"), "{about}"),
        }
        if let Value::Word(words) | Value::Words(words) = key.value {
            let all = words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>();
            let told = complaints(&place, &with(table, key.name, Some("\"?\"")));
            let (last, others) = all.split_last().unwrap();
            let listed =
                [format!("must be one of {}, not", all.join(", ")), format!("is {} or {last}", others.join(", "))];
            assert!(listed.iter().any(|listed| told.contains(listed)), "{told} names other words than {all:?}");
        }
    }
}

#[test]
fn the_reader_misses_every_required_key() {
    let place = Place::new();
    for (table, key) in all_keys().filter(|(_, key)| key.required) {
        let text = with(table, key.name, None);
        let (told, missing) = (complaints(&place, &text), disagreement(&schema(), &schema(), &parsed(&text)));
        assert!(
            told.contains("is missing") || told.contains("names no agent"),
            "{} of {}: {told}",
            key.name,
            table.header
        );
        assert!(missing.is_some_and(|why| why.contains("required")), "{} of {}", key.name, table.header);
    }
}

#[test]
fn the_defaults_of_the_schema_are_those_of_the_engine() {
    let mut stated = 0;
    for (table, key) in all_keys().filter(|(table, _)| !matches!(table.name, "safe" | "raise" | "tool")) {
        let Some(default) = key.default else { continue };
        let without = Place::with(&with(table, key.name, None)).load().unwrap();
        let place = Place::with(&with(table, key.name, Some(default)));
        let policy = place.load().unwrap_or_else(|why| panic!("{} of {}: {why}", key.name, table.header));
        // The directories of two places differ, and with them what is protected.
        let mut settings = policy.settings;
        settings.protected = without.settings.protected.clone();
        settings.governing = without.settings.governing.clone();
        assert_eq!(settings, without.settings, "{} of {}", key.name, table.header);
        stated += 1;
    }
    assert!(stated > 30, "{stated}");
}

/// Texts for every form: some that the reader accepts, and some that it refuses.
const TEXTS: [&str; 62] = [
    "",
    " ",
    ".",
    "..",
    "a",
    "A.b_c:d@e-f",
    "_a",
    "a b",
    "a/b",
    "a//b",
    "/",
    "/a",
    "~",
    "~/a",
    "~a",
    "$HOME/a",
    "${X}/a",
    "a/${X}",
    "*",
    "*.p12",
    "a*",
    "a*b",
    "**",
    "0",
    "1",
    "007",
    "+7",
    "-1",
    "0s",
    "5m",
    "5 m",
    "5M",
    "1.5s",
    "365d",
    "366d",
    "60ms",
    "100ms",
    "0d",
    "1KiB",
    "1kb",
    "0MiB",
    "unlimited",
    "@network",
    " @network ",
    "@events",
    "@read:a",
    "@read: a",
    "@read:",
    "@write:~/x",
    "@tool:a/b",
    "@tool:",
    "@tool: a",
    "@other",
    "cron:a",
    "cron",
    "heartbeat:x",
    "heartbeats",
    "a.b[].c|d?",
    "a[]",
    "a?b",
    "UTC",
    "Europe/Berlin",
];

const OTHERS: [&str; 12] = ["0", "1", "-1", "255", "256", "10001", "1000001", "true", "1.5", "[]", "{}", "2026-01-01"];

#[test]
fn the_schema_refuses_nothing_that_the_reader_accepts() {
    let place = Place::new();
    let schema = schema();
    let (mut refused, mut accepted) = (0, 0);
    for (table, key) in all_keys().filter(|(table, _)| table.name != "file") {
        let words = match key.value {
            Value::Word(words) | Value::Words(words) => words,
            _ => &[],
        };
        // The form of a text matters only where the key takes such texts.
        let few = &TEXTS[..3];
        let (texts, lists) = match key.value {
            Value::Text(_) | Value::Limit(_) => (TEXTS.as_slice(), few),
            Value::Texts(_) | Value::SomeTexts(_) => (few, TEXTS.as_slice()),
            Value::OneOrMore(_) => (TEXTS.as_slice(), TEXTS.as_slice()),
            _ => (few, few),
        };
        let quoted = |text: &&str| format!("\"{text}\"");
        let lists = lists.iter().chain(words).map(|text| format!("[{}]", quoted(text)));
        for value in texts.iter().chain(words).map(quoted).chain(lists).chain(OTHERS.map(str::to_owned)) {
            let text = with(table, key.name, Some(&value));
            let Some(why) = disagreement(&schema, &schema, &parsed(&text)) else {
                accepted += 1;
                continue;
            };
            refused += 1;
            assert_ne!(
                complaints(&place, &text),
                "nothing",
                "{} of {} may be {value}, but {why}",
                key.name,
                table.header
            );
        }
    }
    assert!(refused > 1000 && accepted > 1000, "{refused} {accepted}");
}

#[test]
fn the_schema_accepts_no_text_of_a_known_form_that_the_reader_refuses() {
    let place = Place::new();
    let schema = schema();
    let mut compared = 0;
    // A test of the file fails for other reasons too.
    for (table, key) in all_keys().filter(|(table, _)| table.name != "test") {
        let (form, value): (Form, fn(&str) -> String) = match key.value {
            Value::Text(form) | Value::Limit(form) => (form, |text| format!("\"{text}\"")),
            Value::Texts(form) | Value::SomeTexts(form) | Value::OneOrMore(form) => {
                (form, |text| format!("[\"{text}\"]"))
            }
            _ => continue,
        };
        // Other forms depend on the rest of the file, on the disk, or on more than a pattern can say.
        let bounded = matches!(key.name, "timeout" | "heartbeat_every");
        let known =
            matches!(form, Form::Duration | Form::Time | Form::TimeLimit | Form::Size | Form::Count | Form::Permission);
        if !known || bounded {
            continue;
        }
        for text in TEXTS.into_iter().filter(|text| *text != "366d") {
            let text = with(table, key.name, Some(&value(text)));
            let agreed = disagreement(&schema, &schema, &parsed(&text)).is_none();
            assert_eq!(
                agreed,
                complaints(&place, &text) == "nothing",
                "{} of {}:\n{text}\n{}",
                key.name,
                table.header,
                complaints(&place, &text)
            );
            compared += 1;
        }
    }
    assert!(compared > 500, "{compared}");
}

#[test]
fn the_schema_finds_most_mistakes_in_keys_types_and_words() {
    let schema = schema();
    let of_the_text = ["unknown key", "unknown table", "must be", "is missing"];
    let (mut told, mut found) = (0, 0);
    for case in include_str!("bad_input.txt").split("=== ").skip(1) {
        let (text, answer) = case.split_once('\n').unwrap().1.split_once("\n---\n").unwrap();
        if text.parse::<toml::Table>().is_ok() && of_the_text.iter().any(|mistake| answer.contains(mistake)) {
            told += 1;
            found += usize::from(disagreement(&schema, &schema, &parsed(text)).is_some());
        }
    }
    assert!(told > 40 && found * 10 > told * 8, "{found} of {told}");
}

#[test]
fn the_example_and_the_documentation_agree_with_the_schema() {
    let schema = schema();
    let text = |file: &str| fs::read_to_string(Path::new(ROOT).join(file)).unwrap();
    assert_eq!(disagreement(&schema, &schema, &parsed(&text("agents.example.toml"))), None);
    // A block may show one table of a file.
    let mut part = schema.clone();
    part.as_object_mut().unwrap().remove("required");
    let mut blocks = 0;
    for file in ["docs/agents-toml.md", "docs/tools.md", "docs/decisions.md", "README.md"] {
        let text = text(file);
        for block in text.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()) {
            let block = parsed(block);
            if block.get("dependencies").is_some() {
                continue;
            }
            blocks += 1;
            assert_eq!(disagreement(&part, &part, &block), None, "{file}");
        }
    }
    assert!(blocks > 3, "{blocks}");
}

#[test]
fn every_key_is_in_the_documentation() {
    let documentation = fs::read_to_string(Path::new(ROOT).join("docs/agents-toml.md")).unwrap();
    // The keys of a tool are listed in its own page.
    let documentation = documentation + &fs::read_to_string(Path::new(ROOT).join("docs/tools.md")).unwrap();
    for (table, key) in all_keys() {
        let named = [format!("`{}`", key.name), format!("[{}]", key.name), format!("[{}.", key.name)];
        let explained = named.iter().any(|name| documentation.contains(name));
        assert!(explained, "the documentation does not explain `{}` of {}", key.name, table.header);
    }
}

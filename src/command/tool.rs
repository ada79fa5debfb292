//! Tool calls: a name and an input object.

use serde_json::{Map, Value};

use crate::model::{Columns, Operation, SensitiveName, columns_of_text};

use super::{
    answer::Classification,
    classifier::Classifier,
    tier::{Profile, Tier},
};

/// Names of tools that run a command line.
const RUNNING: &[&str] = &["bash", "exec", "shell"];
/// Names of tools that write a file.
const WRITING: &[&str] = &["write", "file_write"];
/// Names of tools that read a file.
const READING: &[&str] = &["read", "file_read"];

pub(super) fn classify(classifier: &Classifier, name: &str, input: &Value) -> Classification {
    match Call::of(name, input) {
        Call::Runs(command) => classifier.classify_with(command, &Call::besides(input)),
        Call::Writes(path) => {
            let (tier, why) = classifier.writing(path);
            Classification::plain(tier, why)
        }
        Call::Reads(path) => {
            let (tier, why) = reading(classifier.profile(), path);
            Classification::plain(tier, why)
        }
        Call::Unclear(Operation::Read, _) if classifier.profile() == Profile::Default => {
            Classification::plain(Tier::Safe, "reads only")
        }
        Call::Unclear(_, why) => Classification::plain(Tier::Dangerous, why),
        Call::Unknown => unlisted(classifier, input),
    }
}

/// It may be a shell under another name: then what destroys must not pass for less.
fn unlisted(classifier: &Classifier, input: &Value) -> Classification {
    match only_text(input, &["command", "input"]) {
        Ok(Some(command)) => {
            let found = classifier.classify(command);
            let destroys = found.tier == Tier::Destructive;
            Some(found).filter(|_| destroys).map(|found| found.at_least_dangerous(UNLISTED))
        }
        Ok(None) | Err(_) => None,
    }
    .unwrap_or_else(|| Classification::plain(Tier::Dangerous, UNLISTED))
}

const UNLISTED: &str = "a tool that is not on any list";

/// What a call of a tool does, as far as its name and input tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call<'v> {
    /// Runs this command line.
    Runs(&'v str),
    /// Writes this path.
    Writes(&'v str),
    /// Reads this path.
    Reads(&'v str),
    /// The operation is known and its object is not.
    Unclear(Operation, &'static str),
    /// A tool that is not on any list.
    Unknown,
}

impl<'v> Call<'v> {
    /// What a tool that runs a command line is told besides it, but for what does not change what runs.
    pub(crate) fn besides(input: &Value) -> Map<String, Value> {
        const ASIDE: &[&str] =
            &["command", "input", "description", "explanation", "timeout", "timeout_ms", "run_in_background"];
        let changes = |(key, value): &(&String, &Value)| !ASIDE.contains(&key.as_str()) && !value.is_null();
        let entries = input.as_object().into_iter().flatten();
        entries.filter(changes).map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// What a call of the tool `name` with `input` does.
    pub(crate) fn of(name: &str, input: &'v Value) -> Call<'v> {
        type Meant<'v> = (Operation, &'static [&'static str], fn(&'v str) -> Call<'v>);
        let (operation, keys, call): Meant<'v> = if RUNNING.contains(&name) {
            (Operation::Command, &["command", "input"], Call::Runs)
        } else if WRITING.contains(&name) {
            (Operation::Write, &["path", "file_path"], Call::Writes)
        } else if READING.contains(&name) {
            (Operation::Read, &["path", "file_path"], Call::Reads)
        } else {
            return Call::Unknown;
        };
        match only_text(input, keys) {
            Ok(Some(text)) if operation == Operation::Command || !text.trim().is_empty() => call(text),
            Ok(_) => Call::Unclear(operation, "the input does not say on what"),
            Err(why) => Call::Unclear(operation, why),
        }
    }
}

/// The tier of reading a file, and why.
pub(super) fn reading(profile: Profile, path: &str) -> (Tier, &'static str) {
    if profile == Profile::Strict && is_sensitive(path) {
        (Tier::Dangerous, "reads something that is usually secret")
    } else {
        (Tier::Safe, "reads only")
    }
}

/// The text under one of `keys`; an input that holds another kind of value, or two texts, says nothing.
fn only_text<'v>(input: &'v Value, keys: &[&str]) -> Result<Option<&'v str>, &'static str> {
    let mut found: Option<&str> = None;
    for key in keys {
        match (input.get(key), found) {
            (None | Some(Value::Null), _) => {}
            (Some(Value::String(text)), None) => found = Some(text),
            (Some(Value::String(text)), Some(before)) if before == text => {}
            (Some(Value::String(_)), Some(_)) => return Err("the input says two different things"),
            (Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)), _) => {
                return Err("the input holds something other than text");
            }
        }
    }
    Ok(found)
}

/// The tier of writing a file, and why. `added` are names that are sensitive besides the built-in ones.
pub(super) fn writing(path: &str, added: &[SensitiveName]) -> (Tier, &'static str) {
    if is_sensitive(path) || is_guarded(path) || added.iter().any(|name| name.is_in(path)) {
        (Tier::Dangerous, "writes to a sensitive path")
    } else {
        (Tier::Safe, "writes to a path that is not sensitive")
    }
}

/// Files that usually hold secrets: by any component of the path, whatever the case.
pub(super) fn is_sensitive(path: &str) -> bool {
    columns_of_text(path).any(Columns::is_secret)
}

/// Files that programs run or obey, and what is not plainly a path: one that climbs, or hides a control character.
pub(super) fn is_guarded(path: &str) -> bool {
    let climbs = path.split(['/', '\\']).any(|part| part == "..") || path.starts_with('~');
    climbs || path.chars().any(char::is_control) || columns_of_text(path).any(Columns::is_sensitive)
}

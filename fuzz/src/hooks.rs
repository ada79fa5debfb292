//! The texts that hooks of coding agents read: every doubt is a denial.

use bestow_cli::fuzzing::{question, reply};
use bestow_hosts::{
    Answer,
    hooks::{About, Event, Host, Output},
};
use serde_json::Value;

/// Checks the two texts that a hook reads: the call of its host, and the reply of the server.
pub fn hook(status: u16, text: &[u8]) {
    match question(text) {
        Ok(asked) => {
            let (asked, told): (Value, Value) =
                (serde_json::from_str(&asked).unwrap(), serde_json::from_slice(text).unwrap());
            // Every name that the host uses has the value that the server is asked about.
            for (names, name) in
                [(["toolName", "tool_name", "tool"], "toolName"), (["toolInput", "tool_input", "input"], "toolInput")]
            {
                let mut values = names.iter().filter_map(|name| told.get(name)).peekable();
                assert!(values.peek().is_some());
                let is_same = |value: &Value| match value {
                    Value::Null => name == "toolInput",
                    // A number with a fraction may be rounded.
                    value => *value == asked[name] || has_fraction(value),
                };
                assert!(values.all(is_same));
            }
            assert!(asked["toolName"].is_string() && asked["toolInput"].is_object());
        }
        Err(why) => assert!(!why.is_empty()),
    }
    for status in [200, status] {
        let Some((line, allow)) = reply(status, text) else { continue };
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["allow"], allow);
        assert!(line.ends_with('\n') && line.lines().count() == 1);
        if allow {
            let told: Value = serde_json::from_slice(text).unwrap();
            assert!(status == 200 && told["allow"] == true && told["updatedInput"].is_null());
        } else {
            assert!(!answer["reason"].as_str().unwrap().is_empty());
        }
    }
}

fn has_fraction(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(list) => list.iter().any(has_fraction),
        Value::Object(fields) => fields.values().any(has_fraction),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

/// Checks the texts that hosts send to their hooks: only a whole question can be answered.
pub fn host_hook(host: u8, text: &[u8]) {
    let host = Host::ALL[usize::from(host) % Host::ALL.len()];
    match host.read(text) {
        Ok(Event::Asks(question)) => {
            let told: Value = serde_json::from_slice(text).unwrap();
            let name = if told["hook_event_name"].is_string() { "tool_name" } else { "toolName" };
            assert_eq!(told[name], question.tool.as_str());
            assert!(question.input.is_object() && question.caller.working_dir.is_absolute());
            let no = host.answer(&question, &Answer::Denied { reason: String::from_utf8_lossy(text).into_owned() });
            assert!(denies(host, question.about, &no));
        }
        Ok(Event::Begins(caller)) => assert!(caller.working_dir.is_absolute()),
        Ok(Event::Ends(..) | Event::Other) => {}
        Err(mistake) => {
            let no = host.doubt(mistake.about, &mistake.to_string());
            assert!(denies(host, mistake.about.unwrap_or(About::Call), &no));
        }
    }
}

/// Returns true if the host takes the answer as a denial, in one line.
fn denies(host: Host, about: About, output: &Output) -> bool {
    let told: Value = serde_json::from_str(&output.stdout).unwrap();
    let own = &told["hookSpecificOutput"];
    let says = match (host, about) {
        (Host::Claude | Host::Codex, About::Call) => own["permissionDecision"] == "deny",
        (Host::Claude | Host::Codex, About::Prompt) => own["decision"]["behavior"] == "deny",
        (Host::Gemini, _) => told["decision"] == "deny",
        (Host::Copilot, _) => told["permissionDecision"] == "deny",
    };
    let code = if host == Host::Copilot || (host == Host::Claude && about == About::Prompt) { 0 } else { 2 };
    says && output.code == code && output.stdout.lines().count() == 1
}

//! Tests the texts that hosts send to their hooks: only a whole question can be answered, and every doubt is a denial.

#![no_main]

use bestow_hosts::{
    Answer,
    hooks::{About, Event, Host, Output},
};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|input: (u8, &[u8])| {
    let (host, text) = input;
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
});

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

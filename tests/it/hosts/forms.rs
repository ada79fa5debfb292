//! Tests of the texts that hosts send to their hooks, and of the answers in their own forms. `forms.txt` is the table:
//! each text of `fixtures`, and every answer to it. `BESTOW_BLESS=1` rewrites it.

use std::fmt::Write as _;

use bestow_hosts::{
    Answer, Unanswered,
    hooks::{About, Event, Host, Output},
};
use serde_json::{Value, json};

use crate::support::as_written;

/// Returns the texts of a host, by name.
fn fixtures(host: Host) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> = std::fs::read_dir("it/hosts/fixtures").unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    let own = format!("{}-", host.as_str());
    let name = |path: &std::path::Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    all.retain(|path| name(path).starts_with(&own));
    all.iter().map(|path| (name(path), std::fs::read(path).unwrap())).collect()
}

/// Returns every answer about a call.
fn answers() -> [(&'static str, Answer); 5] {
    let id = "01a20ae0-0f79-73e3-a77d-4fca3654f634".parse().unwrap();
    [
        ("allowed", Answer::Allowed { reason: "a reason".to_owned(), feedback: None }),
        (
            "approved with words",
            Answer::Allowed { reason: "a reason".to_owned(), feedback: Some("only today".to_owned()) },
        ),
        ("changed", Answer::Changed { input: json!({ "command": "make safe" }), reason: "a reason".to_owned() }),
        ("denied", Answer::Denied { reason: "a \"reason\"\nof\u{202e} two lines".to_owned() }),
        ("waits", Answer::Waits { id, code: "mhx95v".to_owned(), reason: "a reason".to_owned() }),
    ]
}

fn shown(output: &Output) -> String {
    format!("{} | {} | {}", output.code, output.stdout.trim_end(), output.stderr.trim_end())
}

#[test]
fn each_host_gets_its_own_form() {
    let mut table = String::new();
    for host in Host::ALL {
        for (name, text) in fixtures(host) {
            writeln!(table, "{name}").unwrap();
            let event = match host.read(&text) {
                Ok(event) => event,
                Err(mistake) => {
                    writeln!(table, "  mistake: {mistake}").unwrap();
                    writeln!(table, "  doubt: {}", shown(&host.doubt(mistake.about, "a doubt"))).unwrap();
                    continue;
                }
            };
            let Event::Asks(question) = &event else {
                writeln!(table, "  {event:?}").unwrap();
                continue;
            };
            writeln!(table, "  {:?} {} {} {:?}", question.about, question.tool, question.input, question.caller)
                .unwrap();
            writeln!(table, "  unanswered: {:?}", host.unanswered(question)).unwrap();
            for (kind, answer) in answers() {
                writeln!(table, "  {kind}: {}", shown(&host.answer(question, &answer))).unwrap();
            }
        }
    }
    as_written("it/hosts/forms.txt", &table);
}

/// Returns true if a host would let the call happen, or leave it to itself.
fn lets_pass(host: Host, about: About, output: &Output) -> bool {
    let told: Value = serde_json::from_str(&output.stdout).unwrap_or(Value::Null);
    let own = &told["hookSpecificOutput"];
    let denies = match (host, about) {
        (Host::Claude | Host::Codex, About::Call) => output.code == 2 && own["permissionDecision"] == "deny",
        (Host::Claude, About::Prompt) => output.code == 0 && own["decision"]["behavior"] == "deny",
        (Host::Codex, About::Prompt) => output.code == 2 && own["decision"]["behavior"] == "deny",
        (Host::Gemini, _) => output.code == 2 && told["decision"] == "deny",
        (Host::Copilot, _) => output.code == 0 && told["permissionDecision"] == "deny",
    };
    !denies
}

#[test]
fn only_an_approval_lets_a_call_pass_and_only_a_person_at_the_terminal_is_asked() {
    for host in Host::ALL {
        for (name, text) in fixtures(host) {
            let Ok(Event::Asks(question)) = host.read(&text) else { continue };
            for (kind, answer) in answers() {
                let output = host.answer(&question, &answer);
                let at_terminal = question.is_foreground();
                let may_pass = match (&answer, host, question.about) {
                    (Answer::Allowed { .. }, ..) => true,
                    (Answer::Changed { .. }, Host::Claude, _) => true,
                    (Answer::Waits { .. }, _, About::Prompt) => at_terminal,
                    (Answer::Waits { .. }, Host::Claude, About::Call) => at_terminal,
                    _ => false,
                };
                assert_eq!(lets_pass(host, question.about, &output), may_pass, "{name} {kind}: {output:?}");
                let is_left = host.unanswered(&question) == Unanswered::Leave;
                if matches!(answer, Answer::Waits { .. }) {
                    assert_eq!(is_left, !may_pass, "{name}: a question that somebody else answers is withdrawn");
                }
            }
        }
    }
}

#[test]
fn every_doubt_is_a_denial_with_a_reason() {
    for host in Host::ALL {
        for about in [None, Some(About::Call), Some(About::Prompt)] {
            for why in ["why", "", "  \n"] {
                let output = host.doubt(about, why);
                assert!(!lets_pass(host, about.unwrap_or(About::Call), &output), "{host:?} {about:?}: {output:?}");
                assert!(output.code != 2 || !output.stderr.trim().is_empty(), "{host:?}: {output:?}");
                assert!(output.stdout.lines().count() <= 1 && output.stderr.lines().count() <= 1);
            }
        }
    }
}

#[test]
fn codex_gets_nothing_that_it_takes_as_a_failure() {
    for (name, text) in fixtures(Host::Codex) {
        let Ok(Event::Asks(question)) = Host::Codex.read(&text) else { continue };
        for (kind, answer) in answers() {
            let output = Host::Codex.answer(&question, &answer);
            let told: Value = serde_json::from_str(&output.stdout).unwrap_or(Value::Null);
            let own = &told["hookSpecificOutput"];
            let is_bare = matches!(own["permissionDecision"].as_str(), Some("allow" | "ask"));
            let is_more = ["updatedInput", "updatedPermissions", "interrupt"];
            let is_more = is_more.iter().any(|name| !own[name].is_null() || !own["decision"][name].is_null());
            assert!(!is_bare && !is_more, "{name} {kind}: {output:?}");
        }
    }
}

#[test]
fn every_beginning_of_a_text_is_a_mistake() {
    for host in Host::ALL {
        for (name, text) in fixtures(host).into_iter().filter(|(name, _)| !name.contains("-wrong-")) {
            let text = text.trim_ascii_end();
            for end in 0..text.len() {
                assert!(host.read(&text[..end]).is_err(), "{name}: {end}");
            }
        }
    }
}

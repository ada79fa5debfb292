//! Tests that `docs/protocol.md` is correct.

use std::{fs, process::Stdio};

use bestow::{
    Answer, Engine, InitialGrants, Kind, Profile, Settings,
    host::AsWritten,
    stdio::{Bot, Ended, ErrorCode, FromAgent, FromConnector, ToAgent, ToConnector},
    user::Prompt,
};
use serde_json::Value;
use tokio::process::Command;

use super::{id, repository, soon};

fn document() -> String {
    fs::read_to_string(repository().join("docs/protocol.md")).unwrap()
}

/// Returns the content of the code blocks in one language.
fn blocks<'d>(document: &'d str, language: &str) -> Vec<&'d str> {
    document.split(&format!("```{language}\n")).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

fn section<'d>(document: &'d str, heading: &str) -> &'d str {
    let (_, rest) = document.split_once(&format!("\n## {heading}\n")).unwrap();
    rest.split("\n## ").next().unwrap()
}

fn lines(document: &str, heading: &str) -> Vec<String> {
    blocks(section(document, heading), "json").iter().flat_map(|block| block.lines().map(str::to_owned)).collect()
}

#[test]
fn every_example_line_is_a_message_of_its_role_and_direction() {
    let document = document();
    for line in lines(&document, "Agent: what the bot says") {
        line.parse::<FromAgent>().unwrap_or_else(|why| panic!("{why}: {line}"));
    }
    for line in lines(&document, "Connector: what the bot says") {
        line.parse::<FromConnector>().unwrap_or_else(|why| panic!("{why}: {line}"));
    }
    for line in lines(&document, "Agent: what the bot hears").iter().chain(&lines(&document, "Errors")) {
        let read: ToAgent = serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}"));
        assert_eq!(serde_json::to_string(&read).unwrap(), *line);
    }
    for line in lines(&document, "Connector: what the bot hears") {
        let read: ToConnector = serde_json::from_str(&line).unwrap_or_else(|why| panic!("{why}: {line}"));
        assert_eq!(serde_json::to_string(&read).unwrap(), line);
    }
}

#[test]
fn every_type_and_every_code_in_the_vectors_is_documented() {
    let document = document();
    for file in fs::read_dir(repository().join("tests/vectors")).unwrap() {
        let vector: Value = serde_json::from_slice(&fs::read(file.unwrap().path()).unwrap()).unwrap();
        for step in vector["steps"].as_array().unwrap().iter().filter(|step| !step["read"].is_null()) {
            for key in ["type", "code"] {
                let named = step["line"][key].as_str().unwrap_or("`");
                assert!(named.starts_with('<') || document.contains(named), "{named} is not documented");
            }
        }
    }
}

#[test]
fn every_error_code_is_documented() {
    let document = document();
    let all = [
        ErrorCode::ParseError,
        ErrorCode::ValidationError,
        ErrorCode::UnknownType,
        ErrorCode::LineTooLong,
        ErrorCode::UnsupportedVersion,
        ErrorCode::Forbidden,
        ErrorCode::NoPendingPermission,
        ErrorCode::RunNotFound,
        ErrorCode::AlreadyResolved,
        ErrorCode::Refused,
        ErrorCode::PathError,
        ErrorCode::NobodyThere,
        ErrorCode::InternalError,
        ErrorCode::EngineClosed,
    ];
    for code in all {
        let name = serde_json::to_value(code).unwrap();
        assert!(document.contains(&format!("\n| `{}` |", name.as_str().unwrap())), "{name} is not documented");
    }
}

#[tokio::test]
async fn the_bot_in_twenty_lines_does_what_it_should() {
    let document = document();
    let program = blocks(&document, "python")[0];
    assert!(program.lines().filter(|line| !line.is_empty()).count() <= 20);
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::on(Settings::default(), super::clock(), std::sync::Arc::new(AsWritten)).unwrap();
    let owner: bestow::user::OwnerId = "you".parse().unwrap();
    let dir = directory.path().to_str().unwrap();
    for (name, kind) in [("lead", Kind::Foreground), ("bot", Kind::Subagent)] {
        let profile = Profile::new(id(name), owner.clone(), kind, dir.parse().unwrap());
        engine.register(profile, InitialGrants::nothing()).await.unwrap();
    }
    let mut user = engine.connect(id("lead")).unwrap();
    let mut command = Command::new("python3");
    command.arg("-c").arg(program).stderr(Stdio::null());
    let mut running = Bot::agent(&engine, &id("bot")).unwrap().spawn(command).unwrap();
    let Some(Prompt::Ask(request)) = soon("a question", user.next()).await else { panic!("no question") };
    assert!(!directory.path().join("hello.txt").exists());
    let answer = Answer::allow().scope(bestow::grant::Scope::Once);
    engine.approver(&owner, "ann", "test").answer(request.id, answer).await.unwrap();
    assert_eq!(soon("the exit", running.wait()).await.ended, Ended::Bye);
    assert_eq!(fs::read_to_string(directory.path().join("hello.txt")).unwrap(), "hello\n");
}

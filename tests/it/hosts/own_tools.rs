//! Calls of the tools that coding agents have for themselves.

use bestow::{Action, InitialGrants, Kind, agent::Mode, grant::Reads, tool::CodingAgent};
use bestow_hosts::{Call, Sessions as _};
use serde_json::{Value, json};

use super::stage::{Stage, bash, call, denied, is_allowed, session, waits};
use crate::support::{World, profile};

fn of_claude(tool: &str, input: Value) -> Call {
    Call { coding_agent: Some(CodingAgent::Claude), ..call(session("s"), tool, input) }
}

#[tokio::test]
async fn a_tool_of_the_session_needs_no_person_in_any_mode() {
    let task = json!({ "description": "look", "prompt": "say why `rm -rf /` is bad", "subagent_type": "Explore" });
    for mode in [Mode::Default, Mode::Untrusted, Mode::Never, Mode::Plan, Mode::Bypass] {
        let world = World::new();
        let plain = profile("claude", "you", Kind::Permanent).in_mode(mode);
        let host = world.engine.register(plain, InitialGrants::nothing()).await.unwrap();
        for (name, input) in [
            ("TodoWrite", json!({ "todos": [{ "content": "fix src/main.rs", "status": "pending" }] })),
            ("Task", task.clone()),
            ("SlashCommand", json!({ "command": "/review" })),
            ("ExitPlanMode", json!({ "plan": "1. rm -rf /" })),
        ] {
            let action = Action::tool(name.parse().unwrap(), input);
            let verdict = |action: Action| host.explain(&action).unwrap().decision.verdict();
            assert_eq!(verdict(action.clone().by_coding_agent(CodingAgent::Claude)), bestow::Effect::Allow, "{name}");
            assert!(verdict(action) > bestow::Effect::Allow || mode == Mode::Bypass, "{name} of anybody in {mode:?}");
        }
    }
}

#[tokio::test]
async fn a_tool_of_the_session_is_allowed_when_no_further_question_fits() {
    let world = World::with(|settings| {
        settings.reads = Reads::Anywhere;
        settings.max_pending = 1;
    });
    let host = world.agent("claude", "you", Kind::Permanent, &["@write:/ws"]).await;
    let sessions = bestow_hosts::OwnSessions::new(world.engine.clone(), host);
    assert!(waits(&sessions.call(bash(session("s"), "make")).await.unwrap()));
    assert!(sessions.call(bash(session("s"), "make all")).await.is_err(), "no further question fits");
    let answer = sessions.call(of_claude("TodoWrite", json!({ "todos": [] }))).await.unwrap();
    assert!(is_allowed(&answer), "{answer:?}");
}

#[tokio::test]
async fn a_tool_of_that_name_of_another_program_is_a_question() {
    let stage = Stage::new().await;
    for agent in [None, Some(CodingAgent::Gemini)] {
        let call = Call { coding_agent: agent, ..of_claude("Task", json!({ "prompt": "x" })) };
        assert!(waits(&stage.ask(call).await), "{agent:?}");
    }
}

#[tokio::test]
async fn an_unknown_field_of_a_tool_of_the_session_is_judged() {
    let world = World::with(|settings| {
        settings.reads = Reads::Anywhere;
        settings.protected = ["/keys".parse().unwrap()].into();
    });
    let host = world.agent("claude", "you", Kind::Permanent, &["@write:/ws"]).await;
    let sessions = bestow_hosts::OwnSessions::new(world.engine.clone(), host);
    let input = json!({ "todos": [], "attach": "/keys/a" });
    let answer = sessions.call(of_claude("TodoWrite", input)).await.unwrap();
    assert!(denied(&answer).contains("/keys/a"), "{answer:?}");
}

#[tokio::test]
async fn a_command_runs_in_the_directory_that_its_call_names() {
    let stage = Stage::holding(&["@write:/ws", "@write:/other"]).await;
    let ls =
        |directory: &str| call(session("s"), "run_shell_command", json!({ "command": "cat a", "dir_path": directory }));
    assert!(is_allowed(&stage.ask(ls("src")).await));
    assert!(is_allowed(&stage.ask(ls("/other")).await));
    let refused = stage.ask(ls("~/x")).await;
    assert!(denied(&refused).contains("write the full path"), "{refused:?}");
}

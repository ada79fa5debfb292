//! Fields that the declaration of a tool does not name.

use bestow::{Action, agent::Mode, command::built_in_tools, decision::Verdict, tool::Tool};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{MODES, agent, verdict, world};

/// Returns a value for the first form of a field that the tool accepts.
fn fitting(tool: &Tool) -> Value {
    let mut input = serde_json::Map::new();
    for (kind, fields) in tool.fields() {
        for field in fields.iter().filter(|field| !field.is_optional()) {
            let text = field.to_string();
            let form = text.split('|').next().unwrap();
            let value = match kind {
                "command" => "ls",
                "patch" => "*** Update File: a",
                "host" => "https://a.example",
                _ => "a",
            };
            match form.strip_suffix("[]") {
                Some(name) => input.insert(name.to_owned(), json!([value])),
                None => input.insert(form.to_owned(), json!(value)),
            };
        }
    }
    Value::Object(input)
}

fn tools() -> Vec<Tool> {
    let all = built_in_tools().into_iter().map(|(_, tool)| tool);
    all.filter(|tool| tool.name().as_str() != "run_command").collect()
}

/// Generates values that hold a text in any place.
fn values() -> impl Strategy<Value = Value> {
    let texts = [
        "/keys/a",
        "a",
        "../x",
        "~/.ssh",
        "rm -rf /",
        "cat /keys/a",
        "ls",
        "https://b.example",
        "calm",
        "",
        "src/*.rs",
        "a /keys/b",
        "true",
    ];
    let text = prop::sample::select(texts.to_vec()).prop_map(|text| json!(text));
    let leaf = prop_oneof![text, Just(json!(3)), Just(json!(true)), Just(json!(null))];
    leaf.prop_recursive(3, 8, 3, |inner| {
        let key = prop::sample::select(vec!["a", "path", "/keys/c", "command", "x"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::vec((key, inner), 0..3)
                .prop_map(|all| Value::Object(all.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Adds a field to the call of any tool, of any name, before and after the others.
    #[test]
    fn a_further_field_makes_no_answer_looser(
        place in any::<prop::sample::Index>(),
        mode in any::<prop::sample::Index>(),
        name in prop_oneof![
            "[a-z_]{1,12}",
            prop::sample::select(vec!["cwd", "workdir", "paths", "more_paths", "env", "stdin", "shell", "url", "-x"])
                .prop_map(str::to_owned),
        ],
        value in values(),
        is_known in any::<bool>(),
    ) {
        let tools = tools();
        let tool = place.get(&tools);
        let mut input = fitting(tool);
        let before = input.clone();
        if input.get(&name).is_some() {
            return Ok(());
        }
        input[&name] = value;
        let called = if is_known { tool.name().as_str().to_owned() } else { format!("my_{}", tool.name()) };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let world = world();
            let ann = agent(&world, *mode.get(&MODES), &["@write:/", "@network"]).await;
            let (plain, more) = (verdict(&ann, &called, &before).await, verdict(&ann, &called, &input).await);
            prop_assert!(more >= plain, "{called} {before}: {plain:?}, and {input}: {more:?}");
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn a_protected_path_in_any_further_field_of_a_known_tool_is_denied() {
    let world = world();
    let ann = agent(&world, Mode::Bypass, &["@write:/", "@network"]).await;
    for tool in tools() {
        for value in
            [json!("/keys/a"), json!(["b", "/keys/a"]), json!({ "x": [{ "y": "/keys/a" }] }), json!("b,/keys/a")]
        {
            for name in ["more_paths", "Zz"] {
                let mut input = fitting(&tool);
                input[name] = value.clone();
                assert_eq!(verdict(&ann, tool.name().as_str(), &input).await, Verdict::Deny, "{tool} {input}");
            }
        }
    }
}

#[tokio::test]
async fn a_destructive_command_in_a_further_field_of_a_known_tool_is_denied() {
    let world = world();
    let ann = agent(&world, Mode::Bypass, &["@write:/", "@network"]).await;
    for tool in tools() {
        for value in [json!("rm -rf /"), json!(["rm", "-rf", "/"]), json!({ "program": "rm", "args": ["-rf", "/"] })] {
            let mut input = fitting(&tool);
            input["after"] = value;
            assert_eq!(verdict(&ann, tool.name().as_str(), &input).await, Verdict::Deny, "{tool} {input}");
        }
    }
}

#[tokio::test]
async fn a_further_field_that_is_a_plain_text_changes_nothing_for_tools_of_files() {
    let world = world();
    let ann = agent(&world, Mode::Default, &["@write:/ws", "@network"]).await;
    for (tool, input) in [
        ("Read", json!({ "file_path": "a", "mood": "calm and slow", "level": 3, "deep": true })),
        ("Write", json!({ "file_path": "a", "content": "/keys/a", "mood": "calm" })),
        ("Edit", json!({ "file_path": "a", "old_string": "/keys/a", "new_string": "rm -rf /" })),
        ("Grep", json!({ "pattern": "/keys/a", "output_mode": "content" })),
    ] {
        assert_eq!(verdict(&ann, tool, &input).await, Verdict::Allow, "{tool} {input}");
    }
}

/// A tool may start in the directory of such a field, and read such an option.
#[tokio::test]
async fn a_directory_or_an_option_in_a_further_field_of_a_known_tool_is_asked_about() {
    let world = world();
    let agent = agent(&world, Mode::Default, &["@write:/ws"]).await;
    for (tool, input) in [
        ("Write", json!({ "file_path": "a", "content": "x", "cwd": "/other" })),
        ("Edit", json!({ "file_path": "a", "old_string": "x", "new_string": "y", "workdir": "/other/deep" })),
        ("Grep", json!({ "pattern": "x", "args": ["--pre", "sh"] })),
        ("Grep", json!({ "pattern": "x", "extra": "-f/x" })),
    ] {
        let action = Action::tool(tool.parse().unwrap(), input);
        assert_eq!(agent.explain(&action).unwrap().decision.verdict(), bestow::Effect::Ask, "{action:?}");
    }
    for input in [
        json!({ "file_path": "a", "content": "x", "cwd": "/ws/sub" }),
        json!({ "file_path": "/ws/a", "content": "x", "cwd": "/other" }),
        json!({ "file_path": "a", "content": "x", "note": "- one - two" }),
    ] {
        let action = Action::tool("Write".parse().unwrap(), input);
        assert_eq!(agent.explain(&action).unwrap().decision.verdict(), bestow::Effect::Allow, "{action:?}");
    }
}

/// An earlier call may have changed the directory, or typed the beginning of the line.
#[tokio::test]
async fn a_line_that_is_typed_into_a_running_program_is_never_safe() {
    let world = world();
    let agent = agent(&world, Mode::Default, &["@write:/ws"]).await;
    for (tool, input) in [
        ("write_bash", json!({ "shellId": "a", "input": "cat prod/f\n" })),
        ("write_bash", json!({ "shellId": "a", "input": "cd conf\n" })),
        ("write_stdin", json!({ "session_id": 1, "chars": "ls\n" })),
    ] {
        let action = Action::tool(tool.parse().unwrap(), input);
        assert_eq!(agent.explain(&action).unwrap().decision.verdict(), bestow::Effect::Ask, "{action:?}");
    }
}

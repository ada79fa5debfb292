//! A4: the name of a tool does not decide the tier of its input.

use bestow::{
    Answer,
    action::{Authorization, Operation},
    agent::Mode,
    command::{Tier, built_in_tools, classify_tool},
    decision::{DecisionSource, Verdict},
    grant::Scope,
    policy::Rule,
    tool::ToolPolicies,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{MODES, agent, call, verdict, world};
use crate::support::{futures_now, id, policy, settings, tag};

/// Returns destructive inputs in the forms that tools have.
fn destroying() -> Vec<Value> {
    vec![
        json!({ "cmd": "rm -rf /" }),
        json!({ "command": "rm -rf /" }),
        json!({ "script": "set -e\nrm -rf /\n" }),
        json!({ "args": ["rm", "-rf", "/"] }),
        json!({ "command": "rm", "args": ["-rf", "/"] }),
        json!({ "program": "rm", "arguments": "-rf /" }),
        json!({ "steps": [{ "run": "echo a" }, { "run": "mkfs.ext4 /dev/sda" }] }),
        json!({ "rm -rf /": true }),
        json!("rm -rf /"),
    ]
}

const NAMES: [&str; 6] = ["run_command", "Bash", "Write", "foo", "mcp__evil__read_file", "mcp__shell__run_command"];

#[tokio::test]
async fn a_tool_of_any_name_that_destroys_is_denied_in_every_mode_whatever_hooks_and_people_say() {
    let world = world();
    for mode in MODES {
        let ann = agent(&world, mode, &["@write:/", "@network"]).await;
        for name in NAMES {
            // A declared shell runs its command line, and no other field of the input.
            let is_shell = ["Bash", "mcp__shell__run_command"].contains(&name);
            for input in destroying().into_iter().filter(|input| !is_shell || input["command"] != "rm") {
                assert_eq!(verdict(&ann, name, &input).await, Verdict::Deny, "{mode:?} {name} {input}");
                if name == "foo" {
                    assert_eq!(classify_tool(name, &input).tier, Tier::Destructive, "{name} {input}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_tool_of_any_name_does_not_reach_a_protected_path() {
    let world = world();
    let inputs = [
        json!({ "file_path": "/keys/a" }),
        json!({ "path": "/keys" }),
        json!({ "url": "file:///keys/a" }),
        json!({ "deep": [{ "er": { "target": "/ws/../keys/a" } }] }),
        json!({ "cmd": "cat /keys/a" }),
        json!({ "cmd": "cat </keys/a" }),
        json!({ "env": "IDENTITY=/keys/a" }),
        json!({ "/keys/a": 1 }),
        json!({ "p": "../keys/a" }),
        json!({ "note": "please read '/keys/a' first" }),
    ];
    for mode in MODES {
        let ann = agent(&world, mode, &["@write:/", "@network"]).await;
        for name in ["write_file", "Write", "Read", "run_command", "foo", "mcp__filesystem__write_file"] {
            for input in &inputs {
                assert_eq!(verdict(&ann, name, input).await, Verdict::Deny, "{mode:?} {name} {input}");
            }
        }
    }
}

#[tokio::test]
async fn deny_rules_and_globs_about_paths_meet_a_tool_of_any_name() {
    let world = world();
    let mut file = policy(settings(|_| {}), &[("lead", "you", &["@write:/", "@network"])]);
    let lead = file.agents.get_mut(&id("lead")).unwrap();
    lead.profile.mode = Mode::Bypass;
    lead.rules = [Rule {
        verdict: Verdict::Deny,
        tool: None,
        operation: None,
        path: Some("/ws/secret/**".parse().unwrap()),
        command: None,
        shape: None,
        cwd: None,
        children: false,
        why: None,
        place: bestow::grant::Place { file: "agents.toml".into(), line: 7 },
    }]
    .into();
    world.engine.configure(file).await.unwrap();
    let lead = world.engine.agent(id("lead")).unwrap();
    for name in ["write_file", "Write", "foo", "apply_patch", "MultiEdit"] {
        for input in [
            json!({ "file_path": "/ws/secret/a" }),
            json!({ "file_path": "secret/a" }),
            json!({ "patch": "*** Begin Patch\n*** Update File: secret/a\n*** End Patch" }),
            json!({ "cmd": "tee secret/a" }),
        ] {
            assert_eq!(verdict(&lead, name, &input).await, Verdict::Deny, "{name} {input}");
        }
    }
    assert_eq!(verdict(&lead, "Write", &json!({ "file_path": "/ws/open" })).await, Verdict::Allow);
}

#[tokio::test]
async fn what_is_not_held_is_asked_for_under_any_name_and_no_hook_and_no_mode_gives_it() {
    let world = world();
    for mode in [Mode::Default, Mode::Bypass, Mode::Auto] {
        let ann = agent(&world, mode, &["@write:/ws"]).await;
        for name in ["write_file", "Write", "foo"] {
            let input = json!({ "file_path": "/elsewhere/a" });
            let decision = ann.authorize(call(name, &input)).await.unwrap();
            assert_eq!(decision.decision().verdict(), Verdict::Ask, "{mode:?} {name}");
            assert_eq!(decision.decision().missing, [tag("@write:/elsewhere/a")], "{mode:?} {name}");
        }
        assert_eq!(verdict(&ann, "foo", &json!({ "url": "https://a.example/x" })).await, Verdict::Ask, "{mode:?}");
        assert_eq!(verdict(&ann, "WebFetch", &json!({ "url": "https://a.example/x" })).await, Verdict::Ask);
    }
}

#[tokio::test]
async fn a_yes_for_the_session_to_an_unknown_tool_is_not_one_to_what_destroys() {
    let world = world();
    let ann = agent(&world, Mode::Default, &["@write:/ws"]).await;
    let Authorization::Asked(_, ticket) = ann.authorize(call("foo", &json!({ "cmd": "make" }))).await.unwrap() else {
        panic!("a tool that nobody knows is asked about")
    };
    world.you().answer(ticket.id(), Answer::allow().scope(Scope::Session)).await.unwrap();
    assert_eq!(verdict(&ann, "foo", &json!({ "cmd": "make" })).await, Verdict::Allow);
    assert_eq!(verdict(&ann, "foo", &json!({ "cmd": "rm -rf /" })).await, Verdict::Deny);
}

#[tokio::test]
async fn an_input_that_nobody_can_read_to_its_end_is_denied() {
    let world = world();
    let ann = agent(&world, Mode::Bypass, &["@write:/", "@network"]).await;
    let deep = (0..40).fold(json!("a"), |inner, _| json!([inner]));
    let many: Vec<_> = (0..3_000).map(|n| n.to_string()).collect();
    for input in [deep, json!(many), json!({ "line": "a ".repeat(200_000) })] {
        assert_eq!(verdict(&ann, "foo", &input).await, Verdict::Deny);
    }
    assert_eq!(
        verdict(&ann, "foo", &json!({ "a": { "b": ["c"] } })).await,
        Verdict::Allow,
        "bypass leaves out the question"
    );
}

/// The classifier and the engine agree about every built-in tool, with any of its fields.
#[tokio::test]
async fn classifier_and_engine_agree_about_every_tool() {
    let world = world();
    let ann = agent(&world, Mode::Default, &["@write:/", "@network"]).await;
    let words = ["src/a", "rm -rf /", "ls", "https://a.example", "git push", "*** Update File: a"];
    for (_, tool) in built_in_tools() {
        let fields: Vec<String> = tool.fields().flat_map(|(_, fields)| fields).map(ToString::to_string).collect();
        for field in &fields {
            let key = field.trim_end_matches('?').split(['|', '.', '[']).next().unwrap_or("x");
            for word in words {
                for value in [json!(word), json!([word]), json!(5)] {
                    let mut input = json!({ key: value });
                    if tool.name().as_str() == "move_file" {
                        input = json!({ "source": word, "destination": word });
                    }
                    let judged = classify_tool(tool.name().as_str(), &input);
                    let explained = ann.explain(&call(tool.name().as_str(), &input)).unwrap();
                    let destroys = explained.decision.action.tier == Tier::Destructive;
                    let denied = explained.decision.verdict() == Verdict::Deny;
                    assert!(judged.tier != Tier::Destructive || denied, "{tool} {input}");
                    assert!(!destroys || judged.tier == Tier::Destructive, "{tool} {input}");
                    let invalid = explained.decision.decision_source == DecisionSource::HostPolicy && denied;
                    let same = explained.decision.action.tier == judged.tier;
                    let asks = judged.tier == Tier::Dangerous || tool.operation() == Operation::Write;
                    assert!(same || invalid || asks, "{tool} {input}: {judged:?}\n{explained}");
                }
            }
        }
    }
}

fn names() -> impl Strategy<Value = String> {
    let is_known = |name: &str| built_in_tools().iter().any(|(_, tool)| tool.name().as_str() == name);
    prop_oneof!["[a-z][a-z_]{1,12}", "mcp__[a-z]{1,5}__[a-z_]{1,12}"]
        .prop_filter("a built-in tool", move |name| !is_known(name))
}

/// Generates inputs that contain `value` in any place.
fn inputs(value: &'static str) -> impl Strategy<Value = Value> {
    let keys = ["command", "cmd", "path", "file_path", "url", "input", "paths", "argv", "x", "y"];
    let key = || prop::sample::select(keys.to_vec());
    let leaf = prop_oneof![
        Just(json!(value)),
        Just(json!([value])),
        Just(json!({ "a": [[value]] })),
        Just(json!({ value: 1 })),
        Just(json!(["x", { "y": value }])),
    ];
    let beside = prop::sample::select(vec![json!("a"), json!("ls -l"), json!(1), json!(null), json!(["b", "c"])]);
    (key(), key(), leaf, beside).prop_map(|(at, other, leaf, beside)| {
        let mut input = json!({ other: beside });
        input[at] = leaf;
        input
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::support::cases(48)))]

    /// Tests every undeclared name in every mode, with a hook that approves.
    #[test]
    fn no_name_and_no_field_lets_a_destructive_command_or_a_protected_path_through(
        name in names(),
        input in prop_oneof![inputs("rm -rf /"), inputs("/keys/a"), inputs("cat /keys/a")],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let world = world();
            for mode in MODES {
                let ann = agent(&world, mode, &["@write:/", "@network"]).await;
                let decided = verdict(&ann, &name, &input).await;
                prop_assert_eq!(decided, Verdict::Deny, "{:?} {} {}", mode, name, input);
            }
            Ok(())
        })?;
    }
}

/// Tests every field of every built-in tool that names an object, in every mode, with a hook that approves.
#[tokio::test]
async fn no_field_of_a_built_in_tool_lets_a_destructive_command_or_a_protected_path_through() {
    let world = world();
    let mut tried = 0;
    for mode in MODES {
        let ann = agent(&world, mode, &["@write:/", "@network"]).await;
        for (_, tool) in built_in_tools() {
            let fields: Vec<_> =
                tool.fields().flat_map(|(kind, fields)| fields.iter().map(move |field| (kind, field))).collect();
            for (kind, field) in fields {
                let bad = match kind {
                    "command" => "rm -rf /",
                    "patch" => "*** Update File: /keys/a",
                    "host" => "file:///keys/a",
                    "content" => continue,
                    _ => "/keys/a",
                };
                let text = field.to_string();
                for form in text.trim_end_matches('?').split('|').filter(|form| *form != ".") {
                    let input = match form.strip_suffix("[]") {
                        Some(name) if kind == "command" => json!({ name: ["rm", "-rf", "/"] }),
                        Some(name) => json!({ name: [bad] }),
                        None => json!({ form: bad }),
                    };
                    let name = tool.name().as_str();
                    let name = if name == "run_command" { "mcp__shell__run_command" } else { name };
                    assert_eq!(verdict(&ann, name, &input).await, Verdict::Deny, "{mode:?} {name} {input}");
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 400, "{tried}");
}

#[test]
fn guards_of_a_run_meet_a_tool_of_any_name() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let world = world();
        let ann = agent(&world, Mode::Bypass, &["@write:/"]).await;
        let policies = ToolPolicies { forbidden: vec!["/ws/plans/**".parse().unwrap()], ..ToolPolicies::default() };
        let run: bestow::agent::RunId = "night".parse().unwrap();
        futures_now(world.engine.begin_run(ann.id(), run.clone())).unwrap();
        futures_now(world.you().set_policies(&run, None, policies)).unwrap();
        for name in ["Write", "foo", "edit_file"] {
            let input = json!({ "path": "/ws/plans/a", "file_path": "/ws/plans/a" });
            assert_eq!(verdict(&ann, name, &input).await, Verdict::Deny, "{name}");
        }
    });
}

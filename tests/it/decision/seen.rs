//! Tests of the tool input that a person is shown, and of the inputs that an answer covers.

use bestow::{Action, Answer, decision::Ruled, grant::Scope};
use serde_json::{Value, json};

use super::{asked, ruled};
use crate::support::World;

fn call(tool: &str, input: Value) -> Action {
    Action::tool(tool.parse().unwrap(), input)
}

#[tokio::test]
async fn a_question_about_an_unknown_tool_shows_its_whole_input() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let input = json!({ "target": "prod", "password": "make all", "api_key": "x9K2m4Qp7Lz1", "args": ["b", "a"] });
    let (decision, _) = asked(&ann, call("deploy", input)).await;
    let told = r#"deploy {"api_key":"[redacted 12]","args":["b","a"],"password":"make all","target":"prod"}"#;
    assert_eq!(&*decision.action.resource, told);
    let (decision, _) = asked(&ann, call("deploy", json!({ "text": "x".repeat(5_000) }))).await;
    let resource = &decision.action.resource;
    // Both ends are shown, with the number of characters between them.
    assert!(resource.starts_with("deploy {\"text\":\"xxx"), "{resource}");
    assert!(resource.contains("x… (3211 characters are not shown) …x") && resource.ends_with("xxx\"}"), "{resource}");
    assert!(decision.action.cut);
}

/// A naive engine would bind the approval to the name of the tool, and one approval would cover every input.
#[tokio::test]
async fn a_yes_for_the_session_to_an_unknown_tool_is_for_exactly_that_input() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let (_, ticket) = asked(&ann, call("deploy", json!({ "to": "test", "dry": true }))).await;
    world.you().answer(ticket.id(), Answer::allow().scope(Scope::Session)).await.unwrap();
    assert_eq!(ruled(&ann, call("deploy", json!({ "dry": true, "to": "test" }))).await, Ruled::Allow);
    for other in [json!({ "to": "prod", "dry": true }), json!({ "to": "test" }), json!({}), Value::Null] {
        assert_eq!(ruled(&ann, call("deploy", other.clone())).await, Ruled::Ask, "{other}");
    }
}

#[tokio::test]
async fn what_a_command_runs_with_besides_is_shown_and_bound() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let run = |besides: Value| {
        let mut input = json!({ "command": "npm test" });
        input.as_object_mut().unwrap().extend(besides.as_object().unwrap().clone());
        call("bash", input)
    };
    let (decision, ticket) = asked(&ann, run(json!({ "cwd": "/work/a" }))).await;
    assert_eq!(decision.action.phrase().to_string(), "run `npm test` in `/work/a`");
    let request = world.engine.pending().unwrap()[0].request.to_string();
    assert!(request.contains("run `npm test` in `/work/a`"), "{request}");
    let shape = decision.action.shape.as_ref().unwrap();
    assert!(shape.phrase().to_string().ends_with(" in `/work/a`"), "{}", shape.phrase());
    world.you().answer(ticket.id(), Answer::allow().scope(Scope::Session)).await.unwrap();
    assert_eq!(ruled(&ann, run(json!({ "cwd": "/work/a", "timeout": 7 }))).await, Ruled::Allow);
    for other in [json!({ "cwd": "/work/b" }), json!({}), json!({ "cwd": "/work/a", "env": { "PATH": "/x" } })] {
        assert_eq!(ruled(&ann, run(other.clone())).await, Ruled::Ask, "{other}");
    }
}

/// A rule about commands covers the programs that the environment makes a command start. No rule allows a command that
/// runs with such a variable.
#[cfg(feature = "config")]
#[test]
fn a_rule_sees_what_a_command_runs_with() {
    use bestow::decision::Verdict;

    use crate::config::{patterns::with, rules::verdict};
    let env = |name: &str| call("bash", json!({ "command": "git fetch", "env": { name: "git push" } }));
    assert_eq!(verdict(&with("deny", "git push **"), &env("GIT_SSH_COMMAND")), Verdict::Deny);
    assert_eq!(verdict(&with("allow", "git **"), &env("GIT_SSH_COMMAND")), Verdict::Ask);
    assert_eq!(verdict(&with("allow", "git **"), &call("bash", json!({ "command": "git fetch" }))), Verdict::Allow);
}

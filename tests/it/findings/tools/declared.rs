//! Tests of tools that the host program declares in code.

use bestow::{
    action::{Authorization, Operation},
    agent::Mode,
    decision::{DecisionSource, Verdict},
    grant::Scope,
    tool::{InvalidTool, Tool, Tools},
};
use serde_json::json;

use super::{agent, call, verdict, world};
use crate::support::{tag, why};

fn tool(name: &str, operation: Operation) -> Tool {
    Tool::new(name.parse().unwrap(), operation)
}

fn tools(tools: impl IntoIterator<Item = Tool>) -> Tools {
    Tools::new(tools).unwrap()
}

#[tokio::test]
async fn a_declared_tool_does_what_its_declaration_says() {
    let world = world();
    let save = tool("save_page", Operation::Write).path("page.path".parse().unwrap()).reads("from?".parse().unwrap());
    world.engine.declare_tools(tools([save])).unwrap();
    let ann = agent(&world, Mode::Default, &["@write:/ws"]).await;
    assert_eq!(verdict(&ann, "save_page", &json!({ "page": { "path": "a" } })).await, Verdict::Allow);
    assert_eq!(verdict(&ann, "save_page", &json!({ "page": { "path": "/else/a" } })).await, Verdict::Ask);
    assert_eq!(verdict(&ann, "save_page", &json!({ "page": { "path": "/keys/a" } })).await, Verdict::Deny);
    let reads = json!({ "page": { "path": "a" }, "from": "/keys/a" });
    assert_eq!(verdict(&ann, "save_page", &reads).await, Verdict::Deny);
    assert_eq!(verdict(&ann, "save_page", &json!({ "page": "a" })).await, Verdict::Deny);
}

#[tokio::test]
async fn a_declared_tool_can_need_a_capability() {
    let world = world();
    let create = tool("create_issue", Operation::Tool).needing(tag("@tool:github/issues"));
    world.engine.declare_tools(tools([create])).unwrap();
    for mode in [Mode::Default, Mode::Auto, Mode::Bypass] {
        let ann = agent(&world, mode, &[]).await;
        let input = json!({ "title": "rm -rf / is in the docs" });
        let decision = ann.authorize(call("create_issue", &input)).await.unwrap();
        let decision = decision.decision();
        assert_eq!(decision.missing, [tag("@tool:github/issues")], "{mode:?}");
        assert_eq!(decision.verdict(), Verdict::Ask, "{mode:?}");
        assert_eq!(decision.decision_source, DecisionSource::ToolContract, "{mode:?}");
        world.you().give(ann.id(), tag("@tool:github"), Scope::Session, why()).await.unwrap();
        let decided = ann.authorize(call("create_issue", &input)).await.unwrap();
        let expected = if mode == Mode::Default { Verdict::Ask } else { Verdict::Allow };
        assert_eq!(decided.decision().verdict(), expected, "{mode:?}: nobody has classified its effect");
        assert_eq!(decided.decision().missing, []);
        assert!(matches!(decided, Authorization::Asked(..)) == (expected == Verdict::Ask));
    }
}

#[tokio::test]
async fn a_declared_command_is_classified_wherever_it_stands() {
    let world = world();
    let job = tool("job", Operation::Command).command("job.line|job.words[]".parse().unwrap()).ignoring("title");
    world.engine.declare_tools(tools([job])).unwrap();
    let ann = agent(&world, Mode::Bypass, &["@write:/"]).await;
    assert_eq!(verdict(&ann, "job", &json!({ "job": { "line": "ls" }, "title": "x" })).await, Verdict::Allow);
    assert_eq!(verdict(&ann, "job", &json!({ "job": { "line": "rm -rf /" } })).await, Verdict::Deny);
    assert_eq!(verdict(&ann, "job", &json!({ "job": { "words": ["rm", "-rf", "/"] } })).await, Verdict::Deny);
    assert_eq!(verdict(&ann, "job", &json!({ "job": { "line": "ls", "words": ["ls"] } })).await, Verdict::Deny);
}

#[test]
fn a_declaration_that_says_too_little_or_too_much_is_refused() {
    let named = |name: &str| name.parse().unwrap();
    let path = || "path".parse().unwrap();
    for (tool, expected) in [
        (tool("a", Operation::Write), InvalidTool::Missing(named("a"), "path")),
        (tool("a", Operation::Command), InvalidTool::Missing(named("a"), "command")),
        (tool("a", Operation::Command).command(path()).path(path()), InvalidTool::Unused(named("a"), "path")),
        (tool("a", Operation::Command).command(path()).command(path()), InvalidTool::SeveralCommands(named("a"))),
        (tool("a", Operation::Events), InvalidTool::Operation(named("a"))),
        (tool("a", Operation::Tool).path(path()), InvalidTool::Unused(named("a"), "path")),
    ] {
        assert_eq!(Tools::new([tool]), Err(expected));
    }
    let twice = [tool("a", Operation::Tool), tool("a", Operation::Tool)];
    assert_eq!(Tools::new(twice), Err(InvalidTool::Twice(named("a"))));
    for text in ["", ".a", "a.", "a[", "a||b", "a b", "[]", "a?b"] {
        assert!(text.parse::<bestow::tool::Field>().is_err(), "{text:?}");
    }
}

/// Returns the content that a call is about to write or send, as the person who is asked sees it.
async fn content(ann: &bestow::Agent, name: &str, input: &serde_json::Value) -> Option<String> {
    let decided = ann.authorize(call(name, input)).await.unwrap();
    decided.decision().action.details.as_ref().map(|details| details.shown.to_string())
}

#[tokio::test]
async fn the_content_of_a_declared_tool_is_kept_with_the_question_shown_and_bound() {
    let world = world();
    let you = world.you();
    let _there = you.attend().unwrap();
    let post = tool("post", Operation::Tool).content("body|text?".parse().unwrap());
    let pipe = tool("pipe", Operation::Command).command("line".parse().unwrap()).content("stdin".parse().unwrap());
    let send = tool("send", Operation::Network).host("to".parse().unwrap()).content("mail.body".parse().unwrap());
    let edit = tool("edits", Operation::Write).path("path".parse().unwrap()).content("edits[].new".parse().unwrap());
    world.engine.declare_tools(tools([post, pipe, send, edit])).unwrap();
    let ann = agent(&world, Mode::Default, &["@write:/ws"]).await;
    let shown = |value: serde_json::Value| Some(value.to_string());
    assert_eq!(content(&ann, "post", &json!({ "body": "hi", "to": "all" })).await, shown(json!({ "body": "hi" })));
    assert_eq!(content(&ann, "post", &json!({ "to": "all" })).await, None);
    // The whole value is shown, whether it is a text or not.
    assert_eq!(
        content(&ann, "post", &json!({ "text": [1, { "a": "b" }] })).await,
        shown(json!({ "text": [1, { "a": "b" }] }))
    );
    assert_eq!(content(&ann, "pipe", &json!({ "line": "tee a", "stdin": "x" })).await, shown(json!({ "stdin": "x" })));
    let mail = json!({ "mail": { "body": "hi" } });
    assert_eq!(content(&ann, "send", &json!({ "to": "a.example", "mail": { "body": "hi" } })).await, {
        let whole = json!({ "mail": mail["mail"], "to": "a.example" });
        shown(whole)
    });
    // A content that equals the path is shown all the same.
    let same = json!({ "path": "/ws/a", "edits": [{ "new": "/ws/a" }] });
    assert_eq!(content(&ann, "edits", &same).await, shown(json!({ "edits": [{ "new": "/ws/a" }] })));
    assert_eq!(
        content(&ann, "write", &json!({ "path": "/ws/a", "content": "/ws/a" })).await,
        shown(json!({ "content": "/ws/a" }))
    );
    let patch = "*** Begin Patch\n*** Add File: b\n+hello\n*** End Patch\n";
    assert_eq!(content(&ann, "apply_patch", &json!(patch)).await, shown(json!(patch)));

    let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";
    let long = |word: &str| json!({ "line": "make", "stdin": format!("{secret} {0}{word}{0}", "a b ".repeat(2_000)) });
    let Authorization::Asked(_, ticket) = ann.authorize(call("pipe", &long("this"))).await.unwrap() else {
        panic!("asked")
    };
    let asked = you.pending().unwrap().into_iter().find(|pending| pending.request.id == ticket.id()).unwrap().request;
    let details = asked.details.as_ref().expect("the content");
    assert!(details.left_out > 10_000 && details.shown.chars().count() < 3_100 && !details.shown.contains("ghp_"));
    assert!(asked.is_once_only() && asked.to_string().contains("; the content: "), "{asked}");
    you.answer(ticket.id(), bestow::Answer::allow()).await.unwrap();
    assert!(
        !ann.authorize(call("pipe", &long("that"))).await.unwrap().is_allowed(),
        "another content, another question"
    );
    assert!(ann.authorize(call("pipe", &long("this"))).await.unwrap().is_allowed());
}

#[tokio::test]
async fn the_content_that_was_said_of_the_call_of_any_tool_is_kept() {
    let world = world();
    let ann = agent(&world, Mode::Default, &[]).await;
    let said = call("nobody_knows", &json!({ "a": 1 })).with_details("hello".into());
    let decided = ann.authorize(said).await.unwrap();
    assert_eq!(decided.decision().action.details.as_ref().map(|details| &*details.shown), Some("\"hello\""));
}

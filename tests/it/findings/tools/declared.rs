//! Tools that the host program declares: in code.

use bestow::{Authorization, DecisionSource, InvalidTool, Mode, Operation, Scope, Tool, Tools, Verdict};
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
        assert!(text.parse::<bestow::Field>().is_err(), "{text:?}");
    }
}

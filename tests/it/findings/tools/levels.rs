//! Tests of tools whose names have levels, as those of MCP servers do: every form of the name means one tool.

use bestow::{
    Effect,
    action::{Authorization, Operation},
    command::classify_tool,
    decision::Verdict,
    grant::Scope,
    tool::{Tool, ToolName, ToolPolicies, Tools},
};
use serde_json::json;

use super::{call, verdict};
use crate::support::{World, tag, why};

#[test]
fn a_name_has_levels_divided_by_one_slash_each() {
    for text in ["github/issues", "github/issues/create", "a/_private", "a/.hidden", "x/@org/y", "a.b/c:d"] {
        let name: ToolName = text.parse().unwrap();
        assert_eq!((name.as_str(), serde_json::to_value(&name).unwrap()), (text, json!(text)));
    }
    let long = format!("a/{}", "b".repeat(127));
    for text in
        ["", "/", "/a", "a/", "a//b", "a/./b", "a/../b", "a/..", "_a/b", "a/b c", "a\\b", "a/\u{202e}b", "a/*", &long]
    {
        assert!(text.parse::<ToolName>().is_err(), "{text:?}");
    }
    let refused = |text: &str| text.parse::<ToolName>().unwrap_err().to_string();
    assert!(refused("a/../b").contains("none is empty"), "{}", refused("a/../b"));
    assert!(refused("a/b c").contains("`/` between its levels"), "{}", refused("a/b c"));
    assert!("a/b".parse::<bestow::AgentId>().is_err(), "no other name has levels");
}

#[tokio::test]
async fn a_declaration_the_classifier_and_the_decision_mean_the_same_tool() {
    let world = World::new();
    let ann = world.worker("ann", &["@write:/ws"]).await;
    let write = json!({ "path": "/else/x", "content": "x" });
    // The table contains the first server, but not the second.
    assert_eq!(classify_tool("filesystem/write_file", &write).reason, classify_tool("write_file", &write).reason);
    let decided = ann.authorize(call("filesystem/write_file", &write)).await.unwrap();
    assert_eq!(decided.decision().action.operation, Operation::Write);
    assert_eq!(decided.decision().missing, [tag("@write:/else/x")]);
    let other = ann.authorize(call("elsewhere/write_file", &write)).await.unwrap();
    assert_eq!(other.decision().action.operation, Operation::Command, "nobody knows what that one does");

    let create = Tool::new("github/issues".parse().unwrap(), Operation::Tool).needing(tag("@tool:github/issues"));
    world.engine.declare_tools(Tools::new([create]).unwrap()).unwrap();
    for (name, needs) in
        [("github/issues", true), ("github", false), ("github/issues/create", false), ("github.issues", false)]
    {
        let missing = ann.authorize(call(name, &json!({}))).await.unwrap().decision().missing.clone();
        assert_eq!(missing == [tag("@tool:github/issues")], needs, "{name}: {missing:?}");
    }
    world.you().give(ann.id(), tag("@tool:github"), Scope::Session, why()).await.unwrap();
    assert_eq!(
        verdict(&ann, "github/issues", &json!({})).await,
        Effect::Ask,
        "the permission is there; its effect is unknown"
    );
}

#[cfg(feature = "config")]
#[tokio::test]
async fn a_rule_of_a_file_means_just_this_tool() {
    use crate::{
        config::{Place, one_agent},
        support::id,
    };

    let rules = "[[agents.lead.rules]]\nverdict = \"deny\"\ntool = \"github/issues\"\n\
                 [[agents.lead.rules]]\nverdict = \"allow\"\ntool = \"github/list\"\n\
                 [[tools]]\nname = \"github/list\"\noperation = \"tool\"\n";
    let world = World::new();
    world.engine.configure(Place::with(&format!("{}{rules}", one_agent(""))).load().unwrap()).await.unwrap();
    let lead = world.engine.agent(id("lead")).unwrap();
    for (name, expected) in [
        ("github/issues", Verdict::Deny),
        ("github/list", Verdict::Allow),
        ("github", Verdict::Ask),
        ("github/issues/create", Verdict::Ask),
        ("github.issues", Verdict::Ask),
        ("mcp__github__issues", Verdict::Ask),
    ] {
        assert_eq!(lead.verdict(&call(name, &json!({}))).unwrap(), expected, "{name}");
    }
}

#[tokio::test]
async fn a_guard_a_question_and_a_yes_for_the_run_name_it_in_full() {
    let world = World::new();
    let (ann, you) = (world.worker("ann", &["@write:/ws"]).await, world.you());
    let _there = you.attend().unwrap();
    let run = world.engine.run_of(ann.id()).unwrap();
    let (issues, github): (ToolName, ToolName) = ("github/issues".parse().unwrap(), "github".parse().unwrap());
    you.declare_tools(&run, [issues.clone(), github.clone()]).await.unwrap();
    let policies = ToolPolicies { forbidden: vec!["/ws/keys/**".parse().unwrap()], ..ToolPolicies::default() };
    you.set_policies(&run, Some(&issues), policies).await.unwrap();
    let input = json!({ "file": "/ws/keys/k" });
    assert_eq!(verdict(&ann, "github/issues", &input).await, Verdict::Deny);
    assert_eq!(verdict(&ann, "github", &input).await, Verdict::Ask, "another tool, another guard");
    assert_eq!(you.policies(&run, &issues).unwrap().names.len(), 1);

    let plain = || call("github/issues", &json!({ "title": "x" })).because(why());
    let Authorization::Asked(decision, ticket) = ann.authorize(plain()).await.unwrap() else { panic!("it is asked") };
    assert_eq!(decision.action.tool, issues);
    let asked = you.pending().unwrap().into_iter().find(|pending| pending.request.id == ticket.id()).unwrap().request;
    assert!(asked.to_string().contains("github/issues {"), "{asked}");
    you.answer(ticket.id(), bestow::Answer::allow().scope(Scope::Session)).await.unwrap();
    assert!(ann.authorize(plain()).await.unwrap().is_allowed());
    assert!(!ann.authorize(call("github", &json!({ "title": "x" }))).await.unwrap().is_allowed(), "of that tool only");
}

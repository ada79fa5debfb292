//! Tests of command policies, and of saved decisions about commands.

use bestow::{Action, Answer, action::Operation, decision::Verdict, tool::ToolPolicies};

use super::{authorize, for_the_session, question, rests_on, say, tool, unguarded, verdict};
use crate::support::World;

fn patterns(list: &[&str]) -> Vec<bestow::action::CommandPattern> {
    list.iter().map(|text| text.parse().unwrap()).collect()
}

#[tokio::test]
async fn a_yes_for_the_session_to_a_command_is_for_exactly_that_command() {
    let world = World::new();
    let (bot, you, _) = unguarded(&world).await;
    let (request, _ticket) = question(&bot, Action::command("cargo build")).await;
    let pending = world.engine.pending().unwrap();
    let facts = pending[0].request.action.as_ref().unwrap();
    assert_eq!((facts.operation, &*facts.resource), (Operation::Command, "cargo build"));
    say(&you, request, for_the_session(Answer::allow())).await;
    assert_eq!(verdict(&bot, Action::command("cargo build")).await, Verdict::Allow);
    for other in ["cargo build --release", "cargo build; cargo publish", "CARGO build"] {
        assert_eq!(verdict(&bot, Action::command(other)).await, Verdict::Ask, "{other}");
    }
}

#[tokio::test]
async fn a_denied_pattern_is_denied_in_every_part_of_a_line_and_under_every_path() {
    let world = World::new();
    let (bot, you, run) = unguarded(&world).await;
    let policies = ToolPolicies { deny_commands: patterns(&["git push **"]), ..ToolPolicies::default() };
    you.set_policies(&run, None, policies).await.unwrap();
    for line in
        ["git push", "git push --force", "ls && git push", "/usr/bin/git push x", "echo $(git push)", "$X push", "ls |"]
    {
        let decided = authorize(&bot, Action::command(line)).await;
        assert_eq!(decided.decision().verdict(), Verdict::Deny, "{line}");
        assert!(rests_on(decided.decision(), "deny-commands"), "{line}");
    }
    assert_eq!(verdict(&bot, Action::command("git status")).await, Verdict::Allow);
    assert_eq!(verdict(&bot, Action::command("echo 'git push'")).await, Verdict::Allow, "a word is no command");
}

/// An unlisted tool has no known resource in its input. So an approval covers the whole input, and a denial covers the
/// tool.
#[tokio::test]
async fn a_yes_to_a_tool_that_nobody_knows_is_for_its_input_and_a_no_for_the_tool() {
    let world = World::new();
    let (bot, you, run) = unguarded(&world).await;
    let call = |to: &str| Action::tool(tool("deploy"), serde_json::json!({ "to": to }));
    let (request, _ticket) = question(&bot, call("staging")).await;
    say(&you, request, for_the_session(Answer::allow())).await;
    assert_eq!(verdict(&bot, call("staging")).await, Verdict::Allow);
    let (request, _ticket) = question(&bot, call("production")).await;
    say(&you, request, for_the_session(Answer::deny())).await;
    assert_eq!(verdict(&bot, call("production ")).await, Verdict::Deny);
    let policies = ToolPolicies { deny_commands: patterns(&["git push **"]), ..ToolPolicies::default() };
    you.set_policies(&run, None, policies).await.unwrap();
    let other = |text: &str| Action::tool(tool("other"), serde_json::json!({ "text": text }));
    assert_eq!(verdict(&bot, other("hello")).await, Verdict::Ask, "it hears of no `git`");
    let decided = authorize(&bot, other("git push")).await;
    assert!(rests_on(decided.decision(), "deny-commands"));
}

#[tokio::test]
async fn a_pattern_to_approve_asks_about_what_is_safe_otherwise() {
    let world = World::new();
    let (bot, you, run) = unguarded(&world).await;
    let policies = ToolPolicies { approve_commands: patterns(&["git log **"]), ..ToolPolicies::default() };
    you.set_policies(&run, Some(&tool("bash")), policies).await.unwrap();
    let decided = authorize(&bot, Action::command("git log")).await;
    assert_eq!(decided.decision().verdict(), Verdict::Ask);
    assert!(rests_on(decided.decision(), "approve-commands"));
    assert_eq!(verdict(&bot, Action::command("git status")).await, Verdict::Allow);
    assert_eq!(
        verdict(&bot, Action::command("git log").by_tool(tool("shell"))).await,
        Verdict::Allow,
        "another tool has another guard"
    );
}

#[tokio::test]
async fn a_question_about_a_command_ends_when_its_pattern_is_denied() {
    let world = World::new();
    let (bot, you, run) = unguarded(&world).await;
    let (_, ticket) = question(&bot, Action::command("cargo publish")).await;
    let (_, other) = question(&bot, Action::command("cargo build")).await;
    let policies = ToolPolicies { deny_commands: patterns(&["cargo publish **"]), ..ToolPolicies::default() };
    you.set_policies(&run, None, policies).await.unwrap();
    assert_eq!(ticket.poll().unwrap().outcome, bestow::Outcome::Denied);
    assert!(other.poll().is_none());
}

#[tokio::test]
async fn a_command_does_not_get_what_its_tool_may_not_write() {
    let world = World::new();
    let bot = world.worker("bot", &["@write:/ws"]).await;
    let (you, run) = (world.you(), super::run_of(&bot));
    you.update_policy(&run, bestow::tool::PolicyPatch::writing().deny("secrets/**").deny("**/*_key")).await.unwrap();
    let with = |needs: &str| Action::command("ls").needing(crate::support::tag(needs));
    for denied in ["@write:/ws/secrets", "@write:/ws/secrets/a", "@write:/ws/my_key"] {
        assert_eq!(verdict(&bot, with(denied)).await, Verdict::Deny, "{denied}");
    }
    for allowed in ["@write:/ws/src", "@read:/ws/secrets"] {
        assert_eq!(verdict(&bot, with(allowed)).await, Verdict::Allow, "{allowed}");
    }
}

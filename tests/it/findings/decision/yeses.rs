//! Tests that a lasting approval covers only the action that its request showed (attack 17).

use bestow::{Action, Answer, Effect, agent::Mode, decision::Verdict, grant::Scope};
use serde_json::json;

use super::{all_are, bound, call, decided, rule, says_yes};
use crate::{findings::uses::given, support::World};

const HELD: [&str; 5] = ["@write:/ws", "@write:/other", "@network", "@events", "@tool:deploy"];
const PERMISSIONS: [&str; 5] = ["@network", "@write:/ws", "@write:/ws/sub", "@events", "@tool:deploy"];

#[tokio::test]
async fn a_yes_to_a_command_covers_it_with_no_more_permissions() {
    for scope in [Scope::Session, Scope::Always] {
        let world = World::new();
        let agent = bound(&world, Mode::Default, &HELD, &[]).await;
        let _there = world.you().attend().unwrap();
        says_yes(&world, &agent, Action::command("cargo build"), scope).await;
        all_are(&agent, Effect::Allow, [Action::command("cargo build")]);
        all_are(&agent, Effect::Ask, PERMISSIONS.map(|permission| given("cargo build", permission)));
        says_yes(&world, &agent, given("cargo build", "@network"), scope).await;
        all_are(&agent, Effect::Allow, [given("cargo build", "@network"), Action::command("cargo build")]);
        all_are(&agent, Effect::Ask, [given("cargo build", "@events")]);
    }
}

#[tokio::test]
async fn a_yes_to_a_program_file_or_a_tool_covers_it_with_no_more_permissions() {
    let world = World::new();
    let agent = bound(&world, Mode::Default, &HELD, &[rule(Verdict::Ask, None, Some("/ws/**"))]).await;
    let _there = world.you().attend().unwrap();
    let write = || call("Write", json!({"file_path": "/ws/a"}));
    for action in [Action::exec("/ws/x"), write(), Action::write("/ws/a"), call("foo", json!({"x": 1}))] {
        says_yes(&world, &agent, action.clone(), Scope::Session).await;
        all_are(&agent, Effect::Allow, [action.clone()]);
        for permission in ["@network", "@events", "@tool:deploy"] {
            all_are(&agent, Effect::Ask, [action.clone().needing(crate::support::tag(permission))]);
        }
    }
    let moves = |to: &str| call("move_file", json!({"source": "/ws/a", "destination": to}));
    says_yes(&world, &agent, moves("/ws/b"), Scope::Session).await;
    all_are(&agent, Effect::Allow, [moves("/ws/b")]);
    all_are(&agent, Effect::Ask, [moves("/other/b")]);
}

/// The open words of a shape are paths in the working directory. A link that leads out of it is not covered.
#[tokio::test]
async fn a_yes_for_good_covers_the_paths_that_its_words_leave_open() {
    let world = World::new();
    let agent = bound(&world, Mode::Untrusted, &HELD, &[]).await;
    let _there = world.you().attend().unwrap();
    says_yes(&world, &agent, Action::command("touch a"), Scope::Always).await;
    all_are(&agent, Effect::Allow, [Action::command("touch a"), Action::command("touch sub/b")]);
    all_are(&agent, Effect::Ask, [Action::command("touch /other/b"), given("touch b", "@network")]);
}

/// An answer settles no other pending request that shows more.
#[tokio::test]
async fn a_yes_answers_no_question_that_shows_more() {
    let world = World::new();
    let agent = bound(&world, Mode::Default, &HELD, &[]).await;
    let _there = world.you().attend().unwrap();
    let more = decided(&agent, given("cargo build", "@network")).await.approval_action_id.unwrap();
    says_yes(&world, &agent, Action::command("cargo build"), Scope::Session).await;
    let pending: Vec<_> = world.engine.pending().unwrap().iter().map(|pending| pending.request.id).collect();
    assert_eq!(pending, [more]);
    let less = decided(&agent, Action::command("cargo test")).await.approval_action_id.unwrap();
    let same = decided(&agent, Action::command("cargo test").because(crate::support::why())).await;
    assert_eq!(same.approval_action_id, Some(less));
    world.you().answer(more, Answer::allow().scope(Scope::Session)).await.unwrap();
    all_are(&agent, Effect::Allow, [given("cargo build", "@network")]);
}

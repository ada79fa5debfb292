//! Tests of answers for the rest of the run.

use bestow::{
    Answer, Event, Outcome,
    decision::{Decider, Ruled, Verdict},
};

use super::{
    asked_about_all, authorize, for_the_session, names, question, read, say, tool, updates, updates_heard, verdict,
    write,
};
use crate::support::{World, heard, tag};

#[tokio::test]
async fn a_yes_for_the_session_is_told_in_the_guard_before_the_tool_goes_on() {
    let world = World::new();
    let (bot, you, run) = asked_about_all(&world).await;
    let (request, _ticket) = question(&bot, write("/ws/index.html")).await;
    let mut events = world.engine.subscribe();
    say(&you, request, for_the_session(Answer::allow())).await;
    let told = heard(&mut events);
    let kinds: Vec<_> = told.iter().map(|recorded| recorded.event.kind()).collect();
    assert_eq!(kinds, ["ruling.made", "policy.updated", "permission.resolved"]);
    let all = ["read-path-policy", "write-path-policy", "session-allow-write--ws-index-html"];
    assert_eq!(updates(&told), [("write_file".to_owned(), all.map(str::to_owned).to_vec())]);
    assert_eq!(names(&you.policies(&run, &tool("write_file")).unwrap()), all);
}

#[tokio::test]
async fn a_yes_for_the_session_counts_for_the_very_next_identical_access_and_all_after_it() {
    let world = World::new();
    let (bot, you, _) = asked_about_all(&world).await;
    let (request, _ticket) = question(&bot, write("/ws/a")).await;
    say(&you, request, for_the_session(Answer::allow())).await;
    for _ in 0..3 {
        assert_eq!(verdict(&bot, write("/ws/a")).await, Verdict::Allow);
    }
    assert_eq!(verdict(&bot, write("/ws/ab")).await, Verdict::Ask, "another path");
    assert_eq!(verdict(&bot, read("/ws/a")).await, Verdict::Ask, "another operation");
}

/// Reading changes nothing: the policies of an unknown tool can be queried.
#[tokio::test]
async fn of_a_tool_that_nobody_declared_the_guard_is_what_every_tool_begins_with_and_no_change_names_it() {
    let world = World::new();
    let (_bot, you, run) = asked_about_all(&world).await;
    let globs = vec!["/ws/secrets/**".parse().unwrap()];
    let policies = bestow::tool::ToolPolicies { forbidden: globs, ..bestow::tool::ToolPolicies::default() };
    you.set_policies(&run, None, policies.clone()).await.unwrap();
    assert_eq!(*you.policies(&run, &tool("nothere")).unwrap().policies, policies);
    let refused = you.set_policies(&run, Some(&tool("nothere")), policies).await;
    assert!(matches!(crate::support::refusal(refused), bestow::decision::Refusal::UnknownTool { .. }));
}

#[tokio::test]
async fn a_yes_for_the_session_is_for_one_tool() {
    let world = World::new();
    let (bot, you, _) = asked_about_all(&world).await;
    let (request, _ticket) = question(&bot, write("/ws/a")).await;
    say(&you, request, for_the_session(Answer::allow())).await;
    assert_eq!(verdict(&bot, write("/ws/a").by_tool(tool("edit_file"))).await, Verdict::Ask);
}

#[tokio::test]
async fn a_yes_for_the_session_ends_with_the_run_and_so_does_the_guard() {
    let world = World::new();
    let (bot, you, run) = asked_about_all(&world).await;
    let (request, _ticket) = question(&bot, write("/ws/a")).await;
    say(&you, request, for_the_session(Answer::allow())).await;
    let next = "next".parse().unwrap();
    world.engine.begin_run(bot.id(), "next".parse().unwrap()).await.unwrap();
    assert!(you.policies(&run, &tool("write_file")).is_err(), "the run is over");
    you.set_policies(&next, None, super::asking()).await.unwrap();
    assert_eq!(verdict(&bot, write("/ws/a")).await, Verdict::Ask);
    world.engine.begin_run(bot.id(), run.clone()).await.unwrap();
    assert!(names(&you.policies(&run, &tool("write_file")).unwrap()).is_empty(), "a run of the same name is another");
}

#[tokio::test]
async fn a_no_for_the_session_denies_without_a_question_until_a_tool_asks_to_override_it_once() {
    let world = World::new();
    let (bot, you, _) = asked_about_all(&world).await;
    let (request, _ticket) = question(&bot, write("/ws/a")).await;
    say(&you, request, for_the_session(Answer::deny())).await;
    assert_eq!(verdict(&bot, write("/ws/a")).await, Verdict::Deny);
    let (again, _ticket) = question(&bot, write("/ws/a").overriding()).await;
    let decided = bot.explain(&write("/ws/a").overriding()).unwrap().decision;
    assert_eq!((decided.decision, &*decided.decision_reason), (Ruled::Ask, "policy-deny-override"));
    say(&you, again, Answer::allow()).await;
    assert_eq!(verdict(&bot, write("/ws/a").overriding()).await, Verdict::Allow);
    assert_eq!(verdict(&bot, write("/ws/a")).await, Verdict::Deny, "once");
}

#[tokio::test]
async fn a_no_for_the_session_settles_the_question_of_every_tool_and_a_yes_that_of_the_same_tool_only() {
    let world = World::new();
    let (bot, you, run) = asked_about_all(&world).await;
    let other = world.worker("other", &["@write:/ws"]).await;
    world.engine.join_run(other.id(), &run).await.unwrap();
    let (asked, _one) = question(&bot, write("/ws/a")).await;
    let (also, same) = question(&bot, write("/ws/a").needing(tag("@read:/ws/b"))).await;
    assert_ne!(asked, also, "another input, the same access");
    let (_, by_other) = question(&other, write("/ws/a")).await;
    let (_, other_tool) = question(&bot, write("/ws/a").by_tool(tool("edit_file"))).await;
    say(&you, asked, for_the_session(Answer::deny())).await;
    assert_eq!(same.poll().unwrap().outcome, Outcome::Denied);
    assert_eq!(by_other.poll().unwrap().outcome, Outcome::Denied, "a no binds the run");
    assert_eq!(other_tool.poll().unwrap().outcome, Outcome::Denied, "a no binds every tool");

    let (asked, _one) = question(&bot, write("/ws/c")).await;
    let (_, other_tool) = question(&bot, write("/ws/c").by_tool(tool("edit_file"))).await;
    say(&you, asked, for_the_session(Answer::allow())).await;
    assert!(other_tool.poll().is_none(), "a yes is for its tool");
}

#[tokio::test]
async fn a_no_for_the_session_settles_nothing_of_another_owner_in_a_run_of_the_same_name() {
    let world = World::new();
    let (bot, you, run) = asked_about_all(&world).await;
    let spy = world.agent("spy", "them", bestow::Kind::Subagent, &["@write:/ws"]).await;
    world.engine.begin_run(spy.id(), run.clone()).await.unwrap();
    world.approver("them").set_policies(&run, None, super::asking()).await.unwrap();
    let (asked, _one) = question(&bot, write("/ws/a")).await;
    let (_, theirs) = question(&spy, write("/ws/a")).await;
    say(&you, asked, for_the_session(Answer::deny())).await;
    assert!(theirs.poll().is_none());
    assert_eq!(verdict(&spy, write("/ws/a")).await, Verdict::Ask);
}

#[tokio::test]
async fn each_settled_question_has_an_outcome_of_its_own() {
    let world = World::new();
    let (bot, you, run) = asked_about_all(&world).await;
    let other = world.worker("other", &["@write:/ws"]).await;
    world.engine.join_run(other.id(), &run).await.unwrap();
    let (asked, _one) = question(&bot, write("/ws/a")).await;
    let (also, _other) = question(&other, write("/ws/a")).await;
    let mut events = world.engine.subscribe();
    say(&you, asked, for_the_session(Answer::deny())).await;
    let ended: Vec<_> = heard(&mut events)
        .into_iter()
        .filter_map(|recorded| match recorded.event {
            Event::Resolved { resolution, .. } => Some((resolution.request, resolution.outcome)),
            _ => None,
        })
        .collect();
    assert_eq!(ended, [(asked, Outcome::Denied), (also, Outcome::Denied)]);
}

#[tokio::test]
async fn taking_back_what_was_said_for_the_session_is_told_in_the_guard() {
    let world = World::new();
    let (bot, you, _) = asked_about_all(&world).await;
    let (request, _ticket) = question(&bot, write("/ws/a")).await;
    say(&you, request, for_the_session(Answer::allow())).await;
    let ruling = bot.rulings().unwrap()[0].id;
    let mut events = world.engine.subscribe();
    you.revoke_ruling(ruling, None).await.unwrap();
    let all = ["read-path-policy", "write-path-policy"].map(str::to_owned).to_vec();
    assert_eq!(updates_heard(&mut events), [("write_file".to_owned(), all)]);
    assert_eq!(verdict(&bot, write("/ws/a")).await, Verdict::Ask);
}

#[tokio::test]
async fn an_agent_that_leaves_a_run_that_goes_on_takes_its_yes_out_of_the_guard() {
    let world = World::new();
    let (bot, you, run) = asked_about_all(&world).await;
    let stays = world.worker("stays", &[]).await;
    world.engine.join_run(stays.id(), &run).await.unwrap();
    let (request, _ticket) = question(&bot, write("/ws/a")).await;
    say(&you, request, for_the_session(Answer::allow())).await;
    let mut events = world.engine.subscribe();
    world.engine.retire(bot.id()).await.unwrap();
    assert_eq!(updates_heard(&mut events).len(), 1);
    assert_eq!(names(&you.policies(&run, &tool("write_file")).unwrap()), ["read-path-policy", "write-path-policy"]);
    assert_eq!(stays.verdict(&read("/ws/a")).unwrap(), Verdict::Ask, "the guard stays with the run");
}

#[tokio::test]
async fn a_yes_of_the_session_gives_no_permission() {
    let world = World::new();
    let bot = world.worker("bot", &["@write:/ws"]).await;
    let you = world.you();
    you.set_policies(&super::run_of(&bot), None, super::asking()).await.unwrap();
    let (request, _ticket) = question(&bot, write("/ws/a")).await;
    say(&you, request, for_the_session(Answer::allow())).await;
    let grant = world.engine.grants().unwrap()[0].id;
    world.engine.revoke(grant, None).await.unwrap();
    let decided = authorize(&bot, write("/ws/a")).await;
    assert_eq!(decided.decision().verdict(), Verdict::Ask);
    assert_eq!(decided.decision().missing.len(), 1, "{:?}", decided.decision());
}

#[tokio::test]
async fn a_no_that_came_from_policies_says_so() {
    let world = World::new();
    let (bot, you, run) = asked_about_all(&world).await;
    let (_, ticket) = question(&bot, write("/ws/a")).await;
    you.update_policy(&run, bestow::tool::PolicyPatch::writing().deny("a")).await.unwrap();
    let ended = ticket.poll().unwrap();
    assert_eq!(ended.outcome, Outcome::Denied);
    assert!(matches!(&ended.decider, Decider::Policies { by, .. } if by.as_str() == "ann"), "{}", ended.decider);
}

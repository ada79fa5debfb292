//! Tests that the restrictions of an agent bind the agents that it creates.

use bestow::{Agent, Kind, decision::Verdict, policy::RuleRef, tool::PolicyPatch};

use super::{authorize, for_the_session, question, read, run_of, say, tool, unguarded, verdict, write};
use crate::support::{World, profile, tags, why};

async fn child(of: &Agent, id: &str) -> Agent {
    of.create(profile(id, "you", Kind::Subagent), &tags(&["@write:/ws"]), why()).await.unwrap()
}

#[tokio::test]
async fn what_is_denied_to_a_parents_run_is_denied_to_the_child_in_its_own_run() {
    let world = World::new();
    let (bot, you, run) = unguarded(&world).await;
    let kid = child(&bot, "kid").await;
    let grandkid = child(&kid, "grandkid").await;
    assert_ne!(run_of(&kid), run);
    you.update_policy(&run, PolicyPatch::writing().deny("secrets/**")).await.unwrap();
    for agent in [&kid, &grandkid] {
        let decided = authorize(agent, write("secrets/k")).await;
        assert_eq!(decided.decision().verdict(), Verdict::Deny);
        let of_parent = |rule: &RuleRef| {
            matches!(rule, RuleRef::OfParent { agent, rule }
                if agent.as_str() == "bot" && matches!(**rule, RuleRef::Policy { .. }))
        };
        assert!(decided.decision().rule_refs.iter().any(of_parent), "{}", decided.decision());
    }
}

#[tokio::test]
async fn a_child_cannot_be_let_do_what_its_parents_run_denies() {
    let world = World::new();
    let (bot, you, run) = unguarded(&world).await;
    let kid = child(&bot, "kid").await;
    you.update_policy(&run, PolicyPatch::writing().by_default(Verdict::Deny)).await.unwrap();
    you.update_policy(&run_of(&kid), PolicyPatch::writing().allow("**").by_default(Verdict::Allow)).await.unwrap();
    assert_eq!(verdict(&kid, write("a")).await, Verdict::Deny);
}

#[tokio::test]
async fn what_is_allowed_to_a_parents_run_is_not_allowed_to_the_child() {
    let world = World::new();
    let (bot, you, run) = unguarded(&world).await;
    let kid = child(&bot, "kid").await;
    you.update_policy(&run, PolicyPatch::writing().allow("**")).await.unwrap();
    you.set_policies(&run_of(&kid), None, super::asking()).await.unwrap();
    assert_eq!(verdict(&bot, write("a")).await, Verdict::Allow);
    assert_eq!(verdict(&kid, write("a")).await, Verdict::Ask);
}

#[tokio::test]
async fn a_no_for_the_session_of_the_parent_binds_the_child() {
    let world = World::new();
    let (bot, you, _) = super::asked_about_all(&world).await;
    let kid = child(&bot, "kid").await;
    let (request, _ticket) = question(&bot, write("a")).await;
    say(&you, request, for_the_session(bestow::Answer::deny())).await;
    assert_eq!(verdict(&kid, write("a")).await, Verdict::Deny);
    assert_eq!(
        verdict(&kid, write("b")).await,
        Verdict::Ask,
        "what the parent is asked about, the child is asked about"
    );
}

#[tokio::test]
async fn a_question_of_a_child_ends_when_the_parents_run_denies_it() {
    let world = World::new();
    let (bot, you, run) = unguarded(&world).await;
    let kid = child(&bot, "kid").await;
    you.set_policies(&run_of(&kid), None, super::asking()).await.unwrap();
    let (_, ticket) = question(&kid, write("a")).await;
    you.update_policy(&run, PolicyPatch::writing().deny("a")).await.unwrap();
    assert_eq!(ticket.poll().unwrap().outcome, bestow::Outcome::Denied);
}

#[tokio::test]
async fn where_a_child_works_does_not_move_the_globs_of_its_parents_run() {
    let world = World::new();
    let (bot, you, run) = unguarded(&world).await;
    let far =
        bestow::Profile::new("kid".parse().unwrap(), "you".parse().unwrap(), Kind::Subagent, "/".parse().unwrap());
    let kid = bot.create(far, &tags(&["@write:/ws"]), why()).await.unwrap();
    world.engine.join_run(kid.id(), &run).await.unwrap();
    you.set_policies(&run, None, super::asking()).await.unwrap();
    you.update_policy(&run, PolicyPatch::reading().allow("**")).await.unwrap();
    let policies = you.policies(&run, &tool("read_file")).unwrap().policies;
    assert_eq!(policies.read.allow[0].as_str(), "/ws/**", "below where the first agent works");
    assert_eq!(verdict(&kid, read("/ws/a")).await, Verdict::Allow);
}

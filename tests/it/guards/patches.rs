//! Tests of `update_policy` and `set_policies`: the effects of a policy change, and the values that it keeps.

use bestow::{
    Event, Outcome,
    action::Operation,
    decision::{Refusal, Stage, Verdict},
    tool::{PathPolicy, PolicyPatch, Tool, ToolPolicies, Tools},
};

use super::{
    asked_about_all, authorize, names, question, read, rests_on, run_of, tool, unguarded, updates_heard, verdict, write,
};
use crate::support::{World, heard, profile, refusal};

#[tokio::test]
async fn a_change_for_a_run_that_is_unknown_or_over_is_refused() {
    let world = World::new();
    let (bot, you, run) = unguarded(&world).await;
    let nowhere: bestow::agent::RunId = "run-nowhere".parse().unwrap();
    let patch = PolicyPatch::reading().allow("**");
    for over in [nowhere, run.clone()] {
        world.engine.begin_run(bot.id(), "next".parse().unwrap()).await.unwrap();
        let all = [
            refusal(you.update_policy(&over, patch.clone()).await),
            refusal(you.set_policies(&over, None, ToolPolicies::default()).await),
            refusal(you.declare_tools(&over, [tool("x")]).await),
            refusal(you.policies(&over, &tool("x"))),
        ];
        assert!(all.iter().all(|refused| *refused == Refusal::UnknownRun(over.clone())), "{all:?}");
    }
    let them = world.approver("them");
    let theirs = refusal(them.update_policy(&"next".parse().unwrap(), patch).await);
    assert!(matches!(theirs, Refusal::UnknownRun(_)), "a run of somebody else is none");
}

#[tokio::test]
async fn an_added_allow_glob_is_told_once_and_takes_nothing_away() {
    let world = World::new();
    let (bot, you, run) = asked_about_all(&world).await;
    you.declare_tools(&run, ["read_file", "write_file"].map(tool)).await.unwrap();
    you.update_policy(&run, PolicyPatch::reading().of(tool("read_file")).allow("src/**")).await.unwrap();
    let mut events = world.engine.subscribe();
    you.update_policy(&run, PolicyPatch::reading().of(tool("read_file")).allow("generated/**")).await.unwrap();
    let told = updates_heard(&mut events);
    assert_eq!(told.iter().map(|(tool, _)| tool.as_str()).collect::<Vec<_>>(), ["read_file"]);
    assert_eq!(verdict(&bot, read("generated/x")).await, Verdict::Allow);
    assert_eq!(verdict(&bot, read("src/x")).await, Verdict::Allow, "what was allowed still is");
    assert_eq!(verdict(&bot, read("other")).await, Verdict::Ask, "and the default is what it was");
    assert_eq!(verdict(&bot, write("generated/x")).await, Verdict::Ask, "writing is another matter");
}

#[tokio::test]
async fn a_change_for_all_tools_counts_for_those_that_come_later() {
    let world = World::new();
    let (bot, you, run) = unguarded(&world).await;
    let mut events = world.engine.subscribe();
    you.update_policy(&run, PolicyPatch::writing().deny("secrets/**")).await.unwrap();
    assert_eq!(heard(&mut events).iter().map(|told| told.event.kind()).collect::<Vec<_>>(), ["policy.for_all"]);
    let decided = authorize(&bot, write("secrets/k")).await;
    assert_eq!(decided.decision().verdict(), Verdict::Deny);
    assert!(rests_on(decided.decision(), "write-path-policy"));
    assert_eq!(verdict(&bot, read("secrets/k")).await, Verdict::Allow);
    assert_eq!(verdict(&bot, write("secrets")).await, Verdict::Deny, "what is below, and the directory with it");
    assert_eq!(verdict(&bot, write("secrets2")).await, Verdict::Allow);
}

#[tokio::test]
async fn a_change_for_all_tools_is_told_once_for_each_guard_that_changed() {
    let world = World::new();
    let (bot, you, run) = unguarded(&world).await;
    you.declare_tools(&run, ["edit_file", "read_file"].map(tool)).await.unwrap();
    let _ = authorize(&bot, write("a")).await;
    you.update_policy(&run, PolicyPatch::writing().of(tool("edit_file")).deny("x/**")).await.unwrap();
    let mut events = world.engine.subscribe();
    you.update_policy(&run, PolicyPatch::writing().deny("x/**")).await.unwrap();
    let tools: Vec<_> = updates_heard(&mut events).into_iter().map(|(tool, _)| tool).collect();
    assert_eq!(tools, ["read_file", "write_file"], "edit_file said so before");
    assert_eq!(you.guards(&run).unwrap().len(), 3);
}

#[tokio::test]
async fn a_change_that_changes_nothing_leaves_no_event() {
    let world = World::new();
    let (_, you, run) = unguarded(&world).await;
    you.declare_tools(&run, [tool("read_file")]).await.unwrap();
    let patch = PolicyPatch::reading().allow("a/**").by_default(Verdict::Ask);
    you.update_policy(&run, patch.clone()).await.unwrap();
    let mut events = world.engine.subscribe();
    you.update_policy(&run, PolicyPatch::reading()).await.unwrap();
    you.update_policy(&run, patch.clone()).await.unwrap();
    you.update_policy(&run, patch.of(tool("read_file"))).await.unwrap();
    you.declare_tools(&run, [tool("read_file")]).await.unwrap();
    let before = you.policies(&run, &tool("read_file")).unwrap().policies;
    you.set_policies(&run, None, (*before).clone()).await.unwrap();
    assert!(heard(&mut events).is_empty());
}

#[tokio::test]
async fn a_tool_that_nobody_knows_is_refused_with_those_that_are_known() {
    let world = World::new();
    let (bot, you, run) = unguarded(&world).await;
    you.declare_tools(&run, [tool("read_file")]).await.unwrap();
    let _ = authorize(&bot, write("a")).await;
    let refused = refusal(you.update_policy(&run, PolicyPatch::reading().of(tool("raed_file")).allow("**")).await);
    let sentence = refused.to_string();
    assert!(matches!(refused, Refusal::UnknownTool { .. }) && sentence.contains("`raed_file`"), "{sentence}");
    assert!(sentence.contains("`read_file`") && sentence.contains("`write_file`"), "{sentence}");
    assert!(you.guards(&run).unwrap().iter().all(|guard| guard.tool != tool("raed_file")));
    you.update_policy(&run, PolicyPatch::reading().of(tool("write_file")).allow("**")).await.unwrap();
    you.update_policy(&run, PolicyPatch::reading().of(tool("read")).allow("**")).await.unwrap();
}

#[tokio::test]
async fn a_declared_tool_has_a_policy_before_its_first_use() {
    let world = World::new();
    let (bot, you, run) = unguarded(&world).await;
    let denied = |name: &str| PolicyPatch::writing().of(tool(name)).deny("secrets/**");
    you.update_policy(&run, denied("write_file")).await.unwrap();
    assert_eq!(verdict(&bot, write("secrets/k")).await, Verdict::Deny, "a built-in declaration");
    let refused = refusal(you.update_policy(&run, denied("store_note")).await);
    assert!(matches!(refused, Refusal::UnknownTool { .. }), "{refused}");
    let store = Tool::new(tool("store_note"), Operation::Write).path("path".parse().unwrap());
    you.declare(Tools::new([store]).unwrap()).await.unwrap();
    you.update_policy(&run, denied("store_note")).await.unwrap();
}

#[tokio::test]
async fn one_bad_glob_refuses_the_whole_change_and_names_it() {
    let world = World::new();
    let (bot, you, run) = unguarded(&world).await;
    for bad in ["a[", "../up", "", "a\u{7}b"] {
        let patch = PolicyPatch::writing().deny("good/**").allow(bad).by_default(Verdict::Deny);
        let refused = refusal(you.update_policy(&run, patch).await);
        assert!(matches!(&refused, Refusal::InvalidGlob { glob, .. } if **glob == *bad), "{refused}");
        assert!(names(&you.policies(&run, &tool("write_file")).unwrap()).is_empty());
        assert_eq!(bot.verdict(&write("good/a")).unwrap(), Verdict::Allow);
    }
}

#[tokio::test]
async fn a_deny_glob_beats_an_allow_glob_and_the_default_counts_for_the_rest() {
    let world = World::new();
    let (bot, you, run) = unguarded(&world).await;
    let patch = PolicyPatch::reading().allow("a/**").deny("a/b/**").by_default(Verdict::Deny);
    you.update_policy(&run, patch).await.unwrap();
    for (path, expected) in [("a/x", Verdict::Allow), ("a/b/c", Verdict::Deny), ("c", Verdict::Deny)] {
        assert_eq!(verdict(&bot, read(path)).await, expected, "{path}");
    }
    assert!(world.engine.pending().unwrap().is_empty(), "a default of no asks nobody");
    you.update_policy(&run, PolicyPatch::reading().by_default(Verdict::Ask)).await.unwrap();
    for (path, expected) in [("a/x", Verdict::Allow), ("a/b/c", Verdict::Deny), ("c", Verdict::Ask)] {
        assert_eq!(verdict(&bot, read(path)).await, expected, "{path}");
    }
}

#[tokio::test]
async fn what_is_forbidden_stays_so_whatever_allows_it() {
    let world = World::new();
    let (bot, you, run) = asked_about_all(&world).await;
    let (request, _ticket) = question(&bot, write("conf/.env.local")).await;
    super::say(&you, request, super::for_the_session(bestow::Answer::allow())).await;
    let forbidden = ToolPolicies { forbidden: vec![super::glob("**/.env*")], ..super::asking() };
    you.set_policies(&run, None, forbidden).await.unwrap();
    you.update_policy(&run, PolicyPatch::writing().allow("**/.env*").by_default(Verdict::Allow)).await.unwrap();
    for action in [write("conf/.env.local"), read("conf/.env.local"), write("/elsewhere/.env")] {
        let decided = authorize(&bot, action).await;
        assert_eq!(decided.decision().verdict(), Verdict::Deny);
        assert!(rests_on(decided.decision(), "forbidden-globs"), "{}", decided.decision());
    }
}

#[tokio::test]
async fn questions_that_policies_answer_by_now_end_and_the_others_wait() {
    let world = World::new();
    let (bot, you, run) = asked_about_all(&world).await;
    let (_, yes) = question(&bot, write("generated/a")).await;
    let (_, no) = question(&bot, write("secrets/a")).await;
    let (_, open) = question(&bot, write("src/a")).await;
    let (_, not_held) = question(&bot, write("/elsewhere/generated/a")).await;
    let mut events = world.engine.subscribe();
    let patch = PolicyPatch::writing().allow("generated/**").allow("/elsewhere/**").deny("secrets/**");
    you.update_policy(&run, patch).await.unwrap();
    assert_eq!(yes.poll().unwrap().outcome, Outcome::Granted);
    assert_eq!(no.poll().unwrap().outcome, Outcome::Denied);
    assert!(open.poll().is_none());
    assert!(not_held.poll().is_none(), "a policy gives no permission, so a person still has to");
    assert_eq!(verdict(&bot, write("generated/a")).await, Verdict::Allow);
    let kinds: Vec<_> = heard(&mut events).iter().map(|told| told.event.kind()).collect();
    let last_update = kinds.iter().rposition(|kind| *kind == "policy.updated").unwrap();
    assert!(last_update < kinds.iter().position(|kind| *kind == "permission.resolved").unwrap(), "{kinds:?}");
}

#[tokio::test]
async fn a_policy_that_allows_what_is_not_held_leaves_a_question_for_the_permission() {
    let world = World::new();
    let bot = world.worker("bot", &[]).await;
    let (you, run) = (world.you(), run_of(&bot));
    you.update_policy(&run, PolicyPatch::writing().allow("**").by_default(Verdict::Allow)).await.unwrap();
    let explained = bot.explain(&write("a")).unwrap();
    assert_eq!((explained.decision.verdict(), explained.decided_by), (bestow::Effect::Ask, Stage::Held));
    assert!(!world.engine.grants().unwrap().iter().any(|grant| grant.to.as_str() == "bot"));
    let (request, _ticket) = question(&bot, write("a")).await;
    let pending = world.engine.pending().unwrap();
    let asked = &pending.iter().find(|pending| pending.request.id == request).unwrap().request;
    assert!(asked.only_lacks && !asked.asks_about_action(), "nothing but the permission is asked for");
}

#[tokio::test]
async fn policies_are_set_as_a_whole_and_told_in_their_order() {
    let world = World::new();
    let (_, you, run) = unguarded(&world).await;
    you.declare_tools(&run, ["bash", "write_file"].map(tool)).await.unwrap();
    let all = ToolPolicies {
        forbidden: vec![super::glob("**/.env*")],
        read: PathPolicy { default: Some(Verdict::Ask), ..PathPolicy::default() },
        write: PathPolicy { deny: vec![super::glob("x")], ..PathPolicy::default() },
        deny_commands: vec!["rm **".parse().unwrap()],
        approve_commands: vec!["git push **".parse().unwrap()],
    };
    let mut events = world.engine.subscribe();
    you.set_policies(&run, Some(&tool("bash")), all.clone()).await.unwrap();
    let expected = ["forbidden-globs", "read-path-policy", "write-path-policy", "deny-commands", "approve-commands"];
    assert_eq!(updates_heard(&mut events), [("bash".to_owned(), expected.map(str::to_owned).to_vec())]);
    assert_eq!(*you.policies(&run, &tool("bash")).unwrap().policies, all);
    assert!(names(&you.policies(&run, &tool("write_file")).unwrap()).is_empty());
    you.set_policies(&run, Some(&tool("bash")), ToolPolicies::default()).await.unwrap();
    assert!(names(&you.policies(&run, &tool("bash")).unwrap()).is_empty());
}

#[tokio::test]
async fn globs_count_below_the_working_directory_of_the_run_or_below_what_is_named() {
    let world = World::new();
    let (bot, you, run) = asked_about_all(&world).await;
    you.update_policy(&run, PolicyPatch::reading().allow("x/**").allow("**/y")).await.unwrap();
    assert_eq!(verdict(&bot, read("/ws/x/a")).await, Verdict::Allow);
    assert_eq!(verdict(&bot, read("/ws/deep/y")).await, Verdict::Allow);
    let policies = you.policies(&run, &tool("read_file")).unwrap().policies;
    let written: Vec<_> = policies.read.allow.iter().map(bestow::path::PathGlob::as_str).collect();
    assert_eq!(written, ["/ws/x/**", "/ws/**/y"], "an allow glob does not leave its base");
    you.update_policy(&run, PolicyPatch::writing().deny("x/**").below("/other".parse().unwrap())).await.unwrap();
    let policies = you.policies(&run, &tool("read_file")).unwrap().policies;
    assert_eq!(policies.write.deny[0].as_str(), "/other/x/**");
}

#[tokio::test]
async fn where_agents_of_a_run_work_in_different_places_a_base_is_needed() {
    let world = World::new();
    let (_, you, run) = unguarded(&world).await;
    let elsewhere = bestow::Profile::new(
        "far".parse().unwrap(),
        "you".parse().unwrap(),
        bestow::Kind::Subagent,
        "/far".parse().unwrap(),
    );
    let far = world.engine.register(elsewhere, bestow::InitialGrants::nothing()).await.unwrap();
    world.engine.join_run(far.id(), &run).await.unwrap();
    let refused = refusal(you.update_policy(&run, PolicyPatch::reading().allow("x/**")).await);
    assert_eq!(refused, Refusal::SeveralBases(run.clone()));
    you.update_policy(&run, PolicyPatch::reading().allow("x/**").below("/far".parse().unwrap())).await.unwrap();
    you.update_policy(&run, PolicyPatch::reading().allow("/abs/**").deny("**/.env")).await.unwrap();
    assert_eq!(profile("far", "you", bestow::Kind::Subagent).working_dir.as_str(), "/ws");
}

#[tokio::test]
async fn a_guard_has_an_end() {
    let world = World::new();
    let (_, you, run) = unguarded(&world).await;
    let many = (0..1025).fold(PolicyPatch::reading(), |patch, number| patch.deny(&format!("x{number}")));
    assert!(matches!(refusal(you.update_policy(&run, many).await), Refusal::TooManyPolicies { max: 1024, .. }));
    let tools = (0..1025).map(|number| tool(&format!("tool{number}")));
    assert!(matches!(refusal(you.declare_tools(&run, tools).await), Refusal::TooManyPolicies { .. }));
    assert!(you.guards(&run).unwrap().is_empty());
}

#[tokio::test]
async fn tools_that_agents_name_are_remembered_up_to_a_number_and_guarded_beyond_it() {
    let world = World::new();
    let (bot, you, run) = unguarded(&world).await;
    you.update_policy(&run, PolicyPatch::writing().deny("secrets/**")).await.unwrap();
    for number in 0..300 {
        let action = bestow::Action::write("secrets/k").by_tool(tool(&format!("tool{number}")));
        assert_eq!(authorize(&bot, action).await.decision().verdict(), Verdict::Deny);
    }
    assert_eq!(you.guards(&run).unwrap().len(), 256);
}

#[tokio::test]
async fn an_explanation_names_the_policy_and_the_way_out() {
    let world = World::new();
    let (bot, you, run) = unguarded(&world).await;
    you.update_policy(&run, PolicyPatch::writing().deny("secrets/**")).await.unwrap();
    let explained = bot.explain(&write("secrets/k")).unwrap();
    assert_eq!(explained.decided_by, Stage::Denied);
    let text = explained.to_string();
    assert!(text.contains("write-path-policy of write_file"), "{text}");
    assert!(text.contains("to allow it: leave out `/ws/secrets/k`"), "{text}");
    assert!(!text.contains("`update_policy`"), "no advice tells to lift a denial of a path: {text}");
}

#[tokio::test]
async fn a_change_of_policies_says_who_made_it() {
    let world = World::new();
    let (_, you, run) = unguarded(&world).await;
    you.declare_tools(&run, [tool("read_file")]).await.unwrap();
    let mut events = world.engine.subscribe();
    you.update_policy(&run, PolicyPatch::reading().deny("x")).await.unwrap();
    let told = heard(&mut events);
    assert_eq!(told.len(), 2);
    assert!(told.iter().all(|recorded| match &recorded.event {
        Event::PolicyForAll { by, .. } | Event::PolicyUpdated { by: Some(by), .. } => by.to_string().starts_with("ann"),
        _ => false,
    }));
    let json = serde_json::to_value(&told[1]).unwrap();
    assert_eq!(json["type"], "policy.updated");
    assert_eq!(json["policies"], serde_json::json!(["read-path-policy"]));
    assert_eq!(json["rules"]["read"]["deny"], serde_json::json!(["/ws/x"]));
}

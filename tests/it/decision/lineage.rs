//! Tests that the restrictions of an agent also bind the agents it created, even after it is gone.

use std::sync::Arc;

use bestow::{
    Action, Agent, AgentId, Answer, Kind, Policy, Profile,
    agent::Mode,
    decision::{Ruled, Verdict},
    grant::{Place, Scope},
    host::MemoryStore,
    policy::{Rule, RuleRef},
    tool::{PathPolicy, PolicyPatch, ToolPolicies},
};

use super::{agent_of, asked, dangerous, decided, ruled};
use crate::{
    stored::held::{world, world_at},
    support::{World, id, policy, profile, refusal, settings, tags, why},
};

const RUN: &str = "night";

fn denying(command: &str) -> Arc<[Rule]> {
    [Rule {
        verdict: Verdict::Deny,
        tool: None,
        operation: None,
        path: None,
        command: Some(command.parse().unwrap()),
        shape: None,
        cwd: None,
        children: false,
        why: None,
        place: Place { file: "agents.toml".into(), line: 7 },
    }]
    .into()
}

/// Returns a policy with these agents, each with its mode and a denied command.
fn file(agents: &[(&str, Mode, &str)]) -> Policy {
    let names: Vec<_> = agents.iter().map(|(name, ..)| (*name, "you", &["@write:/ws"][..])).collect();
    let mut policy = policy(settings(|_| {}), &names);
    for (name, mode, denied) in agents {
        let spec = policy.agents.get_mut(&id(name)).unwrap();
        (spec.profile.mode, spec.rules) = (*mode, denying(denied));
    }
    policy
}

async fn reload(world: &World, agents: &[(&str, Mode, &str)]) {
    world.engine.configure(file(agents)).await.unwrap();
}

async fn child(of: &Agent, name: &str) -> Agent {
    of.create(profile(name, "you", Kind::Subagent), &tags(&["@write:/ws"]), why()).await.unwrap()
}

/// Returns true if a restriction of `parent` denies `action` to `agent`.
async fn is_denied_through(agent: &Agent, action: Action, parent: &str) -> bool {
    let decision = decided(agent, action).await;
    let of_parent = |rule: &RuleRef| matches!(rule, RuleRef::OfParent { agent, .. } if agent.as_str() == parent);
    decision.decision == Ruled::Deny && decision.rule_refs.iter().any(of_parent)
}

fn push() -> Action {
    Action::command("git push")
}

#[tokio::test]
async fn what_a_rule_denies_binds_the_child_once_the_parent_has_left_the_file() {
    let world = World::new();
    reload(&world, &[("lead", Mode::Default, "git push **"), ("other", Mode::Default, "rm x")]).await;
    let kid = child(&agent_of(&world, "lead"), "kid").await;
    let grandkid = child(&kid, "grandkid").await;
    reload(&world, &[("other", Mode::Default, "rm x")]).await;
    assert!(world.engine.agent(id("lead")).is_err());
    for agent in [&kid, &grandkid] {
        assert!(is_denied_through(agent, push(), "lead").await, "{}", agent.id());
    }
    // The restriction survives the end of the agent in between.
    world.engine.retire(kid.id()).await.unwrap();
    assert!(is_denied_through(&grandkid, push(), "lead").await);
    let late = grandkid.create(profile("late", "you", Kind::Subagent), &tags(&[]), why()).await.unwrap();
    assert!(is_denied_through(&late, push(), "lead").await, "those created later are bound too");
}

/// The attack: an agent with the name of the parent is created again, without its rules.
#[tokio::test]
async fn another_agent_under_the_name_of_the_parent_loosens_nothing() {
    let world = World::new();
    reload(&world, &[("lead", Mode::Default, "git push **")]).await;
    let kid = child(&agent_of(&world, "lead"), "kid").await;
    reload(&world, &[]).await;
    reload(&world, &[("lead", Mode::Default, "rm x")]).await;
    assert!(is_denied_through(&kid, push(), "lead").await, "the one that is gone");
    assert!(is_denied_through(&kid, Action::command("rm x"), "lead").await, "and the one that is there");
    let lead = agent_of(&world, "lead");
    assert_eq!(ruled(&child(&lead, "new").await, push()).await, Ruled::Ask, "the old one did not create this one");
}

#[tokio::test]
async fn what_a_policy_of_the_parents_run_denies_binds_the_child_once_the_parent_is_gone() {
    let world = World::new();
    let lead = world.worker("lead", &["@write:/ws"]).await;
    world.engine.begin_run(lead.id(), RUN.parse().unwrap()).await.unwrap();
    let (you, night) = (world.you(), RUN.parse().unwrap());
    let denies = PathPolicy { deny: vec![crate::guards::glob("secrets/**")], ..PathPolicy::default() };
    you.set_policies(&night, None, ToolPolicies { write: denies, ..ToolPolicies::default() }).await.unwrap();
    let kid = child(&lead, "kid").await;
    world.engine.retire(lead.id()).await.unwrap();
    assert!(is_denied_through(&kid, Action::write("/ws/secrets/k"), "lead").await);
    world.engine.begin_run(kid.id(), "another".parse().unwrap()).await.unwrap();
    assert!(is_denied_through(&kid, Action::write("/ws/secrets/k"), "lead").await, "in a later run too");
    // A person can still change the policy: the run continues as long as it binds an agent.
    you.update_policy(&night, PolicyPatch::writing().deny("/ws/more")).await.unwrap();
    assert!(is_denied_through(&kid, Action::write("/ws/more"), "lead").await);
    you.set_policies(&night, None, ToolPolicies::default()).await.unwrap();
    assert_eq!(ruled(&kid, Action::write("/ws/secrets/k")).await, Ruled::Ask, "it lacks the permission by now");
    world.engine.retire(kid.id()).await.unwrap();
    assert!(you.guards(&night).is_err(), "nobody is left whom it could bind");
}

#[tokio::test]
async fn a_persons_no_to_the_parent_binds_the_child_until_the_person_takes_it_back() {
    for scope in [Scope::Session, Scope::Always] {
        let world = World::new();
        let lead = world.worker("lead", &["@write:/ws"]).await;
        world.engine.begin_run(lead.id(), RUN.parse().unwrap()).await.unwrap();
        let kid = child(&lead, "kid").await;
        let (_, ticket) = asked(&lead, dangerous()).await;
        world.you().answer(ticket.id(), Answer::deny().scope(scope)).await.unwrap();
        world.engine.retire(lead.id()).await.unwrap();
        assert!(is_denied_through(&kid, dangerous(), "lead").await, "{scope}");
        let no = world.engine.rulings().unwrap()[0].id;
        let them = world.approver("them");
        assert!(
            matches!(refusal(them.revoke_ruling(no, None).await), bestow::decision::Refusal::UnknownRuling(_)),
            "{scope}"
        );
        world.you().revoke_ruling(no, None).await.unwrap();
        assert_eq!(ruled(&kid, dangerous()).await, Ruled::Ask, "{scope}");
    }
}

/// The attack: the parent lets a child act, and begins another run, so that the denial of the previous run ends for the
/// parent.
#[tokio::test]
async fn a_no_of_the_run_in_which_a_child_was_created_binds_it_once_its_parent_is_in_another() {
    let world = World::new();
    let lead = world.worker("lead", &["@write:/ws"]).await;
    world.engine.begin_run(lead.id(), RUN.parse().unwrap()).await.unwrap();
    let kid = child(&lead, "kid").await;
    let grandkid = child(&kid, "grandkid").await;
    let (_, ticket) = asked(&lead, dangerous()).await;
    world.you().answer(ticket.id(), Answer::deny().scope(Scope::Session)).await.unwrap();
    for next in ["day", "evening"] {
        world.engine.begin_run(lead.id(), next.parse().unwrap()).await.unwrap();
        world.engine.begin_run(kid.id(), format!("{next}-of-the-child").parse().unwrap()).await.unwrap();
        for agent in [&kid, &grandkid] {
            assert!(is_denied_through(agent, dangerous(), "lead").await, "{} in {next}", agent.id());
        }
    }
    assert_eq!(ruled(&lead, dangerous()).await, Ruled::Ask, "what was said for the run ended for who was in it");
    assert_eq!(ruled(&child(&lead, "late").await, dangerous()).await, Ruled::Ask, "and no one created later had it");
    world.engine.retire(lead.id()).await.unwrap();
    assert!(is_denied_through(&kid, dangerous(), "lead").await, "nor does it help that the parent goes");
    let no = world.engine.rulings().unwrap()[0].id;
    world.you().revoke_ruling(no, None).await.unwrap();
    assert_eq!(ruled(&kid, dangerous()).await, Ruled::Ask, "a person takes it back");
}

#[tokio::test]
async fn a_no_of_the_run_in_which_children_were_created_ends_with_the_last_of_them() {
    let world = World::new();
    let lead = world.worker("lead", &["@write:/ws"]).await;
    world.engine.begin_run(lead.id(), RUN.parse().unwrap()).await.unwrap();
    let (one, other) = (child(&lead, "one").await, child(&lead, "other").await);
    let (_, ticket) = asked(&lead, dangerous()).await;
    world.you().answer(ticket.id(), Answer::deny().scope(Scope::Session)).await.unwrap();
    world.engine.begin_run(lead.id(), "day".parse().unwrap()).await.unwrap();
    world.engine.begin_run(lead.id(), "evening".parse().unwrap()).await.unwrap();
    for (agent, left) in [(&one, 1), (&other, 0)] {
        world.engine.retire(agent.id()).await.unwrap();
        assert_eq!(world.engine.rulings().unwrap().len(), left, "after {}", agent.id());
    }
    assert!(world.you().guards(&RUN.parse().unwrap()).is_err(), "nobody is left whom the run could bind");
}

#[tokio::test]
async fn a_policy_of_the_run_in_which_a_child_was_created_binds_it_once_its_parent_is_in_another() {
    let world = World::new();
    let lead = world.worker("lead", &["@write:/ws"]).await;
    world.engine.begin_run(lead.id(), RUN.parse().unwrap()).await.unwrap();
    let (you, night) = (world.you(), RUN.parse().unwrap());
    let kid = child(&lead, "kid").await;
    let denies = PathPolicy { deny: vec![crate::guards::glob("secrets/**")], ..PathPolicy::default() };
    you.set_policies(&night, None, ToolPolicies { write: denies, ..ToolPolicies::default() }).await.unwrap();
    world.engine.begin_run(lead.id(), "day".parse().unwrap()).await.unwrap();
    assert!(is_denied_through(&kid, Action::write("/ws/secrets/k"), "lead").await);
    assert_eq!(ruled(&lead, Action::write("/ws/secrets/k")).await, Ruled::Allow);
    you.set_policies(&night, None, ToolPolicies::default()).await.unwrap();
    assert_eq!(ruled(&kid, Action::write("/ws/secrets/k")).await, Ruled::Allow, "a person said otherwise");
}

/// A task is created by its file, not in a run. It is bound by the current run of its parent agent.
#[tokio::test]
async fn whoever_no_agent_created_is_bound_by_the_run_in_which_the_one_above_is_now() {
    let world = World::new();
    let lead = world.worker("lead", &["@write:/ws"]).await;
    world.engine.begin_run(lead.id(), RUN.parse().unwrap()).await.unwrap();
    let mut task: Profile = profile("of-a-file", "you", Kind::Cron);
    task.parent = Some(lead.id().clone());
    let task = world.engine.register(task, bestow::InitialGrants::of(tags(&["@write:/ws"]))).await.unwrap();
    let (_, ticket) = asked(&lead, dangerous()).await;
    world.you().answer(ticket.id(), Answer::deny().scope(Scope::Session)).await.unwrap();
    assert!(is_denied_through(&task, dangerous(), "lead").await);
    world.engine.begin_run(lead.id(), "day".parse().unwrap()).await.unwrap();
    assert_eq!(ruled(&task, dangerous()).await, Ruled::Ask);
}

#[tokio::test]
async fn a_no_ends_with_the_last_whom_it_binds() {
    for scope in [Scope::Session, Scope::Always] {
        let world = World::new();
        let lead = world.worker("lead", &["@write:/ws"]).await;
        let kid = child(&lead, "kid").await;
        let grandkid = child(&kid, "grandkid").await;
        let (_, ticket) = asked(&lead, dangerous()).await;
        world.you().answer(ticket.id(), Answer::deny().scope(scope)).await.unwrap();
        for (agent, left) in [(&lead, 1), (&kid, 1), (&grandkid, 0)] {
            world.engine.retire(agent.id()).await.unwrap();
            assert_eq!(world.engine.rulings().unwrap().len(), left, "{scope}: after {}", agent.id());
        }
    }
}

#[tokio::test]
async fn what_binds_through_a_parent_that_is_gone_is_stored() {
    let store = Arc::new(MemoryStore::new());
    let before = world(store.clone()).await;
    let agents = [("lead", Mode::Plan, "git push **")];
    before.engine.configure(file(&agents)).await.unwrap();
    let kid = child(&agent_of(&before, "lead"), "kid").await;
    before.engine.configure(file(&[])).await.unwrap();
    assert!(is_denied_through(&kid, push(), "lead").await);
    before.engine.shutdown().await;
    let after = world_at(store, before.clock, |_| {}).await;
    let kid = agent_of(&after, "kid");
    assert!(is_denied_through(&kid, push(), "lead").await);
    assert_eq!(ruled(&kid, Action::write("/ws/a")).await, Ruled::Deny, "its mode too");
}

/// The attack: a child is created in a lax mode, and acts after the mode has become strict.
#[tokio::test]
async fn a_child_is_never_judged_more_loosely_than_its_parent_is_now() {
    let world = World::new();
    let lax = [("lead", Mode::Default, "x")];
    reload(&world, &lax).await;
    let kid = child(&agent_of(&world, "lead"), "kid").await;
    let grandkid = child(&kid, "grandkid").await;
    let prints = || Action::command("env");
    assert_eq!(ruled(&kid, Action::write("/ws/a")).await, Ruled::Allow);
    assert_eq!(ruled(&kid, prints()).await, Ruled::Allow);
    for (mode, on_write, on_dangerous, on_prints) in [
        (Mode::Plan, Ruled::Deny, Ruled::Deny, Ruled::Deny),
        (Mode::Never, Ruled::Allow, Ruled::Deny, Ruled::Allow),
        (Mode::Untrusted, Ruled::Ask, Ruled::Ask, Ruled::Ask),
        // A looser mode of the parent does not loosen the mode of the child.
        (Mode::Bypass, Ruled::Allow, Ruled::Ask, Ruled::Allow),
        (Mode::OnFailure, Ruled::Allow, Ruled::Ask, Ruled::Allow),
    ] {
        reload(&world, &[("lead", mode, "x")]).await;
        for agent in [&kid, &grandkid] {
            assert_eq!(ruled(agent, Action::write("/ws/a")).await, on_write, "{mode:?}");
            assert_eq!(ruled(agent, dangerous()).await, on_dangerous, "{mode:?}");
            assert_eq!(ruled(agent, prints()).await, on_prints, "{mode:?}: judged as strictly");
        }
    }
    reload(&world, &[("lead", Mode::Plan, "x")]).await;
    let explanation = kid.explain(&Action::write("/ws/a")).unwrap();
    assert!(explanation.decision.decision_reason.contains("the mode of the ancestor lead"), "{explanation}");
    assert!(explanation.ways_out.iter().any(|way| way.contains("give lead")), "{explanation}");
    reload(&world, &[]).await;
    assert_eq!(ruled(&grandkid, Action::write("/ws/a")).await, Ruled::Deny, "and once it is gone");
}

#[tokio::test]
async fn an_agent_of_another_owner_binds_nobody_by_its_name() {
    let world = World::new();
    let mut kid: Profile = profile("kid", "you", Kind::Subagent);
    kid.parent = Some("lead".parse::<AgentId>().unwrap());
    let kid = world.engine.register(kid, bestow::InitialGrants::of(tags(&["@write:/ws"]))).await.unwrap();
    let strict = profile("lead", "them", Kind::Subagent).in_mode(Mode::Plan);
    world.engine.register(strict, bestow::InitialGrants::of(tags(&[]))).await.unwrap();
    assert_eq!(ruled(&kid, Action::write("/ws/a")).await, Ruled::Allow);
}

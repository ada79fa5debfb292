//! Tests of agents that are created, retired, and created again under one name.

use bestow::{
    Error, InitialGrants, Kind, Settings,
    agent::{Mode, Notification},
    decision::{Check, Refusal},
    grant::{Access, PermissionRef, Scope},
    tool::CodingAgent,
};

use crate::support::{World, ask, check, id, mail, owner, policy, profile, refusal, settings, tag, tags, why};

#[tokio::test]
async fn an_id_is_taken_once() {
    let world = World::new();
    world.worker("ann", &["@network"]).await;
    let before = world.view();
    let again =
        world.engine.register(profile("ann", "you", Kind::Subagent), InitialGrants::of(tags(&["@events"]))).await;
    assert_eq!(refusal(again), Refusal::AgentExists(id("ann")));
    assert_eq!(world.view(), before);
}

#[tokio::test]
async fn a_child_gets_what_its_creator_holds_and_names_and_nothing_else() {
    let world = World::new();
    let lead = world.lead("lead", &["@write:/ws", "@network"]).await;
    let child = lead.create(profile("child", "you", Kind::Subagent), &tags(&["@write:/ws/a"]), why()).await.unwrap();
    assert_eq!(check(&child, "@write:/ws/a/b"), Check::Held);
    assert_eq!(check(&child, "@write:/ws"), Check::NotHeld);
    assert_eq!(check(&child, "@network"), Check::NotHeld);
    assert_eq!(child.profile().unwrap().parent, Some(id("lead")));
}

#[tokio::test]
async fn a_child_that_cannot_be_given_everything_is_not_created() {
    let world = World::new();
    let lead = world.lead("lead", &["@write:/ws"]).await;
    let before = world.view();
    let wanted = tags(&["@write:/ws/a", "@network"]);
    let child = lead.create(profile("child", "you", Kind::Subagent), &wanted, why()).await;
    assert!(matches!(refusal(child), Refusal::NotHeld { permission, .. } if permission == tag("@network")));
    let foreign = lead.create(profile("child", "them", Kind::Subagent), &[], why()).await;
    assert!(matches!(refusal(foreign), Refusal::OtherOwner { .. }));
    let foreground = lead.create(profile("child", "you", Kind::Foreground), &[], why()).await;
    assert_eq!(refusal(foreground), Refusal::NoChildKind { agent: id("child"), kind: Kind::Foreground });
    let taken = lead.create(profile("lead", "you", Kind::Subagent), &[], why()).await;
    assert_eq!(refusal(taken), Refusal::AgentExists(id("lead")));
    assert_eq!(world.view(), before);
    assert!(world.engine.agent(id("child")).is_err());
}

#[tokio::test]
async fn a_child_is_judged_as_strictly_as_its_creator() {
    let world = World::new();
    let strict = profile("strict", "you", Kind::Subagent).in_mode(Mode::Plan);
    let strict = world.engine.register(strict, InitialGrants::nothing()).await.unwrap();
    let loose = profile("loose", "you", Kind::Subagent).in_mode(Mode::Bypass);
    let child = strict.create(loose, &[], why()).await.unwrap();
    assert_eq!(child.profile().unwrap().mode, Mode::Plan);
}

#[tokio::test]
async fn an_agent_that_is_gone_holds_nothing_not_even_reading() {
    let world = World::with(|settings| settings.reads = bestow::grant::Reads::Anywhere);
    let ann = world.worker("ann", &["@write:/ws", "@network"]).await;
    assert_eq!(check(&ann, "@read:/etc"), Check::Held);
    world.engine.retire(&id("ann")).await.unwrap();
    for wanted in ["@read:/etc", "@write:/ws", "@network"] {
        assert_eq!(check(&ann, wanted), Check::NotHeld, "{wanted}");
        assert_eq!(world.engine.check(&id("ann"), &tag(wanted)), Check::NotHeld, "{wanted}");
    }
    assert!(matches!(refusal(ann.resolve(Access::Read, "/etc").await), Refusal::Gone(_)));
}

#[tokio::test]
async fn the_settings_do_not_bring_back_what_a_gone_agent_held() {
    let world = World::new();
    let ann = world.worker("ann", &["@write:/ws"]).await;
    world.engine.retire(&id("ann")).await.unwrap();
    world.engine.configure(policy(settings(|s| s.reads = bestow::grant::Reads::Anywhere), &[])).await.unwrap();
    assert_eq!(check(&ann, "@read:/etc"), Check::NotHeld);
}

#[tokio::test]
async fn a_handle_belongs_to_the_agent_it_was_made_for_and_not_to_the_next_one_of_that_name() {
    let world = World::new();
    let old = world.worker("ann", &[]).await;
    world.engine.retire(&id("ann")).await.unwrap();
    let new = world.agent("ann", "them", Kind::Subagent, &["@write:/secret", "@network"]).await;
    let bob = world.agent("bob", "them", Kind::Subagent, &[]).await;
    let ticket = new.request(ask("@events")).await.unwrap();

    let gone = || Refusal::Gone(id("ann"));
    assert_eq!(check(&old, "@network"), Check::NotHeld);
    assert_eq!(refusal(old.grant(bob.id(), tag("@network"), why()).await), gone());
    assert_eq!(refusal(old.request(ask("@events")).await), gone());
    assert_eq!(refusal(old.spend(&tag("@network")).await), gone());
    assert_eq!(refusal(old.cancel(ticket.id()).await), gone());
    assert_eq!(refusal(old.create(profile("kid", "them", Kind::Subagent), &[], why()).await), gone());
    assert_eq!(refusal(old.grants()), gone());
    assert_eq!(refusal(old.permissions()), gone());
    assert_eq!(refusal(old.exec_scope(&tags(&["@network"]))), gone());
    assert_eq!(refusal(old.profile()), gone());
    assert_eq!(refusal(old.why(&tag("@network"))), gone());
    assert_eq!(refusal(old.ticket(ticket.id())), gone());
    assert!(old.resolve(Access::Write, "/secret").await.is_err());

    world.engine.message(&id("ann"), None, "for the new one").await.unwrap();
    assert_eq!(mail(&old.mailbox()), []);
    assert!(matches!(&mail(&new.mailbox())[..], [Notification::Message { .. }]));
}

#[tokio::test]
async fn what_becomes_of_the_former_agent_of_that_name_is_no_news_for_the_next_one() {
    let world = World::new();
    let file = |owner| policy(settings(|_| {}), &[("ann", owner, &["@write:/ws"])]);
    world.engine.configure(file("you")).await.unwrap();
    world.engine.agent(id("ann")).unwrap().request(ask("@network")).await.unwrap();
    world.engine.configure(file("them")).await.unwrap();
    assert_eq!(mail(&world.engine.agent(id("ann")).unwrap().mailbox()), []);
}

#[tokio::test]
async fn what_an_agent_gave_and_asked_ends_with_it() {
    let world = World::new();
    let ann = world.worker("ann", &["@write:/ws"]).await;
    let bob = world.worker("bob", &[]).await;
    ann.grant(bob.id(), tag("@write:/ws/a"), why()).await.unwrap();
    let ticket = ann.request(ask("@network")).await.unwrap();
    world.engine.retire(&id("ann")).await.unwrap();
    assert_eq!(check(&bob, "@write:/ws/a"), Check::NotHeld);
    assert_eq!(world.engine.grants().unwrap(), []);
    assert_eq!(world.engine.pending().unwrap(), []);
    let resolution = ticket.resolution().await;
    assert_eq!(
        (resolution.outcome, &resolution.decider),
        (bestow::Outcome::Cancelled, &bestow::decision::Decider::Retired)
    );
    assert_eq!(refusal(world.engine.retire(&id("ann")).await), Refusal::UnknownAgent(id("ann")));
}

#[tokio::test]
async fn the_connection_of_a_gone_agent_closes() {
    let world = World::new();
    world.lead("lead", &[]).await;
    let mut user = world.engine.connect(id("lead")).unwrap();
    world.engine.retire(&id("lead")).await.unwrap();
    assert_eq!(user.next().await, None);
}

#[tokio::test]
async fn a_new_run_ends_what_was_for_the_run_before_and_what_rests_on_it() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let bob = world.worker("bob", &[]).await;
    let you = world.you();
    you.give(ann.id(), tag("@network"), Scope::Session, why()).await.unwrap();
    you.give(ann.id(), tag("@events"), Scope::Always, why()).await.unwrap();
    ann.grant(bob.id(), tag("@network"), why()).await.unwrap();
    world.engine.begin_run(ann.id(), "next".parse().unwrap()).await.unwrap();
    assert_eq!((check(&ann, "@network"), check(&bob, "@network")), (Check::NotHeld, Check::NotHeld));
    assert_eq!(check(&ann, "@events"), Check::Held);
    you.give(ann.id(), tag("@network"), Scope::Session, why()).await.unwrap();
    world.engine.begin_run(ann.id(), "next".parse().unwrap()).await.unwrap();
    assert_eq!(check(&ann, "@network"), Check::Held, "the same run goes on");
}

#[tokio::test]
async fn an_agent_nobody_registered_holds_nothing() {
    let world = World::with(|settings| *settings = Settings::default());
    assert_eq!(world.engine.check(&id("nobody"), PermissionRef::read("/etc/hosts")), Check::NotHeld);
    assert_eq!(world.engine.check("no name/", PermissionRef::read("/etc/hosts")), Check::NotHeld);
    assert_eq!(world.engine.why(&id("nobody"), &tag("@read:/etc")).unwrap(), []);
    assert_eq!(refusal(world.engine.agent(id("nobody"))), Refusal::UnknownAgent(id("nobody")));
    assert_eq!(refusal(world.engine.connect(id("nobody"))), Refusal::UnknownAgent(id("nobody")));
    assert_eq!(refusal(world.engine.user_active(&id("nobody")).await), Refusal::UnknownAgent(id("nobody")));
    assert_eq!(refusal(world.engine.message(&id("nobody"), None, "hi").await), Refusal::UnknownAgent(id("nobody")));
    assert_eq!(owner("you").as_str(), "you");
}

#[tokio::test]
async fn an_engine_needs_a_runtime() {
    let made = std::thread::spawn(|| bestow::Engine::new(Settings::default()).map(drop)).join().unwrap();
    assert_eq!(made, Err(Error::NoRuntime));
}

#[tokio::test]
async fn an_agent_of_the_file_is_taken_away_in_the_file() {
    let world = World::new();
    world.engine.configure(policy(settings(|_| {}), &[("ann", "you", &["@network"])])).await.unwrap();
    assert_eq!(refusal(world.engine.retire(&id("ann")).await), Refusal::InFile(id("ann")));
    assert_eq!(check(&world.engine.agent(id("ann")).unwrap(), "@network"), Check::Held);
}

#[tokio::test]
async fn relatives_share_how_many_they_may_be_and_how_often_they_may_ask() {
    let world = World::with(|settings| {
        settings.max_children = 2;
        settings.max_asks_per_minute = 2;
    });
    let ann = world.worker("ann", &[]).await;
    let child = ann.create(profile("child", "you", Kind::Subagent), &[], why()).await.unwrap();
    let grand = child.create(profile("grand", "you", Kind::Subagent), &[], why()).await.unwrap();
    let one_more = grand.create(profile("more", "you", Kind::Subagent), &[], why()).await;
    assert_eq!(refusal(one_more), Refusal::TooManyChildren { agent: id("grand"), max: 2 });
    for asker in [&child, &grand] {
        let ticket = asker.request(ask("@network")).await.unwrap();
        asker.cancel(ticket.id()).await.unwrap();
    }
    let full = Refusal::TooManyAsked { agent: id("ann"), max: 2 };
    assert_eq!(refusal(ann.request(ask("@network")).await), full);
    world.later(60_000).await;
    ann.request(ask("@network")).await.unwrap();
    world.engine.retire(&id("child")).await.unwrap();
    grand.create(profile("more", "you", Kind::Subagent), &[], why()).await.unwrap();
}

#[tokio::test]
async fn a_question_ends_with_the_run_it_was_asked_in() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let ticket = ann.request(ask("@network")).await.unwrap();
    world.engine.begin_run(ann.id(), "next".parse().unwrap()).await.unwrap();
    let resolution = ticket.poll().unwrap();
    assert_eq!(
        (resolution.outcome, &resolution.decider),
        (bestow::Outcome::Cancelled, &bestow::decision::Decider::RunOver)
    );
}

#[tokio::test]
async fn several_agents_are_registered_in_one_step_all_or_none() {
    let world = World::new();
    let new = |id: &str, holds: &[&str]| (profile(id, "you", Kind::Subagent), InitialGrants::of(tags(holds)));
    let before = world.engine.last_sequence().unwrap();
    let made = world.engine.register_all([new("ann", &["@network"]), new("bob", &["@read:/w", "@events"])]).await;
    let made = made.unwrap();
    assert_eq!(made.iter().map(|agent| agent.id().as_str()).collect::<Vec<_>>(), ["ann", "bob"]);
    assert_eq!((check(&made[0], "@network"), check(&made[1], "@network")), (Check::Held, Check::NotHeld));
    assert_eq!(check(&made[1], "@read:/w/a"), Check::Held);
    assert_eq!(world.engine.last_sequence().unwrap(), before + 5);
    assert_eq!(made[1].mailbox().try_next(), None, "a new agent knows its permissions");
    for other in ["ann", "cid"] {
        let refused = world.engine.register_all([new("cid", &[]), new(other, &[])]).await;
        assert_eq!(refusal(refused), Refusal::AgentExists(id(other)));
        assert_eq!(refusal(world.engine.agent("cid")), Refusal::UnknownAgent(id("cid")), "none of them");
    }
    assert_eq!(world.engine.register_all([]).await.unwrap().len(), 0);
}

/// The attack: an agent takes the id of a host, so that the policy file cannot name it, and then everything below it.
#[tokio::test]
async fn an_agent_creates_no_id_of_a_host_a_task_or_another_agent() {
    let world = World::new();
    let lead = world.agent("lead", "you", Kind::Foreground, &[]).await;
    let hosts = CodingAgent::ALL.map(CodingAgent::as_str).map(str::to_owned);
    let below = hosts.iter().map(|host| format!("{host}:Plan"));
    let others = ["cron:a", "heartbeat:a", "lead2:a", "lead-:a", "nobody:a"].map(str::to_owned);
    for taken in hosts.iter().cloned().chain(below).chain(others) {
        let refused = lead.create(profile(&taken, "you", Kind::Subagent), &[], why()).await;
        let is_reserved = matches!(&refused, Err(Error::Refused(Refusal::NameOfOther { .. } | Refusal::NameOfTask(_))));
        assert!(is_reserved, "{taken}: {refused:?}");
    }
    lead.create(profile("lead:claude", "you", Kind::Subagent), &[], why()).await.unwrap();
    for host in hosts {
        let host = world.agent(&host, "you", Kind::Foreground, &[]).await;
        host.create(profile(&format!("{}:Plan", host.id()), "you", Kind::Subagent), &[], why()).await.unwrap();
    }
}

//! Tests of agents that grant their permissions to other agents.

use bestow::{
    Event, InitialGrants, Kind,
    agent::Notification,
    decision::{Check, ProvenanceStep, Refusal},
    event::Timestamp,
    grant::{Hold, Origin, Permissions, Scope},
};

use crate::support::{World, check, heard, id, mail, profile, refusal, settings, tag, tags, why};

#[tokio::test]
async fn the_receiver_is_told_what_from_whom_and_why() {
    let world = World::new();
    let ann = world.worker("ann", &["@write:/ws"]).await;
    let bob = world.worker("bob", &[]).await;
    ann.grant(bob.id(), tag("@write:/ws/a"), why()).await.unwrap();
    let told = mail(&bob.mailbox());
    let [Notification::Granted(grant)] = &told[..] else { panic!("{told:?}") };
    assert_eq!(grant.origin, Origin::Agent { from: id("ann") });
    assert_eq!(grant.reason, Some(why()));
    assert_eq!((grant.pinned.permission.clone(), grant.depth, grant.hold), (tag("@write:/ws/a"), 1, Hold::Use));
    assert_eq!(told[0].to_string(), "you now hold write access to \"/ws/a\", given by ann: because it must");
}

#[tokio::test]
async fn a_list_is_given_as_a_whole_or_not_at_all() {
    let world = World::new();
    let ann = world.worker("ann", &["@write:/ws", "@network"]).await;
    let bob = world.worker("bob", &[]).await;
    let before = world.view();
    let list = |texts: &[&str]| Permissions::try_from(tags(texts)).unwrap();
    let refused = ann.grant(bob.id(), list(&["@network", "@write:/ws", "@events"]), why()).await;
    assert_eq!(refusal(refused), Refusal::NotHeld { agent: id("ann"), permission: tag("@events") });
    assert_eq!(world.view(), before);
    assert_eq!(mail(&bob.mailbox()), []);
    assert_eq!(ann.grant(bob.id(), list(&["@network", "@write:/ws"]), why()).await.unwrap().len(), 2);
}

#[tokio::test]
async fn nobody_gives_to_oneself_to_strangers_or_to_another_owner() {
    let world = World::new();
    let ann = world.worker("ann", &["@network"]).await;
    world.agent("spy", "them", Kind::Subagent, &[]).await;
    let before = world.view();
    let to = async |to: &str| refusal(ann.grant(&id(to), tag("@network"), why()).await);
    assert_eq!(to("ann").await, Refusal::SelfGrant(id("ann")));
    assert_eq!(to("nobody").await, Refusal::UnknownAgent(id("nobody")));
    assert_eq!(to("spy").await, Refusal::OtherOwner { agent: id("spy"), owner: "you".parse().unwrap() });
    let past = ann.grant_for(&id("ann"), tag("@network"), Scope::Until(world.now()), why()).await;
    assert_eq!(refusal(past), Refusal::SelfGrant(id("ann")));
    world.worker("bob", &[]).await;
    let past = Scope::Until(world.now());
    assert_eq!(refusal(ann.grant_for(&id("bob"), tag("@network"), past, why()).await), Refusal::ScopePast(past));
    world.engine.retire(&id("bob")).await.unwrap();
    assert_eq!(world.view(), before);
}

#[tokio::test]
async fn a_refusal_leaves_a_fact_that_names_who_tried_what_and_why_not() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    world.worker("bob", &[]).await;
    let mut events = world.engine.subscribe();
    let refused = refusal(ann.grant(&id("bob"), tag("@network"), why()).await);
    let told = heard(&mut events);
    let [recorded] = &told[..] else { panic!("{told:?}") };
    assert!(matches!(&recorded.event, Event::Refused { by, attempt, why }
            if *by == bestow::grant::Actor::Agent(id("ann"))
                && &**attempt == "grant permission to bob"
                && **why == refused.to_string()));
}

#[tokio::test]
async fn the_same_given_again_is_the_same_grant() {
    let world = World::new();
    let ann = world.worker("ann", &["@network"]).await;
    let bob = world.worker("bob", &[]).await;
    let first = ann.grant(bob.id(), tag("@network"), why()).await.unwrap();
    let again = ann.grant(bob.id(), tag("@network"), "once more").await.unwrap();
    assert_eq!(first, again);
    assert_eq!(bob.grants().unwrap().len(), 1);
    assert_eq!(mail(&bob.mailbox()).len(), 1);
    ann.grant_for(bob.id(), tag("@network"), Scope::Once, why()).await.unwrap();
    ann.grant_for(bob.id(), tag("@network"), Scope::Once, why()).await.unwrap();
    assert_eq!(bob.grants().unwrap().len(), 3, "two uses are two uses");
}

#[tokio::test]
async fn two_names_of_one_thing_are_given_once() {
    let world = World::new();
    let ann = world.worker("ann", &["@write:/ws"]).await;
    let bob = world.worker("bob", &[]).await;
    let same = Permissions::try_from(tags(&["@write:/ws/a", "@write:/ws//a/"])).unwrap();
    assert_eq!(ann.grant(bob.id(), same, why()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_grant_lives_no_longer_than_what_it_rests_on() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let bob = world.worker("bob", &[]).await;
    let cat = world.worker("cat", &[]).await;
    let noon = world.after(1_000);
    world.you().give(ann.id(), tag("@network"), Scope::Until(noon), why()).await.unwrap();
    ann.grant_for(bob.id(), tag("@network"), Scope::Until(world.after(5_000)), why()).await.unwrap();
    bob.grant(cat.id(), tag("@network"), why()).await.unwrap();
    assert_eq!((bob.grants().unwrap()[0].until, cat.grants().unwrap()[0].until), (Some(noon), Some(noon)));
    world.clock.advance(std::time::Duration::from_millis(999));
    assert_eq!(check(&cat, "@network"), Check::Held);
    // No task runs from here on, so only the check itself can detect the expiry.
    world.clock.advance(std::time::Duration::from_millis(1));
    for agent in [&ann, &bob, &cat] {
        assert_eq!(check(agent, "@network"), Check::NotHeld);
        assert_eq!(agent.grants().unwrap(), []);
        assert_eq!(agent.why(&tag("@network")).unwrap(), []);
    }
    assert!(matches!(refusal(bob.grant(cat.id(), tag("@network"), why()).await), Refusal::NotHeld { .. }));
}

#[tokio::test]
async fn the_longer_of_two_supports_counts_until_it_goes() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let bob = world.worker("bob", &[]).await;
    let (soon, late) = (world.after(1_000), world.after(9_000));
    let you = world.you();
    you.give(ann.id(), tag("@write:/ws/a"), Scope::Until(soon), why()).await.unwrap();
    let longer = you.give(ann.id(), tag("@write:/ws"), Scope::Until(late), why()).await.unwrap();
    ann.grant(bob.id(), tag("@write:/ws/a/b"), why()).await.unwrap();
    assert_eq!(bob.grants().unwrap()[0].until, Some(late));
    you.revoke(longer[0], None).await.unwrap();
    assert_eq!(bob.grants().unwrap()[0].until, Some(soon));
    assert_eq!(check(&bob, "@write:/ws/a/b"), Check::Held);
    world.later(1_000).await;
    assert_eq!(check(&bob, "@write:/ws/a/b"), Check::NotHeld);
}

#[tokio::test]
async fn a_permission_is_passed_on_so_often_and_no_further() {
    let world = World::with(|settings| settings.max_depth = 2);
    let mut giver = world.worker("a0", &["@network"]).await;
    for depth in 1..=2 {
        let next = world.worker(&format!("a{depth}"), &[]).await;
        giver.grant(next.id(), tag("@network"), why()).await.unwrap();
        assert_eq!(next.grants().unwrap()[0].depth, depth);
        giver = next;
    }
    world.worker("a3", &[]).await;
    let refused = refusal(giver.grant(&id("a3"), tag("@network"), why()).await);
    assert_eq!(refused, Refusal::TooDeep { permission: tag("@network"), max: 2 });
}

#[tokio::test]
async fn a_one_shot_permission_cannot_be_passed_on() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let bob = world.worker("bob", &[]).await;
    world.you().give(ann.id(), tag("@network"), Scope::Once, why()).await.unwrap();
    let refused = refusal(ann.grant_for(bob.id(), tag("@network"), Scope::Once, why()).await);
    assert_eq!(refused, Refusal::HeldOnce { agent: id("ann"), permission: tag("@network") });
    let made = ann.create(profile("kid", "you", Kind::Subagent), &tags(&["@network"]), why()).await;
    assert!(matches!(refusal(made), Refusal::HeldOnce { .. }));
    assert_eq!(check(&ann, "@network"), Check::HeldOnce);
}

#[tokio::test]
async fn what_is_only_for_passing_on_is_not_for_using() {
    let world = World::new();
    let holding = InitialGrants::nothing().passing_on(tags(&["@write:/ws", "@network"]));
    let boss = world.engine.register(profile("boss", "you", Kind::Subagent), holding).await.unwrap();
    let bob = world.worker("bob", &[]).await;
    assert_eq!((check(&boss, "@write:/ws"), check(&boss, "@network")), (Check::NotHeld, Check::NotHeld));
    assert!(matches!(refusal(boss.spend(&tag("@network")).await), Refusal::NotHeld { .. }));
    assert!(boss.exec_scope(&tags(&["@network"])).is_err());
    assert_eq!(boss.permissions().unwrap().iter().count(), 0);
    boss.grant(bob.id(), tag("@write:/ws/a"), why()).await.unwrap();
    assert_eq!(check(&bob, "@write:/ws/a"), Check::Held);
}

/// The workaround: another agent holds the permission for use, and grants it back.
#[tokio::test]
async fn what_is_only_for_passing_on_does_not_come_back_for_using() {
    let world = World::new();
    let holding = InitialGrants::nothing().passing_on(tags(&["@write:/ws"]));
    let boss = world.engine.register(profile("boss", "you", Kind::Subagent), holding).await.unwrap();
    let kid = boss.create(profile("kid", "you", Kind::Subagent), &tags(&["@write:/ws/a"]), why()).await.unwrap();
    assert_eq!(check(&kid, "@write:/ws/a"), Check::Held);
    let _ = kid.grant(boss.id(), tag("@write:/ws/a"), why()).await;
    let _ = kid.grant_for(boss.id(), tag("@read:/ws/a"), Scope::Once, why()).await;
    for wanted in ["@write:/ws/a", "@read:/ws/a"] {
        assert_eq!(check(&boss, wanted), Check::NotHeld, "{wanted}");
        assert!(boss.spend(&tag(wanted)).await.is_err(), "{wanted}");
    }
    assert!(boss.exec_scope(&tags(&["@write:/ws/a"])).is_err());
    assert_eq!(boss.permissions().unwrap().iter().count(), 0);
    world.you().give(boss.id(), tag("@write:/ws/a"), Scope::Always, why()).await.unwrap();
    assert_eq!(check(&boss, "@write:/ws/a"), Check::Held, "a person may say otherwise");
}

#[tokio::test]
async fn an_agent_holds_so_many_grants_and_no_more() {
    let world = World::with(|settings| settings.max_grants = 2);
    let ann = world.worker("ann", &["@write:/ws"]).await;
    let bob = world.worker("bob", &["@network"]).await;
    ann.grant(bob.id(), tag("@write:/ws/a"), why()).await.unwrap();
    ann.grant(bob.id(), tag("@write:/ws/b"), why()).await.unwrap();
    // Grants by people have a limit of their own.
    let you = world.you();
    you.give(bob.id(), tag("@events"), Scope::Always, why()).await.unwrap();
    let before = world.view();
    let full = Refusal::TooManyGrants { agent: id("bob"), max: 2 };
    assert_eq!(refusal(ann.grant(bob.id(), tag("@write:/ws/c"), why()).await), full);
    assert_eq!(refusal(you.give(bob.id(), tag("@read:/"), Scope::Always, why()).await), full);
    // A repeated grant needs no room.
    ann.grant(bob.id(), tag("@write:/ws/b"), why()).await.unwrap();
    let three = InitialGrants::of(tags(&["@network", "@events", "@read:/"]));
    let made = world.engine.register(profile("cat", "you", Kind::Subagent), three).await;
    assert_eq!(refusal(made), Refusal::TooManyGrants { agent: id("cat"), max: 2 });
    assert_eq!(world.view(), before);
}

#[tokio::test]
async fn why_tells_the_whole_chain_and_the_root_last() {
    let world = World::new();
    let [ann, bob, cat] =
        [world.worker("ann", &["@write:/ws"]).await, world.worker("bob", &[]).await, world.worker("cat", &[]).await];
    ann.grant(bob.id(), tag("@write:/ws/a"), why()).await.unwrap();
    bob.grant(cat.id(), tag("@read:/ws/a/b"), why()).await.unwrap();
    let chain = cat.why(&tag("@read:/ws/a/b/c")).unwrap();
    let holders: Vec<_> = chain
        .iter()
        .map(|link| if let ProvenanceStep::Grant(grant) = link { grant.to.as_str() } else { "-" })
        .collect();
    assert_eq!(holders, ["cat", "bob", "ann"]);
    assert!(matches!(chain.last(), Some(ProvenanceStep::Grant(grant)) if grant.origin == Origin::Operator));
    assert_eq!(cat.why(&tag("@write:/ws/a/b")).unwrap(), []);
}

#[tokio::test]
async fn why_tells_of_the_way_by_which_it_is_used() {
    let world = World::new();
    let holding = InitialGrants::nothing().passing_on(tags(&["@write:/ws"]));
    let boss = world.engine.register(profile("boss", "you", Kind::Subagent), holding).await.unwrap();
    world.you().give(boss.id(), tag("@write:/ws/a"), Scope::Once, why()).await.unwrap();
    let grant = world.you().give(boss.id(), tag("@write:/ws/a"), Scope::Always, why()).await.unwrap();
    let chain = boss.why(&tag("@write:/ws/a")).unwrap();
    assert!(matches!(&chain[..], [ProvenanceStep::Grant(link)] if link.id == grant[0]), "{chain:?}");
}

#[tokio::test]
async fn under_free_reading_everybody_reads_and_may_pass_reading_on() {
    let world = World::with(|settings| {
        settings.reads = bestow::grant::Reads::Anywhere;
        settings.protected = ["/p".parse().unwrap()].into();
    });
    let ann = world.worker("ann", &[]).await;
    let bob = world.worker("bob", &[]).await;
    assert_eq!((check(&ann, "@read:/etc/hosts"), check(&ann, "@read:/p/key")), (Check::Held, Check::NotHeld));
    assert_eq!(ann.why(&tag("@read:/etc")).unwrap(), [ProvenanceStep::FreeReading]);
    ann.grant(bob.id(), tag("@read:/etc"), why()).await.unwrap();
    assert!(matches!(refusal(ann.grant(bob.id(), tag("@read:/p/key"), why()).await), Refusal::Protected(_)));
    world.engine.configure(crate::support::policy(settings(|_| {}), &[])).await.unwrap();
    assert_eq!(check(&bob, "@read:/etc"), Check::NotHeld, "what rested on free reading went with it");
    assert_eq!(world.engine.grants().unwrap(), []);
}

#[tokio::test]
async fn what_is_protected_is_reached_by_nothing_but_a_line_that_names_it() {
    let world = World::new();
    let ann = world.worker("ann", &["@write:/home", "@write:/"]).await;
    let bob = world.worker("bob", &[]).await;
    let strict = settings(|settings| settings.protected = ["/home/.ssh".parse().unwrap()].into());
    let file = crate::support::policy(strict, &[("cfg", "you", &["@read:/home/.ssh/known", "@write:/home"])]);
    world.engine.configure(file).await.unwrap();
    let cfg = world.engine.agent(id("cfg")).unwrap();
    for below in ["/home/.ssh", "/home/.ssh/key", "/home//.ssh/./key"] {
        let read = tag(&format!("@read:{below}"));
        assert_eq!(ann.check(&read), Check::NotHeld);
        assert_eq!(ann.why(&read).unwrap(), [], "what is not held is not explained as held");
        assert!(matches!(refusal(ann.spend(&read).await), Refusal::Protected(_) | Refusal::NotHeld { .. }));
        assert!(matches!(refusal(ann.grant(bob.id(), read.clone(), why()).await), Refusal::Protected(_)));
        assert!(matches!(
            refusal(bob.request(bestow::PermissionRequest::new(read.clone(), why())).await),
            Refusal::Protected(_)
        ));
        assert!(matches!(refusal(world.you().give(bob.id(), read, Scope::Always, why()).await), Refusal::Protected(_)));
    }
    assert!(ann.exec_scope(&tags(&["@write:/home/.ssh"])).is_err(), "nor by a command");
    assert_eq!(check(&ann, "@write:/home/.sshd"), Check::Held);
    assert_eq!(check(&cfg, "@read:/home/.ssh/known"), Check::Held);
    assert_eq!(check(&cfg, "@read:/home/.ssh/known/deeper"), Check::NotHeld);
    assert_eq!(check(&cfg, "@write:/home/.ssh/known"), Check::NotHeld);
    assert_eq!(cfg.why(&tag("@read:/home/.ssh/known")).unwrap().len(), 1);
    assert!(matches!(refusal(cfg.grant(bob.id(), tag("@read:/home/.ssh/known"), why()).await), Refusal::Protected(_)));
}

#[tokio::test]
async fn two_uses_of_a_one_shot_permission_at_the_same_time_are_one() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    for _ in 0..20 {
        world.you().give(ann.id(), tag("@network"), Scope::Once, why()).await.unwrap();
        let start = std::sync::Barrier::new(2);
        let spend = || {
            start.wait();
            crate::support::futures_now(ann.spend(&tag("@network")))
        };
        let results = std::thread::scope(|scope| {
            let both = [scope.spawn(spend), scope.spawn(spend)];
            both.map(|thread| thread.join().unwrap())
        });
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
        assert_eq!(check(&ann, "@network"), Check::NotHeld);
    }
}

#[tokio::test]
async fn a_permission_that_ends_soonest_is_used_up_first_and_a_lasting_one_never() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let you = world.you();
    you.give(ann.id(), tag("@write:/ws"), Scope::Once, why()).await.unwrap();
    ann.spend(&tag("@read:/ws/a")).await.unwrap();
    assert_eq!(check(&ann, "@write:/ws"), Check::NotHeld);
    you.give(ann.id(), tag("@write:/ws"), Scope::Once, why()).await.unwrap();
    you.give(ann.id(), tag("@write:/ws"), Scope::Always, why()).await.unwrap();
    ann.spend(&tag("@write:/ws/a")).await.unwrap();
    assert_eq!(ann.grants().unwrap().len(), 2);
}

#[tokio::test]
async fn a_check_takes_any_text_and_invalid_ones_are_nobodys() {
    let world = World::with(|settings| settings.reads = bestow::grant::Reads::Anywhere);
    let ann = world.worker("ann", &["@write:/"]).await;
    let long = format!("/{}", "a".repeat(4_096));
    for text in ["", "ws", "../ws", "/ws/../etc", "/ws/..", "/a\0b", "/a\u{1}", "~/x", "/a\rb", &long] {
        assert_eq!(ann.check(bestow::grant::PermissionRef::read(text)), Check::NotHeld, "{text:?}");
        assert_eq!(ann.check(bestow::grant::PermissionRef::write(text)), Check::NotHeld, "{text:?}");
    }
    for text in ["/", "/a/..b", "/a/b..", "/a\tb", "/a\nb", "/a//b/./c/", "/é", &long[..4_096]] {
        assert_eq!(ann.check(bestow::grant::PermissionRef::write(text)), Check::Held, "{text:?}");
    }
}

#[tokio::test]
async fn time_has_an_end_and_nothing_overflows_there() {
    let world = World::with(|settings| {
        settings.request_timeout = std::time::Duration::MAX;
        settings.denial_memory = std::time::Duration::MAX;
    });
    let ann = world.worker("ann", &[]).await;
    let end = Timestamp::from_millis(u64::MAX);
    world.you().give(ann.id(), tag("@network"), Scope::Until(end), why()).await.unwrap();
    assert_eq!(check(&ann, "@network"), Check::Held);
    assert_eq!(end.to_string().parse(), Ok(end), "also the last moment can be written and read");
    let ticket = ann.request(crate::support::ask("@events")).await.unwrap();
    let request = &world.engine.pending().unwrap()[0].request;
    let text = serde_json::to_string(&**request).unwrap();
    assert_eq!(serde_json::from_str::<bestow::request::Request>(&text).unwrap(), **request);
    world.you().answer(ticket.id(), bestow::Answer::deny()).await.unwrap();
    world.clock.advance(std::time::Duration::MAX);
    assert_eq!(check(&ann, "@network"), Check::NotHeld, "even for ever ends at the end of time");
}

//! Tests that a revocation never gives a permission.

use std::collections::BTreeMap;

use bestow::{
    Action, Agent, Answer, Event, InitialGrants, Kind, Outcome,
    decision::{Check, Decider, Refusal},
    event::Subscription,
    grant::{Hold, Scope},
};

use crate::support::{World, ask, check, heard, id, policy, profile, refusal, settings, tag, tags, why};

/// A11: grants of others were not usable while their holder had a grant for passing on only. They became usable when
/// the holder gave that grant up.
#[tokio::test]
async fn giving_up_what_is_for_passing_on_only_makes_nothing_usable() {
    let world = World::new();
    let holding = InitialGrants::nothing().passing_on(tags(&["@write:/ws"]));
    let boss = world.engine.register(profile("boss", "you", Kind::Subagent), holding).await.unwrap();
    let friend = world.worker("friend", &["@write:/ws"]).await;
    friend.grant(boss.id(), tag("@write:/ws/a"), why()).await.unwrap();
    friend.grant_for(boss.id(), tag("@write:/ws/b"), Scope::Once, why()).await.unwrap();
    assert_eq!(check(&boss, "@write:/ws/a"), Check::NotHeld);
    let own = boss.grants().unwrap().iter().find(|grant| grant.depth == 0).unwrap().id;
    boss.revoke(own, None).await.unwrap();
    for wanted in ["@write:/ws/a", "@write:/ws/b", "@read:/ws/a"] {
        assert_eq!(check(&boss, wanted), Check::NotHeld, "{wanted}");
        assert!(boss.spend(&tag(wanted)).await.is_err(), "{wanted}");
    }
    assert!(boss.exec_scope(&tags(&["@write:/ws/a"])).is_err());
    assert_eq!(boss.permissions().unwrap().iter().count(), 0);
    assert!(boss.grants().unwrap().iter().all(|grant| grant.hold == Hold::PassOn), "and each says so itself");
}

#[tokio::test]
async fn neither_an_end_nor_an_edit_of_what_is_for_passing_on_only_makes_anything_usable() {
    let world = World::new();
    let lines: &[&str] = &["pass @write:/ws"];
    world.engine.configure(policy(settings(|_| {}), &[("boss", "you", lines)])).await.unwrap();
    let boss = world.engine.agent(id("boss")).unwrap();
    let friend = world.worker("friend", &["@write:/ws", "@network"]).await;
    friend.grant(boss.id(), tag("@write:/ws/a"), why()).await.unwrap();
    world.you().give_to_pass_on(boss.id(), tag("@network"), Scope::Until(world.after(5)), why()).await.unwrap();
    let kept_back = friend.grant(boss.id(), tag("@network"), why()).await.unwrap();
    world.later(10).await;
    world.engine.configure(policy(settings(|_| {}), &[("boss", "you", &[])])).await.unwrap();
    assert_eq!((check(&boss, "@write:/ws/a"), check(&boss, "@network")), (Check::NotHeld, Check::NotHeld));
    // A further grant is for passing on too, as long as the earlier one exists. Otherwise the holder could have its own
    // child grant it back.
    let again = friend.grant(boss.id(), tag("@network"), why()).await.unwrap();
    assert_eq!(check(&boss, "@network"), Check::NotHeld);
    // A giver that revokes the grants and grants again gives a usable permission.
    assert_eq!(again, kept_back, "the gift that is there is named");
    for gift in kept_back {
        friend.revoke(gift, None).await.unwrap();
    }
    friend.grant(boss.id(), tag("@network"), why()).await.unwrap();
    assert_eq!(check(&boss, "@network"), Check::Held);
}

/// The reverse case: a person grants for passing on only after others have granted, and the restriction lasts.
#[tokio::test]
async fn what_a_person_gives_for_passing_on_only_takes_the_use_of_what_others_gave_for_good() {
    let world = World::new();
    let boss = world.worker("boss", &[]).await;
    let friend = world.worker("friend", &["@write:/ws"]).await;
    friend.grant(boss.id(), tag("@write:/ws/a"), why()).await.unwrap();
    assert_eq!(check(&boss, "@write:/ws/a"), Check::Held);
    let grants = world.you().give_to_pass_on(boss.id(), tag("@write:/ws"), Scope::Always, why()).await.unwrap();
    assert_eq!(check(&boss, "@write:/ws/a"), Check::NotHeld);
    world.engine.revoke(grants[0], None).await.unwrap();
    assert_eq!(check(&boss, "@write:/ws/a"), Check::NotHeld);
}

async fn says(world: &World, agent: &Agent, wanted: &str, answer: Answer) {
    let ticket = agent.request(ask(wanted)).await.unwrap();
    assert!(ticket.poll().is_none(), "{wanted} is asked");
    world.you().answer(ticket.id(), answer).await.unwrap();
}

async fn is_answered_from_memory(agent: &Agent, wanted: &str) -> bool {
    let ticket = agent.request(ask(wanted)).await.unwrap();
    ticket.poll().is_some_and(|ended| ended.outcome == Outcome::Denied && ended.decider == Decider::FreshRefusal)
}

/// A18: after a denial of `@write:/d`, a person was asked again about `/d/sub`, `@read:/d` and `/`.
#[tokio::test]
async fn a_no_covers_what_it_covers_and_what_covers_it() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let kid = ann.create(profile("kid", "you", Kind::Subagent), &[], why()).await.unwrap();
    let other = world.worker("other", &[]).await;
    says(&world, &ann, "@write:/d", Answer::deny()).await;
    for wanted in ["@write:/d", "@write:/d/sub", "@read:/d", "@read:/d/sub", "@write:/"] {
        assert!(is_answered_from_memory(&ann, wanted).await, "{wanted}");
        assert!(is_answered_from_memory(&kid, wanted).await, "{wanted} by a child");
    }
    assert!(!is_answered_from_memory(&ann, "@write:/e").await, "nobody was asked about that");
    assert!(!is_answered_from_memory(&other, "@write:/d").await, "nor about this one");
    world.later(60_000).await;
    assert!(!is_answered_from_memory(&ann, "@write:/d/sub").await, "it is not fresh for ever");
}

/// Returns the number of requests of `agent` that reach people before it has to wait.
async fn burst(world: &World, agent: &Agent, name: &str) -> usize {
    for number in 0..100 {
        match agent.request(ask(&format!("@read:/{name}/{number}"))).await {
            Ok(_) => {}
            Err(bestow::Error::Refused(Refusal::AskedAfterNo { .. } | Refusal::TooManyAsked { .. })) => {
                let pending = world.engine.pending().unwrap();
                for waiting in &pending {
                    agent.cancel(waiting.request.id).await.unwrap();
                }
                return pending.len();
            }
            Err(other) => panic!("{other}"),
        }
    }
    100
}

/// A18: sixty requests came in one burst, whatever people had answered.
#[tokio::test]
async fn each_no_in_a_row_halves_what_a_family_may_ask_and_doubles_how_long() {
    let world = World::with(|settings| settings.max_pending = 1000);
    let ann = world.worker("ann", &[]).await;
    let mut most = 60;
    for no in 0..5 {
        says(&world, &ann, &format!("@write:/no/{no}"), Answer::deny()).await;
        most /= 2;
        assert_eq!(burst(&world, &ann, &format!("after-{no}")).await, most);
        // The pause is over, and the earlier denials still count.
        world.later(60_000 << no).await;
    }
    says(&world, &ann, "@write:/no/more", Answer::deny()).await;
    let kid = ann.create(profile("kid", "you", Kind::Subagent), &[], why()).await.unwrap();
    let refused = refusal(kid.request(ask("@network")).await);
    let until = world.after(32 * 60_000);
    assert_eq!(refused, Refusal::AskedAfterNo { agent: id("kid"), noes: 6, until }, "a child asks in the same family");
    world.later(32 * 60_000).await;
    says(&world, &ann, "@write:/yes", Answer::allow()).await;
    world.later(60_000).await;
    assert_eq!(burst(&world, &ann, "after-yes").await, 60);
}

/// A19: the grants of one neighbour exhausted the limit of another one.
#[tokio::test]
async fn no_giver_fills_the_room_of_another() {
    let world = World::with(|settings| settings.max_grants = 8);
    let [lead, neighbour] =
        [world.worker("lead", &["@network"]).await, world.worker("neighbour", &["@write:/n"]).await];
    let kid = lead.create(profile("kid", "you", Kind::Subagent), &[], why()).await.unwrap();
    for number in 0..8 {
        neighbour.grant(kid.id(), tag(&format!("@write:/n/{number}")), why()).await.unwrap();
    }
    let full = Refusal::TooManyGrants { agent: id("kid"), max: 8 };
    assert_eq!(refusal(neighbour.grant(kid.id(), tag("@write:/n/more"), why()).await), full);
    lead.grant(kid.id(), tag("@network"), why()).await.unwrap();
    assert_eq!(check(&kid, "@network"), Check::Held);
}

/// The counts of the received events, and their size as stored.
#[derive(Default)]
struct Record {
    facts: usize,
    bytes: usize,
    kinds: BTreeMap<String, u64>,
    merged: BTreeMap<String, u64>,
}

impl Record {
    fn hear(&mut self, events: &mut Subscription) {
        for recorded in heard(events) {
            self.facts += 1;
            self.bytes += serde_json::to_string(&recorded).unwrap().len();
            *self.kinds.entry(recorded.event.kind().to_owned()).or_default() += 1;
            if let Event::FactsMerged { counts, .. } = &recorded.event {
                for (kind, count) in counts {
                    *self.merged.entry(kind.to_string()).or_default() += count;
                }
            }
        }
    }

    fn all(&self, kind: &str) -> u64 {
        self.kinds.get(kind).copied().unwrap_or_default() + self.merged.get(kind).copied().unwrap_or_default()
    }
}

/// A19: a bot in a tight loop filled the audit trail with 26 MB in 23 seconds.
#[tokio::test]
async fn a_bot_in_a_tight_loop_does_not_fill_the_record_and_nothing_is_lost_silently() {
    let world = World::new();
    let bot = world.worker("bot", &["@write:/ws"]).await;
    let friend = world.worker("friend", &[]).await;
    bot.grant(friend.id(), tag("@write:/ws/a"), why()).await.unwrap();
    let (mut events, mut record) = (world.engine.subscribe(), Record::default());
    for number in 0..5_000 {
        bot.grant(friend.id(), tag("@network"), why()).await.unwrap_err();
        bot.grant(friend.id(), tag("@write:/ws/a"), why()).await.unwrap();
        let denied = bot.authorize(Action::command("rm -rf /")).await.unwrap();
        assert!(!denied.is_allowed());
        if number > 1_000 {
            assert_eq!(denied.decision().id, None, "what has no record of its own has no name");
        }
        record.hear(&mut events);
    }
    assert!(record.facts < 620, "{} facts", record.facts);
    assert!(record.bytes < 1_000_000, "{} bytes", record.bytes);
    world.later(60_000).await;
    record.hear(&mut events);
    for kind in ["permission.refused", "grant.repeated", "permission.evaluated"] {
        assert_eq!(record.all(kind), 5_000, "{kind}");
    }
    assert!(record.kinds["facts.merged"] <= 2);
    // The facts of another family are still recorded one by one.
    friend.grant(bot.id(), tag("@network"), why()).await.unwrap_err();
    record.hear(&mut events);
    assert_eq!(record.all("permission.refused"), 5_001);
}

#[tokio::test]
async fn what_changes_something_is_never_only_counted_and_what_takes_away_never_waits() {
    let world = World::with(|settings| settings.max_changes_per_minute = 100);
    let bot = world.worker("bot", &["@write:/ws"]).await;
    let friend = world.worker("friend", &[]).await;
    let (mut events, mut record) = (world.engine.subscribe(), Record::default());
    let mut given = Vec::new();
    let refused = loop {
        match bot.grant(friend.id(), tag(&format!("@write:/ws/{}", given.len())), why()).await {
            Ok(grants) => given.extend(grants),
            other => break refusal(other),
        }
        assert!(given.len() <= 101);
    };
    assert_eq!(refused, Refusal::TooManyChanges { agent: id("bot"), max: 100 });
    let kid = bot.create(profile("kid", "you", Kind::Subagent), &[], why()).await;
    assert!(matches!(refusal(kid), Refusal::TooManyChanges { .. }));
    for grant in &given {
        bot.revoke(*grant, None).await.unwrap();
    }
    record.hear(&mut events);
    assert_eq!((record.all("grant.issued"), record.all("grant.revoked")), (given.len() as u64, given.len() as u64));
    assert!(record.merged.is_empty());
    world.later(120_000).await;
    bot.grant(friend.id(), tag("@write:/ws/again"), why()).await.unwrap();
}

#[tokio::test]
async fn what_is_acted_upon_has_its_record_each_time() {
    let world = World::with(|settings| {
        settings.max_facts_per_minute = 1;
        settings.max_changes_per_minute = 1;
    });
    let bot = world.worker("bot", &["@write:/ws"]).await;
    let (mut events, mut record) = (world.engine.subscribe(), Record::default());
    for _ in 0..500 {
        let allowed = bot.authorize(Action::write("/ws/a")).await.unwrap();
        assert!(allowed.is_allowed() && allowed.decision().id.is_some());
    }
    record.hear(&mut events);
    assert_eq!(record.kinds.get("permission.evaluated"), Some(&500));
}

/// The engine records the counts before it ends.
#[tokio::test]
async fn an_engine_that_ends_tells_what_it_only_counted() {
    let world = World::with(|settings| settings.max_facts_per_minute = 1);
    let bot = world.worker("bot", &[]).await;
    let friend = world.worker("friend", &[]).await;
    let (mut events, mut record) = (world.engine.subscribe(), Record::default());
    for _ in 0..100 {
        bot.grant(friend.id(), tag("@network"), why()).await.unwrap_err();
    }
    world.engine.shutdown().await;
    record.hear(&mut events);
    assert_eq!(record.all("permission.refused"), 100);
}

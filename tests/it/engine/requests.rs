//! Tests of agents that request missing permissions.

use std::time::Duration;

use bestow::{
    Answer, Event, Outcome, PermissionRequest,
    decision::{Check, Decider, Refusal},
    grant::{Permissions, Scope},
};

use crate::support::{World, ask, check, heard, id, mail, refusal, tag, tags, why};

fn list(texts: &[&str]) -> Permissions {
    Permissions::try_from(tags(texts)).unwrap()
}

#[tokio::test]
async fn what_is_held_is_granted_without_asking() {
    let world = World::new();
    let ann = world.worker("ann", &["@write:/ws"]).await;
    let ticket = ann.request(ask("@read:/ws/a")).await.unwrap();
    let resolution = ticket.poll().unwrap();
    assert_eq!((resolution.outcome, &resolution.decider), (Outcome::Granted, &Decider::AlreadyHeld));
    assert_eq!(world.engine.pending().unwrap(), []);
}

#[tokio::test]
async fn only_the_missing_part_is_asked() {
    let world = World::new();
    let ann = world.worker("ann", &["@network"]).await;
    let ticket = ann.request(PermissionRequest::new(list(&["@network", "@events"]), why())).await.unwrap();
    let pending = world.engine.pending().unwrap();
    assert_eq!(pending[0].request.permissions().collect::<Vec<_>>(), [&tag("@events")]);
    world.you().answer(ticket.id(), Answer::allow()).await.unwrap();
    assert_eq!(ticket.poll().unwrap().granted, tags(&["@network", "@events"]));
    assert_eq!(world.engine.grants().unwrap().len(), 2);
}

#[tokio::test]
async fn two_names_of_one_thing_are_asked_once() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    ann.request(PermissionRequest::new(list(&["@read:/ws/a", "@read:/ws//a"]), why())).await.unwrap();
    assert_eq!(world.engine.pending().unwrap()[0].request.asked.len(), 1);
}

#[tokio::test]
async fn the_same_question_joins_the_one_that_waits() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let bob = world.worker("bob", &[]).await;
    let first = ann.request(ask("@network")).await.unwrap();
    let second = ann.request(ask("@network")).await.unwrap();
    assert_eq!(first.id(), second.id());
    let narrower = ann.request(ask("@network").at_most(Scope::Once)).await.unwrap();
    assert_ne!(narrower.id(), first.id(), "another scope is another question");
    assert_ne!(bob.request(ask("@network")).await.unwrap().id(), first.id(), "another agent is another question");
    world.you().answer(first.id(), Answer::allow()).await.unwrap();
    assert_eq!(first.poll(), second.poll());
}

#[tokio::test]
async fn a_fresh_no_answers_the_same_question_and_is_not_prolonged_by_that() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let ticket = ann.request(ask("@network")).await.unwrap();
    world.you().answer(ticket.id(), Answer::deny()).await.unwrap();
    for _ in 0..5 {
        world.later(10_000).await;
        let again = ann.request(ask("@network")).await.unwrap().poll().unwrap();
        assert_eq!((again.outcome, &again.decider), (Outcome::Denied, &Decider::FreshRefusal));
    }
    world.later(10_000).await;
    assert_eq!(ann.request(ask("@network")).await.unwrap().poll(), None, "after a minute it may ask again");
}

#[tokio::test]
async fn a_fresh_no_is_for_that_agent_and_that_permission_only() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let bob = world.worker("bob", &[]).await;
    let ticket = ann.request(ask("@network")).await.unwrap();
    world.you().answer(ticket.id(), Answer::deny()).await.unwrap();
    assert_eq!(bob.request(ask("@network")).await.unwrap().poll(), None);
    let mixed = ann.request(PermissionRequest::new(list(&["@network", "@events"]), why())).await.unwrap();
    assert_eq!(mixed.poll(), None, "the rest is asked");
    world.you().answer(mixed.id(), Answer::allow()).await.unwrap();
    let resolution = mixed.poll().unwrap();
    assert_eq!(resolution.outcome, Outcome::Denied);
    assert_eq!((&resolution.granted, &resolution.refused), (&tags(&["@events"]), &tags(&["@network"])));
}

#[tokio::test]
async fn a_yes_to_something_else_does_not_prolong_a_fresh_no() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let ticket = ann.request(ask("@network")).await.unwrap();
    world.you().answer(ticket.id(), Answer::deny()).await.unwrap();
    world.later(59_000).await;
    let mixed = ann.request(PermissionRequest::new(list(&["@network", "@events"]), why())).await.unwrap();
    world.you().answer(mixed.id(), Answer::allow()).await.unwrap();
    world.later(1_000).await;
    assert_eq!(ann.request(ask("@network")).await.unwrap().poll(), None);
}

#[tokio::test]
async fn what_nobody_answered_was_not_refused() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let ticket = ann.request(ask("@network")).await.unwrap();
    world.later(300_000).await;
    assert_eq!(ticket.poll().unwrap().outcome, Outcome::Expired);
    let again = ann.request(ask("@network")).await.unwrap();
    assert_eq!(again.poll(), None);
    ann.cancel(again.id()).await.unwrap();
    assert_eq!(again.poll().unwrap().outcome, Outcome::Cancelled);
    assert_eq!(ann.request(ask("@network")).await.unwrap().poll(), None);
}

#[tokio::test]
async fn so_many_questions_wait_and_no_more() {
    let world = World::with(|settings| settings.max_pending = 2);
    let ann = world.worker("ann", &[]).await;
    let first = ann.request(ask("@read:/a")).await.unwrap();
    ann.request(ask("@read:/b")).await.unwrap();
    let before = world.view();
    assert_eq!(refusal(ann.request(ask("@read:/c")).await), Refusal::TooManyPending { agent: id("ann"), max: 2 });
    assert_eq!(world.view(), before);
    assert_eq!(ann.request(ask("@read:/a")).await.unwrap().id(), first.id(), "joining is no new question");
    ann.cancel(first.id()).await.unwrap();
    assert!(ann.request(ask("@read:/c")).await.is_ok());
}

#[tokio::test]
async fn only_the_asker_takes_a_question_back() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let bob = world.worker("bob", &[]).await;
    let ticket = ann.request(ask("@network")).await.unwrap();
    assert_eq!(refusal(bob.cancel(ticket.id()).await), Refusal::NotYours(ticket.id()));
    assert_eq!(refusal(bob.ticket(ticket.id())), Refusal::NotYours(ticket.id()));
    ann.cancel(ticket.id()).await.unwrap();
    assert!(matches!(refusal(ann.cancel(ticket.id()).await), Refusal::AlreadyResolved(_)));
    assert_eq!(refusal(bob.cancel(ticket.id()).await), Refusal::NotYours(ticket.id()));
}

#[tokio::test]
async fn a_lost_ticket_is_found_again() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let id = ann.request(ask("@network")).await.unwrap().id();
    let ticket = ann.ticket(id).unwrap();
    assert_eq!(ticket.poll(), None);
    world.you().answer(id, Answer::allow()).await.unwrap();
    assert_eq!(ticket.poll(), ann.ticket(id).unwrap().poll());
    assert_eq!(world.engine.resolution(id).unwrap(), ticket.poll());
}

#[tokio::test]
async fn dropping_the_ticket_leaves_the_question_standing_and_the_mailbox_hears() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let id = ann.request(ask("@network")).await.unwrap().id();
    world.you().answer(id, Answer::allow()).await.unwrap();
    let mail = mail(&ann.mailbox());
    assert!(matches!(&mail[..], [bestow::agent::Notification::Resolved(resolution)] if resolution.request == id));
    assert_eq!(check(&ann, "@network"), Check::Held);
}

#[tokio::test(start_paused = true)]
async fn waiting_has_a_bound_and_then_the_question_still_stands() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let ticket = ann.request(ask("@network")).await.unwrap();
    assert_eq!(ticket.wait(Duration::from_secs(1)).await, None);
    assert_eq!(world.engine.pending().unwrap().len(), 1);
    let waiting = tokio::spawn({
        let ticket = ticket.clone();
        async move { ticket.wait(Duration::from_secs(60)).await }
    });
    crate::support::settle().await;
    world.you().answer(ticket.id(), Answer::allow()).await.unwrap();
    assert_eq!(waiting.await.unwrap(), ticket.poll());
}

/// A timer would take a millisecond.
#[tokio::test]
async fn who_has_no_patience_is_told_at_once() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let ticket = ann.request(ask("@network")).await.unwrap();
    assert_eq!(crate::support::futures_now(ticket.wait(Duration::ZERO)), None);
    world.you().answer(ticket.id(), Answer::allow()).await.unwrap();
    assert_eq!(crate::support::futures_now(ticket.wait(Duration::ZERO)), ticket.poll());
}

#[tokio::test]
async fn a_question_ends_when_everything_it_asks_is_held_otherwise() {
    let world = World::new();
    let ann = world.worker("ann", &["@write:/ws"]).await;
    let bob = world.worker("bob", &[]).await;
    let ticket = bob.request(PermissionRequest::new(list(&["@read:/ws/a", "@read:/ws/b"]), why())).await.unwrap();
    ann.grant(bob.id(), tag("@read:/ws/a"), why()).await.unwrap();
    assert_eq!(ticket.poll(), None, "half of it is not enough");
    ann.grant(bob.id(), tag("@read:/ws/b"), why()).await.unwrap();
    let resolution = ticket.poll().unwrap();
    assert_eq!((resolution.outcome, &resolution.decider), (Outcome::Granted, &Decider::AlreadyHeld));
}

#[tokio::test]
async fn a_scope_that_is_over_cannot_be_asked_for() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let past = Scope::Until(world.now());
    assert_eq!(refusal(ann.request(ask("@network").at_most(past)).await), Refusal::ScopePast(past));
    assert_eq!(world.engine.pending().unwrap(), []);
}

#[tokio::test]
async fn sequence_numbers_have_no_gap_and_facts_come_in_order() {
    let world = World::new();
    let mut events = world.engine.subscribe();
    let ann = world.worker("ann", &["@network"]).await;
    let ticket = ann.request(ask("@events")).await.unwrap();
    world.you().answer(ticket.id(), Answer::allow()).await.unwrap();
    let _ = ann.grant(&id("nobody"), tag("@network"), why()).await;
    let all = heard(&mut events);
    let first = all[0].sequence;
    assert!(all.iter().zip(first..).all(|(event, number)| event.sequence == number));
    let kinds: Vec<_> = all.iter().map(|recorded| recorded.event.kind()).collect();
    let expected = ["agent.registered", "grant.issued", "permission.requested", "permission.routed", "grant.issued"];
    assert_eq!(kinds[..5], expected);
    assert_eq!(kinds[5..], ["permission.resolved", "permission.refused"]);
    for recorded in all {
        let text = serde_json::to_string(&recorded).unwrap();
        assert_eq!(serde_json::from_str::<bestow::event::Recorded>(&text).unwrap(), recorded, "{text}");
    }
}

#[tokio::test]
async fn what_is_told_is_in_force() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let mut events = world.engine.subscribe();
    for _ in 0..200 {
        let you = world.you();
        let agent = ann.id().clone();
        let giving = std::thread::spawn(move || {
            crate::support::futures_now(you.give(&agent, tag("@network"), Scope::Always, why())).unwrap()
        });
        let told = events.next().await.unwrap();
        assert!(matches!(told.event, Event::GrantIssued { .. }));
        assert_eq!(check(&ann, "@network"), Check::Held);
        let grant = giving.join().unwrap()[0];
        world.engine.revoke(grant, None).await.unwrap();
        heard(&mut events);
    }
}

#[tokio::test]
async fn a_mailbox_that_nobody_reads_drops_the_oldest_and_says_so() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    world.you().give(ann.id(), tag("@network"), Scope::Always, why()).await.unwrap();
    for number in 0..100 {
        world.engine.message(ann.id(), None, &number.to_string()).await.unwrap();
    }
    // Messages displace older messages, and no facts.
    let all = mail(&ann.mailbox());
    assert_eq!(all.len(), 66);
    assert_eq!(all[0], bestow::agent::Notification::Missed(36));
    assert!(matches!(all[1], bestow::agent::Notification::Granted(_)));
    assert_eq!(all[2].to_string(), "36");
}

#[tokio::test]
async fn a_flood_of_questions_leaves_a_bounded_memory_and_wakes_nobody() {
    let world = World::with(|settings| settings.max_changes_per_minute = u32::MAX);
    let ann = world.worker("ann", &["@network"]).await;
    let first = ann.request(ask("@network")).await.unwrap().id();
    for _ in 0..4_096 {
        ann.request(ask("@network")).await.unwrap();
    }
    assert_eq!(world.engine.resolution(first).unwrap(), None, "the oldest are forgotten");
    assert_eq!(world.engine.pending().unwrap(), []);
}

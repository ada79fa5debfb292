//! Tests of the answers of people and their effects.

use bestow::{
    Answer, Outcome, PermissionRequest,
    decision::{Check, Decider, Refusal},
    grant::{Permissions, Scope},
    user::Prompt,
};

use crate::support::{World, ask, check, futures_now, id, refusal, tag, tags, why};

fn both() -> PermissionRequest {
    PermissionRequest::new(Permissions::try_from(tags(&["@network", "@events"])).unwrap(), why())
}

#[tokio::test]
async fn a_yes_is_in_force_when_the_answer_returns() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let ticket = ann.request(both()).await.unwrap();
    world.you().answer(ticket.id(), Answer::allow()).await.unwrap();
    assert_eq!((check(&ann, "@network"), check(&ann, "@events")), (Check::Held, Check::Held));
    let resolution = ticket.poll().unwrap();
    assert_eq!(resolution.outcome, Outcome::Granted);
    assert!(
        matches!(&resolution.decider, Decider::Person { by, means } if by.as_str() == "ann" && &**means == "terminal")
    );
}

#[tokio::test]
async fn a_partial_yes_gives_that_part_and_is_told_as_a_no() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let ticket = ann.request(both()).await.unwrap();
    let word = "the network is enough".parse::<bestow::text::Reason>().unwrap();
    world.you().answer(ticket.id(), Answer::allow_only(tag("@network")).feedback(word.clone())).await.unwrap();
    let resolution = ticket.poll().unwrap();
    assert_eq!(resolution.outcome, Outcome::Denied);
    assert_eq!((&resolution.granted, &resolution.refused), (&tags(&["@network"]), &tags(&["@events"])));
    assert_eq!(resolution.feedback, Some(word));
    assert_eq!((check(&ann, "@network"), check(&ann, "@events")), (Check::Held, Check::NotHeld));
}

#[tokio::test]
async fn nobody_can_allow_what_was_not_asked() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let ticket = ann.request(ask("@write:/ws/a")).await.unwrap();
    let before = world.view();
    for wider in ["@write:/ws", "@read:/ws/a", "@network"] {
        let answered = world.you().answer(ticket.id(), Answer::allow_only(tag(wider))).await;
        assert_eq!(refusal(answered), Refusal::NotAsked(tag(wider)));
    }
    assert_eq!(world.view(), before);
    assert_eq!(ticket.poll(), None);
}

#[tokio::test]
async fn a_person_may_narrow_the_scope_and_not_widen_it() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let soon = Scope::Until(world.after(1_000));
    let ticket = ann.request(ask("@network").at_most(soon)).await.unwrap();
    for wider in [Scope::Always, Scope::Session, Scope::Until(world.after(1_001))] {
        let refused = refusal(world.you().answer(ticket.id(), Answer::allow().scope(wider)).await);
        assert_eq!(refused, Refusal::ScopeTooWide { asked: soon, answered: wider });
    }
    world.you().answer(ticket.id(), Answer::allow().scope(Scope::Once)).await.unwrap();
    assert_eq!(check(&ann, "@network"), Check::HeldOnce);
    assert_eq!(ticket.poll().unwrap().scope, Some(Scope::Once));
}

#[tokio::test]
async fn without_a_word_about_the_scope_it_is_the_session() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let ticket = ann.request(ask("@network")).await.unwrap();
    world.you().answer(ticket.id(), Answer::allow()).await.unwrap();
    assert_eq!(ticket.poll().unwrap().scope, Some(Scope::Session));
    world.engine.begin_run(ann.id(), "next".parse().unwrap()).await.unwrap();
    assert_eq!(check(&ann, "@network"), Check::NotHeld);
}

#[tokio::test]
async fn a_yes_for_a_moment_that_is_past_is_refused_and_a_no_is_not() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let ticket = ann.request(ask("@network").at_most(Scope::Until(world.after(1_000)))).await.unwrap();
    world.later(2_000).await;
    assert!(matches!(refusal(world.you().answer(ticket.id(), Answer::allow()).await), Refusal::ScopePast(_)));
    world.you().answer(ticket.id(), Answer::deny()).await.unwrap();
    assert_eq!(ticket.poll().unwrap().outcome, Outcome::Denied);
}

#[tokio::test]
async fn a_no_is_possible_even_if_the_agent_holds_more_than_it_may_by_now() {
    let world = World::new();
    let ann = world.worker("ann", &["@write:/a", "@write:/b"]).await;
    let ticket = ann.request(ask("@network")).await.unwrap();
    let fewer = crate::support::settings(|settings| settings.max_grants = 1);
    world.engine.configure(crate::support::policy(fewer, &[])).await.unwrap();
    assert!(matches!(refusal(world.you().answer(ticket.id(), Answer::allow()).await), Refusal::TooManyGrants { .. }));
    world.you().answer(ticket.id(), Answer::deny()).await.unwrap();
    assert_eq!(ticket.poll().unwrap().outcome, Outcome::Denied);
}

#[tokio::test]
async fn a_late_answer_is_told_how_it_ended() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let ticket = ann.request(ask("@network")).await.unwrap();
    world.you().answer(ticket.id(), Answer::deny()).await.unwrap();
    let late = refusal(world.you().answer(ticket.id(), Answer::allow()).await);
    assert_eq!(late, Refusal::AlreadyResolved(ticket.poll().unwrap()));
    assert_eq!(check(&ann, "@network"), Check::NotHeld);
    let never = "018f0000-0000-7000-8000-000000000000".parse().unwrap();
    assert_eq!(refusal(world.you().answer(never, Answer::allow()).await), Refusal::UnknownRequest(never));
}

/// Tests the deadline without a task between it and the answer, so only the answer itself can detect it.
#[tokio::test]
async fn an_answer_after_the_deadline_is_late_even_if_nobody_noticed_the_deadline() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let ticket = ann.request(ask("@network")).await.unwrap();
    world.clock.advance(std::time::Duration::from_secs(300));
    let late = refusal(world.you().answer(ticket.id(), Answer::allow()).await);
    assert!(matches!(late, Refusal::AlreadyResolved(resolution) if resolution.outcome == Outcome::Expired));
    assert_eq!(check(&ann, "@network"), Check::NotHeld);
}

#[tokio::test]
async fn another_owner_can_neither_see_nor_answer() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let ticket = ann.request(ask("@network")).await.unwrap();
    let them = world.approver("them");
    assert_eq!(them.pending().unwrap(), []);
    let other = Refusal::OtherOwner { agent: id("ann"), owner: "them".parse().unwrap() };
    assert_eq!(refusal(them.answer(ticket.id(), Answer::allow()).await), other);
    assert!(matches!(refusal(them.request_with_code(&ticket.code().to_string())), Refusal::UnknownCode(_)));
    assert_eq!(refusal(them.give(ann.id(), tag("@network"), Scope::Always, why()).await), other);
    world.you().answer(ticket.id(), Answer::allow()).await.unwrap();
    assert_eq!(refusal(them.answer(ticket.id(), Answer::deny()).await), other, "not even how it ended");
    let grant = ann.grants().unwrap()[0].id;
    assert!(matches!(refusal(them.revoke(grant, None).await), Refusal::UnknownGrant(_)));
    assert_eq!(check(&ann, "@network"), Check::Held);
}

#[tokio::test]
async fn a_short_code_finds_the_request_however_it_is_typed() {
    let world = World::new();
    let ticket = world.worker("ann", &[]).await.request(ask("@network")).await.unwrap();
    let typed = format!("  [{}] ", ticket.code().to_string().to_ascii_uppercase());
    assert_eq!(world.you().request_with_code(&typed).unwrap(), ticket.id());
    world.you().answer(ticket.id(), Answer::deny()).await.unwrap();
    let late = refusal(world.you().request_with_code(&typed));
    assert!(matches!(late, Refusal::AlreadyResolved(_)), "it is told how that ended: {late}");
    assert!(matches!(refusal(world.you().request_with_code("zzzzzz")), Refusal::UnknownCode(_)));
}

/// A hundred threads answer at once, one half with an approval and the other half with a denial.
#[tokio::test]
async fn of_a_hundred_answers_at_the_same_time_one_wins_and_all_others_hear_which() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let ticket = ann.request(ask("@network")).await.unwrap();
    let start = std::sync::Barrier::new(100);
    let one = |number: usize| {
        let (you, start, request) = (world.you(), &start, ticket.id());
        move || {
            let answer = if number.is_multiple_of(2) { Answer::allow() } else { Answer::deny() };
            start.wait();
            futures_now(you.answer(request, answer))
        }
    };
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..100).map(|number| scope.spawn(one(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let resolution = ticket.poll().unwrap();
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    for lost in results.into_iter().filter(Result::is_err) {
        assert_eq!(refusal(lost), Refusal::AlreadyResolved(resolution.clone()));
    }
    let held = check(&ann, "@network") == Check::Held;
    assert_eq!(held, resolution.outcome == Outcome::Granted);
    assert_eq!(world.engine.grants().unwrap().len(), usize::from(held));
}

#[tokio::test]
async fn everybody_who_saw_the_question_hears_how_it_ended() {
    let world = World::new();
    world.lead("lead", &[]).await;
    let ann = world.worker("ann", &[]).await;
    let mut user = world.engine.connect(id("lead")).unwrap();
    let mut dashboard = world.you().attend().unwrap();
    let ticket = ann.request(ask("@network")).await.unwrap();
    world.you().answer(ticket.id(), Answer::allow()).await.unwrap();
    let over = ticket.poll().unwrap();
    for heard in [[user.next().await, user.next().await], [dashboard.next().await, dashboard.next().await]] {
        assert!(matches!(&heard[0], Some(Prompt::Ask(request)) if request.id == ticket.id()));
        assert_eq!(heard[1], Some(Prompt::Settled(over.clone())));
    }
}

/// A request for a held permission is free and unlimited, so it must not fill the screens of people.
#[tokio::test]
async fn what_no_person_was_asked_is_not_shown_as_settled() {
    let world = World::new();
    let ann = world.worker("ann", &["@network"]).await;
    let mut dashboard = world.you().attend().unwrap();
    for _ in 0..2_000 {
        assert_eq!(ann.request(ask("@network")).await.unwrap().poll().unwrap().outcome, Outcome::Granted);
    }
    let ticket = ann.request(ask("@events")).await.unwrap();
    assert!(matches!(dashboard.next().await, Some(Prompt::Ask(request)) if request.id == ticket.id()));
}

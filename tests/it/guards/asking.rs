//! Tests of a request about an action, and its first answer.

use bestow::{
    Action, Answer, Event, Outcome,
    action::{Authorization, Operation},
    decision::{Decider, DecisionSource, Refusal, Ruled, Verdict},
    policy::Interaction,
    user::Prompt,
};

use super::{asked_about_all, authorize, question, say, updates, updates_heard, verdict, write};
use crate::support::{World, heard, refusal};

#[tokio::test]
async fn a_question_names_run_agent_tool_operation_and_the_absolute_path() {
    let world = World::new();
    let (bot, you, run) = asked_about_all(&world).await;
    let mut there = you.attend().unwrap();
    let decided = authorize(&bot, write("src/index.ts")).await;
    let Authorization::Asked(decision, ticket) = decided else { panic!("{decided:?}") };
    assert_eq!((decision.decision, decision.decision_source), (Ruled::Ask, DecisionSource::Rule));
    assert_eq!(&*decision.decision_reason, "a policy requires a person to decide");
    assert!(super::rests_on(&decision, "write-path-policy"));
    let Some(Prompt::Ask(request)) = there.next().await else { panic!("nothing was shown") };
    let facts = request.action.as_ref().unwrap();
    assert_eq!((&request.run, request.from.as_str(), facts.tool.as_str()), (&run, "bot", "write_file"));
    assert_eq!((facts.operation, &*facts.resource), (Operation::Write, "/ws/src/index.ts"));
    assert!(ticket.poll().is_none(), "it waits");
}

#[tokio::test]
async fn a_plain_yes_is_for_one_use_and_the_next_time_asks_again() {
    let world = World::new();
    let (bot, you, _) = asked_about_all(&world).await;
    let (first, ticket) = question(&bot, write("/ws/a")).await;
    let mut events = world.engine.subscribe();
    say(&you, first, Answer::allow()).await;
    assert_eq!(ticket.poll().unwrap().outcome, Outcome::Granted);
    assert_eq!(verdict(&bot, write("/ws/a")).await, Verdict::Allow);
    assert!(updates_heard(&mut events).is_empty(), "what is for one use is in no guard");
    let (second, _) = question(&bot, write("/ws/a")).await;
    assert_ne!(first, second);
}

#[tokio::test]
async fn a_plain_no_is_for_this_time_and_leaves_nothing_in_the_guard() {
    let world = World::new();
    let (bot, you, _) = asked_about_all(&world).await;
    let (first, ticket) = question(&bot, write("/ws/a")).await;
    let mut events = world.engine.subscribe();
    say(&you, first, Answer::deny()).await;
    assert_eq!(ticket.poll().unwrap().outcome, Outcome::Denied);
    assert!(updates_heard(&mut events).is_empty());
    let (second, _) = question(&bot, write("/ws/a")).await;
    assert_ne!(first, second);
}

#[tokio::test]
async fn an_answer_to_what_was_never_asked_is_refused_by_name() {
    let world = World::new();
    let (_, you, _) = asked_about_all(&world).await;
    let nobody = "00000000-0000-7000-8000-000000000001".parse().unwrap();
    let refused = refusal(you.answer(nobody, Answer::allow()).await);
    assert_eq!(refused, Refusal::UnknownRequest(nobody));
    assert!(refused.to_string().contains(&nobody.to_string()));
}

#[tokio::test]
async fn of_two_answers_one_wins_and_the_other_hears_how_it_ended() {
    let world = World::new();
    let (bot, you, _) = asked_about_all(&world).await;
    let (request, ticket) = question(&bot, write("/ws/a")).await;
    let other = world.approver("you");
    let mut events = world.engine.subscribe();
    let (yes, no) = tokio::join!(you.answer(request, Answer::allow()), other.answer(request, Answer::deny()));
    assert!(yes.is_ok());
    let Refusal::AlreadyResolved(resolution) = refusal(no) else { panic!("it was answered") };
    assert_eq!(resolution.outcome, ticket.poll().unwrap().outcome);
    let ends = heard(&mut events).iter().filter(|told| matches!(told.event, Event::Resolved { .. })).count();
    assert_eq!(ends, 1);
}

#[tokio::test]
async fn two_questions_at_once_get_each_its_own_answer_in_any_order() {
    let world = World::new();
    let (bot, you, _) = asked_about_all(&world).await;
    let (first, one) = question(&bot, write("/ws/a")).await;
    let (second, other) = question(&bot, write("/ws/b")).await;
    say(&you, second, Answer::deny()).await;
    say(&you, first, Answer::allow()).await;
    assert_eq!(one.poll().unwrap().outcome, Outcome::Granted);
    assert_eq!(other.poll().unwrap().outcome, Outcome::Denied);
}

#[tokio::test]
async fn a_run_that_ends_takes_its_questions_back() {
    let world = World::new();
    let (bot, you, _) = asked_about_all(&world).await;
    let (request, ticket) = question(&bot, write("/ws/a")).await;
    world.engine.begin_run(bot.id(), "next".parse().unwrap()).await.unwrap();
    let ended = ticket.poll().unwrap();
    assert_eq!((ended.outcome, &ended.decider), (Outcome::Cancelled, &Decider::RunOver));
    assert!(matches!(refusal(you.answer(request, Answer::allow()).await), Refusal::AlreadyResolved(_)));
}

#[tokio::test]
async fn whoever_comes_later_is_shown_what_waits_under_the_same_id() {
    let world = World::new();
    let (bot, you, _) = asked_about_all(&world).await;
    let (request, _ticket) = question(&bot, write("/ws/a")).await;
    let mut there = you.attend().unwrap();
    let Some(Prompt::Ask(shown)) = there.next().await else { panic!("nothing was shown") };
    assert_eq!(shown.id, request);
}

#[tokio::test]
async fn with_the_last_approver_gone_a_question_waits_and_expires_and_is_never_allowed() {
    let world = World::new();
    let (bot, you, _) = asked_about_all(&world).await;
    let there = you.attend().unwrap();
    let (_, ticket) = question(&bot, write("/ws/a")).await;
    drop(there);
    world.later(299_999).await;
    assert!(ticket.poll().is_none());
    world.later(2).await;
    assert_eq!(ticket.poll().unwrap().outcome, Outcome::Expired);
    assert_eq!(bot.verdict(&write("/ws/a")).unwrap(), Verdict::Ask);
}

#[tokio::test]
async fn where_nobody_answers_a_question_is_a_no_at_once() {
    let world = World::with(|settings| settings.interaction = Interaction::NonInteractive);
    let (bot, _, _) = asked_about_all(&world).await;
    let decided = authorize(&bot, write("/ws/a")).await;
    assert!(matches!(&decided, Authorization::Denied(decision) if decision.decision == Ruled::Unavailable));
    assert!(world.engine.pending().unwrap().is_empty());
}

#[tokio::test]
async fn somebody_elses_person_answers_nothing_and_the_question_waits() {
    let world = World::new();
    let (bot, _, _) = asked_about_all(&world).await;
    let (request, ticket) = question(&bot, write("/ws/a")).await;
    let them = world.approver("them");
    assert!(matches!(refusal(them.answer(request, Answer::allow()).await), Refusal::OtherOwner { .. }));
    assert!(ticket.poll().is_none());
}

#[tokio::test]
async fn what_needs_no_question_leaves_no_guard_event() {
    let world = World::new();
    let bot = world.worker("bot", &["@write:/ws"]).await;
    let mut events = world.engine.subscribe();
    assert_eq!(verdict(&bot, Action::write("/ws/a")).await, Verdict::Allow);
    let told = heard(&mut events);
    assert!(updates(&told).is_empty());
    assert!(told.iter().all(|recorded| matches!(recorded.event, Event::Evaluated { .. })));
}

//! Tests of an engine that continues from its stored events.

use std::{sync::Arc, time::Duration};

use bestow::{
    Action, Answer, Event, Kind, Outcome,
    decision::{Check, Verdict},
    event::Timestamp,
    grant::Scope,
    host::{ManualClock, MemoryStore, Store},
    policy::Interaction,
    tool::{PathPolicy, ToolPolicies},
    user::Prompt,
};

use super::held::{world, world_at};
use crate::support::{START, World, ask, check, heard, id, refusal, tag, why};

async fn again(store: &Arc<MemoryStore>, world: World) -> World {
    world.engine.shutdown().await;
    world_at(store.clone(), world.clock, |_| {}).await
}

#[tokio::test]
async fn agents_grants_questions_and_denials_come_back_under_their_names() {
    let store = Arc::new(MemoryStore::new());
    let before = world(store.clone()).await;
    let ann = before.worker("ann", &["@write:/ws", "@network"]).await;
    let bob = before.worker("bob", &[]).await;
    before.worker("gone", &["@events"]).await;
    before.engine.retire(&id("gone")).await.unwrap();
    ann.grant(bob.id(), tag("@network"), why()).await.unwrap();
    let waiting = bob.request(ask("@write:/ws/a")).await.unwrap();
    let denied = bob.request(ask("@events")).await.unwrap();
    before.you().answer(denied.id(), Answer::deny()).await.unwrap();
    let view = before.view();

    let after = again(&store, before).await;
    assert_eq!(after.view(), view);
    let (ann, bob) = (after.engine.agent(id("ann")).unwrap(), after.engine.agent(id("bob")).unwrap());
    assert_eq!((check(&ann, "@write:/ws/x"), check(&bob, "@network")), (Check::Held, Check::Held));
    assert!(after.engine.agent(id("gone")).is_err());
    let ticket = bob.ticket(waiting.id()).unwrap();
    assert_eq!((ticket.poll(), ticket.code()), (None, waiting.code()));
    let again = bob.request(ask("@events")).await.unwrap();
    assert_eq!(again.poll().unwrap().outcome, Outcome::Denied, "the denial is still fresh");
    after.you().answer(waiting.id(), Answer::allow()).await.unwrap();
    assert_eq!(ticket.resolution().await.outcome, Outcome::Granted);
    // Numbers continue after the last one.
    let new = ann.grant(bob.id(), tag("@write:/ws/b"), why()).await.unwrap();
    assert!(after.view() != view && new[0].to_string().as_str() > "g3");
}

#[tokio::test]
async fn a_question_of_an_engine_that_ended_is_over_for_whoever_waited_there_and_stands_for_the_next() {
    let store = Arc::new(MemoryStore::new());
    let before = world(store.clone()).await;
    let ann = before.worker("ann", &[]).await;
    let ticket = ann.request(ask("@network")).await.unwrap();
    let after = again(&store, before).await;
    assert_eq!(ticket.resolution().await.outcome, Outcome::Unavailable);
    assert_eq!(after.engine.pending().unwrap()[0].request.id, ticket.id());
}

#[tokio::test]
async fn a_client_that_reconnects_gets_its_questions_again_with_the_same_names() {
    let store = Arc::new(MemoryStore::new());
    let before = world(store.clone()).await;
    before.lead("lead", &[]).await;
    let ann = before.worker("ann", &[]).await;
    let user = before.engine.connect(id("lead")).unwrap();
    let ticket = ann.request(ask("@network")).await.unwrap();
    let after = again(&store, before).await;
    drop(user);
    let mut user = after.engine.connect(id("lead")).unwrap();
    let Some(Prompt::Ask(request)) = user.next().await else { panic!("no question") };
    assert_eq!(request.id, ticket.id());
}

#[tokio::test]
async fn what_was_allowed_for_a_session_ends_with_the_engine_and_what_rested_on_it_with_it() {
    let store = Arc::new(MemoryStore::new());
    let before = world(store.clone()).await;
    let (ann, bob) = (before.worker("ann", &["@events"]).await, before.worker("bob", &[]).await);
    before.you().give(ann.id(), tag("@network"), Scope::Session, why()).await.unwrap();
    ann.grant(bob.id(), tag("@network"), why()).await.unwrap();
    before.you().give(bob.id(), tag("@write:/ws"), Scope::Once, why()).await.unwrap();
    let run = |world: &World| world.engine.grants().unwrap().iter().find_map(|grant| grant.run.clone());
    let first = run(&before).unwrap();
    let after = again(&store, before).await;
    let (ann, bob) = (after.engine.agent(id("ann")).unwrap(), after.engine.agent(id("bob")).unwrap());
    assert_eq!((check(&ann, "@network"), check(&bob, "@network")), (Check::NotHeld, Check::NotHeld));
    assert_eq!((check(&ann, "@events"), check(&bob, "@write:/ws")), (Check::Held, Check::HeldOnce));
    after.you().give(ann.id(), tag("@network"), Scope::Session, why()).await.unwrap();
    assert_eq!(run(&after), Some(first), "the run itself goes on");
}

#[tokio::test]
async fn what_is_over_by_then_is_over() {
    let store = Arc::new(MemoryStore::new());
    let before = world(store.clone()).await;
    let ann = before.worker("ann", &[]).await;
    before.you().give(ann.id(), tag("@network"), Scope::Until(before.after(1_000)), why()).await.unwrap();
    let ticket = ann.request(ask("@events")).await.unwrap();
    before.engine.shutdown().await;
    before.clock.advance(Duration::from_secs(301));
    let after = world_at(store.clone(), before.clock, |_| {}).await;
    let ann = after.engine.agent(id("ann")).unwrap();
    assert_eq!(check(&ann, "@network"), Check::NotHeld);
    assert_eq!(ann.ticket(ticket.id()).unwrap().poll().unwrap().outcome, Outcome::Expired);
}

/// The attack: the machine's clock is set back while no engine runs, so that an expiring permission lasts longer.
#[tokio::test]
async fn a_clock_that_was_set_back_extends_nothing() {
    let store = Arc::new(MemoryStore::new());
    let before = world(store.clone()).await;
    let ann = before.worker("ann", &[]).await;
    before.you().give(ann.id(), tag("@network"), Scope::Until(before.after(1_000)), why()).await.unwrap();
    before.clock.advance(Duration::from_millis(900));
    before.worker("bob", &[]).await;
    before.engine.shutdown().await;
    let set_back = Arc::new(ManualClock::at(Timestamp::from_millis(5)));
    let after = world_at(store.clone(), set_back.clone(), |_| {}).await;
    let ann = after.engine.agent(id("ann")).unwrap();
    assert_eq!(check(&ann, "@network"), Check::Held);
    assert!(START <= after.engine.now().unwrap());
    set_back.advance(Duration::from_millis(99));
    assert_eq!(check(&ann, "@network"), Check::Held);
    set_back.advance(Duration::from_millis(1));
    assert_eq!(check(&ann, "@network"), Check::NotHeld, "it had 100 ms left");
}

#[tokio::test]
async fn an_engine_that_goes_on_says_so_and_tells_only_what_is_new() {
    let store = Arc::new(MemoryStore::new());
    let before = world(store.clone()).await;
    before.worker("ann", &["@network"]).await;
    let last = store.events().last().unwrap().sequence;
    let after = again(&store, before).await;
    let mut events = after.engine.subscribe();
    after.worker("bob", &[]).await;
    let told = heard(&mut events);
    assert_eq!(told[0].sequence, last + 2);
    let stored = store.events();
    assert!(stored.iter().map(|recorded| recorded.sequence).eq(1..=last + 2), "one number after the other");
    assert_eq!(stored[stored.len() - 2].event, Event::StoreOpened { cut: None, runs_go_on: false });
}

#[tokio::test]
async fn settings_that_the_host_gives_hold_over_those_that_are_stored() {
    let store = Arc::new(MemoryStore::new());
    let before = world(store.clone()).await;
    let ann = before.worker("ann", &[]).await;
    ann.request(ask("@network")).await.unwrap();
    before.engine.shutdown().await;
    let after = world_at(store, before.clock, |settings| settings.interaction = Interaction::NonInteractive).await;
    assert_eq!(after.engine.pending().unwrap(), [], "nobody may be asked any more");
}

#[tokio::test]
async fn an_agent_that_came_back_is_taken_and_not_made_again() {
    let store = Arc::new(MemoryStore::new());
    let before = world(store.clone()).await;
    before.agent("ann", "you", Kind::Cron, &["@network"]).await;
    let after = again(&store, before).await;
    let twice = after
        .engine
        .register(crate::support::profile("ann", "you", Kind::Cron), bestow::InitialGrants::nothing())
        .await;
    assert!(matches!(refusal(twice), bestow::decision::Refusal::AgentExists(_)));
    assert_eq!(check(&after.engine.agent(id("ann")).unwrap(), "@network"), Check::Held);
}

#[tokio::test]
async fn a_history_that_cannot_be_read_starts_nothing() {
    #[derive(Debug)]
    struct Unreadable;
    impl Store for Unreadable {
        fn load(
            &self,
            take: &mut dyn FnMut(bestow::host::Stored) -> Result<(), bestow::host::StoreError>,
        ) -> Result<(), bestow::host::StoreError> {
            take(bestow::host::Stored::Cut { what: "nothing".into() })?;
            Err(bestow::host::StoreError::new(bestow::host::StoreFault::Broken, "line 3 is damaged"))
        }
        fn report_to(&self, _: std::sync::Weak<dyn bestow::host::Progress>) {}
        fn commit(&self, _: Arc<bestow::host::Batch>) -> bestow::host::Taken {
            bestow::host::Taken::Waits
        }
        fn close(&self) {}
    }
    let clock = Arc::new(ManualClock::at(START));
    let opened = bestow::Engine::restore(None, clock, Arc::new(bestow::host::AsWritten), Arc::new(Unreadable)).await;
    assert!(opened.unwrap_err().to_string().contains("line 3"));
}

/// The attack: an agent makes the engine end, to be rid of what is denied for its run. Approvals for the run end.
#[tokio::test]
async fn policies_and_denials_of_a_run_outlast_the_engine_and_approvals_do_not() {
    let store = Arc::new(MemoryStore::new());
    let before = world(store.clone()).await;
    let ann = before.worker("ann", &["@write:/ws"]).await;
    let bob = before.worker("bob", &["@write:/ws"]).await;
    let run = before.engine.run_of(ann.id()).unwrap();
    before.you().join_run(bob.id(), &run).await.unwrap();
    let globs = |globs: &[&str]| globs.iter().map(|glob| glob.parse().unwrap()).collect();
    let write =
        PathPolicy { allow: globs(&["/ws/open/**"]), deny: globs(&["/ws/shut/**"]), default: Some(Verdict::Ask) };
    before.you().set_policies(&run, None, ToolPolicies { write, ..ToolPolicies::default() }).await.unwrap();
    let command = |name: &str| Action::command(&format!("node {name}.js"));
    for (name, answer) in [("denied", Answer::deny()), ("allowed", Answer::allow())] {
        let bestow::action::Authorization::Asked(_, ticket) = ann.authorize(command(name)).await.unwrap() else {
            panic!()
        };
        before.you().answer(ticket.id(), answer.scope(Scope::Session)).await.unwrap();
    }
    let told = |agent: &bestow::Agent| {
        let decided = |action: Action| agent.explain(&action).unwrap().decision.verdict();
        [
            decided(Action::write("/ws/open/a")),
            decided(Action::write("/ws/shut/a")),
            decided(Action::write("/ws/else")),
            decided(command("denied")),
            decided(command("allowed")),
        ]
    };
    let [allow, deny, ask] = [Verdict::Allow, Verdict::Deny, Verdict::Ask];
    assert_eq!(told(&ann), [allow, deny, ask, deny, allow]);
    assert_eq!(told(&bob), [allow, deny, ask, deny, ask], "an approval is for one agent");
    before.engine.shutdown().await;
    for _ in 0..2 {
        let after = world_at(store.clone(), before.clock.clone(), |_| {}).await;
        for agent in ["ann", "bob"] {
            let agent = after.engine.agent(id(agent)).unwrap();
            assert_eq!(told(&agent), [ask, deny, ask, deny, ask], "{agent:?}");
            assert_eq!(after.engine.run_of(agent.id()).unwrap(), run);
        }
        let policies = after.you().guards(&run).unwrap();
        assert!(!format!("{policies:?}").contains("open"), "{policies:?}");
        after.engine.shutdown().await;
    }
}

#[tokio::test]
async fn a_ticket_of_an_engine_that_ended_says_that_the_question_goes_on() {
    let store = Arc::new(MemoryStore::new());
    let before = world(store.clone()).await;
    let ann = before.worker("ann", &[]).await;
    let (one, other) = (ann.request(ask("@network")).await.unwrap(), ann.request(ask("@events")).await.unwrap());
    before.you().answer(other.id(), bestow::Answer::deny()).await.unwrap();
    before.engine.shutdown().await;
    let told = one.resolution().await;
    assert_eq!((told.outcome, &told.decider), (Outcome::Unavailable, &bestow::decision::Decider::NextEngine));
    assert!(told.to_string().contains("the request is stored and waits for the next engine"), "{told}");
    assert_eq!(one.poll(), Some(told));
    assert_eq!(other.resolution().await.outcome, Outcome::Denied, "what was answered was answered");
    let after = world_at(store.clone(), before.clock, |_| {}).await;
    let again = after.engine.agent(id("ann")).unwrap().ticket(one.id()).unwrap();
    assert_eq!(again.poll(), None);
    after.you().answer(one.id(), bestow::Answer::allow()).await.unwrap();
    assert_eq!(again.resolution().await.outcome, Outcome::Granted);
}

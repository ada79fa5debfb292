//! Tests of the route of a request to a person.

use bestow::{
    Answer, Kind, Outcome,
    agent::Notification,
    decision::{Decider, Refusal},
    policy::{Interaction, OnNoUser},
    request::Route,
    user::Prompt,
};

use crate::support::{World, ask, id, mail, owner, policy, refusal, settings, tag};

fn route(world: &World) -> Vec<Route> {
    world.engine.pending().unwrap().into_iter().map(|pending| pending.route).collect()
}

fn through(agent: &str) -> Vec<Route> {
    vec![Route::Carrier(id(agent))]
}

#[tokio::test]
async fn a_foreground_agent_asks_its_own_user() {
    let world = World::new();
    let one = world.lead("one", &[]).await;
    world.lead("two", &[]).await;
    let (_one, _two) = (world.engine.connect(id("one")).unwrap(), world.engine.connect(id("two")).unwrap());
    world.engine.user_active(&id("two")).await.unwrap();
    one.request(ask("@network")).await.unwrap();
    assert_eq!(route(&world), through("one"));
}

#[tokio::test]
async fn a_background_agent_asks_through_the_foreground_agent_whose_user_was_active_last() {
    let world = World::new();
    let worker = world.worker("worker", &[]).await;
    let mut users = Vec::new();
    for lead in ["one", "two", "three"] {
        world.lead(lead, &[]).await;
        users.push(world.engine.connect(id(lead)).unwrap());
    }
    for lead in ["three", "two"] {
        world.engine.user_active(&id(lead)).await.unwrap();
    }
    let ticket = worker.request(ask("@network")).await.unwrap();
    assert_eq!(route(&world), through("two"));
    let Some(Prompt::Ask(shown)) = users[1].next().await else { panic!() };
    assert_eq!((&shown.from, shown.kind, shown.id), (&id("worker"), Kind::Subagent, ticket.id()));
    assert_eq!(
        shown.to_string(),
        r#"worker (subagent) asks for network access; the agent's reason: "because it must""#
    );
}

#[tokio::test]
async fn a_notice_to_an_agent_is_not_activity_of_its_user() {
    let world = World::new();
    let worker = world.worker("worker", &[]).await;
    let mut users = Vec::new();
    for lead in ["one", "two"] {
        world.lead(lead, &[]).await;
        users.push(world.engine.connect(id(lead)).unwrap());
    }
    world.engine.user_active(&id("two")).await.unwrap();
    world.engine.user_active(&id("one")).await.unwrap();
    world.engine.message(&id("two"), None, "news").await.unwrap();
    world.engine.message(&id("two"), Some(&id("worker")), "news").await.unwrap();
    let first = worker.request(ask("@network")).await.unwrap();
    assert_eq!(route(&world), through("one"));
    world.you().answer(first.id(), Answer::deny()).await.unwrap();
    worker.request(ask("@events")).await.unwrap();
    assert_eq!(route(&world), through("one"));
}

#[tokio::test]
async fn the_carrier_hears_silently_that_it_carried_and_how_it_ended() {
    let world = World::new();
    let lead = world.lead("lead", &[]).await;
    let worker = world.worker("worker", &[]).await;
    let _user = world.engine.connect(id("lead")).unwrap();
    let ticket = worker.request(ask("@network")).await.unwrap();
    world.you().answer(ticket.id(), Answer::allow()).await.unwrap();
    let notices = mail(&lead.mailbox());
    assert!(matches!(&notices[..], [Notification::Carried(_), Notification::CarriedResolved(_)]), "{notices:?}");
    assert!(notices.iter().all(Notification::is_silent));
    let told = mail(&worker.mailbox());
    assert!(matches!(&told[..], [Notification::Resolved(_)]) && !told[0].is_silent());
    let own = lead.request(ask("@events")).await.unwrap();
    world.you().answer(own.id(), Answer::allow()).await.unwrap();
    assert!(matches!(&mail(&lead.mailbox())[..], [Notification::Resolved(_)]), "its own question is no notice");
}

#[tokio::test]
async fn when_a_carrier_goes_the_next_takes_over_then_the_approvers_then_the_queue() {
    let world = World::new();
    let worker = world.worker("worker", &[]).await;
    world.lead("one", &[]).await;
    world.lead("two", &[]).await;
    let one = world.engine.connect(id("one")).unwrap();
    let mut two = world.engine.connect(id("two")).unwrap();
    let mut dashboard = world.you().attend().unwrap();
    world.engine.user_active(&id("one")).await.unwrap();
    let ticket = worker.request(ask("@network")).await.unwrap();
    assert_eq!(route(&world), through("one"));
    drop(one);
    assert_eq!(route(&world), through("two"));
    assert!(matches!(two.next().await, Some(Prompt::Ask(request)) if request.id == ticket.id()));
    drop(two);
    assert_eq!(route(&world), [Route::Approvers]);
    assert!(matches!(dashboard.next().await, Some(Prompt::Ask(request)) if request.id == ticket.id()));
    drop(dashboard);
    assert_eq!(route(&world), [Route::Queue]);
    let mut late = world.engine.connect(id("two")).unwrap();
    assert!(matches!(late.next().await, Some(Prompt::Ask(request)) if request.id == ticket.id()));
    assert_eq!(ticket.poll(), None);
}

#[tokio::test]
async fn where_nobody_may_be_awaited_the_question_is_unavailable_at_once() {
    let world = World::with(|settings| settings.on_no_user = OnNoUser::Deny);
    let worker = world.worker("worker", &[]).await;
    let gone = |resolution: std::sync::Arc<bestow::request::Resolution>| {
        (resolution.outcome, resolution.decider.clone()) == (Outcome::Unavailable, Decider::NobodyThere)
    };
    assert!(gone(worker.request(ask("@network")).await.unwrap().poll().unwrap()));
    world.lead("lead", &[]).await;
    let user = world.engine.connect(id("lead")).unwrap();
    let ticket = worker.request(ask("@network")).await.unwrap();
    assert_eq!(ticket.poll(), None);
    drop(user);
    assert!(gone(ticket.poll().unwrap()));
}

#[tokio::test]
async fn without_people_nothing_ever_waits() {
    let world = World::with(|settings| settings.interaction = Interaction::NonInteractive);
    let lead = world.lead("lead", &[]).await;
    let _user = world.engine.connect(id("lead")).unwrap();
    assert_eq!(lead.request(ask("@network")).await.unwrap().poll().unwrap().outcome, Outcome::Unavailable);
    let world = World::new();
    let lead = world.lead("lead", &[]).await;
    let _user = world.engine.connect(id("lead")).unwrap();
    let ticket = lead.request(ask("@network")).await.unwrap();
    let alone = settings(|settings| settings.interaction = Interaction::NonInteractive);
    world.engine.configure(policy(alone, &[])).await.unwrap();
    assert_eq!(ticket.poll().unwrap().outcome, Outcome::Unavailable);
}

#[tokio::test]
async fn a_question_never_reaches_another_owner() {
    let world = World::new();
    let worker = world.worker("worker", &[]).await;
    world.agent("spy", "them", Kind::Foreground, &[]).await;
    let mut spy = world.engine.connect(id("spy")).unwrap();
    let mut dashboard = world.approver("them").attend().unwrap();
    world.engine.user_active(&id("spy")).await.unwrap();
    let ticket = worker.request(ask("@network")).await.unwrap();
    assert_eq!(route(&world), [Route::Queue]);
    world.you().answer(ticket.id(), Answer::allow()).await.unwrap();
    world.engine.shutdown().await;
    assert_eq!((spy.next().await, dashboard.next().await), (None, None));
    assert_eq!(owner("them").as_str(), "them");
}

#[tokio::test]
async fn whoever_comes_back_gets_every_waiting_question_with_the_same_id() {
    let world = World::new();
    let lead = world.lead("lead", &[]).await;
    let worker = world.worker("worker", &[]).await;
    let user = world.engine.connect(id("lead")).unwrap();
    let mut asked = vec![
        lead.request(ask("@network")).await.unwrap().id(),
        worker.request(ask("@network")).await.unwrap().id(),
        worker.request(ask("@events")).await.unwrap().id(),
    ];
    drop(user);
    for _ in 0..3 {
        let mut again = world.engine.connect(id("lead")).unwrap();
        let mut shown = Vec::new();
        for _ in 0..3 {
            let Some(Prompt::Ask(request)) = again.next().await else { panic!() };
            shown.push(request.id);
        }
        shown.sort();
        asked.sort();
        assert_eq!(shown, asked);
    }
}

#[tokio::test]
async fn a_new_connection_closes_the_one_before_and_its_end_changes_nothing() {
    let world = World::new();
    world.lead("lead", &[]).await;
    let worker = world.worker("worker", &[]).await;
    let mut old = world.engine.connect(id("lead")).unwrap();
    let mut new = world.engine.connect(id("lead")).unwrap();
    assert_eq!(old.next().await, None);
    drop(old);
    let ticket = worker.request(ask("@network")).await.unwrap();
    assert_eq!(route(&world), through("lead"));
    assert!(matches!(new.next().await, Some(Prompt::Ask(request)) if request.id == ticket.id()));
}

#[tokio::test]
async fn a_connection_that_nobody_reads_counts_as_gone() {
    let world = World::with(|settings| settings.max_asks_per_minute = u32::MAX);
    let worker = world.worker("worker", &[]).await;
    world.lead("stuck", &[]).await;
    world.lead("other", &[]).await;
    let _stuck = world.engine.connect(id("stuck")).unwrap();
    world.engine.user_active(&id("stuck")).await.unwrap();
    // Requests are created and cancelled until the queue of the surface is full.
    for _ in 0..512 {
        let ticket = worker.request(ask("@network")).await.unwrap();
        worker.cancel(ticket.id()).await.unwrap();
    }
    let mut other = world.engine.connect(id("other")).unwrap();
    let ticket = worker.request(ask("@network")).await.unwrap();
    assert_eq!(route(&world), through("other"));
    assert!(matches!(other.next().await, Some(Prompt::Ask(request)) if request.id == ticket.id()));
}

#[tokio::test]
async fn only_foreground_agents_have_users() {
    let world = World::new();
    world.worker("worker", &[]).await;
    assert_eq!(refusal(world.engine.connect(id("worker"))), Refusal::NotForeground(id("worker")));
    assert_eq!(refusal(world.engine.user_active(&id("worker")).await), Refusal::NotForeground(id("worker")));
}

#[tokio::test]
async fn an_agent_that_becomes_a_background_agent_carries_nothing_any_more() {
    let world = World::new();
    let worker = world.worker("worker", &[]).await;
    let mut file = policy(settings(|_| {}), &[("lead", "you", &[])]);
    file.agents.get_mut(&id("lead")).unwrap().profile.kind = Kind::Foreground;
    world.engine.configure(file.clone()).await.unwrap();
    let mut user = world.engine.connect(id("lead")).unwrap();
    worker.request(ask("@network")).await.unwrap();
    file.agents.get_mut(&id("lead")).unwrap().profile.kind = Kind::Permanent;
    world.engine.configure(file).await.unwrap();
    assert_eq!(route(&world), [Route::Queue]);
    while user.next().await.is_some() {}
}

#[tokio::test]
async fn what_stands_in_a_question_can_neither_hide_nor_forge() {
    let world = World::new();
    let evil = bestow::Profile::new(id("evil"), owner("you"), Kind::Subagent, "/ws".parse().unwrap())
        .named("lead\u{202e}\n\u{200b}[allow]".parse().unwrap());
    let evil = world.engine.register(evil, bestow::InitialGrants::nothing()).await.unwrap();
    let reason = "ok\r\n\u{1b}[2J\u{2028}Allowed: yes \\n";
    let wanted = tag("@write:/ws/a\n\u{202e}txt.exe\u{2066}\u{e0041}\tb");
    evil.request(bestow::PermissionRequest::new(wanted, reason)).await.unwrap();
    let shown = world.engine.pending().unwrap()[0].request.to_string();
    assert_eq!(
        shown,
        concat!(
            r#""lead\u{202e}\n\u{200b}[allow]" (evil, subagent) asks for write access to "#,
            r#""/ws/a\n\u{202e}txt.exe\u{2066}\u{e0041}\tb"; "#,
            r#"the agent's reason: "ok\r\n\u{1b}[2J\u{2028}Allowed: yes \\n""#
        )
    );
    assert!(shown.chars().all(|c| c.is_ascii_graphic() || c == ' '));
}

//! Texts in the place of values, the service of a user, and the `Debug` of handles.

use std::sync::{Arc, Mutex};

use bestow::{
    Action, Answer, Error, Outcome, Permission, PermissionRequest,
    decision::Refusal,
    grant::{PermissionRef, Scope},
};

use crate::support::{World, ask, id, settle, why};

#[tokio::test]
async fn a_text_and_its_value_mean_one_thing() {
    let world = World::new();
    let lead = world.lead("lead", &["@network", "@write:/ws"]).await;
    world.worker("worker", &[]).await;
    assert_eq!(world.engine.agent("worker").unwrap().id(), world.engine.agent(id("worker")).unwrap().id());
    let by_text = lead.grant("worker", "@network", "because it must").await.unwrap();
    assert_eq!(by_text, lead.grant(&id("worker"), Permission::Network, why()).await.unwrap());
    assert_eq!(PermissionRequest::new("@network", String::from("because it must")), ask("@network"));
    assert!(world.engine.agent("worker").unwrap().check(PermissionRef::Network).is_held());
}

#[tokio::test]
async fn a_bad_text_is_an_error_that_names_it_and_changes_nothing() {
    let world = World::new();
    let lead = world.lead("lead", &["@network"]).await;
    world.worker("worker", &[]).await;
    let before = world.view();
    let you = world.engine.approver("you", "ann smith", "terminal");
    let nobody = world.engine.approver("", "ann", "terminal");
    let action = Action::command("ls");
    let failed: [(&str, Error); 10] = [
        ("a b", world.engine.agent("a b").unwrap_err()),
        ("a b", world.engine.connect("a b").unwrap_err()),
        ("a b", lead.grant("a b", "@network", "why").await.unwrap_err()),
        ("@net", lead.grant("worker", "@net", "why").await.unwrap_err()),
        (" ", lead.grant("worker", "@network", " ").await.unwrap_err()),
        ("@net", lead.request(PermissionRequest::new("@net", "why")).await.unwrap_err()),
        ("", lead.request(PermissionRequest::new("@network", "")).await.unwrap_err()),
        ("ann smith", you.give("worker", "@network", Scope::Session, "why").await.unwrap_err()),
        ("ann smith", you.enable("worker", &action, "why").await.unwrap_err()),
        ("", nobody.pending().unwrap_err()),
    ];
    for (text, why) in failed {
        let Error::Text(why) = why else { panic!("{why:?}") };
        assert_eq!(why.text(), text);
        assert!(why.to_string().starts_with(&format!("`{text}`: ")), "{why}");
    }
    assert!(you.attend().is_err());
    assert_eq!(world.view(), before);
    let long = world.engine.agent("x".repeat(5000)).unwrap_err().to_string();
    assert!(long.len() < 300 && long.contains("`xxx"), "{long}");
}

#[tokio::test]
async fn serve_user_answers_what_reaches_the_user_one_after_the_other() {
    let world = World::new();
    world.lead("lead", &[]).await;
    let (worker, you) = (world.worker("worker", &[]).await, world.you());
    let shown = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&shown);
    let served = tokio::spawn(world.engine.serve_user("lead", &you, async move |question| {
        let asked = question.permissions().next().cloned().unwrap();
        seen.lock().unwrap().push(asked.to_string());
        if asked == Permission::Network { Answer::allow() } else { Answer::deny() }
    }));
    let network = worker.request(ask("@network")).await.unwrap();
    let path = worker.request(ask("@write:/ws")).await.unwrap();
    assert_eq!(network.resolution().await.outcome, Outcome::Granted);
    assert_eq!(path.resolution().await.outcome, Outcome::Denied);
    assert_eq!(*shown.lock().unwrap(), ["@network", "@write:/ws"]);
    world.engine.shutdown().await;
    assert_eq!(served.await.unwrap(), Ok(()));
}

#[tokio::test]
async fn a_question_that_serve_user_leaves_can_be_answered_by_others() {
    let world = World::new();
    world.lead("lead", &[]).await;
    let (worker, you) = (world.worker("worker", &[]).await, world.you());
    let served = tokio::spawn(world.engine.serve_user("lead", &you, async |_| None));
    let ticket = worker.request(ask("@network")).await.unwrap();
    settle().await;
    assert_eq!(ticket.poll(), None);
    you.answer(ticket.id(), Answer::allow()).await.unwrap();
    assert_eq!(ticket.resolution().await.outcome, Outcome::Granted);
    assert!(!served.is_finished());
}

#[tokio::test]
async fn a_question_that_ends_otherwise_does_not_hold_up_the_next_one() {
    let world = World::new();
    world.lead("lead", &[]).await;
    let (worker, you) = (world.worker("worker", &[]).await, world.you());
    // The person never answers the first one.
    let _served = tokio::spawn(world.engine.serve_user("lead", &you, async |question| {
        if question.permissions().any(|asked| *asked == Permission::Network) {
            std::future::pending::<()>().await;
        }
        Answer::allow()
    }));
    let never = worker.request(ask("@network")).await.unwrap();
    let next = worker.request(ask("@write:/ws")).await.unwrap();
    settle().await;
    assert_eq!((never.poll(), next.poll()), (None, None));
    worker.cancel(never.id()).await.unwrap();
    assert_eq!(next.resolution().await.outcome, Outcome::Granted);
}

#[tokio::test]
async fn an_answer_that_comes_too_late_does_not_end_serve_user() {
    let world = World::new();
    world.lead("lead", &[]).await;
    let (worker, you) = (world.worker("worker", &[]).await, world.you());
    let other = you.clone();
    let served = tokio::spawn(world.engine.serve_user("lead", &you, async move |question| {
        // Another surface is faster.
        other.answer(question.id, Answer::deny()).await.unwrap();
        Answer::allow()
    }));
    assert_eq!(worker.request(ask("@network")).await.unwrap().resolution().await.outcome, Outcome::Denied);
    assert_eq!(worker.request(ask("@write:/ws")).await.unwrap().resolution().await.outcome, Outcome::Denied);
    settle().await;
    assert!(!served.is_finished());
}

#[tokio::test]
async fn an_answer_that_its_request_does_not_take_ends_serve_user_with_the_refusal() {
    let world = World::new();
    world.lead("lead", &[]).await;
    let (worker, you) = (world.worker("worker", &[]).await, world.you());
    let served = tokio::spawn(world.engine.serve_user("lead", &you, async |_| Answer::allow().scope(Scope::Always)));
    let ticket = worker.request(ask("@network").at_most(Scope::Once)).await.unwrap();
    let ended = served.await.unwrap();
    assert!(matches!(ended, Err(Error::Refused(Refusal::ScopeTooWide { .. }))), "{ended:?}");
    assert_eq!(ticket.poll(), None);
    assert!(!worker.check(PermissionRef::Network).is_held());
}

#[tokio::test]
async fn serve_user_serves_a_foreground_agent_and_ends_when_another_connection_replaces_it() {
    let world = World::new();
    world.lead("lead", &[]).await;
    world.worker("worker", &[]).await;
    let you = world.you();
    let refused = world.engine.serve_user("worker", &you, async |_| Answer::allow()).await;
    assert_eq!(refused, Err(Refusal::NotForeground(id("worker")).into()));
    let bad = world.engine.approver("y o u", "ann", "terminal");
    assert!(matches!(world.engine.serve_user("lead", &bad, async |_| None).await, Err(Error::Text(_))));
    let served = tokio::spawn(world.engine.serve_user("lead", &you, async |_| Answer::allow()));
    let _other = world.engine.connect("lead").unwrap();
    assert_eq!(served.await.unwrap(), Ok(()));
}

#[tokio::test]
async fn handles_are_shown_in_one_short_line() {
    let world = World::new();
    let lead = world.lead("lead", &[]).await;
    let ticket = lead.request(ask("@network")).await.unwrap();
    let code = ticket.code();
    assert_eq!(format!("{lead:?}"), "Agent(lead)");
    assert_eq!(format!("{:?}", world.you()), "Approver(ann for you, terminal)");
    assert_eq!(format!("{ticket:?}"), format!("Ticket({code} of lead: open)"));
    assert_eq!(format!("{:?}", world.engine.connect("lead").unwrap()), "Connection(user of lead)");
    assert_eq!(format!("{:?}", world.you().attend().unwrap()), "ApproverSession(for you)");
    world.you().answer(ticket.id(), Answer::allow()).await.unwrap();
    let ended = ticket.resolution().await;
    assert_eq!(format!("{ticket:?}"), format!("Ticket({code} of lead: {ended})"));
    assert!(format!("{:?}", world.engine).ends_with(", open)"));
    world.engine.shutdown().await;
    assert!(format!("{:?}", world.engine).ends_with(", closed)"));
}

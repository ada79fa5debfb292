//! Tests of the requests that wait, followed as they come and end (`Admin::follow`).

use bestow::{
    Agent, Answer, Engine, Kind, Outcome, PermissionRequest,
    control::{Admin, Following, RequestNews},
    policy::Widening,
    request::{Route, Ticket},
};

use crate::support::{World, id, owner, policy, profile, settings, tag, why};

fn everything(engine: &Engine) -> Admin {
    Admin::of_every_owner(engine, "test".into())
}

async fn ask(agent: &Agent, permission: &str) -> Ticket {
    agent.request(PermissionRequest::new(tag(permission), why())).await.unwrap()
}

/// Returns the next news, each with the code of its request.
async fn next(following: &mut Following) -> Vec<(&'static str, String)> {
    let news = following.next().await.unwrap();
    let told = |news: &RequestNews| match news {
        RequestNews::Waiting(waiting) => ("waiting", waiting.code.clone()),
        RequestNews::Moved { code, .. } => ("moved", code.clone()),
        RequestNews::Ended { code, .. } => ("ended", code.clone()),
        _ => ("other", String::new()),
    };
    news.iter().map(told).collect()
}

fn told(what: &'static str, ticket: &Ticket) -> (&'static str, String) {
    (what, ticket.code().to_string())
}

#[tokio::test]
async fn what_waits_is_told_first_and_then_each_change_once() {
    let world = World::new();
    let bob = world.worker("bob", &[]).await;
    let first = ask(&bob, "@network").await;
    let second = ask(&bob, "@events").await;
    let mut following = everything(&world.engine).follow([]).unwrap();
    assert_eq!(next(&mut following).await, [told("waiting", &first), told("waiting", &second)]);

    ask(&bob, "@network").await;
    let third = ask(&bob, "@write:/ws").await;
    world.you().answer(first.id(), Answer::deny()).await.unwrap();
    let news = next(&mut following).await;
    assert_eq!(news, [told("waiting", &third), told("ended", &first)], "an equal request is not another one");
    world.lead("lead", &[]).await;
    let _user = world.engine.connect("lead").unwrap();
    let news = following.next().await.unwrap();
    assert_eq!(news.len(), 2);
    let lead = Route::Carrier(id("lead"));
    assert!(news.iter().all(|news| matches!(news, RequestNews::Moved { route, .. } if *route == lead)), "{news:?}");
}

#[tokio::test]
async fn a_follower_of_one_owner_hears_of_no_other() {
    let world = World::new();
    let bob = world.worker("bob", &[]).await;
    let foreign = world.agent("mallory", "others", Kind::Subagent, &[]).await;
    let before = ask(&foreign, "@network").await;
    let mut following = Admin::of_owner(&world.engine, owner("you"), "test".into()).follow([before.id()]).unwrap();
    let first = following.next().await.unwrap();
    let [RequestNews::Ended { resolution: None, .. }] = first.as_slice() else { panic!("{first:?}") };
    ask(&foreign, "@events").await;
    world.approver("others").answer(before.id(), Answer::deny()).await.unwrap();
    let own = ask(&bob, "@network").await;
    assert_eq!(next(&mut following).await, [told("waiting", &own)]);
}

#[tokio::test]
async fn a_follower_that_comes_back_hears_how_its_requests_ended() {
    let world = World::new();
    let bob = world.worker("bob", &[]).await;
    let [ended, waits] = [ask(&bob, "@network").await, ask(&bob, "@events").await];
    world.you().answer(ended.id(), Answer::deny()).await.unwrap();
    let mut following = everything(&world.engine).follow([ended.id(), waits.id()]).unwrap();
    let news = following.next().await.unwrap();
    let [RequestNews::Ended { resolution: Some(how), .. }, RequestNews::Waiting(still)] = news.as_slice() else {
        panic!("{news:?}")
    };
    assert_eq!((how.outcome, still.request.id), (Outcome::Denied, waits.id()));
}

/// The engine keeps a limited number of events for a slow reader.
#[tokio::test]
async fn a_slow_follower_misses_no_request_and_no_end() {
    let world = World::new();
    let (bob, lead) = (world.worker("bob", &[]).await, world.lead("lead", &[]).await);
    let ended = ask(&bob, "@network").await;
    let mut following = everything(&world.engine).follow([]).unwrap();
    following.next().await.unwrap();
    let came = ask(&bob, "@events").await;
    world.you().answer(ended.id(), Answer::deny()).await.unwrap();
    for _ in 0..5_000 {
        world.engine.user_active(lead.id().clone()).await.unwrap();
    }
    assert_eq!(next(&mut following).await, [told("ended", &ended), told("waiting", &came)]);
}

#[tokio::test]
async fn a_follower_does_not_keep_the_engine_alive() {
    let world = World::new();
    let mut following = everything(&world.engine).follow([]).unwrap();
    assert_eq!(following.next().await, Some(Vec::new()));
    drop(world);
    assert_eq!(following.next().await, None);
}

/// The id of a retired creator can be given to an agent that the created one creates.
#[tokio::test]
async fn the_agents_above_an_agent_are_listed_once() {
    let world = World::new();
    let lead = world.lead("lead", &[]).await;
    let child = |id: &str| profile(id, "you", Kind::Subagent);
    let writer = lead.create(child("writer"), &[], why()).await.unwrap();
    let checker = writer.create(child("checker"), &[], why()).await.unwrap();
    let admin = everything(&world.engine);
    assert_eq!(admin.creators(checker.id()), [id("writer"), id("lead")]);
    let ticket = ask(&checker, "@network").await;
    let news = admin.follow([]).unwrap().next().await.unwrap();
    let [RequestNews::Waiting(waiting)] = news.as_slice() else { panic!("{news:?}") };
    assert_eq!(waiting.above, [id("writer"), id("lead")]);
    assert!(waiting.to_string().ends_with("; created by writer, itself by lead"), "{waiting}");
    assert_eq!(waiting.request.id, ticket.id());

    world.engine.retire("writer").await.unwrap();
    let _again = checker.create(child("writer"), &[], why()).await.unwrap();
    assert_eq!(admin.creators(checker.id()), [id("writer")]);
}

#[tokio::test]
async fn a_change_of_the_policy_file_that_waits_is_told_and_its_end_too() {
    let world = World::new();
    let holding = |permissions: &[&str]| {
        let settings = settings(|settings| settings.widening = Widening::Confirm);
        policy(settings, &[("ann", "you", permissions)])
    };
    world.engine.configure(holding(&[])).await.unwrap();
    let mut following = everything(&world.engine).follow([]).unwrap();
    assert_eq!(following.next().await, Some(Vec::new()));
    world.engine.configure(holding(&["@network"])).await.unwrap();
    let news = following.next().await.unwrap();
    let [RequestNews::HeldBack { held_back: Some(held) }] = news.as_slice() else { panic!("{news:?}") };
    assert!(news[0].to_string().contains("ann @network"), "{}", news[0]);
    world.you().agree_to_widening(held.change).await.unwrap();
    assert_eq!(following.next().await.unwrap(), [RequestNews::HeldBack { held_back: None }]);
}

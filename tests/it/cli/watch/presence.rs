//! The presence of a person who has `bestow watch` open.

use bestow::{
    Engine, InitialGrants, Kind,
    event::{Event, Subscription},
    policy::OnNoUser,
    request::Route,
};

use super::{Place, asks_for, bob};
use crate::support::{profile, settings};

/// Waits until a request goes to this place.
async fn routed_to(events: &mut Subscription, place: &Route) {
    loop {
        let recorded = events.next().await.unwrap();
        if matches!(&recorded.event, Event::Routed { route, .. } if route == place) {
            return;
        }
    }
}

fn route(engine: &Engine) -> Route {
    engine.pending().unwrap().pop().unwrap().route
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_present_while_the_inbox_is_open_and_not_longer() {
    let place = Place::new();
    let engine = place.engine().await;
    let bob = bob(&engine).await;
    let _waiting = asks_for(&bob, "@network", "a").await;
    assert_eq!(route(&engine), Route::Queue);
    let mut events = engine.subscribe();
    let mut watch = place.watch(&engine);
    routed_to(&mut events, &Route::Approvers).await;
    assert_eq!(route(&engine), Route::Approvers);
    watch.press("q");
    routed_to(&mut events, &Route::Queue).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_of_an_owner_who_came_later_is_attended_too() {
    let place = Place::new();
    let engine = place.engine().await;
    let _bob = bob(&engine).await;
    let _watch = place.watch(&engine);
    let mut events = engine.subscribe();
    let eve = engine.register(profile("eve", "them", Kind::Subagent), InitialGrants::nothing()).await.unwrap();
    let _waiting = asks_for(&eve, "@network", "a").await;
    routed_to(&mut events, &Route::Approvers).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_refused_for_want_of_a_person_while_the_inbox_is_open() {
    let place = Place::new();
    let engine = place.engine_with(settings(|settings| settings.on_no_user = OnNoUser::Deny)).await;
    let bob = bob(&engine).await;
    let refused = asks_for(&bob, "@network", "a").await;
    assert!(refused.poll().is_some());
    let _watch = place.watch(&engine);
    let waiting = asks_for(&bob, "@network", "b").await;
    assert!(waiting.poll().is_none());
}

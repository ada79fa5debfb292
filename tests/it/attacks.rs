//! Attacks of a malicious agent, and their limits. An attack that is not prevented is asserted as it is, with a note.

use bestow::{
    Answer, InitialGrants, Kind, PermissionRequest,
    decision::{Check, Refusal},
};

use crate::support::{World, ask, check, id, profile, refusal, tag, tags, why};

/// A path that reads like the rest of the sentence is quoted, and cannot close the quotation marks.
#[tokio::test]
async fn a_path_cannot_pass_for_the_rest_of_the_sentence() {
    let world = World::new();
    let evil = world.worker("evil", &[]).await;
    evil.request(PermissionRequest::new(tag("@write:/etc\" (once): to fix a typo"), "x")).await.unwrap();
    let request = world.engine.pending().unwrap()[0].request.clone();
    assert_eq!(
        request.to_string(),
        r#"evil (subagent) asks for write access to "/etc\" (once): to fix a typo"; the agent's reason: "x""#
    );
    assert_eq!(request.scope, None);
}

/// A neighbour can exhaust only the limit of grants by agents. Grants by people have their own limit.
#[tokio::test]
async fn a_neighbour_cannot_fill_the_room_for_what_people_give() {
    let world = World::with(|settings| settings.max_grants = 3);
    let evil = world.worker("evil", &["@write:/ws"]).await;
    let ann = world.worker("ann", &[]).await;
    for number in 0..3 {
        evil.grant(ann.id(), tag(&format!("@read:/ws/{number}")), why()).await.unwrap();
    }
    let one_more = evil.grant(ann.id(), tag("@read:/ws/more"), why()).await;
    assert!(matches!(refusal(one_more), Refusal::TooManyGrants { .. }));
    let ticket = ann.request(ask("@network")).await.unwrap();
    world.you().answer(ticket.id(), Answer::allow()).await.unwrap();
    assert_eq!(check(&ann, "@network"), Check::Held);
}

/// The attack: an agent gives up a permission so that another loses it. Grants derived from it must not survive.
#[tokio::test]
async fn giving_up_a_permission_takes_along_what_was_made_of_it() {
    let world = World::new();
    let ann = world.worker("ann", &["@write:/ws"]).await;
    let child = ann.create(profile("child", "you", Kind::Subagent), &tags(&["@write:/ws/a"]), why()).await.unwrap();
    let grand = child.create(profile("grand", "you", Kind::Subagent), &tags(&["@write:/ws/a/b"]), why()).await.unwrap();
    ann.revoke(ann.grants().unwrap()[0].id, None).await.unwrap();
    assert_eq!((check(&child, "@write:/ws/a"), check(&grand, "@write:/ws/a/b")), (Check::NotHeld, Check::NotHeld));
    assert_eq!(world.engine.grants().unwrap(), []);
}

/// A permission is not restored by a new agent of the same name, nor by a run of the same name.
#[tokio::test]
async fn nothing_revives_what_ended() {
    let world = World::new();
    let ann = world.worker("ann", &["@network"]).await;
    let bob = world.worker("bob", &[]).await;
    ann.grant(bob.id(), tag("@network"), why()).await.unwrap();
    world.engine.retire(ann.id()).await.unwrap();
    world.worker("ann", &["@network"]).await;
    assert_eq!(check(&bob, "@network"), Check::NotHeld);
    world.engine.begin_run(bob.id(), "one".parse().unwrap()).await.unwrap();
    world.you().give(bob.id(), tag("@events"), bestow::grant::Scope::Session, why()).await.unwrap();
    world.engine.begin_run(bob.id(), "two".parse().unwrap()).await.unwrap();
    world.engine.begin_run(bob.id(), "one".parse().unwrap()).await.unwrap();
    assert_eq!(check(&bob, "@events"), Check::NotHeld);
}

/// A request of a retired agent gives no permission to the next agent of that name.
#[tokio::test]
async fn a_question_is_never_answered_for_the_next_agent_of_that_name() {
    let world = World::new();
    let old = world.worker("ann", &[]).await;
    let ticket = old.request(ask("@network")).await.unwrap();
    world.engine.retire(&id("ann")).await.unwrap();
    let new = world.engine.register(profile("ann", "you", Kind::Subagent), InitialGrants::nothing()).await.unwrap();
    assert!(matches!(refusal(world.you().answer(ticket.id(), Answer::allow()).await), Refusal::AlreadyResolved(_)));
    assert_eq!(check(&new, "@network"), Check::NotHeld);
}

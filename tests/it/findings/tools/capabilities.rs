//! `@tool:<name>`: capabilities of an orchestrator use the grant chain of all other permissions.

use bestow::{
    Action, Agent, Answer, InitialGrants, Kind, Outcome, Permission,
    action::Authorization,
    decision::{Check, ProvenanceStep, Refusal, Ruled},
    grant::{PermissionRef, Scope},
    path::ToolPath,
};
use proptest::prelude::*;

use crate::support::{World, ask, check, profile, refusal, tag, tags, why};

const ISSUES: &str = "@tool:github/issues";

async fn passed_on(world: &World) -> (Agent, Agent) {
    let lead = world.worker("lead", &["@tool:github"]).await;
    let kid = world.worker("kid", &[]).await;
    lead.grant(kid.id(), tag(ISSUES), why()).await.unwrap();
    (lead, kid)
}

#[tokio::test]
async fn a_capability_is_passed_on_explained_and_falls_with_what_it_rests_on() {
    let world = World::new();
    let (lead, kid) = passed_on(&world).await;
    assert_eq!(check(&kid, ISSUES), Check::Held);
    assert_eq!(kid.check(PermissionRef::Tool("github/issues/create")), Check::Held);
    assert_eq!(kid.check(PermissionRef::Tool("github")), Check::NotHeld);
    let chain = world.engine.why(kid.id(), &tag(ISSUES)).unwrap();
    assert!(matches!(&chain[..], [ProvenanceStep::Grant { .. }, ..]), "{chain:?}");
    let more = lead.grant(kid.id(), tag("@tool:github-evil"), why()).await;
    assert!(matches!(refusal(more), Refusal::NotHeld { .. }));
    let root = lead.grants().unwrap()[0].id;
    world.engine.revoke(root, None).await.unwrap();
    assert_eq!(check(&kid, ISSUES), Check::NotHeld);
}

#[tokio::test]
async fn a_capability_is_asked_for_and_given_once_for_a_session_or_until_a_moment() {
    for (scope, held) in [
        (Scope::Once, Check::HeldOnce),
        (Scope::Session, Check::Held),
        (Scope::Always, Check::Held),
        (Scope::Until(crate::support::START.after(std::time::Duration::from_secs(9))), Check::Held),
    ] {
        let world = World::new();
        let ann = world.worker("ann", &[]).await;
        let ticket = ann.request(ask(ISSUES).at_most(scope)).await.unwrap();
        world.you().answer(ticket.id(), Answer::allow().scope(scope)).await.unwrap();
        assert_eq!(ticket.poll().unwrap().outcome, Outcome::Granted);
        assert_eq!(check(&ann, ISSUES), held, "{scope}");
        world.later(9_000).await;
        let over = matches!(scope, Scope::Until(_));
        assert_eq!(check(&ann, ISSUES) == Check::NotHeld, over, "{scope}");
        if scope == Scope::Once {
            ann.spend(&tag(ISSUES)).await.unwrap();
            assert_eq!(check(&ann, ISSUES), Check::NotHeld);
        }
    }
}

#[tokio::test]
async fn a_capability_held_for_passing_on_is_not_for_using() {
    let world = World::new();
    let holding = InitialGrants::nothing().passing_on([tag("@tool:github")]);
    let lead = world.engine.register(profile("lead", "you", Kind::Subagent), holding).await.unwrap();
    let kid = world.worker("kid", &[]).await;
    assert_eq!(check(&lead, ISSUES), Check::NotHeld);
    lead.grant(kid.id(), tag(ISSUES), why()).await.unwrap();
    assert_eq!(check(&kid, ISSUES), Check::Held);
    kid.grant(lead.id(), tag(ISSUES), why()).await.unwrap();
    assert_eq!(check(&lead, ISSUES), Check::NotHeld, "given back");
}

#[tokio::test]
async fn a_command_has_no_capability_but_what_is_named_for_it() {
    let world = World::new();
    let ann = world.worker("ann", &["@tool:github", "@network"]).await;
    assert_eq!(ann.exec_scope(&[]).unwrap().iter().next(), None);
    let named = tags(&[ISSUES]);
    assert_eq!(ann.exec_scope(&named).unwrap().iter().collect::<Vec<Permission>>(), named);
    assert!(matches!(ann.exec_scope(&tags(&["@tool:gitlab"])), Err(bestow::Error::Refused(Refusal::NotHeld { .. }))));
}

#[tokio::test]
async fn an_action_that_needs_a_capability_asks_for_it() {
    let world = World::new();
    let ann = world.worker("ann", &["@write:/ws"]).await;
    let open = || Action::write("/ws/a").needing(tag(ISSUES));
    let Authorization::Asked(_, ticket) = ann.authorize(open()).await.unwrap() else { panic!("it is not held") };
    world.you().answer(ticket.id(), Answer::allow()).await.unwrap();
    world.you().give(ann.id(), tag("@tool:github"), Scope::Session, why()).await.unwrap();
    assert_eq!(ann.authorize(open()).await.unwrap().decision().decision, Ruled::Allow);
}

/// Generates names with few levels and odd characters.
fn name() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec!["a", "b", "ab", "a.b", "", ".", "..", "a b", "*", "é", "\u{202e}"]),
        0..5,
    )
    .prop_map(|levels| levels.join("/"))
}

proptest! {
    #[test]
    fn a_check_agrees_with_the_grants_for_every_name(held in prop::collection::vec(name(), 0..6), asked in name()) {
        let valid: Vec<ToolPath> = held.iter().filter_map(|name| name.parse().ok()).collect();
        let tags: Vec<_> = valid.iter().cloned().map(Permission::Tool).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let ann = runtime.block_on(async {
            let world = World::new();
            world.engine.register(profile("ann", "you", Kind::Cron), InitialGrants::of(tags)).await.unwrap()
        });
        let asked_for: Result<ToolPath, _> = asked.parse();
        let levels = |text: &str| text.split('/').map(str::to_owned).collect::<Vec<_>>();
        let expected = asked_for.is_ok() && valid.iter().any(|held| levels(&asked).starts_with(&levels(held.as_str())));
        prop_assert_eq!(ann.check(PermissionRef::Tool(&asked)).is_held(), expected);
    }
}

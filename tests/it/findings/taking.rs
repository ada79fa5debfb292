//! Taking a right away never gives one.

use bestow::{Check, Hold, Holding, Kind, Scope};

use crate::support::{World, check, id, policy, profile, settings, tag, tags, why};

/// A11: what others gave was kept back by a right for passing on only, and became usable when its holder gave that up.
#[tokio::test]
async fn giving_up_what_is_for_passing_on_only_makes_nothing_usable() {
    let world = World::new();
    let holding = Holding::nothing().passing_on(tags(&["@write:/ws"]));
    let boss = world.engine.register(profile("boss", "you", Kind::Subagent), holding).await.unwrap();
    let friend = world.worker("friend", &["@write:/ws"]).await;
    friend.grant(boss.id(), tag("@write:/ws/a"), why()).await.unwrap();
    friend.grant_for(boss.id(), tag("@write:/ws/b"), Scope::Once, why()).await.unwrap();
    assert_eq!(check(&boss, "@write:/ws/a"), Check::NotHeld);
    let own = boss.grants().unwrap().iter().find(|grant| grant.depth == 0).unwrap().id;
    boss.revoke(own, None).await.unwrap();
    for wanted in ["@write:/ws/a", "@write:/ws/b", "@read:/ws/a"] {
        assert_eq!(check(&boss, wanted), Check::NotHeld, "{wanted}");
        assert!(boss.spend(&tag(wanted)).await.is_err(), "{wanted}");
    }
    assert!(boss.exec_scope(&tags(&["@write:/ws/a"])).is_err());
    assert_eq!(boss.permissions().unwrap().iter().count(), 0);
    assert!(boss.grants().unwrap().iter().all(|grant| grant.hold == Hold::PassOn), "and each says so itself");
}

#[tokio::test]
async fn neither_an_end_nor_an_edit_of_what_is_for_passing_on_only_makes_anything_usable() {
    let world = World::new();
    let lines: &[&str] = &["pass @write:/ws"];
    world.engine.configure(policy(settings(|_| {}), &[("boss", "you", lines)])).await.unwrap();
    let boss = world.engine.agent(&id("boss")).unwrap();
    let friend = world.worker("friend", &["@write:/ws", "@network"]).await;
    friend.grant(boss.id(), tag("@write:/ws/a"), why()).await.unwrap();
    world.you().give_to_pass_on(boss.id(), tag("@network"), Scope::Until(world.after(5)), why()).await.unwrap();
    friend.grant(boss.id(), tag("@network"), why()).await.unwrap();
    world.later(10).await;
    world.engine.configure(policy(settings(|_| {}), &[("boss", "you", &[])])).await.unwrap();
    assert_eq!((check(&boss, "@write:/ws/a"), check(&boss, "@network")), (Check::NotHeld, Check::NotHeld));
    // Whoever gives it again, knowing that, gives it for using.
    friend.grant(boss.id(), tag("@network"), why()).await.unwrap();
    assert_eq!(check(&boss, "@network"), Check::Held);
}

/// The other way round: a person says "for passing on only" about what others gave already, and it stays said.
#[tokio::test]
async fn what_a_person_gives_for_passing_on_only_takes_the_use_of_what_others_gave_for_good() {
    let world = World::new();
    let boss = world.worker("boss", &[]).await;
    let friend = world.worker("friend", &["@write:/ws"]).await;
    friend.grant(boss.id(), tag("@write:/ws/a"), why()).await.unwrap();
    assert_eq!(check(&boss, "@write:/ws/a"), Check::Held);
    let grants = world.you().give_to_pass_on(boss.id(), tag("@write:/ws"), Scope::Always, why()).await.unwrap();
    assert_eq!(check(&boss, "@write:/ws/a"), Check::NotHeld);
    world.engine.revoke(grants[0], None).await.unwrap();
    assert_eq!(check(&boss, "@write:/ws/a"), Check::NotHeld);
}

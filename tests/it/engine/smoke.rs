//! Runs the whole story once, quickly.

use std::sync::Arc;

use bestow::{
    Answer, AsWritten, Ask, Check, Engine, Holding, Kind, ManualClock, Outcome, Permission, Profile, Settings,
    Timestamp, ToPerson, Want,
};

fn profile(id: &str, kind: Kind) -> Profile {
    Profile::new(id.parse().unwrap(), "you".parse().unwrap(), kind, "/ws".parse().unwrap())
}

#[tokio::test]
async fn a_worker_asks_through_the_lead_and_passes_on_what_it_got() {
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_000)));
    let engine = Engine::on(Settings::default(), clock, Arc::new(AsWritten)).unwrap();
    let write = |path: &str| Permission::write(path.parse().unwrap());
    engine.register(profile("lead", Kind::Foreground), Holding::of([write("/ws")])).await.unwrap();
    let worker = engine.register(profile("worker", Kind::Subagent), Holding::nothing()).await.unwrap();
    let other = engine.register(profile("other", Kind::Subagent), Holding::nothing()).await.unwrap();
    let mut user = engine.connect("lead").unwrap();
    assert_eq!(worker.check(Want::write("/ws/site/a")), Check::NotHeld);

    let ticket = worker.request(Ask::new(write("/ws/site"), "to build")).await.unwrap();
    assert_eq!(ticket.poll(), None);
    let Some(ToPerson::Ask(request)) = user.next().await else { panic!("no question") };
    assert_eq!(request.id, ticket.id());
    let you = engine.approver("you", "ann", "terminal");
    you.answer(request.id, Answer::allow()).await.unwrap();
    assert_eq!(ticket.resolution().await.outcome, Outcome::Granted);
    assert_eq!(worker.check(Want::write("/ws/site/a")), Check::Held);

    let given = worker.grant(other.id(), write("/ws/site/b"), "your part").await.unwrap();
    assert_eq!(other.check(Want::write("/ws/site/b/c")), Check::Held);
    assert_eq!(engine.why(other.id(), &write("/ws/site/b")).unwrap().len(), 2);
    assert!(worker.grant(other.id(), write("/ws"), "more").await.is_err());
    let root = worker.grants().unwrap()[0].id;
    you.revoke(root, None).await.unwrap();
    assert_eq!(other.check(Want::write("/ws/site/b/c")), Check::NotHeld);
    assert!(!engine.grants().unwrap().iter().any(|grant| grant.id == given[0]));
}

//! Runs the whole story once, quickly.

use std::sync::Arc;

use bestow::{
    Answer, Engine, InitialGrants, Kind, Outcome, Permission, PermissionRequest, Profile, Settings,
    decision::Check,
    event::Timestamp,
    grant::PermissionRef,
    host::{AsWritten, ManualClock},
    user::Prompt,
};

fn profile(id: &str, kind: Kind) -> Profile {
    Profile::new(id.parse().unwrap(), "you".parse().unwrap(), kind, "/ws".parse().unwrap())
}

#[tokio::test]
async fn a_worker_asks_through_the_lead_and_passes_on_what_it_got() {
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_000)));
    let engine = Engine::on(Settings::default(), clock, Arc::new(AsWritten)).unwrap();
    let write = |path: &str| Permission::write(path.parse().unwrap());
    engine.register(profile("lead", Kind::Foreground), InitialGrants::of([write("/ws")])).await.unwrap();
    let worker = engine.register(profile("worker", Kind::Subagent), InitialGrants::nothing()).await.unwrap();
    let other = engine.register(profile("other", Kind::Subagent), InitialGrants::nothing()).await.unwrap();
    let mut user = engine.connect("lead").unwrap();
    assert_eq!(worker.check(PermissionRef::write("/ws/site/a")), Check::NotHeld);

    let ticket = worker.request(PermissionRequest::new(write("/ws/site"), "to build")).await.unwrap();
    assert_eq!(ticket.poll(), None);
    let Some(Prompt::Ask(request)) = user.next().await else { panic!("no question") };
    assert_eq!(request.id, ticket.id());
    let you = engine.approver("you", "ann", "terminal");
    you.answer(request.id, Answer::allow()).await.unwrap();
    assert_eq!(ticket.resolution().await.outcome, Outcome::Granted);
    assert_eq!(worker.check(PermissionRef::write("/ws/site/a")), Check::Held);

    let given = worker.grant(other.id(), write("/ws/site/b"), "your part").await.unwrap();
    assert_eq!(other.check(PermissionRef::write("/ws/site/b/c")), Check::Held);
    assert_eq!(engine.why(other.id(), &write("/ws/site/b")).unwrap().len(), 2);
    assert!(worker.grant(other.id(), write("/ws"), "more").await.is_err());
    let root = worker.grants().unwrap()[0].id;
    you.revoke(root, None).await.unwrap();
    assert_eq!(other.check(PermissionRef::write("/ws/site/b/c")), Check::NotHeld);
    assert!(!engine.grants().unwrap().iter().any(|grant| grant.id == given[0]));
}

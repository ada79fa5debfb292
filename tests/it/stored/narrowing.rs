//! Tests that a failing disk blocks the permissions that a file or a policy gives, but not the ones that it revokes.

use std::sync::Arc;

use bestow::{
    Action, Agent, Error, Event, Policy,
    action::Operation,
    decision::{Check, Verdict},
    grant::{PermissionRef, Place},
    path::PathGlob,
    policy::Rule,
    tool::{PathPolicy, ToolPolicies},
};

use super::{
    disk::{Call, FakeDisk, Fault},
    faults::open_with,
};
use crate::support::{World, check, heard, id, policy, settings, tag, why};

/// A permanent failure of a disk.
type Failing = fn(&FakeDisk);

const FAILING: [(&str, Failing); 3] = [
    ("no room", |disk| disk.room(Some(disk.used()))),
    ("a sync that fails", |disk| disk.fail_next(Call::Sync, Fault::Once)),
    ("a disk that is gone", |disk| (0..200).for_each(|call| disk.fail(disk.calls().len() + call, Fault::Once))),
];

/// Opens the disk with one segment, so that only decided events reach the disk and a fault hits the intended call.
/// The segment owns no space ahead of time, so that a full disk has no room for the next step.
async fn open(disk: &Arc<FakeDisk>) -> Result<World, String> {
    disk.allocate_nothing();
    open_with(disk, 1 << 20).await
}

fn before() -> Policy {
    policy(settings(|_| {}), &[("ann", "you", &["@network", "@write:/ws"]), ("bob", "you", &["@events"])])
}

fn no(operation: Operation) -> Rule {
    let place = Place { file: "agents.toml".into(), line: 9 };
    Rule {
        verdict: Verdict::Deny,
        tool: None,
        operation: Some(operation),
        path: None,
        command: None,
        shape: None,
        cwd: None,
        children: false,
        why: None,
        place,
    }
}

/// Returns a policy that removes the network from ann and removes bob. It protects a path, denies commands, gives ann
/// events, and adds eve.
fn after() -> Policy {
    let protecting = settings(|settings| settings.protected = ["/ws/closed".parse().unwrap()].into());
    let mut policy = policy(protecting, &[("ann", "you", &["@events", "@write:/ws"]), ("eve", "you", &["@network"])]);
    policy.agents.get_mut(&id("ann")).unwrap().rules = [no(Operation::Command)].into();
    policy
}

/// Returns the abilities of ann, and the names of all agents.
fn view(world: &World, ann: &Agent) -> (Check, Check, Check, bestow::Effect, Vec<String>) {
    let agents = world.engine.agents().unwrap().iter().map(|profile| profile.id.to_string()).collect();
    let command = ann.verdict(&Action::command("ls")).unwrap();
    (check(ann, "@network"), check(ann, "@events"), ann.check(PermissionRef::write("/ws/closed/x")), command, agents)
}

#[tokio::test]
async fn a_changed_file_takes_at_once_what_it_takes_and_gives_nothing_while_the_disk_fails() {
    for (failing, fail) in FAILING {
        let disk = FakeDisk::new();
        let world = open(&disk).await.unwrap();
        world.engine.configure(before()).await.unwrap();
        let ann = world.engine.agent(id("ann")).unwrap();
        let all = vec!["ann".to_owned(), "bob".to_owned()];
        let expected = (Check::Held, Check::NotHeld, Check::Held, bestow::Effect::Allow, all);
        assert_eq!(view(&world, &ann), expected, "{failing}");
        let mut events = world.engine.subscribe();
        fail(&disk);
        let told = world.engine.configure(after()).await;
        assert!(matches!(&told, Err(Error::Store(_))), "{failing}: {told:?}");
        let narrowed = (Check::NotHeld, Check::NotHeld, Check::NotHeld, bestow::Effect::Deny, vec!["ann".to_owned()]);
        assert_eq!(view(&world, &ann), narrowed, "{failing}");
        let failures = heard(&mut events).into_iter().filter(|told| matches!(told.event, Event::StoreFailed { .. }));
        assert_eq!(failures.count(), 1, "{failing}: said once");
        if failing != "no room" {
            continue;
        }
        let later = open(&disk.copy()).await.unwrap();
        let ann_later = later.engine.agent(id("ann")).unwrap();
        // The next engine gets its settings from the host, so it does not protect the path.
        let expected = (Check::NotHeld, Check::NotHeld, Check::Held, bestow::Effect::Deny, vec!["ann".to_owned()]);
        assert_eq!(view(&later, &ann_later), expected, "and stored, so that the next engine knows it, too");
        disk.room(None);
        world.engine.configure(after()).await.unwrap();
        let all = vec!["ann".to_owned(), "eve".to_owned()];
        let whole = (Check::NotHeld, Check::Held, Check::NotHeld, bestow::Effect::Deny, all);
        assert_eq!(view(&world, &ann), whole, "with room, all of it");
    }
}

/// The file replaces the line that supports a gift by a narrower one, which would support it as well.
#[tokio::test]
async fn a_gift_whose_new_support_was_not_stored_ends_with_the_old_support() {
    for (failing, fail) in FAILING {
        let disk = FakeDisk::new();
        let world = open(&disk).await.unwrap();
        let file = |root: &str| policy(settings(|_| {}), &[("ann", "you", &[root]), ("bob", "you", &[])]);
        world.engine.configure(file("@write:/ws")).await.unwrap();
        let (ann, bob) = (world.engine.agent(id("ann")).unwrap(), world.engine.agent(id("bob")).unwrap());
        ann.grant(bob.id(), tag("@write:/ws/part"), why()).await.unwrap();
        fail(&disk);
        let told = world.engine.configure(file("@write:/ws/part")).await;
        assert!(matches!(&told, Err(Error::Store(_))), "{failing}: {told:?}");
        assert_eq!(world.engine.grants().unwrap(), [], "{failing}: a grant without a root");
        assert_eq!(check(&bob, "@write:/ws/part/a"), Check::NotHeld, "{failing}");
        if failing == "no room" {
            let later = open(&disk.copy()).await.unwrap();
            assert_eq!(later.engine.grants().unwrap(), [], "and stored");
        }
    }
}

#[tokio::test]
async fn policies_say_no_at_once_and_yes_only_when_they_are_stored() {
    for (failing, fail) in FAILING {
        let disk = FakeDisk::new();
        let world = open(&disk).await.unwrap();
        let bot = world.worker("bot", &["@write:/ws", "@network"]).await;
        let run = bot.explain(&Action::read("/ws")).unwrap().decision.run;
        let glob = |text: &str| PathGlob::try_from(text.to_owned()).unwrap();
        let ask = PathPolicy { default: Some(Verdict::Ask), ..PathPolicy::default() };
        let set = ToolPolicies { read: ask.clone(), write: ask, ..ToolPolicies::default() };
        world.you().set_policies(&run, None, set).await.unwrap();
        let verdict = |action: Action| bot.verdict(&action).unwrap();
        assert_eq!(verdict(Action::write("/ws/a")), Verdict::Ask, "{failing}");
        fail(&disk);
        let open = PathPolicy { allow: vec![glob("/ws/**")], deny: vec![glob("/ws/no/**")], default: None };
        let commands = vec!["ls **".parse().unwrap()];
        let set = ToolPolicies { read: open.clone(), write: open, deny_commands: commands, ..ToolPolicies::default() };
        let told = world.you().set_policies(&run, None, set).await;
        assert!(matches!(&told, Err(Error::Store(_))), "{failing}: {told:?}");
        assert_eq!(verdict(Action::write("/ws/no/a")), Verdict::Deny, "{failing}");
        assert_eq!(verdict(Action::command("ls -l")), Verdict::Deny, "{failing}");
        assert_eq!(verdict(Action::write("/ws/a")), Verdict::Ask, "{failing}: what it would allow is asked as before");
        let patch = bestow::tool::PolicyPatch::writing().allow("/ws/a").deny("/ws/b").by_default(Verdict::Allow);
        let told = world.you().update_policy(&run, patch).await;
        assert!(matches!(&told, Err(Error::Store(_))), "{failing}: {told:?}");
        assert_eq!(verdict(Action::write("/ws/b")), Verdict::Deny, "{failing}");
        assert_eq!(verdict(Action::write("/ws/a")), Verdict::Ask, "{failing}");
    }
}

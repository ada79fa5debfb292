//! Tests of a policy file that takes effect while agents run.

use std::time::Duration;

use bestow::{
    AgentId, Event, Permission, Policy, Settings,
    agent::Mode,
    decision::{Check, Refusal, Verdict},
    grant::{Origin, Reads, Scope},
    policy::{Interaction, OnNoUser, Widening},
};

use crate::support::{World, check, heard, id, policy, refusal, settings, tag, tags, why};

type Agents<'a> = &'a [(&'a str, &'a str, &'a [&'a str])];

fn file(agents: Agents<'_>) -> Policy {
    policy(settings(|_| {}), agents)
}

/// Returns a policy that asks a person before it widens.
fn careful(change: impl FnOnce(&mut Settings), agents: Agents<'_>) -> Policy {
    let settings = settings(|settings| {
        settings.widening = Widening::Confirm;
        change(settings);
    });
    policy(settings, agents)
}

fn secs(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// Returns the permissions gained and lost in the last reload.
fn diff(events: &[bestow::event::Recorded]) -> (Vec<(AgentId, Permission)>, Vec<(AgentId, Permission)>) {
    let said = events.iter().rev().find_map(|recorded| match &recorded.event {
        Event::ConfigReloaded { gained, lost, .. } => Some((gained.clone(), lost.clone())),
        _ => None,
    });
    said.unwrap()
}

fn of(agent: &str, list: &[&str]) -> Vec<(AgentId, Permission)> {
    tags(list).into_iter().map(|permission| (id(agent), permission)).collect()
}

#[tokio::test]
async fn a_reload_tells_who_gained_and_lost_what() {
    let world = World::new();
    let mut events = world.engine.subscribe();
    world.engine.configure(file(&[("ann", "you", &["@write:/ws", "@network"])])).await.unwrap();
    assert_eq!(diff(&heard(&mut events)), (of("ann", &["@write:/ws", "@network"]), vec![]));
    let bob = world.worker("bob", &[]).await;
    let ann = world.engine.agent(id("ann")).unwrap();
    ann.grant(bob.id(), tag("@write:/ws/b"), why()).await.unwrap();
    world.engine.configure(file(&[("ann", "you", &["@write:/ws/a", "@network", "@events"])])).await.unwrap();
    let (gained, lost) = diff(&heard(&mut events));
    assert_eq!(gained, of("ann", &["@events"]), "what lies within what it held is no gain");
    assert_eq!(lost, [of("ann", &["@write:/ws"]), of("bob", &["@write:/ws/b"])].concat());
    assert_eq!((check(&ann, "@write:/ws/a"), check(&bob, "@write:/ws/b")), (Check::Held, Check::NotHeld));
}

#[tokio::test]
async fn the_same_file_again_changes_nothing() {
    let world = World::new();
    let same = file(&[("ann", "you", &["@write:/ws", "@write:/ws", "pass @network"])]);
    world.engine.configure(same.clone()).await.unwrap();
    let before = world.view();
    let mut events = world.engine.subscribe();
    world.engine.configure(same).await.unwrap();
    assert_eq!(world.view(), before);
    let told = heard(&mut events);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(diff(&told), (vec![], vec![]));
}

#[tokio::test]
async fn a_line_that_moved_keeps_the_grant_and_what_rests_on_it() {
    let world = World::new();
    world.engine.configure(file(&[("ann", "you", &["@write:/ws", "@network"])])).await.unwrap();
    let ann = world.engine.agent(id("ann")).unwrap();
    let bob = world.worker("bob", &[]).await;
    ann.grant(bob.id(), tag("@network"), why()).await.unwrap();
    let ids = |grants: Vec<std::sync::Arc<bestow::grant::Grant>>| {
        grants.into_iter().map(|grant| grant.id).collect::<Vec<_>>()
    };
    let before = ids(world.engine.grants().unwrap());
    world.engine.configure(file(&[("ann", "you", &["@network", "@write:/ws"])])).await.unwrap();
    assert_eq!(ids(world.engine.grants().unwrap()), before);
    let chain = bob.why(&tag("@network")).unwrap();
    let bestow::decision::ProvenanceStep::Grant(root) = chain.last().unwrap() else { panic!() };
    assert!(matches!(&root.origin, Origin::Config(place) if place.line == 1));
}

#[tokio::test]
async fn an_agent_that_left_the_file_is_gone_and_one_the_host_brought_stays() {
    let world = World::new();
    let host = world.worker("host", &["@network"]).await;
    world.engine.configure(file(&[("ann", "you", &["@write:/ws"]), ("bob", "you", &["@events"])])).await.unwrap();
    let ann = world.engine.agent(id("ann")).unwrap();
    ann.grant(&id("bob"), tag("@write:/ws/a"), why()).await.unwrap();
    let mut events = world.engine.subscribe();
    world.engine.configure(file(&[])).await.unwrap();
    let told = heard(&mut events);
    let (_, mut lost) = diff(&told);
    lost.sort();
    assert_eq!(lost, [of("ann", &["@write:/ws"]), of("bob", &["@events"]), of("bob", &["@write:/ws/a"])].concat());
    let mut ended: Vec<_> = told.iter().filter_map(|recorded| recorded.event.grant()).map(|grant| grant.id).collect();
    let all = ended.len();
    ended.sort();
    ended.dedup();
    assert_eq!(ended.len(), all, "nothing ends twice");
    assert_eq!(check(&ann, "@write:/ws"), Check::NotHeld);
    assert_eq!(check(&host, "@network"), Check::Held);
    assert!(world.engine.agent(id("ann")).is_err());
}

#[tokio::test]
async fn an_agent_of_another_owner_is_another_agent() {
    let world = World::new();
    world.engine.configure(file(&[("ann", "you", &["@network"])])).await.unwrap();
    let old = world.engine.agent(id("ann")).unwrap();
    let bob = world.worker("bob", &[]).await;
    old.grant(bob.id(), tag("@network"), why()).await.unwrap();
    let mut events = world.engine.subscribe();
    world.engine.configure(file(&[("ann", "them", &["@network"])])).await.unwrap();
    assert_eq!(check(&old, "@network"), Check::NotHeld);
    assert_eq!(check(&bob, "@network"), Check::NotHeld);
    assert_eq!(check(&world.engine.agent(id("ann")).unwrap(), "@network"), Check::Held);
    let (gained, mut lost) = diff(&heard(&mut events));
    lost.sort();
    assert_eq!(gained, of("ann", &["@network"]));
    assert_eq!(lost, [of("ann", &["@network"]), of("bob", &["@network"])].concat());
}

#[tokio::test]
async fn a_file_that_names_the_hosts_agent_is_not_taken_at_all() {
    let world = World::new();
    world.worker("host", &[]).await;
    let before = world.view();
    let clash = file(&[("ann", "you", &["@network"]), ("host", "you", &["@network"])]);
    assert_eq!(refusal(world.engine.configure(clash).await), Refusal::AgentExists(id("host")));
    let many: Vec<String> = (0..2_000).map(|number| format!("@read:/{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let flood = world.engine.configure(file(&[("ann", "you", &many)])).await;
    assert!(matches!(refusal(flood), Refusal::TooManyGrants { .. }));
    assert_eq!(world.view(), before);
}

/// An agent must not be able to block a person's file by taking one of its names first.
#[tokio::test]
async fn an_agent_that_agents_made_gives_way_to_the_file() {
    let world = World::new();
    let lead = world.lead("lead", &["@network"]).await;
    let squatter = crate::support::profile("auditor", "you", bestow::Kind::Subagent);
    let squatter = lead.create(squatter, &tags(&["@network"]), why()).await.unwrap();
    world.engine.configure(file(&[("auditor", "you", &["@read:/logs"])])).await.unwrap();
    assert_eq!(check(&squatter, "@network"), Check::NotHeld);
    let auditor = world.engine.agent(id("auditor")).unwrap();
    assert_eq!((check(&auditor, "@read:/logs"), check(&auditor, "@network")), (Check::Held, Check::NotHeld));
    assert_eq!(auditor.profile().unwrap().parent, None);
}

#[tokio::test]
async fn what_widens_waits_for_a_person_and_what_narrows_does_not() {
    let world = World::new();
    world.engine.configure(careful(|_| {}, &[("ann", "you", &["@write:/ws", "@network"])])).await.unwrap();
    let ann = world.engine.agent(id("ann")).unwrap();
    let mut events = world.engine.subscribe();
    let next = careful(
        |settings| settings.reads = Reads::Anywhere,
        &[("ann", "you", &["@write:/ws/a", "@events"]), ("new", "you", &["@network"])],
    );
    world.engine.configure(next).await.unwrap();
    let told = heard(&mut events);
    let held_back = told.iter().find_map(|recorded| match &recorded.event {
        Event::ConfigHeldBack { would_gain, .. } => Some(would_gain.clone()),
        _ => None,
    });
    assert_eq!(held_back.unwrap(), [of("ann", &["@events"]), of("new", &["@network"])].concat());
    assert_eq!((check(&ann, "@write:/ws/a"), check(&ann, "@write:/ws/b")), (Check::Held, Check::NotHeld));
    assert_eq!((check(&ann, "@network"), check(&ann, "@events")), (Check::NotHeld, Check::NotHeld));
    assert_eq!(check(&ann, "@read:/etc"), Check::NotHeld);
    assert!(world.engine.agent(id("new")).is_err());
    world.you().agree_to_widening(1).await.unwrap();
    assert_eq!((check(&ann, "@events"), check(&ann, "@read:/etc")), (Check::Held, Check::Held));
    assert!(world.engine.agent(id("new")).is_ok());
    assert_eq!(refusal(world.you().agree_to_widening(1).await), Refusal::NothingHeldBack);
}

#[tokio::test]
async fn a_person_agrees_for_their_own_agents_only() {
    let world = World::new();
    world.engine.configure(careful(|_| {}, &[("ann", "you", &[])])).await.unwrap();
    world.engine.configure(careful(|_| {}, &[("ann", "you", &["@network"])])).await.unwrap();
    let them = world.approver("them");
    assert!(matches!(refusal(them.agree_to_widening(1).await), Refusal::OtherOwner { .. }));
    // The agent gets another owner. This gives that owner's agent a permission.
    world.engine.configure(careful(|_| {}, &[("ann", "them", &["@network"])])).await.unwrap();
    assert_eq!(refusal(them.agree_to_widening(1).await), Refusal::OtherChange { waiting: 2 });
    assert!(matches!(refusal(world.you().agree_to_widening(2).await), Refusal::OtherOwner { .. }));
    them.agree_to_widening(2).await.unwrap();
    assert_eq!(check(&world.engine.agent(id("ann")).unwrap(), "@network"), Check::Held);
}

#[tokio::test]
async fn a_file_of_several_owners_is_agreed_to_by_whose_agents_gain() {
    let world = World::new();
    world.engine.configure(careful(|_| {}, &[("ann", "you", &[]), ("eve", "them", &["@events"])])).await.unwrap();
    world
        .engine
        .configure(careful(|_| {}, &[("ann", "you", &["@network"]), ("eve", "them", &["@events"])]))
        .await
        .unwrap();
    assert!(matches!(refusal(world.approver("them").agree_to_widening(1).await), Refusal::OtherOwner { .. }));
    world.you().agree_to_widening(1).await.unwrap();
    assert_eq!(check(&world.engine.agent(id("ann")).unwrap(), "@network"), Check::Held);
    // Settings affect all owners, so no approver of a single owner can agree to them alone.
    let wider = |settings: &mut Settings| settings.reads = Reads::Anywhere;
    world
        .engine
        .configure(careful(wider, &[("ann", "you", &["@network"]), ("eve", "them", &["@events"])]))
        .await
        .unwrap();
    assert!(matches!(refusal(world.you().agree_to_widening(2).await), Refusal::OtherOwner { .. }));
    world.engine.agree_to_widening(2).await.unwrap();
}

#[tokio::test]
async fn what_is_held_back_of_an_agent_that_changes_hands_names_what_it_would_gain() {
    let world = World::new();
    world.engine.configure(careful(|_| {}, &[("ann", "you", &["@network"])])).await.unwrap();
    let mut events = world.engine.subscribe();
    world.engine.configure(careful(|_| {}, &[("ann", "them", &["@network"])])).await.unwrap();
    let held_back = heard(&mut events).into_iter().find_map(|recorded| match recorded.event {
        Event::ConfigHeldBack { would_gain, .. } => Some(would_gain),
        _ => None,
    });
    assert_eq!(held_back.unwrap(), of("ann", &["@network"]));
}

/// A grant of a whole tree does not cover a protected path in it. A line that names the protected path therefore
/// widens.
#[tokio::test]
async fn naming_what_is_protected_is_widening_even_below_a_broad_line() {
    let world = World::new();
    let protect = |settings: &mut Settings| settings.protected = ["/home/.ssh".parse().unwrap()].into();
    world.engine.configure(careful(protect, &[("ann", "you", &["@read:/home"])])).await.unwrap();
    let ann = world.engine.agent(id("ann")).unwrap();
    world
        .engine
        .configure(careful(protect, &[("ann", "you", &["@read:/home", "@read:/home/.ssh/key"])]))
        .await
        .unwrap();
    assert_eq!(check(&ann, "@read:/home/.ssh/key"), Check::NotHeld);
    world.you().agree_to_widening(1).await.unwrap();
    assert_eq!(check(&ann, "@read:/home/.ssh/key"), Check::Held);
}

#[tokio::test]
async fn a_looser_mode_and_a_shorter_list_of_protected_paths_are_widening() {
    let world = World::new();
    let protect = |settings: &mut Settings| settings.protected = ["/p".parse().unwrap()].into();
    world.engine.configure(careful(protect, &[("ann", "you", &["@read:/"])])).await.unwrap();
    let ann = world.engine.agent(id("ann")).unwrap();
    let mut next = careful(|_| {}, &[("ann", "you", &["@read:/"])]);
    next.agents.get_mut(&id("ann")).unwrap().profile.mode = Mode::Bypass;
    world.engine.configure(next).await.unwrap();
    assert_eq!(ann.profile().unwrap().mode, Mode::Default);
    assert_eq!(check(&ann, "@read:/p"), Check::NotHeld);
    world.engine.agree_to_widening(1).await.unwrap();
    assert_eq!((ann.profile().unwrap().mode, check(&ann, "@read:/p")), (Mode::Bypass, Check::Held));
}

/// Each engine protects the memory of its own process, whose number differs from one start to the next.
#[tokio::test]
async fn a_restart_and_a_file_that_was_moved_widen_nothing() {
    let (world, agents): (_, Agents<'_>) = (World::new(), &[("ann", "you", &["@read:/a"])]);
    let with = |protected: &'static [&str], file: &'static str| {
        careful(
            move |settings| {
                settings.protected = protected.iter().map(|path| path.parse().unwrap()).collect();
                settings.governing = [file.parse().unwrap()].into();
            },
            agents,
        )
    };
    world.engine.configure(with(&["/proc/self", "/proc/1", "/proc/41"], "/old/agents.toml")).await.unwrap();
    world.engine.configure(with(&["/proc/self", "/proc/1", "/proc/42"], "/new/agents.toml")).await.unwrap();
    assert_eq!(world.engine.held_change().unwrap(), None);
    let settings = world.engine.settings().unwrap();
    assert!(settings.protected.contains(&"/proc/42".parse().unwrap()) && settings.protected.len() == 3);
    assert_eq!(*settings.governing, ["/new/agents.toml".parse().unwrap()]);
    // A path that a person wrote and removed is not replaced by another one.
    world.engine.configure(with(&["/proc/self", "/proc/43"], "/new/agents.toml")).await.unwrap();
    let held = world.engine.held_change().unwrap().unwrap();
    assert!(held.to_string().contains("/proc/1 is no longer protected"), "{held}");
    assert!(world.engine.settings().unwrap().protected.contains(&"/proc/1".parse().unwrap()));
}

/// A key that allows more waits for a person. A key that allows less takes effect at once.
#[tokio::test]
async fn every_key_that_can_widen_waits_and_every_one_that_narrows_does_not() {
    type Change = fn(&mut Settings);
    // The narrow value, and the wide value.
    let keys: [(&str, Change, Change); 15] = [
        ("reads", |s| s.reads = Reads::Granted, |s| s.reads = Reads::Anywhere),
        ("interaction", |s| s.interaction = Interaction::NonInteractive, |s| s.interaction = Interaction::Interactive),
        ("on_no_user", |s| s.on_no_user = OnNoUser::Deny, |s| s.on_no_user = OnNoUser::Queue),
        ("default_verdict", |s| s.default_verdict = Verdict::Deny, |s| s.default_verdict = Verdict::Ask),
        ("request_timeout", |s| s.request_timeout = secs(1), |s| s.request_timeout = secs(2)),
        ("denial_memory", |s| s.denial_memory = secs(2), |s| s.denial_memory = secs(1)),
        ("max_pending", |s| s.max_pending = 1, |s| s.max_pending = 2),
        ("max_asks_per_minute", |s| s.max_asks_per_minute = 1, |s| s.max_asks_per_minute = 2),
        ("max_grants", |s| s.max_grants = 10, |s| s.max_grants = 20),
        ("max_children", |s| s.max_children = 1, |s| s.max_children = 2),
        ("max_processes", |s| s.max_processes = 1, |s| s.max_processes = 2),
        ("limits", |s| s.limits.time = Some(secs(1)), |s| s.limits.time = Some(secs(2))),
        ("limits", |s| s.limits.memory = Some(1), |s| s.limits.memory = Some(2)),
        ("max_depth", |s| s.max_depth = 1, |s| s.max_depth = 2),
        ("confirm_widening", |s| s.widening = Widening::Confirm, |s| s.widening = Widening::Apply),
    ];
    for (key, narrow, wide) in keys {
        let world = World::new();
        let is = |change: Change| {
            let now = world.engine.settings().unwrap();
            let mut other = Settings::clone(&now);
            change(&mut other);
            *now == other
        };
        world.engine.configure(careful(narrow, &[])).await.unwrap();
        let mut events = world.engine.subscribe();
        world.engine.configure(careful(wide, &[])).await.unwrap();
        assert!(is(narrow) && !is(wide), "{key} widened by itself");
        let told = heard(&mut events).into_iter().find_map(|recorded| match recorded.event {
            Event::ConfigHeldBack { besides, .. } => Some(besides),
            _ => None,
        });
        assert!(told.unwrap().iter().any(|(_, said)| said.starts_with(key)), "{key} is told");
        world.engine.agree_to_widening(1).await.unwrap();
        assert!(is(wide), "{key}");
        world.engine.configure(careful(narrow, &[])).await.unwrap();
        assert!(is(narrow), "{key} narrows at once");
    }
}

/// Neither direction is narrower: a hook that is not asked can neither deny nor approve.
#[tokio::test]
async fn how_long_hooks_take_and_what_tasks_and_gates_do_waits_either_way() {
    type Change = fn(&mut Settings);
    let keys: [Change; 4] = [
        |s| s.hook_timeout = secs(1),
        |s| s.hook_timeout = secs(100),
        |s| s.tasks.gate_time_limit = secs(1),
        |s| s.tasks.on_missing = bestow::event::OnMissing::Skip,
    ];
    for change in keys {
        let world = World::new();
        world.engine.configure(careful(|_| {}, &[])).await.unwrap();
        let before = world.engine.settings().unwrap();
        world.engine.configure(careful(change, &[])).await.unwrap();
        assert_eq!(world.engine.settings().unwrap(), before);
        world.engine.agree_to_widening(1).await.unwrap();
        assert_ne!(world.engine.settings().unwrap(), before);
    }
}

/// The attack: an editor of the file moves an agent to a directory that its commands may then write.
#[tokio::test]
async fn another_working_directory_kind_or_mode_waits_and_another_name_does_not() {
    let world = World::new();
    let first = || careful(|_| {}, &[("ann", "you", &["@read:/"])]);
    world.engine.configure(first()).await.unwrap();
    let ann = world.engine.agent(id("ann")).unwrap();
    let mut next = first();
    let spec = &mut next.agents.get_mut(&id("ann")).unwrap().profile;
    (spec.working_dir, spec.kind) = ("/elsewhere".parse().unwrap(), bestow::Kind::Cron);
    (spec.mode, spec.name) = (Mode::Auto, Some("Ann".parse().unwrap()));
    let wanted = bestow::Profile::clone(spec);
    world.engine.configure(next).await.unwrap();
    let now = ann.profile().unwrap();
    assert_eq!((now.working_dir.as_str(), now.mode), ("/ws", Mode::Default));
    assert_eq!((now.kind, now.name.clone()), (bestow::Kind::Permanent, wanted.name.clone()));
    world.engine.agree_to_widening(1).await.unwrap();
    assert_eq!(*ann.profile().unwrap(), wanted);
}

/// A grant of a whole tree does not cover a sensitive path in it either.
#[tokio::test]
async fn naming_what_is_sensitive_is_widening_even_below_a_broad_line() {
    let world = World::new();
    world.engine.configure(careful(|_| {}, &[("ann", "you", &["@write:/ws"])])).await.unwrap();
    let ann = world.engine.agent(id("ann")).unwrap();
    let wider: Agents<'_> = &[("ann", "you", &["@write:/ws", "@write:/ws/.git/hooks"])];
    world.engine.configure(careful(|_| {}, wider)).await.unwrap();
    let bob = world.worker("bob", &[]).await;
    let refused = ann.grant(bob.id(), tag("@write:/ws/.git/hooks"), why()).await;
    assert!(matches!(refusal(refused), Refusal::Sensitive { .. }));
    world.you().agree_to_widening(1).await.unwrap();
    ann.grant(bob.id(), tag("@write:/ws/.git/hooks"), why()).await.unwrap();
}

#[tokio::test]
async fn a_longer_list_of_sensitive_names_takes_effect_at_once_on_what_was_passed_on() {
    let world = World::new();
    let agents: Agents<'_> = &[("ann", "you", &["@write:/ws"])];
    world.engine.configure(file(agents)).await.unwrap();
    let ann = world.engine.agent(id("ann")).unwrap();
    let bob = world.worker("bob", &[]).await;
    ann.grant(bob.id(), tag("@write:/ws/Secrets.yaml"), why()).await.unwrap();
    ann.grant(bob.id(), tag("@write:/ws/a"), why()).await.unwrap();
    let sensitive = |settings: &mut Settings| settings.sensitive = ["secrets.*".parse().unwrap()].into();
    let mut events = world.engine.subscribe();
    world.engine.configure(policy(settings(sensitive), agents)).await.unwrap();
    assert_eq!(check(&bob, "@write:/ws/Secrets.yaml"), Check::NotHeld, "what it rested on gives it no more");
    assert_eq!(check(&bob, "@write:/ws/a"), Check::Held);
    assert_eq!(diff(&heard(&mut events)).1, of("bob", &["@write:/ws/Secrets.yaml"]));
    let refused = ann.grant(bob.id(), tag("@write:/ws/secrets.yml"), why()).await;
    assert!(matches!(refusal(refused), Refusal::Sensitive { .. }));
}

#[tokio::test]
async fn a_shorter_list_of_sensitive_names_is_widening() {
    let world = World::new();
    let agents: Agents<'_> = &[("ann", "you", &["@write:/ws"])];
    let sensitive = |settings: &mut Settings| settings.sensitive = ["*.plan".parse().unwrap()].into();
    world.engine.configure(careful(sensitive, agents)).await.unwrap();
    world.engine.configure(careful(|_| {}, agents)).await.unwrap();
    let (ann, bob) = (world.engine.agent(id("ann")).unwrap(), world.worker("bob", &[]).await);
    let refused = ann.grant(bob.id(), tag("@write:/ws/key.plan"), why()).await;
    assert!(matches!(refusal(refused), Refusal::Sensitive { .. }));
    world.engine.agree_to_widening(1).await.unwrap();
    ann.grant(bob.id(), tag("@write:/ws/key.plan"), why()).await.unwrap();
}

#[tokio::test]
async fn a_newer_file_replaces_what_was_held_back() {
    let world = World::new();
    world.engine.configure(careful(|_| {}, &[("ann", "you", &[])])).await.unwrap();
    world.engine.configure(careful(|_| {}, &[("ann", "you", &["@network"])])).await.unwrap();
    world.engine.configure(careful(|_| {}, &[("ann", "you", &[])])).await.unwrap();
    assert_eq!(refusal(world.engine.agree_to_widening(1).await), Refusal::NothingHeldBack);
}

#[tokio::test]
async fn what_a_person_gave_survives_a_reload_that_does_not_speak_of_it() {
    let world = World::new();
    world.engine.configure(file(&[("ann", "you", &["@network"])])).await.unwrap();
    let ann = world.engine.agent(id("ann")).unwrap();
    world.you().give(ann.id(), tag("@network"), Scope::Always, why()).await.unwrap();
    let bob = world.worker("bob", &[]).await;
    ann.grant(bob.id(), tag("@network"), why()).await.unwrap();
    let mut events = world.engine.subscribe();
    world.engine.configure(file(&[("ann", "you", &[])])).await.unwrap();
    assert_eq!((check(&ann, "@network"), check(&bob, "@network")), (Check::Held, Check::Held));
    assert_eq!(diff(&heard(&mut events)).1, [], "nobody lost what they still hold");
}

/// The other half of the rule about passing on and using: the redundant grant exists before the file narrows.
#[tokio::test]
async fn a_permission_that_becomes_one_for_passing_on_cannot_be_used_through_a_friend() {
    let world = World::new();
    world.engine.configure(file(&[("boss", "you", &["@write:/ws"])])).await.unwrap();
    let boss = world.engine.agent(id("boss")).unwrap();
    let kid = world.worker("kid", &[]).await;
    boss.grant(kid.id(), tag("@write:/ws"), why()).await.unwrap();
    kid.grant(boss.id(), tag("@write:/ws"), why()).await.unwrap();
    world.engine.configure(file(&[("boss", "you", &["pass @write:/ws"])])).await.unwrap();
    assert_eq!(check(&boss, "@write:/ws"), Check::NotHeld);
    assert_eq!(check(&kid, "@write:/ws"), Check::Held);
}

#[tokio::test]
async fn an_entry_under_another_name_gives_nobody_else_anything() {
    let world = World::new();
    let mut odd = file(&[("ann", "you", &["@network"])]);
    let entry = odd.agents.remove(&id("ann")).unwrap();
    odd.agents.insert(id("key"), entry);
    world.engine.configure(odd).await.unwrap();
    let names: Vec<_> = world.engine.agents().unwrap().iter().map(|profile| profile.id.clone()).collect();
    let holders: Vec<_> = world.engine.grants().unwrap().iter().map(|grant| grant.to.clone()).collect();
    assert_eq!((names, holders), (vec![id("key")], vec![id("key")]));
}

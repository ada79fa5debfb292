//! Tests of the theorems in `docs/permissions.md`, each with the name of its theorem.

mod any;
#[cfg(feature = "schedule")]
mod tasks;

use bestow::{
    Action, AgentId, Answer, InitialGrants, Kind, Outcome, Permission,
    action::{Authorization, ExecScope},
    agent::Mode,
    decision::{Check, Decider, ProvenanceStep, Verdict},
    event::Timestamp,
    grant::{Access, GrantId, PermissionRef, PermissionSet, Permissions, Reads, Scope},
    path::InvalidPath,
    policy::Rule,
    request::Request,
    text::Reason,
    user::OwnerId,
};
use proptest::prelude::*;

use self::any::{path, permission, permissions, set};
use crate::ruled::{bound_by, doings, rule, rules, speaks};
use crate::support::{
    START, World, ask, check, futures_now, heard, id, owner, policy, profile, refusal, settings, tag, tags, why,
};

/// Returns the components of a path, on which containment is defined.
fn components(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty()).collect()
}

/// Runs `test` in a runtime of its own.
fn block_on<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(test)
}

#[tokio::test]
async fn default_is_no() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    for wanted in ["@network", "@events", "@read:/", "@write:/", "@read:/ws", "@write:/ws"] {
        assert_eq!(check(&ann, wanted), Check::NotHeld, "{wanted}");
        assert_eq!(ann.why(&tag(wanted)).unwrap(), [], "{wanted}");
        assert!(!PermissionSet::empty("/ws".parse().unwrap()).covers(&tag(wanted), Reads::Granted));
    }
    assert!(matches!(refusal(ann.spend(&tag("@network")).await), bestow::decision::Refusal::NotHeld { .. }));
}

proptest! {
    #[test]
    fn order_and_duplicates_do_not_matter(
        held in permissions().prop_shuffle(),
        wanted in permission(),
        written in rules(),
        shuffled in rules().prop_shuffle(),
    ) {
        let mut other = held.clone();
        other.reverse();
        other.extend(held.iter().cloned());
        prop_assert_eq!(set(&held), set(&other));
        let covers = |list: &[Permission]| set(list).covers(&wanted, Reads::Granted);
        prop_assert_eq!(covers(&held), covers(&other));
        block_on(async {
            let world = World::new();
            let make = |name: &str, list: &[Permission]| futures_now(
                world.engine.register(profile(name, "you", Kind::Cron), InitialGrants::of(list.to_vec())),
            ).unwrap();
            let (one, two) = (make("one", &held), make("two", &other));
            prop_assert_eq!(one.check(&wanted), two.check(&wanted));
            prop_assert_eq!(one.check(&wanted) == Check::Held, covers(&held), "the engine and the set agree");
            Ok(())
        })?;
        block_on(async {
            let world = World::new();
            let once: Vec<_> = written.iter().chain(&shuffled).cloned().collect();
            let twice: Vec<_> = shuffled.iter().rev().chain(&written).chain(&shuffled).cloned().collect();
            let doings = doings();
            let some = || doings.iter().step_by(7);
            let decided = |rules: &[Rule]| -> Vec<_> {
                let lead = bound_by(&world, rules);
                some().map(|doing| lead.explain(&doing.action()).unwrap()).collect()
            };
            for (one, other) in decided(&once).into_iter().zip(decided(&twice)) {
                prop_assert_eq!((one.decision.decision, one.decided_by), (other.decision.decision, other.decided_by));
                prop_assert_eq!(one.decision.decision_reason, other.decision.decision_reason);
            }
            Ok(())
        })?;
    }

    /// An explicit denial wins against all other rules, their order, the mode, and the permanent decisions of people.
    #[test]
    fn an_explicit_deny_beats_any_allow(
        no in rule(),
        others in rules(),
        place in any::<prop::sample::Index>(),
        mode in prop::sample::select(vec![
            Mode::Default, Mode::Untrusted, Mode::OnRequest, Mode::OnFailure,
            Mode::Never, Mode::Plan, Mode::Bypass, Mode::Auto,
        ]),
    ) {
        block_on(async {
            let world = World::new();
            let no = Rule { verdict: Verdict::Deny, ..no };
            let mut all = others;
            all.insert(place.index(all.len() + 1), no.clone());
            // The rule is added with the opposite verdict, before and after it.
            all.insert(0, Rule { verdict: Verdict::Allow, ..no.clone() });
            all.push(Rule { verdict: Verdict::Allow, ..no.clone() });
            let mut file = policy(settings(|_| {}), &[("lead", "you", &["@write:/", "@network"])]);
            for agent in file.agents.values_mut() {
                agent.rules = all.clone().into();
                agent.profile.mode = mode;
            }
            futures_now(world.engine.configure(file)).unwrap();
            let lead = world.engine.agent(id("lead")).unwrap();
            for doing in doings().iter().filter(|doing| speaks(&no, doing)) {
                let explanation = lead.explain(&doing.action()).unwrap();
                prop_assert_eq!(explanation.decision.verdict(), Verdict::Deny, "{:?}\n{}", doing, explanation);
                let authorized = futures_now(lead.authorize(doing.action())).unwrap();
                prop_assert!(matches!(authorized, Authorization::Denied(_)));
            }
            Ok(())
        })?;
    }

    /// Agents that grant one another permissions, in any order, hold no more together than before.
    #[test]
    fn a_grant_never_creates_authority(
        held in prop::collection::vec(permissions(), 3),
        grants in prop::collection::vec((0..3_usize, 0..3_usize, permission()), 0..20),
        probe in prop::collection::vec(permission(), 20),
    ) {
        block_on(async {
            let world = World::new();
            let names = ["a", "b", "c"];
            let agents: Vec<_> = names.iter().zip(&held).map(|(name, list)| {
                let holding = InitialGrants::of(list.clone());
                futures_now(world.engine.register(profile(name, "you", Kind::Cron), holding)).unwrap()
            }).collect();
            let together = |wanted: &Permission| agents.iter().any(|agent| agent.check(wanted) == Check::Held);
            let before: Vec<bool> = probe.iter().map(together).collect();
            for (from, to, what) in grants {
                let had = agents[from].check(&what) == Check::Held;
                let given = futures_now(agents[from].grant(agents[to].id(), what.clone(), why()));
                prop_assert_eq!(given.is_ok(), had && from != to, "{} to {}: {}", from, to, what);
            }
            prop_assert_eq!(probe.iter().map(together).collect::<Vec<_>>(), before);
            Ok(())
        })?;
    }

    #[test]
    fn every_held_permission_has_a_live_chain_to_a_root(
        grants in prop::collection::vec((0..4_usize, 0..4_usize, permission()), 0..30),
        gone in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        block_on(async {
            let world = World::new();
            let mut agents = vec![world.worker("root", &["@write:/", "@network"]).await];
            for name in ["a", "b", "c"] {
                agents.push(world.worker(name, &["@write:/a"]).await);
            }
            for (from, to, what) in &grants {
                let _ = agents[*from].grant(agents[*to].id(), what.clone(), why()).await;
            }
            for index in gone {
                let live = world.engine.grants().unwrap();
                if !live.is_empty() {
                    world.engine.revoke(index.get(&live).id, None).await.unwrap();
                }
            }
            let live = world.engine.grants().unwrap();
            for grant in &live {
                let chain = world.engine.why(&grant.to, &grant.pinned.permission).unwrap();
                let root = matches!(
                    chain.last(), Some(ProvenanceStep::Grant(root)) if root.origin == bestow::grant::Origin::Operator
                );
                prop_assert!(root, "{} hangs on nothing", grant);
                let lives = |link: &ProvenanceStep| {
                    matches!(link, ProvenanceStep::Grant(grant) if live.contains(grant))
                };
                prop_assert!(chain.iter().all(lives));
            }
            for (agent, (_, _, wanted)) in agents.iter().zip(&grants) {
                prop_assert_eq!(agent.check(wanted) == Check::Held, !agent.why(wanted).unwrap().is_empty());
            }
            Ok(())
        })?;
    }

    #[test]
    fn revoking_a_root_empties_everything_that_hung_on_it(
        grants in prop::collection::vec((0..5_usize, 0..5_usize, permission()), 0..40),
    ) {
        block_on(async {
            let world = World::new();
            let mut agents = vec![world.worker("root", &["@write:/"]).await];
            for name in ["a", "b", "c", "d"] {
                agents.push(world.worker(name, &[]).await);
            }
            for (from, to, what) in grants {
                let _ = agents[from].grant(agents[to].id(), what, why()).await;
            }
            let roots = agents[0].grants().unwrap();
            let root = roots.iter().find(|grant| grant.origin == bestow::grant::Origin::Operator).unwrap();
            world.engine.revoke(root.id, None).await.unwrap();
            prop_assert_eq!(world.engine.grants().unwrap(), vec![]);
            for agent in agents {
                prop_assert_eq!(agent.check(PermissionRef::read("/a")), Check::NotHeld);
            }
            Ok(())
        })?;
    }

    #[test]
    fn write_implies_read(held in permissions(), path in path()) {
        let set = set(&held);
        let wants = |access| Permission::Path(access, path.parse().unwrap());
        if set.covers(&wants(Access::Write), Reads::Granted) {
            prop_assert!(set.covers(&wants(Access::Read), Reads::Granted));
        }
        prop_assert!(
            wants(Access::Write).covers(&wants(Access::Read)) && !wants(Access::Read).covers(&wants(Access::Write))
        );
        block_on(async {
            let world = World::new();
            let holding = InitialGrants::of(held);
            let agent = world.engine.register(profile("ann", "you", Kind::Cron), holding).await.unwrap();
            if agent.check(PermissionRef::write(&path)) == Check::Held {
                prop_assert_eq!(agent.check(PermissionRef::read(&path)), Check::Held);
            }
            Ok(())
        })?;
    }

    #[test]
    fn containment_is_by_component(root in path(), below in path()) {
        let expected = components(&below).starts_with(&components(&root));
        let contains = Permission::write(root.parse().unwrap()).covers(&Permission::read(below.parse().unwrap()));
        prop_assert_eq!(contains, expected);
        block_on(async {
            let world = World::new();
            let agent = world.engine.register(
                profile("ann", "you", Kind::Cron), InitialGrants::of([Permission::read(root.parse().unwrap())]),
            ).await.unwrap();
            prop_assert_eq!(agent.check(PermissionRef::read(&below)) == Check::Held, expected);
            Ok(())
        })?;
    }

    #[test]
    fn exec_scope_never_exceeds_its_caller_and_never_changes_it(held in permissions(), named in permissions()) {
        let caller = set(&held);
        let before = caller.clone();
        let needed = || named.iter().filter(|permission| !matches!(permission, Permission::Path(Access::Read, _)));
        match ExecScope::of(&caller, &named) {
            Ok(scope) => {
                prop_assert!(scope.iter().all(|permission| caller.covers(&permission, Reads::Granted)));
                prop_assert!(scope.iter().all(|permission| named.contains(&permission)), "nothing but what was named");
                prop_assert!(needed().all(|permission| scope.iter().any(|got| got == *permission)));
                prop_assert_eq!(scope.working_dir(), caller.working_dir());
            }
            Err(missing) => {
                prop_assert_eq!(Some(missing), needed().find(|permission| !caller.covers(permission, Reads::Granted)));
            }
        }
        prop_assert_eq!(&caller, &before);
        block_on(async {
            let world = World::new();
            let holding = InitialGrants::of(held);
            let agent = world.engine.register(profile("ann", "you", Kind::Cron), holding).await.unwrap();
            let (grants, permissions) = (agent.grants().unwrap(), agent.permissions().unwrap());
            if let Ok(scope) = agent.exec_scope(&named) {
                prop_assert!(scope.iter().all(|permission| agent.check(&permission) == Check::Held));
            }
            prop_assert_eq!((agent.grants().unwrap(), agent.permissions().unwrap()), (grants, permissions));
            Ok(())
        })?;
    }

    #[test]
    fn parse_after_display_is_the_identity(
        permission in permission(),
        odd in "/[a\\t\\n \u{202e}:@é%\\\\]{0,12}",
        millis in any::<u64>(),
        number in any::<u64>(),
        name in "[a-zA-Z0-9][a-zA-Z0-9._:@-]{0,20}",
    ) {
        prop_assert_eq!(permission.to_string().parse::<Permission>(), Ok(permission));
        let path = odd.parse::<bestow::path::SanitizedPath>().unwrap();
        for access in [Access::Read, Access::Write] {
            let permission = Permission::Path(access, path.clone());
            prop_assert_eq!(permission.to_string().parse::<Permission>(), Ok(permission.clone()));
            let text = serde_json::to_string(&permission).unwrap();
            prop_assert_eq!(serde_json::from_str::<Permission>(&text).unwrap(), permission);
        }
        prop_assert_eq!(path.to_string().parse::<bestow::path::SanitizedPath>().unwrap(), path);
        let moment = Timestamp::from_millis(millis);
        prop_assert_eq!(moment.to_string().parse::<Timestamp>(), Ok(moment));
        for scope in [Scope::Once, Scope::Session, Scope::Always, Scope::Until(moment)] {
            prop_assert_eq!(scope.to_string().parse::<Scope>(), Ok(scope));
        }
        let grant = format!("g{number}").parse::<GrantId>().unwrap();
        prop_assert_eq!(grant.to_string().parse::<GrantId>(), Ok(grant));
        let agent = name.parse::<AgentId>().unwrap();
        prop_assert_eq!(agent.to_string().parse::<AgentId>(), Ok(agent));
        prop_assert_eq!(name.parse::<OwnerId>().unwrap().to_string(), name);
    }
}

#[tokio::test]
async fn a_request_resolves_exactly_once() {
    let world = World::new();
    let mut events = world.engine.subscribe();
    let ann = world.worker("ann", &[]).await;
    let you = world.you();
    for end in 0..5 {
        let ticket = ann.request(ask(&format!("@write:/{end}"))).await.unwrap();
        match end {
            0 => you.answer(ticket.id(), Answer::allow()).await.unwrap(),
            1 => you.answer(ticket.id(), Answer::deny()).await.unwrap(),
            2 => ann.cancel(ticket.id()).await.unwrap(),
            3 => world.later(300_000).await,
            _ => drop(you.give(ann.id(), tag("@write:/4"), Scope::Always, why()).await.unwrap()),
        }
        let first = ticket.poll().unwrap();
        assert!(you.answer(ticket.id(), Answer::allow()).await.is_err());
        assert!(you.answer(ticket.id(), Answer::deny()).await.is_err());
        assert!(ann.cancel(ticket.id()).await.is_err());
        world.later(600_000).await;
        assert_eq!(ticket.poll(), Some(first.clone()));
        let told = heard(&mut events);
        let resolved = told.iter().filter(|recorded| matches!(&recorded.event, bestow::Event::Resolved { .. }));
        assert_eq!(resolved.count(), 1, "{first}");
    }
}

#[tokio::test]
async fn dropping_timing_out_and_shutting_down_refuse() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let late = ann.request(ask("@network")).await.unwrap();
    world.later(300_000).await;
    let timed_out = late.poll().unwrap();
    assert_eq!((timed_out.outcome, &timed_out.decider), (Outcome::Expired, &Decider::Timeout));
    let shut = ann.request(ask("@network")).await.unwrap();
    world.engine.shutdown().await;
    assert_eq!(shut.poll().unwrap().outcome, Outcome::Cancelled);
    assert_eq!(check(&ann, "@network"), Check::NotHeld);

    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let dropped = ann.request(ask("@network")).await.unwrap();
    drop((world, ann));
    let dropped = dropped.resolution().await;
    assert_eq!((dropped.outcome, &dropped.decider), (Outcome::Cancelled, &Decider::EngineGone));
    for resolution in [timed_out, dropped] {
        assert_eq!((&resolution.granted, &resolution.refused), (&vec![], &tags(&["@network"])));
    }
}

/// The test compares the visible state. Tests inside the kernel compare whole states for every reason.
#[tokio::test]
async fn a_refused_command_leaves_the_state_equal() {
    let world = World::with(|settings| settings.protected = ["/p".parse().unwrap()].into());
    let ann = world.worker("ann", &["@network"]).await;
    let eve = world.agent("eve", "them", Kind::Foreground, &[]).await;
    let ticket = ann.request(ask("@events")).await.unwrap();
    let (before, mut events) = (world.view(), world.engine.subscribe());
    let (you, them) = (world.you(), world.approver("them"));
    let unknown: GrantId = "g77".parse().unwrap();
    let refused = [
        ann.grant(eve.id(), tag("@network"), why()).await.map(drop),
        ann.grant(ann.id(), tag("@network"), why()).await.map(drop),
        ann.grant(&id("nobody"), tag("@network"), why()).await.map(drop),
        ann.request(ask("@read:/p/key")).await.map(drop),
        ann.spend(&tag("@events")).await,
        ann.revoke(unknown, None).await,
        ann.create(profile("kid", "you", Kind::Cron), &tags(&["@events"]), why()).await.map(drop),
        eve.cancel(ticket.id()).await,
        them.answer(ticket.id(), Answer::allow()).await,
        you.answer(ticket.id(), Answer::allow_only(tag("@network"))).await,
        you.answer(ticket.id(), Answer::allow().scope(Scope::Until(START))).await,
        you.give(eve.id(), tag("@network"), Scope::Always, why()).await.map(drop),
        you.revoke(unknown, None).await,
        world.engine.retire(&id("nobody")).await,
        world.engine.connect(ann.id()).map(drop),
        world.engine.user_active(ann.id()).await,
        world.engine.agree_to_widening(1).await,
        world.engine.configure(policy(settings(|_| {}), &[("ann", "you", &["@events"])])).await,
    ];
    for refused in refused.iter() {
        assert!(matches!(refused, Err(bestow::Error::Refused(_))), "{refused:?}");
    }
    assert_eq!(world.view(), before);
    let told = heard(&mut events);
    assert_eq!(told.len(), refused.len());
    assert!(
        told.iter().all(|recorded| recorded.event.kind() == "permission.refused"),
        "nothing but the refusals is told"
    );
}

/// An agent can never approve. Its handle has no such method (the doctests of `Agent` and `Approver` do not compile),
/// and naming a request answers nothing.
#[tokio::test]
async fn requester_is_never_approver() {
    let world = World::new();
    let lead = world.lead("lead", &[]).await;
    let _user = world.engine.connect(lead.id()).unwrap();
    let ticket = lead.request(ask("@network")).await.unwrap();
    // These are all calls of an agent with the id of its own request.
    assert!(lead.ticket(ticket.id()).unwrap().poll().is_none());
    assert!(lead.request(ask("@network")).await.unwrap().poll().is_none(), "asking again is no answer");
    assert!(lead.grant(lead.id(), tag("@network"), why()).await.is_err());
    let helper = lead.create(profile("helper", "you", Kind::Subagent), &[], why()).await.unwrap();
    assert!(helper.grant(lead.id(), tag("@network"), why()).await.is_err());
    assert_eq!(check(&lead, "@network"), Check::NotHeld);
    lead.cancel(ticket.id()).await.unwrap();
    assert_eq!(ticket.poll().unwrap().outcome, Outcome::Cancelled);
}

#[tokio::test]
async fn one_shot_is_used_once() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    for wanted in ["@network", "@write:/ws"] {
        let ticket = ann.request(ask(wanted).at_most(Scope::Once)).await.unwrap();
        world.you().answer(ticket.id(), Answer::allow()).await.unwrap();
        assert_eq!(check(&ann, wanted), Check::HeldOnce);
        assert!(!check(&ann, wanted).is_held(), "a check is no use");
        ann.spend(&tag(wanted)).await.unwrap();
        assert_eq!(check(&ann, wanted), Check::NotHeld);
        assert!(ann.spend(&tag(wanted)).await.is_err());
    }
    assert_eq!(world.engine.grants().unwrap(), []);
}

/// A saved decision for one use is consumed once, even by a hundred simultaneous calls.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_shot_is_used_once_by_a_hundred_at_once() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    for round in 0..4 {
        let action = Action::command(&format!("node script{round}.js"));
        let bestow::action::Authorization::Asked(_, ticket) = ann.authorize(action.clone()).await.unwrap() else {
            panic!()
        };
        world.you().answer(ticket.id(), Answer::allow()).await.unwrap();
        let start = std::sync::Arc::new(tokio::sync::Barrier::new(100));
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..100 {
            let (ann, action, start) = (ann.clone(), action.clone(), start.clone());
            tasks.spawn(async move {
                start.wait().await;
                ann.authorize(action).await.is_ok_and(|authorized| authorized.is_allowed())
            });
        }
        let won = tasks.join_all().await.into_iter().filter(|won| *won).count();
        assert_eq!(won, 1, "round {round}");
        let waiting = world.engine.pending().unwrap();
        assert_eq!(waiting.len(), 1, "everybody else asks the same question");
        ann.cancel(waiting[0].request.id).await.unwrap();
    }
}

/// Generates actions that differ in the parts that identify an action.
fn action() -> impl Strategy<Value = Action> {
    let text = prop::sample::select(vec!["node a.js", "node b.js", "node  a.js", "git push", "make", "some-tool"]);
    let tool = prop::option::of(prop::sample::select(vec!["bash", "other"]));
    (text, tool, any::<bool>(), prop::option::of(prop::sample::select(vec!["c1", "c2"]))).prop_map(
        |(text, tool, named, call)| {
            let action = Action::command(text);
            let action = if named { action.needing(tag("@network")) } else { action };
            let action = tool.map_or(action.clone(), |tool| action.clone().by_tool(tool.parse().unwrap()));
            call.map_or(action.clone(), |call| action.clone().as_call(call.parse().unwrap()))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::support::cases(64)))]

    /// A one-time approval covers exactly the action that the person was asked about. Any other action causes a
    /// request.
    #[test]
    fn what_was_approved_is_what_runs(asked in action(), tried in prop::collection::vec(action(), 1..6)) {
        block_on(async {
            let world = World::new();
            let ann = world.worker("ann", &["@network"]).await;
            use bestow::action::Authorization::Asked;
            let Asked(approved, ticket) = ann.authorize(asked.clone()).await.unwrap() else {
                return Err(TestCaseError::fail("it needs no approval"));
            };
            world.you().answer(ticket.id(), Answer::allow()).await.unwrap();
            let mut used = false;
            for action in tried {
                let authorized = ann.authorize(action).await.unwrap();
                let same = authorized.decision().action.input == approved.action.input;
                prop_assert_eq!(authorized.is_allowed(), same && !used, "{}", authorized.decision());
                used |= authorized.is_allowed();
            }
            prop_assert_eq!(ann.authorize(asked).await.unwrap().is_allowed(), !used);
            Ok(())
        })?;
    }
}

/// The events contain the whole state. This test reads them back from text and counts the grants. Tests inside the
/// kernel rebuild and compare whole states.
#[tokio::test]
async fn replaying_the_events_rebuilds_the_state() {
    let world = World::new();
    let mut events = world.engine.subscribe();
    let ann = world.worker("ann", &["@write:/ws", "@network"]).await;
    let bob = world.worker("bob", &[]).await;
    ann.grant(bob.id(), Permissions::try_from(tags(&["@write:/ws/a", "@network"])).unwrap(), why()).await.unwrap();
    world.you().give(bob.id(), tag("@events"), Scope::Once, why()).await.unwrap();
    bob.spend(&tag("@events")).await.unwrap();
    world.engine.revoke(ann.grants().unwrap()[1].id, None).await.unwrap();
    let mut live = std::collections::BTreeMap::new();
    for recorded in heard(&mut events) {
        let text = serde_json::to_string(&recorded).unwrap();
        match serde_json::from_str::<bestow::event::Recorded>(&text).unwrap().event {
            bestow::Event::GrantIssued { grant } | bestow::Event::GrantChanged { grant } => {
                drop(live.insert(grant.id, grant))
            }
            other => drop(other.grant().map(|grant| live.remove(&grant.id))),
        }
    }
    assert_eq!(live.into_values().collect::<Vec<_>>(), world.engine.grants().unwrap());
}

#[test]
fn what_is_read_from_json_goes_through_the_same_door_as_text() {
    for text in [r#""/a/../b""#, r#""a""#, r#""/a\u0000""#, r#""""#] {
        assert!(serde_json::from_str::<bestow::path::SanitizedPath>(text).is_err(), "{text}");
    }
    for text in [r#""@write:/a/../b""#, r#""@write:""#, r#""write:/a""#, r#""@admin""#] {
        assert!(serde_json::from_str::<Permission>(text).is_err(), "{text}");
    }
    assert!(serde_json::from_str::<Permissions>("[]").is_err());
    assert!(serde_json::from_str::<Reason>(r#"" \u200b\t ""#).is_err());
    assert!(serde_json::from_str::<AgentId>(r#""../x""#).is_err());
    assert!(serde_json::from_str::<Scope>(r#""forever""#).is_err());
    assert!(serde_json::from_str::<Timestamp>(r#""1969-12-31T23:59:59Z""#).is_err());
    assert!(serde_json::from_str::<Request>("{}").is_err());
    assert_eq!("/a/..".parse::<bestow::path::SanitizedPath>(), Err(InvalidPath::ParentComponent));
    assert_eq!(owner("you").to_string(), "you");
}

/// Tests each kind of approval, all of them together, against each kind of denial.
#[tokio::test]
async fn an_explicit_deny_beats_any_allow_however_it_is_said() {
    use bestow::{
        Action,
        action::Operation,
        decision::Verdict,
        grant::Place,
        path::PathGlob,
        policy::Rule,
        tool::{PathPolicy, PolicyPatch, ToolPolicies},
    };
    for no in ["rule", "forbidden", "deny glob", "default", "session", "parent"] {
        let world = World::new();
        let boss = world.worker("boss", &["@write:/ws"]).await;
        let you = world.you();
        let place = Place { file: "agents.toml".into(), line: 1 };
        let rule = |verdict| Rule {
            verdict,
            tool: None,
            operation: Some(Operation::Write),
            path: None,
            command: None,
            shape: None,
            cwd: None,
            children: false,
            why: None,
            place: place.clone(),
        };
        let mut file = policy(settings(|_| ()), &[("bot", "you", &["@write:/ws"])]);
        let verdicts: &[_] = if no == "rule" { &[Verdict::Allow, Verdict::Deny] } else { &[Verdict::Allow] };
        file.agents.get_mut(&id("bot")).unwrap().rules = verdicts.iter().map(|verdict| rule(*verdict)).collect();
        file.agents.get_mut(&id("bot")).unwrap().profile.parent = Some(boss.id().clone());
        let asking = || PathPolicy { default: Some(Verdict::Ask), ..PathPolicy::default() };
        let action = || Action::write("/ws/a");
        let bot = {
            world.engine.configure(file).await.unwrap();
            world.engine.agent(id("bot")).unwrap()
        };
        let run = bot.explain(&action()).unwrap().decision.run;
        // A person approves or denies the request that the policy causes.
        you.set_policies(&run, None, ToolPolicies { write: asking(), ..ToolPolicies::default() }).await.unwrap();
        for (another, verdict) in [("/ws/a", no != "session"), ("/ws/b", true)] {
            if let bestow::action::Authorization::Asked(decision, _) =
                bot.authorize(Action::write(another)).await.unwrap()
            {
                let answer = if verdict { Answer::allow() } else { Answer::deny() };
                you.answer(decision.approval_action_id.unwrap(), answer.scope(Scope::Session)).await.unwrap();
            }
        }
        let glob = |text: &str| PathGlob::at(text, &"/ws".parse().unwrap(), bestow::path::Reach::Everywhere).unwrap();
        let mut write = PathPolicy { allow: vec![glob("a")], deny: Vec::new(), default: Some(Verdict::Allow) };
        match no {
            "deny glob" => write.deny.push(glob("**/a")),
            "default" => write = PathPolicy { default: Some(Verdict::Deny), ..PathPolicy::default() },
            _ => {}
        }
        let forbidden = if no == "forbidden" { vec![glob("a")] } else { Vec::new() };
        you.set_policies(&run, None, ToolPolicies { write, forbidden, ..ToolPolicies::default() }).await.unwrap();
        if no == "parent" {
            world.engine.begin_run(boss.id(), "of-boss".parse().unwrap()).await.unwrap();
            you.update_policy(&"of-boss".parse().unwrap(), PolicyPatch::writing().deny("a")).await.unwrap();
        }
        let explained = bot.explain(&action()).unwrap();
        assert_eq!(explained.decision.verdict(), Verdict::Deny, "{no}\n{explained}");
        assert!(!bot.authorize(action()).await.unwrap().is_allowed(), "{no}");
        if no != "default" && no != "rule" {
            assert_eq!(
                bot.verdict(&Action::write("/ws/b")).unwrap(),
                Verdict::Allow,
                "the yes counts for the rest: {no}"
            );
        }
    }
}

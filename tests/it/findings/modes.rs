//! Tests of the effect of each mode on requests.

use bestow::{
    Action, Agent, Effect, Event, InitialGrants, Kind, Outcome,
    action::Authorization,
    agent::Mode,
    decision::{Decider, Refusal, Ruled, Verdict},
    event::SandboxFacts,
    grant::Actor,
    policy::Widening,
};

use crate::support::{World, heard, id, profile, refusal, tag, tags};

async fn in_mode(world: &World, name: &str, mode: Mode, holds: &[&str]) -> Agent {
    let profile = profile(name, "you", Kind::Subagent).in_mode(mode);
    world.engine.register(profile, InitialGrants::of(tags(holds))).await.unwrap()
}

fn build() -> Action {
    Action::command("node build.js")
}

fn jail() -> SandboxFacts {
    SandboxFacts::stated("jail", "/ws".parse().unwrap())
}

/// B3: a confined action was not confined, and `is_allowed()` returned true.
#[tokio::test]
async fn b3_what_may_happen_only_confined_is_no_yes_to_anybody() {
    let world = World::new();
    let bold = in_mode(&world, "bold", Mode::OnFailure, &[]).await;
    let decided = bold.authorize(build()).await.unwrap();
    assert!(!decided.is_allowed());
    let decision = decided.decision();
    assert_eq!((decision.verdict(), bold.verdict(&build()).unwrap()), (Effect::Confined, Effect::Confined));
    for verdict in [Verdict::Allow, Verdict::Ask, Verdict::Deny] {
        assert!(decision.verdict() != verdict && verdict != decision.verdict(), "{verdict}");
    }
    assert!(decision.to_string().starts_with("confined run `node build.js`"), "{decision}");
    assert_eq!(serde_json::to_value(&**decision).unwrap()["decision"], "sandboxed");
    let explained = bold.explain(&build()).unwrap();
    assert_eq!(explained.decision.verdict(), Effect::Confined);
    assert!(explained.ways_out.iter().any(|way| way.contains("run it in a sandbox")), "{explained}");
}

/// B3: a host that confines the action itself gets its approval when it states the sandbox, and the fact is recorded.
#[tokio::test]
async fn b3_a_host_that_confines_by_itself_has_its_yes_with_the_facts() {
    let world = World::new();
    let bold = in_mode(&world, "bold", Mode::OnFailure, &["@write:/ws"]).await;
    let write = || build().needing(tag("@write:/ws"));
    let mut events = world.engine.subscribe();
    let Authorization::Confined(first, what) = bold.authorize(write()).await.unwrap() else { panic!() };
    let mut facts = jail();
    (facts.mode, facts.write_roots, facts.enforced) =
        ("workspace_write".into(), vec!["/ws/site".parse().unwrap()], "full".into());
    let yes = world.engine.confine(what, facts).await.unwrap();
    assert_eq!((yes.decision, &*yes.action), (Ruled::Sandboxed, &*first.action));
    assert_ne!(yes.id, first.id);
    let told = heard(&mut events);
    let kinds: Vec<_> = told.iter().map(|recorded| recorded.event.kind()).collect();
    assert_eq!(kinds, ["permission.evaluated", "permission.evaluated", "sandbox.applied"]);
    let Event::SandboxApplied { agent, facts, cause, .. } = &told[2].event else { panic!() };
    assert_eq!((agent, cause.as_ref().map(|cause| cause.decision)), (bold.id(), yes.id));
    assert_eq!((&*facts.backend, &*facts.enforced), ("jail", "stated"), "nobody has read it back");
}

/// B3: a stated sandbox that allows more than the decision is refused.
#[tokio::test]
async fn b3_a_sandbox_that_allows_more_than_was_decided_gives_no_yes() {
    let world = World::new();
    let bold = in_mode(&world, "bold", Mode::OnFailure, &["@write:/ws", "@network"]).await;
    let mut open = jail();
    open.network = true;
    let mut wide = jail();
    wide.write_roots = vec!["/".parse().unwrap()];
    for (facts, too_much) in [(open, "@network"), (wide, "@write:/")] {
        let action = build().needing(tag("@write:/ws"));
        let Authorization::Confined(_, what) = bold.authorize(action).await.unwrap() else { panic!() };
        let refused = refusal(world.engine.confine(what, facts).await);
        assert_eq!(refused, Refusal::WiderThanDecided(tag(too_much)));
    }
}

/// B3: the approval is given at the confinement, so the state at that time counts, and a one-time permission is
/// consumed once.
#[tokio::test]
async fn b3_what_is_true_when_it_is_confined_counts() {
    let world = World::new();
    let bold = in_mode(&world, "bold", Mode::OnFailure, &["@network"]).await;
    let reaches = || build().needing(tag("@network"));
    let Authorization::Confined(_, first) = bold.authorize(reaches()).await.unwrap() else { panic!() };
    let grant = bold.grants().unwrap()[0].id;
    world.engine.revoke(grant, None).await.unwrap();
    assert!(matches!(refusal(world.engine.confine(first, jail()).await), Refusal::NotAllowed(_)));

    let once = bestow::grant::Scope::Once;
    world.you().give(bold.id(), tag("@network"), once, crate::support::why()).await.unwrap();
    let Authorization::Confined(_, one) = bold.authorize(reaches()).await.unwrap() else { panic!() };
    let Authorization::Confined(_, two) = bold.authorize(reaches()).await.unwrap() else { panic!() };
    assert_eq!(bold.grants().unwrap().len(), 1, "asking uses nothing up");
    world.engine.confine(one, jail()).await.unwrap();
    assert!(matches!(refusal(world.engine.confine(two, jail()).await), Refusal::NotAllowed(_)), "it was for one use");
}

/// B3: another engine cannot confine an action of this engine.
#[tokio::test]
async fn b3_another_engine_says_no_yes() {
    let (world, other) = (World::new(), World::new());
    let bold = in_mode(&world, "bold", Mode::OnFailure, &[]).await;
    let _same_name = in_mode(&other, "bold", Mode::OnFailure, &[]).await;
    let Authorization::Confined(_, what) = bold.authorize(build()).await.unwrap() else { panic!() };
    assert_eq!(refusal(other.engine.confine(what, jail()).await), Refusal::UnknownAgent(bold.id().clone()));
}

/// Requests `wanted`, asserts that no person is asked, and returns the resolution.
async fn refused_at_once(world: &World, agent: &Agent, wanted: &str) -> bestow::request::Resolution {
    let ticket = agent.request(crate::support::ask(wanted)).await.unwrap();
    assert_eq!(world.engine.pending().unwrap(), []);
    bestow::request::Resolution::clone(&ticket.poll().expect("it waits for a person"))
}

/// B1: `request_permission` waited for a person.
#[tokio::test]
async fn b1_in_mode_never_a_request_is_refused_at_once_and_says_why() {
    let world = World::new();
    let _there = world.you().attend().unwrap();
    let quiet = in_mode(&world, "quiet", Mode::Never, &["@write:/ws"]).await;
    let mut events = world.engine.subscribe();
    let no = refused_at_once(&world, &quiet, "@network").await;
    let decider = Decider::Mode { mode: Mode::Never, of: quiet.id().clone() };
    assert_eq!((no.outcome, &no.decider), (Outcome::Denied, &decider));
    assert_eq!((no.granted.len(), &no.refused[..]), (0, &[tag("@network")][..]));
    assert_eq!(no.decider.to_string(), "mode never of quiet forbids questions");
    let kinds: Vec<_> = heard(&mut events).iter().map(|recorded| recorded.event.kind()).collect();
    assert_eq!(kinds, ["permission.requested", "permission.resolved"], "the facts are there");
    let held = refused_at_once(&world, &quiet, "@write:/ws/a").await;
    assert_eq!(held.outcome, Outcome::Granted, "what is held needs no question");
}

/// B1: no person is asked for a child of an agent in mode `never` either.
#[tokio::test]
async fn b1_the_mode_of_an_agent_above_binds_a_request_too() {
    let world = World::new();
    let _there = world.you().attend().unwrap();
    let quiet = in_mode(&world, "quiet", Mode::Never, &[]).await;
    let child = profile("kid", "you", Kind::Subagent).in_mode(Mode::Auto);
    let child = quiet.create(child, &[], crate::support::why()).await.unwrap();
    let no = refused_at_once(&world, &child, "@network").await;
    assert!(matches!(&no.decider, Decider::Mode { mode: Mode::Never, .. }), "{:?}", no.decider);
}

/// B1: in a noninteractive run no request waits in any mode.
#[tokio::test]
async fn b1_where_nobody_is_asked_a_request_is_unavailable_at_once() {
    let world = World::with(|settings| settings.interaction = bestow::policy::Interaction::NonInteractive);
    let _there = world.you().attend().unwrap();
    for mode in Mode::ALL {
        let agent = in_mode(&world, mode.as_str(), mode, &[]).await;
        let no = refused_at_once(&world, &agent, "@network").await;
        let expected = if mode == Mode::Never { Outcome::Denied } else { Outcome::Unavailable };
        assert_eq!(no.outcome, expected, "{mode}");
    }
}

/// B1: a request that reaches no person does not count against the limit of the family.
#[tokio::test]
async fn b1_what_is_refused_at_once_is_no_question_of_the_family() {
    let world = World::with(|settings| settings.max_asks_per_minute = 1);
    let _there = world.you().attend().unwrap();
    let lead = world.worker("lead", &[]).await;
    let child = lead.create(profile("kid", "you", Kind::Subagent), &[], crate::support::why()).await.unwrap();
    world.engine.set_mode(child.id(), Mode::Never).await.unwrap();
    for _ in 0..3 {
        refused_at_once(&world, &child, "@network").await;
    }
    assert!(lead.request(crate::support::ask("@network")).await.unwrap().poll().is_none(), "it is asked");
}

/// B2: `sources/004` lets every agent call `request_permission`, so `default` cannot be a mode without requests. Both
/// modes ask in identical cases.
#[tokio::test]
async fn b2_on_request_asks_what_default_asks_since_every_agent_may_request() {
    let world = World::new();
    let _there = world.you().attend().unwrap();
    let (default, on_request) = (
        in_mode(&world, "default", Mode::Default, &["@write:/ws"]).await,
        in_mode(&world, "on-request", Mode::OnRequest, &["@write:/ws"]).await,
    );
    for action in [
        build(),
        build().needing(tag("@network")),
        Action::write("/elsewhere/a"),
        Action::write("/ws/a"),
        Action::network("example.com"),
        Action::command("rm -rf /"),
    ] {
        let (one, other) = (default.explain(&action).unwrap(), on_request.explain(&action).unwrap());
        assert_eq!((one.walk, one.ways_out.len()), (other.walk, other.ways_out.len()), "{action:?}");
        assert_eq!(one.decision.decision, other.decision.decision, "{action:?}");
    }
    for agent in [&default, &on_request] {
        let ticket = agent.request(crate::support::ask("@network")).await.unwrap();
        assert!(ticket.poll().is_none(), "{}: a person has it before them", agent.id());
    }
}

/// B5: the mode of an existing agent could not be changed.
#[tokio::test]
async fn b5_a_mode_is_changed_while_the_engine_runs_with_a_fact() {
    let world = World::new();
    let _there = world.you().attend().unwrap();
    let agent = in_mode(&world, "bot", Mode::Default, &["@write:/ws"]).await;
    let mut events = world.engine.subscribe();
    assert_eq!(agent.verdict(&Action::write("/ws/a")).unwrap(), Effect::Allow);
    world.you().set_mode(agent.id(), Mode::Plan).await.unwrap();
    assert_eq!(agent.verdict(&Action::write("/ws/a")).unwrap(), Effect::Deny);
    world.engine.set_mode(agent.id(), Mode::Auto).await.unwrap();
    assert_eq!(agent.verdict(&Action::write("/ws/a")).unwrap(), Effect::Allow);
    world.engine.set_mode(agent.id(), Mode::Auto).await.unwrap();
    let told: Vec<_> = heard(&mut events).into_iter().map(|recorded| recorded.event).collect();
    let by_person = Actor::Person { by: "ann".parse().unwrap(), means: "terminal".into() };
    let changed =
        |before, mode, by| Event::ModeChanged { agent: agent.id().clone(), before, mode, written: None, by: Some(by) };
    let expected = [changed(Mode::Default, Mode::Plan, by_person), changed(Mode::Plan, Mode::Auto, Actor::Operator)];
    assert_eq!(told, expected, "the same mode again is no change");
}

/// B5: a person changes the mode of agents of their own owner only.
#[tokio::test]
async fn b5_nobody_changes_the_mode_of_another_owners_agent() {
    let world = World::new();
    let agent = in_mode(&world, "bot", Mode::Plan, &[]).await;
    let refused = refusal(world.approver("them").set_mode(agent.id(), Mode::Bypass).await);
    assert!(matches!(refused, Refusal::OtherOwner { .. }), "{refused}");
    assert_eq!(agent.profile().unwrap().mode, Mode::Plan);
}

/// B5: child agents are bound at once, and a looser mode of their own does not help them.
#[tokio::test]
async fn b5_a_stricter_mode_binds_those_below_at_once() {
    let world = World::new();
    let _there = world.you().attend().unwrap();
    let lead = in_mode(&world, "lead", Mode::Bypass, &["@write:/ws"]).await;
    let child = lead.create(profile("kid", "you", Kind::Subagent), &[tag("@write:/ws")], crate::support::why()).await;
    let child = child.unwrap();
    assert_eq!(child.verdict(&build()).unwrap(), Effect::Allow);
    world.engine.set_mode(lead.id(), Mode::Plan).await.unwrap();
    assert_eq!(child.verdict(&build()).unwrap(), Effect::Deny);
}

/// B5: a new mode is applied to a pending request too.
#[tokio::test]
async fn b5_a_question_that_the_new_mode_denies_ends_and_a_late_yes_lets_nothing_happen() {
    for mode in [Mode::Plan, Mode::Never] {
        let world = World::new();
        let you = world.you();
        let _there = you.attend().unwrap();
        let agent = in_mode(&world, "bot", Mode::Default, &["@write:/ws"]).await;
        let Authorization::Asked(_, ticket) = agent.authorize(build()).await.unwrap() else { panic!() };
        world.engine.set_mode(agent.id(), mode).await.unwrap();
        let no = ticket.poll().unwrap_or_else(|| panic!("{mode}: it waits"));
        assert_eq!((no.outcome, &no.decider), (Outcome::Denied, &Decider::Mode { mode, of: agent.id().clone() }));
        let late = refusal(you.answer(ticket.id(), bestow::Answer::allow()).await);
        assert!(matches!(late, Refusal::AlreadyResolved(_)), "{late}");
        assert_eq!(agent.authorize(build()).await.unwrap().decision().verdict(), Effect::Deny, "{mode}");
    }
}

/// B5: an action with circumstances cannot be evaluated again, so its request stays pending. An approval of it still
/// allows nothing.
#[tokio::test]
async fn b5_a_yes_to_a_question_from_a_looser_mode_is_judged_again() {
    let world = World::new();
    let you = world.you();
    let _there = you.attend().unwrap();
    let agent = in_mode(&world, "bot", Mode::Default, &["@write:/ws"]).await;
    let action = || build().under("two minutes");
    let Authorization::Asked(_, ticket) = agent.authorize(action()).await.unwrap() else { panic!() };
    world.engine.set_mode(agent.id(), Mode::Plan).await.unwrap();
    if ticket.poll().is_none() {
        you.answer(ticket.id(), bestow::Answer::allow()).await.unwrap();
    }
    assert_eq!(agent.authorize(action()).await.unwrap().decision().verdict(), Effect::Deny);
}

fn described(mode: Mode, widening: Widening) -> bestow::Policy {
    let settings = crate::support::settings(|settings| settings.widening = widening);
    let mut policy = crate::support::policy(settings, &[("bot", "you", &[])]);
    policy.agents.get_mut(&id("bot")).unwrap().profile.mode = mode;
    policy
}

/// B5: a reload keeps a mode that was set, unless the mode changed in the file. Then the file wins.
#[tokio::test]
async fn b5_a_reload_leaves_a_mode_alone_until_its_own_line_changes() {
    let world = World::new();
    world.engine.configure(described(Mode::Default, Widening::Apply)).await.unwrap();
    let mode = || world.engine.agent(id("bot")).unwrap().profile().unwrap().mode;
    world.engine.set_mode(&id("bot"), Mode::Plan).await.unwrap();
    let mut renamed = described(Mode::Default, Widening::Apply);
    renamed.agents.get_mut(&id("bot")).unwrap().profile.name = Some("Bot".parse().unwrap());
    world.engine.configure(renamed).await.unwrap();
    assert_eq!(mode(), Mode::Plan, "another line of its changed");
    world.engine.configure(described(Mode::Plan, Widening::Apply)).await.unwrap();
    assert_eq!(mode(), Mode::Plan, "the file says the same by now");
    world.engine.configure(described(Mode::Default, Widening::Apply)).await.unwrap();
    assert_eq!(mode(), Mode::Default, "so that its next change is one");
}

/// B5: with `confirm_widening` no reload loosens a mode without a person. The change that was held back takes effect
/// when the person agrees.
#[tokio::test]
async fn b5_no_reload_loosens_a_mode_without_a_person_where_that_is_wanted() {
    let world = World::new();
    world.engine.configure(described(Mode::Default, Widening::Confirm)).await.unwrap();
    let mode = || world.engine.agent(id("bot")).unwrap().profile().unwrap().mode;
    let held = || world.engine.held_change().unwrap();
    if let Some(first) = held() {
        world.engine.agree_to_widening(first.change).await.unwrap();
    }
    world.engine.set_mode(&id("bot"), Mode::Plan).await.unwrap();
    world.engine.configure(described(Mode::Default, Widening::Confirm)).await.unwrap();
    assert_eq!((mode(), held()), (Mode::Plan, None), "the file says nothing new");
    world.engine.configure(described(Mode::Auto, Widening::Confirm)).await.unwrap();
    assert_eq!(mode(), Mode::Plan);
    let change = held().expect("it is told");
    assert!(change.to_string().contains("mode from plan to auto"), "{change}");
    world.engine.configure(described(Mode::Auto, Widening::Confirm)).await.unwrap();
    assert_eq!(mode(), Mode::Plan, "saying it twice is no agreement");
    let change = held().expect("it still waits");
    world.engine.agree_to_widening(change.change).await.unwrap();
    assert_eq!(mode(), Mode::Auto);
    world.engine.configure(described(Mode::Plan, Widening::Confirm)).await.unwrap();
    assert_eq!(mode(), Mode::Plan, "what narrows is taken over at once");
}

/// Tests of modes on the command line.
#[cfg(all(feature = "cli", feature = "sandbox"))]
mod command_line {
    use std::{fs, os::unix::fs::PermissionsExt, process::Command};

    use bestow::{Effect, Engine, InitialGrants, Kind, Settings, agent::Mode};
    use serde_json::Value;

    use crate::support::{id, profile};

    const FILE: &str = "[agents.bold]\nowner = \"you\"\nkind = \"subagent\"\nworking_dir = \".\"\n\
                        mode = \"on_failure\"\n\
                        [[test]]\nagent = \"bold\"\ncommand = \"node x.js\"\nexpect = \"confined\"\n";

    fn run(words: &[&str]) -> (Option<i32>, String, String) {
        let done =
            Command::new(crate::support::BESTOW).args(words).args(crate::support::secret(words)).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (done.status.code(), text(done.stdout), text(done.stderr))
    }

    fn run_by(engine: &Engine, words: &[&str]) -> (Option<i32>, String, String) {
        let (said, complaint, code) = crate::cli::run_for(Some(engine.surfaces()), words);
        (code, said, complaint)
    }

    /// B3: `check` exited with 0, as for an allowed action.
    #[test]
    fn b3_check_and_explain_have_an_exit_code_for_confined() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("agents.toml");
        let config = file.to_str().unwrap();
        let save = |text: &str| {
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        };
        save(FILE);
        for what in ["check", "explain"] {
            let (code, said, _) = run(&[what, "--agent", "bold", "--config", config, "--command", "node x.js"]);
            assert_eq!((code, said.starts_with("confined run `node x.js`")), (Some(4), true), "{what}: {said}");
        }
        let (code, said, _) =
            run(&["check", "--agent", "bold", "--config", config, "--command", "node x.js", "--json"]);
        let json: Value = serde_json::from_str(&said).unwrap();
        assert_eq!((code, &json["decision"]), (Some(4), &"sandboxed".into()));
        assert_eq!(run(&["check-config", config]).0, Some(0), "the test expects it");
        save(&FILE.replace("\"confined\"", "\"allow\""));
        let (code, said, complaint) = run(&["check-config", config]);
        assert_eq!(code, Some(1), "{said}{complaint}");
        assert!((said + &complaint).contains("found confined"));
    }

    /// B5: the command line reads and changes the mode and the state of an agent, with an engine and without one.
    #[tokio::test(flavor = "multi_thread")]
    async fn b5_mode_and_state_are_told_and_changed_with_and_without_an_engine() {
        let directory = tempfile::tempdir().unwrap();
        let state = directory.path().join("state");
        let at = state.to_str().unwrap().to_owned();
        let engine = Engine::durable(Settings::default(), &state).await.unwrap();
        let agent = engine.register(profile("bot", "you", Kind::Cron), InitialGrants::nothing()).await.unwrap();
        let (code, said, _) = run_by(&engine, &["mode", "bot", "--state", &at]);
        assert_eq!((code, &*said), (Some(0), "bot is in mode default\n"));
        let (code, said, _) = run_by(&engine, &["mode", "bot", "plan", "--state", &at]);
        assert_eq!((code, &*said), (Some(0), "bot is in mode plan\n"));
        assert_eq!(agent.profile().unwrap().mode, Mode::Plan);
        assert_eq!(agent.verdict(&bestow::Action::write("/tmp/x")).unwrap(), Effect::Deny);
        let (code, said, _) = run_by(&engine, &["state", "--agent", "bot", "--state", &at, "--json"]);
        let json: Value = serde_json::from_str(&said).unwrap();
        assert_eq!((code, &json["mode"], &json["agent"]), (Some(0), &"plan".into(), &"bot".into()));
        let (code, _, complaint) = run_by(&engine, &["mode", "bot", "yolo", "--state", &at]);
        assert_eq!(
            (code, complaint.contains("`yolo` does not exist: there is `default`")),
            (Some(64), true),
            "{complaint}"
        );
        engine.shutdown().await;
        drop((agent, engine));

        let (code, said, _) = run(&["state", "--agent", "bot", "--state", &at]);
        assert!(code == Some(0) && said.starts_with("bot (cron) of you"), "{said}");
        assert!(said.contains("mode plan"), "it is stored: {said}");
        let (code, said, _) = run(&["mode", "bot", "auto", "--state", &at]);
        assert_eq!((code, &*said), (Some(0), "bot is in mode auto\n"));
        let again = Engine::durable(Settings::default(), &state).await.unwrap();
        assert_eq!(again.agent(id("bot")).unwrap().profile().unwrap().mode, Mode::Auto);
        again.shutdown().await;
    }
}

mod any_history {
    use bestow::{Agent, Effect, action::Authorization, agent::Mode};
    use proptest::prelude::*;

    use super::{World, build, in_mode};
    use crate::support::{ask, profile, tag, why};

    /// An event that concerns the parent or the child.
    #[derive(Clone, Debug)]
    enum Step {
        Set(bool, usize),
        Request(bool),
        Act(bool),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (any::<bool>(), 0..Mode::ALL.len()).prop_map(|(below, mode)| Step::Set(below, mode)),
            any::<bool>().prop_map(Step::Request),
            any::<bool>().prop_map(Step::Act),
        ]
    }

    fn is_silenced(agent: &Agent) -> bool {
        let state = agent.permission_state().unwrap();
        state.mode == Mode::Never || state.modes_above.iter().any(|above| above.mode == Mode::Never)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::support::cases(48)))]

        /// B1, B3: with any sequence of modes, no request of an agent waits if it may not ask, and only `allow` is an
        /// approval.
        #[test]
        fn b1_b3_nobody_waits_in_mode_never_and_only_allow_is_a_yes(steps in prop::collection::vec(step(), 1..24)) {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            runtime.block_on(async {
                let world = World::new();
                let _there = world.you().attend().unwrap();
                let lead = in_mode(&world, "lead", Mode::Default, &["@write:/ws"]).await;
                let kid = profile("kid", "you", bestow::Kind::Subagent);
                let kid = lead.create(kid, &[tag("@write:/ws")], why()).await.unwrap();
                let of = |below: bool| if below { &kid } else { &lead };
                for step in steps {
                    match step {
                        Step::Set(below, mode) => world.engine.set_mode(of(below).id(), Mode::ALL[mode]).await.unwrap(),
                        Step::Request(below) => drop(of(below).request(ask("@network")).await),
                        Step::Act(below) => {
                            let before = of(below).verdict(&build()).unwrap();
                            let Ok(done) = of(below).authorize(build()).await else { continue };
                            prop_assert_eq!(done.decision().verdict(), before);
                            prop_assert_eq!(done.is_allowed(), before == Effect::Allow);
                            let is_confined = matches!(done, Authorization::Confined(..));
                            prop_assert_eq!(is_confined, before == Effect::Confined);
                        }
                    }
                    for pending in world.engine.pending().unwrap() {
                        let asker = of(pending.request.from == *kid.id());
                        prop_assert!(
                            !is_silenced(asker), "{} waits in {}", asker.id(), asker.permission_state().unwrap()
                        );
                    }
                }
                Ok(())
            })?;
        }
    }
}

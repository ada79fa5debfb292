//! Everything that an action uses is judged, whatever it is called.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bestow::{
    Action, Agent, Decision, Event, Hook, HookAnswer, HookFailure, Mode, Operation, PathGlob, PathPolicy, Place,
    Policies, Proposal, Rule, Ruled, UseOrigin, Verdict,
};

use crate::support::{World, heard, id, policy, profile, refusal, settings, tag};

const ALL_MODES: [Mode; 8] = [
    Mode::Default,
    Mode::Untrusted,
    Mode::OnRequest,
    Mode::OnFailure,
    Mode::Never,
    Mode::Plan,
    Mode::Bypass,
    Mode::Auto,
];

fn rule(verdict: Verdict, operation: Option<Operation>, path: Option<&str>) -> Rule {
    Rule {
        verdict,
        tool: None,
        operation,
        path: path.map(|path| PathGlob::try_from(path.to_owned()).unwrap()),
        command: None,
        shape: None,
        cwd: None,
        why: None,
        place: Place { file: "agents.toml".into(), line: 3 },
    }
}

fn deny(operation: Operation) -> Rule {
    rule(Verdict::Deny, Some(operation), None)
}

fn deny_path(glob: &str) -> Rule {
    rule(Verdict::Deny, None, Some(glob))
}

fn everything_allowed() -> Rule {
    rule(Verdict::Allow, None, None)
}

/// An agent in `/ws` that a file binds by these rules.
async fn bound(world: &World, mode: Mode, holds: &[&str], rules: &[Rule]) -> Agent {
    let mut file = policy(settings(|_| {}), &[("ann", "you", holds)]);
    let of_file = file.agents.get_mut(&id("ann")).unwrap();
    of_file.rules = Arc::from(rules);
    of_file.profile = profile("ann", "you", bestow::Kind::Permanent).in_mode(mode);
    world.engine.configure(file).await.unwrap();
    world.engine.agent(&id("ann")).unwrap()
}

async fn decided(agent: &Agent, action: Action) -> Decision {
    Decision::clone(agent.authorize(action).await.unwrap().decision())
}

async fn ruled(agent: &Agent, action: Action) -> Ruled {
    decided(agent, action).await.decision
}

fn given(line: &str, permission: &str) -> Action {
    Action::command(line).needing(tag(permission))
}

/// Says no to every use of one operation, and keeps what it saw.
#[derive(Debug)]
struct Denies(Operation, Mutex<Vec<Proposal>>);

#[async_trait]
impl Hook for Denies {
    async fn before(&self, proposal: Proposal) -> Result<HookAnswer, HookFailure> {
        let is_meant = proposal.operation == self.0;
        self.1.lock().unwrap().push(proposal);
        Ok(if is_meant { HookAnswer::deny("not today") } else { HookAnswer::allow() })
    }
}

fn hook(world: &World, operation: Operation) -> Arc<Denies> {
    let hook = Arc::new(Denies(operation, Mutex::default()));
    world.engine.add_hook("gatekeeper".parse().unwrap(), hook.clone()).unwrap();
    hook
}

/// A2.
#[tokio::test]
async fn a_no_to_the_network_binds_a_command_that_is_given_the_network() {
    for mode in ALL_MODES {
        let world = World::new();
        let rules = [deny(Operation::Network), everything_allowed()];
        let agent = bound(&world, mode, &["@network"], &rules).await;
        for line in ["git status", "cargo build", "true"] {
            assert_eq!(ruled(&agent, given(line, "@network")).await, Ruled::Deny, "{mode:?} {line}");
        }
        assert_eq!(ruled(&agent, Action::network("example.com")).await, Ruled::Deny, "{mode:?}");
    }
}

/// A2.
#[tokio::test]
async fn a_no_to_writing_without_a_path_binds_a_command_that_is_given_a_directory() {
    for mode in ALL_MODES {
        let world = World::new();
        let rules = [deny(Operation::Write), everything_allowed()];
        let agent = bound(&world, mode, &["@write:/ws"], &rules).await;
        assert_eq!(ruled(&agent, given("cargo build", "@write:/ws")).await, Ruled::Deny, "{mode:?}");
    }
}

/// A2.
#[tokio::test]
async fn a_policy_default_speaks_about_a_directory_that_is_given_unless_a_glob_covers_all_of_it() {
    for (allowed, expected) in
        [(vec![], Ruled::Deny), (vec!["/ws/**"], Ruled::Allow), (vec!["/ws/site/*.html"], Ruled::Deny)]
    {
        let world = World::new();
        let agent = bound(&world, Mode::Bypass, &["@write:/ws"], &[]).await;
        let run = agent.explain(&Action::read("/ws")).unwrap().decision.run;
        let allow = allowed.into_iter().map(|glob| PathGlob::try_from(glob.to_owned()).unwrap()).collect();
        let write = PathPolicy { allow, default: Some(Verdict::Deny), ..PathPolicy::default() };
        world.you().set_policies(&run, None, Policies { write, ..Policies::default() }).await.unwrap();
        assert_eq!(ruled(&agent, given("cargo build", "@write:/ws")).await, expected);
    }
}

/// A2: what must be asked about a use is asked about the action that has it, and answered by a yes to a question that showed it.
#[tokio::test]
async fn a_question_about_a_use_is_one_about_the_action_and_its_answer_is_for_what_it_showed() {
    let world = World::new();
    let rules = [rule(Verdict::Ask, Some(Operation::Network), None), everything_allowed()];
    let agent = bound(&world, Mode::Default, &["@network"], &rules).await;
    let _there = world.you().attend().unwrap();
    let (plain, online) = (|| Action::command("cargo build"), || given("cargo build", "@network"));
    assert_eq!(ruled(&agent, plain()).await, Ruled::Allow);
    let decision = decided(&agent, online()).await;
    assert_eq!(decision.decision, Ruled::Ask);
    let shown: Vec<_> = decision.action.uses.iter().map(|used| (used.operation, used.origin)).collect();
    assert_eq!(shown, [(Operation::Network, UseOrigin::Given)]);
    let answer = bestow::Answer::allow().scope(bestow::Scope::Session);
    world.you().answer(decision.approval_action_id.unwrap(), answer).await.unwrap();
    assert_eq!(ruled(&agent, online()).await, Ruled::Allow);
}

/// A2: a yes to a command does not answer what is asked about something that it was not given then.
#[tokio::test]
async fn a_yes_to_an_action_is_no_yes_to_a_use_that_the_question_did_not_show() {
    let world = World::new();
    let rules = [rule(Verdict::Ask, None, Some("/ws/**"))];
    let agent = bound(&world, Mode::Default, &["@write:/ws"], &rules).await;
    let _there = world.you().attend().unwrap();
    let line = "node build.js";
    let decision = decided(&agent, Action::command(line)).await;
    let answer = bestow::Answer::allow().scope(bestow::Scope::Session);
    world.you().answer(decision.approval_action_id.unwrap(), answer).await.unwrap();
    assert_eq!(ruled(&agent, Action::command(line)).await, Ruled::Allow);
    assert_eq!(ruled(&agent, given(line, "@write:/ws")).await, Ruled::Ask);
}

/// A2: a person's no to a path binds whatever uses it.
#[tokio::test]
async fn a_persons_no_to_a_path_binds_a_command_that_is_given_it() {
    let world = World::new();
    let rules = [rule(Verdict::Ask, None, Some("/ws/a")), everything_allowed()];
    let agent = bound(&world, Mode::Default, &["@write:/ws"], &rules).await;
    let _there = world.you().attend().unwrap();
    let decision = decided(&agent, Action::write("/ws/a")).await;
    let answer = bestow::Answer::deny().scope(bestow::Scope::Session);
    world.you().answer(decision.approval_action_id.unwrap(), answer).await.unwrap();
    assert_eq!(ruled(&agent, given("cargo build", "@write:/ws/a")).await, Ruled::Deny);
}

/// A2.
#[tokio::test]
async fn in_mode_plan_nothing_is_given_but_what_is_read() {
    let world = World::new();
    let agent = bound(&world, Mode::Plan, &["@network", "@events", "@write:/ws", "@read:/ws"], &[]).await;
    for permission in ["@network", "@events", "@write:/ws"] {
        assert_eq!(ruled(&agent, given("git status", permission)).await, Ruled::Deny, "{permission}");
    }
    assert_eq!(ruled(&agent, given("git status", "@read:/ws")).await, Ruled::Allow);
}

/// A3.
#[tokio::test]
async fn using_the_network_or_the_socket_is_decided_and_recorded() {
    for (permission, operation) in [("@network", Operation::Network), ("@events", Operation::Events)] {
        let world = World::new();
        let agent = bound(&world, Mode::Default, &[permission], &[]).await;
        let mut events = world.engine.subscribe();
        agent.spend(&tag(permission)).await.unwrap();
        let told = heard(&mut events);
        let decided = told.iter().find_map(|told| match &told.event {
            Event::Evaluated { decision } => Some(decision),
            _ => None,
        });
        let decision = decided.expect("a record of the use");
        assert_eq!((decision.action.operation, &*decision.action.resource), (operation, permission));
        assert_eq!(decision.decision, Ruled::Allow);
    }
}

/// A3.
#[tokio::test]
async fn using_the_network_or_the_socket_is_refused_by_a_rule_a_mode_and_a_hook() {
    for (permission, operation) in [("@network", Operation::Network), ("@events", Operation::Events)] {
        let world = World::new();
        let agent = bound(&world, Mode::Bypass, &[permission], &[deny(operation)]).await;
        refusal(agent.spend(&tag(permission)).await);
        let world = World::new();
        let agent = bound(&world, Mode::Plan, &[permission], &[]).await;
        refusal(agent.spend(&tag(permission)).await);
        let world = World::new();
        let agent = bound(&world, Mode::Bypass, &[permission], &[everything_allowed()]).await;
        agent.spend(&tag(permission)).await.unwrap();
        let hook = hook(&world, operation);
        refusal(agent.spend(&tag(permission)).await);
        assert_eq!(hook.1.lock().unwrap().len(), 1);
    }
}

/// A3: what is for one use is used up by one use, and by no refused one.
#[tokio::test]
async fn a_one_shot_right_to_the_network_is_used_up_by_the_use_that_was_allowed() {
    let world = World::new();
    let agent = world.worker("ann", &[]).await;
    let once = bestow::Scope::Once;
    world.you().give(agent.id(), tag("@network"), once, crate::support::why()).await.unwrap();
    agent.spend(&tag("@network")).await.unwrap();
    refusal(agent.spend(&tag("@network")).await);
}

/// Explaining tells everything that is used, and which of it decides.
#[tokio::test]
async fn explaining_lists_the_uses_and_which_of_them_decides() {
    let world = World::new();
    let rules = [deny(Operation::Network), everything_allowed()];
    let agent = bound(&world, Mode::Default, &["@network", "@write:/ws"], &rules).await;
    let action =
        Action::command("cargo build").needing(bestow::Permissions::from_tags(["@write:/ws", "@network"]).unwrap());
    let explained = agent.explain(&action).unwrap();
    let uses: Vec<_> =
        explained.uses.iter().map(|step| (step.used.operation, step.used.origin, step.decides)).collect();
    let expected = [
        (Operation::Command, UseOrigin::Own, false),
        (Operation::Write, UseOrigin::Given, false),
        (Operation::Network, UseOrigin::Given, true),
    ];
    assert_eq!(uses, expected, "{explained}");
    let text = explained.to_string();
    assert!(text.contains("=> uses network of `@network` (given)"), "{text}");
    let json = serde_json::to_value(&explained).unwrap();
    assert_eq!(json["uses"][1]["resource"], "/ws");
    assert_eq!(json["uses"][2]["decides"], true);
}

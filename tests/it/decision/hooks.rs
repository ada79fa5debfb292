//! Tests of the hooks of the host program. A hook runs before a decision and never overrides it. A hook that fails
//! causes a request to a person.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use bestow::{
    Action, Answer, Error, Event,
    action::{Authorization, Operation},
    agent::Mode,
    decision::{DecisionSource, Ruled, Verdict},
    grant::Scope,
    host::{Hook, HookAnswer, HookFailure, Proposal},
    policy::{Rule, RuleRef},
};
use serde_json::json;

use super::{asked, dangerous, decided, evaluated, in_mode, kinds, ruled};
use crate::support::{World, heard, refusal};

/// A hook that gives a fixed answer and records each proposal.
#[derive(Debug)]
struct Says {
    what: What,
    saw: Mutex<Vec<Proposal>>,
}

#[derive(Clone, Debug)]
enum What {
    This(HookAnswer),
    /// Answers depending on the proposal.
    By(fn(&Proposal) -> HookAnswer),
    Fails,
    Panics,
    Hangs,
}

#[async_trait]
impl Hook for Says {
    async fn before(&self, proposal: Proposal) -> Result<HookAnswer, HookFailure> {
        self.saw.lock().unwrap().push(proposal.clone());
        match &self.what {
            What::This(answer) => Ok(answer.clone()),
            What::By(says) => Ok(says(&proposal)),
            What::Fails => Err(HookFailure::new("the policy server is down, token=hunter2aB3x")),
            What::Panics => panic!("a hook that panics"),
            What::Hangs => std::future::pending().await,
        }
    }
}

fn hook(world: &World, name: &str, what: What) -> Arc<Says> {
    let hook = Arc::new(Says { what, saw: Mutex::default() });
    world.engine.add_hook(name.parse().unwrap(), hook.clone()).unwrap();
    hook
}

fn says(world: &World, name: &str, answer: HookAnswer) -> Arc<Says> {
    hook(world, name, What::This(answer))
}

fn rule(verdict: Verdict) -> Rule {
    Rule {
        verdict,
        tool: None,
        operation: Some(Operation::Command),
        path: None,
        command: None,
        shape: None,
        cwd: None,
        children: false,
        why: None,
        place: bestow::grant::Place { file: "agents.toml".into(), line: 7 },
    }
}

/// Creates a world with one agent that is bound by these rules of a policy file.
async fn bound(rules: Vec<Rule>) -> (World, bestow::Agent) {
    let world = World::new();
    let mut policy = crate::support::policy(crate::support::settings(|_| {}), &[("ann", "you", &[])]);
    policy.agents.get_mut(&crate::support::id("ann")).unwrap().rules = rules.into();
    world.engine.configure(policy).await.unwrap();
    let agent = super::agent_of(&world, "ann");
    (world, agent)
}

/// Case B5.
#[tokio::test]
async fn an_explicit_deny_beats_a_hook_that_says_yes() {
    let (world, ann) = bound(vec![rule(Verdict::Deny)]).await;
    says(&world, "friendly", HookAnswer::allow());
    let mut events = world.engine.subscribe();
    let decision = decided(&ann, Action::command("pwd")).await;
    assert_eq!((decision.decision, decision.decision_source), (Ruled::Deny, DecisionSource::Rule));
    assert!(matches!(&decision.rule_refs[..], [RuleRef::Rule { .. }]));
    assert_eq!(
        kinds(&mut events),
        ["hook.started", "hook.completed", "permission.evaluated"],
        "the hook is one source"
    );
}

/// Case B6.
#[tokio::test]
async fn an_explicit_question_beats_a_hook_that_says_yes() {
    let (world, ann) = bound(vec![rule(Verdict::Ask)]).await;
    says(&world, "friendly", HookAnswer::allow());
    let decision = decided(&ann, Action::command("pwd")).await;
    assert_eq!((decision.decision, decision.decision_source), (Ruled::Ask, DecisionSource::Rule));
}

#[tokio::test]
async fn a_hook_may_say_no_and_that_a_person_has_to_say() {
    for (answer, expected) in [
        (HookAnswer::deny("no"), Ruled::Deny),
        (HookAnswer::ask("hm"), Ruled::Ask),
        (HookAnswer::nothing(), Ruled::Allow),
    ] {
        let world = World::new();
        let ann = world.worker("ann", &[]).await;
        says(&world, "careful", answer);
        let decision = decided(&ann, Action::command("pwd")).await;
        assert_eq!(decision.decision, expected);
        let by_hook = decision.rule_refs == [RuleRef::Hook("careful".into())];
        assert_eq!(by_hook, expected != Ruled::Allow);
        assert_eq!(decision.decision_source == DecisionSource::Hook, by_hook);
    }
}

/// The person who decides, and every reader of the decision, learns the reason of the hook.
#[tokio::test]
async fn why_a_hook_says_so_is_told_to_whoever_decides_and_a_failing_one_is_said_to_have_failed() {
    for (what, said) in [
        (What::This(HookAnswer::deny("it is night")), "the hook night denies it: \"it is night\""),
        (What::This(HookAnswer::ask("it is late")), "the hook night requires a person to decide: \"it is late\""),
        (What::Fails, "the hook night failed: \"the policy server is down, "),
        (What::Panics, "the hook night failed: \"it panicked"),
    ] {
        let world = World::new();
        let you = world.you();
        let ann = world.worker("ann", &[]).await;
        hook(&world, "night", what);
        let decision = decided(&ann, Action::command("pwd")).await;
        let reason = &*decision.decision_reason;
        assert!(reason.starts_with(said) && !reason.contains("rule") && !reason.contains("hunter2aB3x"), "{reason}");
        for waiting in you.pending().unwrap() {
            let shown = waiting.request.to_string();
            assert!(shown.contains(said) && !shown.contains("hunter2aB3x"), "{shown}");
        }
        assert_eq!(you.pending().unwrap().len(), usize::from(decision.decision == Ruled::Ask));
    }
}

#[tokio::test]
async fn of_several_hooks_the_strictest_counts() {
    for names in [["a", "b", "c"], ["c", "b", "a"]] {
        let world = World::new();
        let ann = in_mode(&world, "ann", Mode::Auto, &[]).await;
        let answers = [HookAnswer::allow(), HookAnswer::deny("no"), HookAnswer::ask("hm")];
        for (name, answer) in names.into_iter().zip(answers) {
            says(&world, name, answer);
        }
        assert_eq!(ruled(&ann, dangerous()).await, Ruled::Deny);
    }
}

/// The approval of a hook counts only in the mode `auto`, and it gives no permission.
#[tokio::test]
async fn a_yes_of_a_hook_counts_in_one_mode_only_and_gives_nothing() {
    let world = World::new();
    says(&world, "friendly", HookAnswer::allow());
    for (mode, expected) in [(Mode::Auto, Ruled::Allow), (Mode::Default, Ruled::Ask), (Mode::Never, Ruled::Deny)] {
        let agent = in_mode(&world, &format!("{mode:?}").to_lowercase(), mode, &[]).await;
        assert_eq!(ruled(&agent, dangerous()).await, expected, "{mode:?}");
        assert_ne!(ruled(&agent, Action::network("example.com")).await, Ruled::Allow, "{mode:?}");
        assert_eq!(ruled(&agent, Action::command("rm -rf /")).await, Ruled::Deny, "{mode:?}");
    }
}

/// B12, B18: however the hook fails, the engine asks a person. If no person is present, the decision is a denial. This
/// holds in every mode.
#[tokio::test(start_paused = true)]
async fn a_hook_that_fails_asks_and_leaves_the_fact() {
    let worse = HookAnswer::allow().instead(Action::command("rm -rf /"));
    for what in [What::Fails, What::Panics, What::Hangs, What::This(worse)] {
        for mode in [Mode::Default, Mode::Auto, Mode::Bypass, Mode::Untrusted] {
            let world = World::new();
            let ann = in_mode(&world, "ann", mode, &[]).await;
            hook(&world, "broken", what.clone());
            let mut events = world.engine.subscribe();
            assert_eq!(ruled(&ann, Action::command("pwd")).await, Ruled::Ask, "{mode:?} {what:?}");
            let told = heard(&mut events);
            let failed = told.iter().find_map(|recorded| match &recorded.event {
                Event::HookFailed { call, why, fail_closed } => Some((call.clone(), why.clone(), *fail_closed)),
                _ => None,
            });
            let (call, why, fail_closed) = failed.unwrap();
            assert!(
                fail_closed && call.hook.as_str() == "broken" && !why.is_empty() && !why.contains("hunter2aB3x"),
                "{why}"
            );
            world.engine.shutdown().await;
        }
        let world = World::with(|settings| settings.interaction = bestow::policy::Interaction::NonInteractive);
        let ann = in_mode(&world, "ann", Mode::Auto, &[]).await;
        hook(&world, "broken", what.clone());
        assert_eq!(ruled(&ann, Action::command("pwd")).await, Ruled::Unavailable, "{what:?}");
    }
}

/// A hook whose answer a test can change.
#[derive(Debug)]
struct Moody(Mutex<What>);

#[async_trait]
impl Hook for Moody {
    async fn before(&self, proposal: Proposal) -> Result<HookAnswer, HookFailure> {
        let what = self.0.lock().unwrap().clone();
        Says { what, saw: Mutex::default() }.before(proposal).await
    }
}

fn moody(world: &World, name: &str, what: What) -> Arc<Moody> {
    let hook = Arc::new(Moody(Mutex::new(what)));
    world.engine.add_hook(name.parse().unwrap(), hook.clone()).unwrap();
    hook
}

/// The attack: the policy server is brought down after a person has given a lasting approval.
#[tokio::test(start_paused = true)]
async fn a_yes_that_lasts_is_no_answer_to_a_hook_that_fails() {
    for what in [What::Fails, What::Panics, What::Hangs] {
        for scope in [Scope::Session, Scope::Always] {
            let world = World::new();
            let ann = in_mode(&world, "ann", Mode::Default, &[]).await;
            let push = || Action::command("git push origin main");
            let (_, ticket) = asked(&ann, push()).await;
            world.you().answer(ticket.id(), Answer::allow().scope(scope)).await.unwrap();
            let broken = moody(&world, "broken", What::This(HookAnswer::nothing()));
            assert_eq!(ruled(&ann, push()).await, Ruled::Allow, "{scope}");
            *broken.0.lock().unwrap() = what.clone();
            let (decision, ticket) = asked(&ann, push()).await;
            assert_eq!(decision.decision_source, DecisionSource::Hook);
            // An approval of this request covers this failure, and not the next one.
            world.you().answer(ticket.id(), Answer::allow()).await.unwrap();
            assert_eq!(ruled(&ann, push()).await, Ruled::Allow, "{scope}");
            let (_, ticket) = asked(&ann, push()).await;
            world.you().answer(ticket.id(), Answer::allow().scope(Scope::Session)).await.unwrap();
            assert_eq!(ruled(&ann, push()).await, Ruled::Allow, "{scope}: whatever it is for, it is for this");
            assert_eq!(ruled(&ann, push()).await, Ruled::Ask, "{scope}: and not for the next failure");
            *broken.0.lock().unwrap() = What::This(HookAnswer::nothing());
            assert_eq!(ruled(&ann, push()).await, Ruled::Allow, "{scope}: and else it lasts");
            world.engine.shutdown().await;
        }
    }
}

#[tokio::test]
async fn what_a_hook_asks_is_answered_by_an_answer_to_that_question_and_nothing_else() {
    let world = World::new();
    let ann = in_mode(&world, "ann", Mode::Default, &["@write:/ws"]).await;
    let run = crate::guards::run_of(&ann);
    world.you().set_policies(&run, None, crate::guards::asking()).await.unwrap();
    let write = || Action::write("/ws/a");
    let (_, ticket) = asked(&ann, write()).await;
    world.you().answer(ticket.id(), Answer::allow().scope(Scope::Session)).await.unwrap();
    assert_eq!(ruled(&ann, write()).await, Ruled::Allow);
    // An earlier approval does not answer a later question of a hook.
    let asking = moody(&world, "asking", What::This(HookAnswer::ask("who is it for?")));
    let (_, ticket) = asked(&ann, write()).await;
    let waiting = world.engine.pending().unwrap();
    assert_eq!(waiting[0].request.hooks.iter().map(|hook| &**hook).collect::<Vec<_>>(), ["asking"]);
    // A glob in a policy is no answer either, whenever it is added.
    world.you().update_policy(&run, bestow::tool::PolicyPatch::writing().allow("**")).await.unwrap();
    assert_eq!(ticket.poll(), None);
    assert_eq!(ruled(&ann, write()).await, Ruled::Ask);
    world.you().answer(ticket.id(), Answer::allow().scope(Scope::Session)).await.unwrap();
    assert_eq!(ruled(&ann, write()).await, Ruled::Allow, "its question, about this file");
    assert_eq!(ruled(&ann, Action::write("/ws/b")).await, Ruled::Ask);
    // A second hook asks a question of its own.
    *asking.0.lock().unwrap() = What::This(HookAnswer::nothing());
    says(&world, "another", HookAnswer::ask("and what for?"));
    assert_eq!(ruled(&ann, write()).await, Ruled::Ask);
}

/// Hooks run concurrently, so one slow hook does not delay the others. The time limit is the setting.
#[tokio::test(start_paused = true)]
async fn hooks_are_heard_at_once_and_for_so_long() {
    let world = World::with(|settings| settings.hook_timeout = Duration::from_millis(700));
    let ann = world.worker("ann", &[]).await;
    for name in ["one", "two", "three"] {
        hook(&world, name, What::Hangs);
    }
    let began = tokio::time::Instant::now();
    assert_eq!(ruled(&ann, Action::command("pwd")).await, Ruled::Ask);
    assert_eq!(began.elapsed(), Duration::from_millis(700));
}

#[tokio::test]
async fn a_name_is_taken_once() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    says(&world, "guard", HookAnswer::deny("no"));
    let other = Arc::new(Says { what: What::This(HookAnswer::allow()), saw: Mutex::default() });
    let again = world.engine.add_hook("guard".parse().unwrap(), other);
    assert_eq!(again, Err(Error::HookExists("guard".parse().unwrap())));
    assert_eq!(ruled(&ann, Action::command("pwd")).await, Ruled::Deny, "the first one stays");
}

/// A proposal contains no secrets and no environment.
#[tokio::test]
async fn a_hook_sees_the_action_without_secrets() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let hook = says(&world, "curious", HookAnswer::nothing());
    let input = json!({ "command": "deploy --token=hunter2aB3x", "password": "hunter2aB3x", "n": 3 });
    let action = Action::tool("bash".parse().unwrap(), input).as_call("call-1".parse().unwrap());
    let _ = ann.authorize(action.because("with password=hunter2aB3x".parse().unwrap())).await.unwrap();
    let saw = std::mem::take(&mut *hook.saw.lock().unwrap());
    assert!(!format!("{saw:?}").contains("hunter2aB3x"), "{saw:?}");
    assert!(saw.iter().any(|part| &*part.resource == "/ws/[redacted 11]"), "a word that may be a path: {saw:?}");
    let saw = saw.into_iter().find(|saw| saw.part_of.is_none()).unwrap();
    assert_eq!(&*saw.resource, "deploy --token=[redacted 11] with {\"password\":\"[redacted 11]\"}");
    assert_eq!(
        saw.input.unwrap(),
        json!({ "command": "deploy --token=[redacted 11]", "password": "[redacted 11]", "n": 3 })
    );
    assert_eq!((saw.agent.as_str(), saw.operation, saw.tool.as_str()), ("ann", Operation::Command, "bash"));
    assert_eq!(saw.call.unwrap().as_str(), "call-1");
}

/// B17: the engine decides about the input that runs, and the record names that input.
#[tokio::test]
async fn an_input_that_a_hook_changed_is_what_is_decided_and_what_may_run() {
    let world = World::new();
    let ann = world.worker("ann", &["@write:/ws"]).await;
    says(&world, "tidy", HookAnswer::nothing().instead(Action::write("/ws/tmp/a")));
    let mut events = world.engine.subscribe();
    let Authorization::Updated(decision, action) = ann.authorize(Action::write("/ws/a")).await.unwrap() else {
        panic!("something else may run than was asked about");
    };
    assert_eq!(*action, Action::write("/ws/tmp/a"));
    assert_eq!(&*decision.action.resource, "/ws/tmp/a");
    assert_eq!(decision.updated_input_ref, Some(*decision.action.input));
    let told = heard(&mut events);
    let completed = told.iter().find_map(|recorded| match &recorded.event {
        Event::HookCompleted { call, updated_input_ref, .. } => Some((call.input, *updated_input_ref)),
        _ => None,
    });
    let (before, after) = completed.unwrap();
    assert_eq!(after, decision.updated_input_ref);
    assert_ne!(Some(before), after, "what was asked about stays in the records");
    assert_eq!(evaluated(&told), [decision.as_ref().clone()]);
}

/// A hook cannot escalate by a modified input: not to more harm, not to other operations, not to permissions that are
/// not held, and not to hidden inputs.
#[tokio::test]
async fn an_input_that_a_hook_changed_may_not_climb() {
    let from = || Action::command("ls");
    let secret = || Action::command("ls --token=hunter2aB3x");
    let cases = [
        (from(), Action::command("node script.js"), "more harmful"),
        (from(), Action::command("rm -rf /"), "nobody can undo it"),
        (from(), Action::write("/ws/a"), "another operation"),
        (from(), Action::command("ls").by_tool("other".parse().unwrap()), "another tool"),
        (from(), Action::command("ls -a").needing(crate::support::tag("@network")), "it needs more"),
        (Action::write("/ws/a"), Action::write("/etc/a"), "it is not held"),
        (Action::write("/ws/a"), Action::write("/ws/../etc/a"), "it is nothing"),
        (secret(), Action::command("ls -a --token=[redacted 11]"), "the hook saw only a mark"),
    ];
    for (asked_about, instead, why) in cases {
        let world = World::new();
        let ann = world.worker("ann", &["@write:/ws", "@network"]).await;
        says(&world, "bad", HookAnswer::allow().instead(instead));
        let mut events = world.engine.subscribe();
        let before = *ann.explain(&asked_about).unwrap().decision.action.input;
        let decision = decided(&ann, asked_about).await;
        assert_eq!((decision.decision, decision.updated_input_ref), (Ruled::Ask, None), "{why}");
        assert_eq!(*decision.action.input, before, "{why}: the question is about what was asked about");
        assert!(kinds(&mut events).contains(&"hook.failed"), "{why}");
    }
}

#[tokio::test]
async fn two_hooks_that_want_different_inputs_have_failed() {
    for (two, agree) in [("/ws/b", true), ("/ws/c", false)] {
        let world = World::new();
        let ann = world.worker("ann", &["@write:/ws"]).await;
        says(&world, "one", HookAnswer::allow().instead(Action::write("/ws/b")));
        says(&world, "two", HookAnswer::allow().instead(Action::write(two)));
        let authorized = ann.authorize(Action::write("/ws/a")).await.unwrap();
        assert_eq!(matches!(authorized, Authorization::Updated(..)), agree);
        assert_eq!(authorized.decision().decision == Ruled::Ask, !agree);
    }
}

/// The approval of a hook counts only for the input that the hook saw.
#[tokio::test]
async fn a_yes_of_one_hook_is_not_for_the_input_of_another() {
    let world = World::new();
    let ann = in_mode(&world, "ann", Mode::Auto, &[]).await;
    let knows = |proposal: &Proposal| match &*proposal.resource {
        "node other.js" => HookAnswer::nothing(),
        _ => HookAnswer::allow(),
    };
    hook(&world, "friendly", What::By(knows));
    assert_eq!(ruled(&ann, dangerous()).await, Ruled::Allow);
    says(&world, "sly", HookAnswer::nothing().instead(Action::command("node other.js")));
    assert_eq!(ruled(&ann, dangerous()).await, Ruled::Ask);
}

/// All hooks see the modified input of one hook before it may run.
#[tokio::test]
async fn every_hook_is_asked_about_the_input_that_one_of_them_put_in_its_place() {
    let world = World::new();
    let ann = world.worker("ann", &["@write:/ws"]).await;
    let guards = |proposal: &Proposal| match &*proposal.resource {
        "/ws/b" => HookAnswer::deny("nobody writes b"),
        _ => HookAnswer::nothing(),
    };
    let guard = hook(&world, "guard", What::By(guards));
    assert_eq!(ruled(&ann, Action::write("/ws/a")).await, Ruled::Allow);
    says(&world, "sly", HookAnswer::allow().instead(Action::write("/ws/b")));
    let decision = decided(&ann, Action::write("/ws/a")).await;
    assert_eq!((decision.decision, &*decision.action.resource), (Ruled::Deny, "/ws/b"));
    assert!(decision.decision_reason.contains("nobody writes b"), "{}", decision.decision_reason);
    let saw: Vec<_> = guard.saw.lock().unwrap().iter().map(|proposal| proposal.resource.to_string()).collect();
    assert_eq!(saw, ["/ws/a", "/ws/a", "/ws/b"]);
}

/// A denial of the original input stays. A modified input is not modified again.
#[tokio::test]
async fn a_no_said_before_a_change_stays_and_nobody_changes_twice() {
    let world = World::new();
    let ann = world.worker("ann", &["@write:/ws"]).await;
    let first = |proposal: &Proposal| match &*proposal.resource {
        "/ws/a" => HookAnswer::deny("not a"),
        _ => HookAnswer::allow(),
    };
    hook(&world, "first", What::By(first));
    says(&world, "sly", HookAnswer::nothing().instead(Action::write("/ws/b")));
    assert_eq!(ruled(&ann, Action::write("/ws/a")).await, Ruled::Deny);

    let world = World::new();
    let ann = world.worker("ann", &["@write:/ws"]).await;
    let on_and_on = |proposal: &Proposal| match &*proposal.resource {
        "/ws/a" => HookAnswer::nothing().instead(Action::write("/ws/b")),
        _ => HookAnswer::nothing().instead(Action::write("/ws/c")),
    };
    hook(&world, "restless", What::By(on_and_on));
    let decision = decided(&ann, Action::write("/ws/a")).await;
    assert_eq!((decision.decision, &*decision.action.resource), (Ruled::Ask, "/ws/b"));
    assert!(decision.decision_reason.contains("has already changed the input"), "{}", decision.decision_reason);
}

/// After a person approves the modified input, only that input may run, once.
#[tokio::test]
async fn a_person_answers_about_the_input_that_would_run() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    says(&world, "tidy", HookAnswer::nothing().instead(Action::command("node other.js")));
    let (decision, ticket) = asked(&ann, dangerous()).await;
    assert_eq!(&*decision.action.resource, "node other.js");
    world.you().answer(ticket.id(), Answer::allow()).await.unwrap();
    let authorized = ann.authorize(dangerous()).await.unwrap();
    assert!(matches!(&authorized, Authorization::Updated(_, action) if **action == Action::command("node other.js")));
    assert!(!authorized.is_allowed(), "what was asked about may not run");
    assert_eq!(ruled(&ann, dangerous()).await, Ruled::Ask);
}

/// The engine consumes, requests and decides nothing until the hooks have answered.
#[tokio::test(start_paused = true)]
async fn a_decision_that_nobody_waits_for_leaves_nothing_but_the_facts() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    world
        .you()
        .give(ann.id(), crate::support::tag("@network"), bestow::grant::Scope::Once, crate::support::why())
        .await
        .unwrap();
    hook(&world, "slow", What::Hangs);
    let (before, mut events) = (world.view(), world.engine.subscribe());
    let given_up = tokio::time::timeout(Duration::from_secs(1), ann.authorize(Action::network("example.com"))).await;
    assert!(given_up.is_err());
    assert_eq!(world.view(), before);
    assert_eq!(kinds(&mut events), ["hook.started", "hook.failed"]);
}

/// File calls do not bypass hooks.
#[tokio::test]
async fn file_calls_are_heard_too() {
    let world = World::new();
    let ann = world.worker("ann", &["@write:/ws"]).await;
    assert!(!matches!(ann.fs().write("/ws/nowhere/a", "x").await, Err(Error::Refused(_))));
    let hook = says(&world, "strict", HookAnswer::deny("no files today"));
    let denied = refusal(ann.fs().write("/ws/nowhere/a", "x").await);
    assert!(matches!(denied, bestow::decision::Refusal::NotAllowed(_)), "{denied}");
    assert!(ann.resolve(bestow::grant::Access::Write, "/ws/nowhere/a").await.is_err());
    assert_eq!(hook.saw.lock().unwrap().len(), 2);
}

/// `explain` and `verdict` ignore the hooks: a query that changes nothing runs no hook.
#[tokio::test]
async fn explaining_wakes_no_hook() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let hook = says(&world, "strict", HookAnswer::deny("no"));
    assert_eq!(ann.verdict(&Action::command("pwd")).unwrap(), Verdict::Allow);
    ann.explain(&Action::command("pwd")).unwrap();
    assert!(hook.saw.lock().unwrap().is_empty());
}

/// The action of a retired agent fails, whatever the hook answers.
#[tokio::test]
async fn an_agent_that_goes_while_a_hook_thinks_gets_no_answer() {
    #[derive(Debug)]
    struct Retires(bestow::Engine);
    #[async_trait]
    impl Hook for Retires {
        async fn before(&self, proposal: Proposal) -> Result<HookAnswer, HookFailure> {
            self.0.retire(&proposal.agent).await.unwrap();
            Ok(HookAnswer::allow())
        }
    }
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    world.engine.add_hook("end".parse().unwrap(), Arc::new(Retires(world.engine.clone()))).unwrap();
    assert!(ann.authorize(Action::command("pwd")).await.is_err());
}

//! Tests of the answers of people about actions: their duration, their subject, and a modified input.

use bestow::{
    Action, Answer,
    decision::{Refusal, Ruled},
    grant::Scope,
};

use super::{asked, dangerous, decided, ruled};
use crate::support::{START, World, id, policy, refusal, settings, tag, why};

/// C35: only the input of the person runs. The original input stays in the records.
#[tokio::test]
async fn an_input_that_a_person_changed_is_what_may_run() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let (first, ticket) = asked(&ann, dangerous()).await;
    world.you().answer(ticket.id(), Answer::allow().instead(Action::command("node other.js"))).await.unwrap();
    let resolution = ticket.poll().unwrap();
    assert_eq!(&*resolution.updated_input.as_ref().unwrap().resource, "node other.js");
    assert_eq!(resolution.action.as_ref(), Some(&first.action), "what was asked about is not forgotten");
    assert_eq!(ruled(&ann, dangerous()).await, Ruled::Ask, "what was asked about was not approved");
    assert_eq!(ruled(&ann, Action::command("node other.js")).await, Ruled::Allow);
    assert_eq!(ruled(&ann, Action::command("node other.js")).await, Ruled::Ask, "once");
}

/// The attack: an approval for one directory, environment or sandbox is used in another.
#[tokio::test]
async fn a_yes_is_for_the_directory_and_the_circumstances_that_were_asked_about() {
    let world = World::new();
    let file = |dir: &str| {
        let mut policy = policy(settings(|_| {}), &[("ann", "you", &["@write:/ws"])]);
        policy.agents.get_mut(&id("ann")).unwrap().profile.working_dir = dir.parse().unwrap();
        policy
    };
    world.engine.configure(file("/ws")).await.unwrap();
    let ann = world.engine.agent(id("ann")).unwrap();
    let quiet = || dangerous().under("no network, 1 minute");
    let (_, ticket) = asked(&ann, quiet()).await;
    world.you().answer(ticket.id(), Answer::allow()).await.unwrap();
    assert_eq!(ruled(&ann, dangerous()).await, Ruled::Ask, "under no circumstances in particular");
    assert_eq!(ruled(&ann, dangerous().under("no network, 2 minutes")).await, Ruled::Ask);
    world.engine.configure(file("/elsewhere")).await.unwrap();
    assert_eq!(ruled(&ann, quiet()).await, Ruled::Ask, "in another directory");
    world.engine.configure(file("/ws")).await.unwrap();
    assert_eq!(ruled(&ann, quiet()).await, Ruled::Allow);
    assert_eq!(ruled(&ann, quiet()).await, Ruled::Ask, "once");
}

/// The input of the person runs as the original input would have run.
#[tokio::test]
async fn an_input_that_a_person_changed_runs_under_the_same_circumstances() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let (_, ticket) = asked(&ann, dangerous().under("quiet")).await;
    let other = || Action::command("node other.js");
    world.you().answer(ticket.id(), Answer::allow().instead(other())).await.unwrap();
    assert_eq!(ruled(&ann, other()).await, Ruled::Ask);
    assert_eq!(ruled(&ann, other().under("quiet")).await, Ruled::Allow);
}

#[tokio::test]
async fn a_yes_for_the_run_to_a_command_is_for_the_directory_it_was_asked_about_in() {
    let world = World::new();
    let file = |dir: &str| {
        let mut policy = policy(settings(|_| {}), &[("ann", "you", &[])]);
        policy.agents.get_mut(&id("ann")).unwrap().profile.working_dir = dir.parse().unwrap();
        policy
    };
    world.engine.configure(file("/ws")).await.unwrap();
    let ann = world.engine.agent(id("ann")).unwrap();
    let (_, ticket) = asked(&ann, dangerous()).await;
    world.you().answer(ticket.id(), Answer::allow().scope(Scope::Session)).await.unwrap();
    world.engine.configure(file("/elsewhere")).await.unwrap();
    assert_eq!(ruled(&ann, dangerous()).await, Ruled::Ask);
    world.engine.configure(file("/ws")).await.unwrap();
    assert_eq!(ruled(&ann, dangerous()).await, Ruled::Allow);
}

/// C36: a person who is tricked into a more harmful input gets an error, and the engine approves nothing.
#[tokio::test]
async fn an_input_that_a_person_changed_may_not_climb() {
    let world = World::new();
    let ann = world.worker("ann", &["@network"]).await;
    let (_, ticket) = asked(&ann, dangerous()).await;
    for instead in [
        Action::command("rm -rf /"),
        Action::write("/ws/a"),
        Action::command("node x").by_tool("other".parse().unwrap()),
        Action::command("node x").needing(tag("@write:/ws")),
    ] {
        let refused = refusal(world.you().answer(ticket.id(), Answer::allow().instead(instead.clone())).await);
        assert!(matches!(refused, Refusal::InputClimbs { .. }), "{instead:?}: {refused}");
        assert_eq!(ticket.poll(), None);
    }
    assert_eq!(ann.rulings().unwrap(), []);
    assert_eq!(ruled(&ann, Action::command("rm -rf /")).await, Ruled::Deny);
}

/// A denial only takes something away. So it lasts as long as the person says, also for a line without a shape.
#[tokio::test]
async fn a_lasting_no_to_a_line_without_a_shape_is_saved_for_that_line() {
    let line = || Action::command("node a.js && node $(cat b)");
    for lasting in [Scope::Always, Scope::Until(START.after(std::time::Duration::from_secs(3600)))] {
        let world = World::new();
        let ann = world.worker("ann", &[]).await;
        let (first, ticket) = asked(&ann, line()).await;
        assert_eq!(first.action.shape, None);
        let refused = refusal(world.you().answer(ticket.id(), Answer::allow().scope(lasting)).await);
        assert!(matches!(refused, Refusal::NotForGood(_)), "{refused}");
        world.you().answer(ticket.id(), Answer::deny().scope(lasting)).await.unwrap();
        let other_spelling = || Action::command("node  a.js && node \"$(cat b)\"");
        let bash = || line().by_tool("other_shell".parse().unwrap());
        for action in [line(), other_spelling(), bash()] {
            assert_eq!(ruled(&ann, action).await, Ruled::Deny);
        }
        assert_eq!(ruled(&ann, Action::command("node b.js && node $(cat b)")).await, Ruled::Ask, "another line");
        world.engine.begin_run(ann.id(), "next".parse().unwrap()).await.unwrap();
        assert_eq!(ruled(&ann, line()).await, Ruled::Deny, "in another run");
        let saved = ann.rulings().unwrap();
        assert_eq!((saved.len(), saved[0].scope), (1, lasting));
        world.you().revoke_ruling(saved[0].id, None).await.unwrap();
        assert_eq!(ruled(&ann, line()).await, Ruled::Ask);
    }
}

/// A destructive action that a person enabled still asks for a permission that it lacks.
#[tokio::test]
async fn a_lasting_no_to_a_destructive_action_is_saved() {
    for lasting in [Scope::Session, Scope::Always] {
        let world = World::new();
        let ann = world.worker("ann", &[]).await;
        let destroys = || Action::command("rm -rf /").needing(tag("@events"));
        world.you().enable(ann.id(), &destroys(), why()).await.unwrap();
        let (_, ticket) = asked(&ann, destroys()).await;
        world.you().answer(ticket.id(), Answer::deny().scope(lasting)).await.unwrap();
        let saved = ann.rulings().unwrap();
        let no = saved.iter().find(|saved| saved.verdict == bestow::decision::Verdict::Deny).unwrap();
        assert_eq!(no.scope, lasting);
        let again = decided(&ann, destroys()).await;
        assert_eq!(again.decision, Ruled::Deny);
        assert!(again.decision_reason.contains("a person denied it"), "{}", again.decision_reason);
    }
}

/// The scopes: one use; this exact action for the run; every action of its shape permanently.
#[tokio::test]
async fn a_yes_counts_as_far_as_it_was_said() {
    for (scope, again, same_shape, other_run) in
        [(Scope::Once, false, false, false), (Scope::Session, true, false, false), (Scope::Always, true, true, true)]
    {
        let world = World::new();
        let (ann, bob) = (world.worker("ann", &[]).await, world.worker("bob", &[]).await);
        let test = || Action::command("git push origin main");
        let (_, ticket) = asked(&ann, test()).await;
        world.you().answer(ticket.id(), Answer::allow().scope(scope)).await.unwrap();
        assert_eq!(ruled(&ann, test()).await, Ruled::Allow, "{scope}");
        assert_eq!(ruled(&ann, test()).await == Ruled::Allow, again, "{scope}");
        assert_eq!(ruled(&bob, test()).await, Ruled::Ask, "{scope}: nobody else");
        assert_ne!(ruled(&ann, Action::command("git push origin main; rm -rf /")).await, Ruled::Allow, "{scope}");
        assert_ne!(ruled(&ann, test().by_tool("other".parse().unwrap())).await, Ruled::Allow, "{scope}: by this tool");
        assert_ne!(ruled(&ann, Action::command("node x.js")).await, Ruled::Allow, "{scope}");
        let spaced = Action::command("git  push   origin main");
        assert_eq!(ruled(&ann, spaced).await == Ruled::Allow, same_shape, "{scope}");
        world.engine.begin_run(ann.id(), "next".parse().unwrap()).await.unwrap();
        assert_eq!(ruled(&ann, test()).await == Ruled::Allow, other_run, "{scope}");
    }
}

#[tokio::test]
async fn what_nobody_can_undo_is_never_allowed_for_longer_than_once() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let wipe = || Action::command("rm -rf /srv");
    for place in 0..3 {
        assert_eq!(ruled(&ann, wipe()).await, Ruled::Deny, "{place}");
        assert_eq!(world.engine.pending().unwrap(), [], "it is not even asked about");
        world.you().enable(ann.id(), &wipe(), why()).await.unwrap();
        assert_eq!(ruled(&ann, Action::command("rm -rf /srv/")).await, Ruled::Deny, "exactly this input");
        assert_eq!(ruled(&ann, wipe()).await, Ruled::Allow);
    }
}

/// A denial for the run covers the tool and the action. An override may ask the person again, for one use.
#[tokio::test]
async fn a_no_for_the_run_stands_until_a_person_overrides_it_once() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let (_, ticket) = asked(&ann, dangerous()).await;
    world.you().answer(ticket.id(), Answer::deny().scope(Scope::Session)).await.unwrap();
    assert_eq!(ruled(&ann, dangerous()).await, Ruled::Deny);
    let (decision, ticket) = asked(&ann, dangerous().overriding()).await;
    assert_eq!(&*decision.decision_reason, "policy-deny-override");
    world.you().answer(ticket.id(), Answer::allow()).await.unwrap();
    assert_eq!(ruled(&ann, dangerous()).await, Ruled::Allow);
    assert_eq!(ruled(&ann, dangerous()).await, Ruled::Deny, "the no is still there");
}

#[tokio::test]
async fn an_override_without_the_permission_asks_a_person_for_both() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let write = || Action::write("/else/a");
    let (_, ticket) = asked(&ann, write()).await;
    world.you().answer(ticket.id(), Answer::deny().scope(Scope::Session)).await.unwrap();
    assert_eq!(ruled(&ann, write()).await, Ruled::Deny);
    let (decision, ticket) = asked(&ann, write().overriding()).await;
    assert_eq!(&*decision.decision_reason, "policy-deny-override");
    assert_eq!(ticket.poll(), None, "a person is asked");
    world.you().answer(ticket.id(), Answer::allow()).await.unwrap();
    assert_eq!(ruled(&ann, write().overriding()).await, Ruled::Allow);
    assert_eq!(ruled(&ann, write()).await, Ruled::Deny, "the no is still there");
}

#[tokio::test]
async fn a_no_is_said_to_last_as_long_as_it_does() {
    for (scope, said) in [
        (Scope::Session, "a person denied it for this run"),
        (Scope::Until(START.after(std::time::Duration::from_secs(60))), "a person denied it until a stated time"),
        (Scope::Always, "a person denied it permanently"),
    ] {
        let world = World::new();
        let ann = world.worker("ann", &[]).await;
        let command = || Action::command("git commit -m x");
        let (_, ticket) = asked(&ann, command()).await;
        world.you().answer(ticket.id(), Answer::deny().scope(scope)).await.unwrap();
        let decision = decided(&ann, command()).await;
        assert_eq!((decision.decision, &*decision.decision_reason), (Ruled::Deny, said));
    }
}

/// A lasting answer also settles the other pending requests that it covers.
#[tokio::test]
async fn a_lasting_answer_settles_the_same_question_that_waits_besides() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let (_, one) = asked(&ann, dangerous()).await;
    let (_, two) = asked(&ann, Action::command("node script.js").needing(tag("@network"))).await;
    let (_, other) = asked(&ann, Action::command("node other.js")).await;
    world.you().answer(one.id(), Answer::deny().scope(Scope::Session)).await.unwrap();
    assert!(two.poll().is_some(), "the same access, whatever it needs besides");
    assert_eq!(other.poll(), None);
}

#[tokio::test]
async fn a_ruling_is_listed_and_can_be_taken_back_by_who_may() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let (_, ticket) = asked(&ann, dangerous()).await;
    world.you().answer(ticket.id(), Answer::allow().scope(Scope::Always)).await.unwrap();
    let ruling = ann.rulings().unwrap().pop().unwrap();
    assert_eq!((ruling.request, world.engine.rulings().unwrap()), (Some(ticket.id()), vec![ruling.clone()]));
    let foreign = refusal(world.approver("them").revoke_ruling(ruling.id, None).await);
    assert!(matches!(foreign, Refusal::UnknownRuling(_)));
    assert_eq!(ruled(&ann, dangerous()).await, Ruled::Allow);
    world.you().revoke_ruling(ruling.id, Some(why())).await.unwrap();
    assert_eq!(ruled(&ann, dangerous()).await, Ruled::Ask);
    assert!(matches!(refusal(world.you().revoke_ruling(ruling.id, None).await), Refusal::UnknownRuling(_)));
}

#[tokio::test]
async fn what_was_said_ends_with_the_run_or_with_the_agent() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    for scope in [Scope::Once, Scope::Session] {
        let (_, ticket) = asked(&ann, dangerous()).await;
        world.you().answer(ticket.id(), Answer::allow().scope(scope)).await.unwrap();
        world.engine.begin_run(ann.id(), format!("run-{scope}").parse().unwrap()).await.unwrap();
        assert_eq!(ann.rulings().unwrap(), [], "{scope}");
        assert_eq!(ruled(&ann, dangerous()).await, Ruled::Ask, "{scope}");
    }
    world
        .you()
        .answer(world.engine.pending().unwrap()[0].request.id, Answer::allow().scope(Scope::Always))
        .await
        .unwrap();
    world.engine.retire(&id("ann")).await.unwrap();
    let next = world.worker("ann", &[]).await;
    assert_eq!(ruled(&next, dangerous()).await, Ruled::Ask, "the next of that name is another one");
    assert_eq!(world.engine.rulings().unwrap().len(), 0);
}

#[tokio::test]
async fn a_yes_with_an_end_is_over_at_its_end() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let (_, ticket) = asked(&ann, dangerous()).await;
    let past = Answer::allow().scope(Scope::Until(world.now()));
    assert!(matches!(refusal(world.you().answer(ticket.id(), past).await), Refusal::ScopePast(_)));
    world.you().answer(ticket.id(), Answer::allow().scope(Scope::Until(world.after(5)))).await.unwrap();
    assert_eq!(decided(&ann, dangerous()).await.decision, Ruled::Allow);
    world.later(5).await;
    assert_eq!(ann.rulings().unwrap(), []);
    assert_eq!(world.engine.rulings().unwrap(), [], "it is not kept either");
}

/// A person approves a dangerous action. Before it runs, a reload classifies it as destructive.
#[tokio::test]
async fn a_yes_to_what_was_dangerous_enables_nothing_destructive() {
    let world = World::new();
    let file = |raised: bool| {
        let mut settings = settings(|_| ());
        settings.commands.raises = raised.then(|| raise("node")).into_iter().collect();
        policy(settings, &[("lead", "you", &[])])
    };
    world.engine.configure(file(false)).await.unwrap();
    let lead = world.engine.agent(id("lead")).unwrap();
    let (_, ticket) = asked(&lead, Action::command("node x.js")).await;
    world.engine.configure(file(true)).await.unwrap();
    world.you().answer(ticket.id(), Answer::allow()).await.unwrap();
    assert_eq!(ruled(&lead, Action::command("node x.js")).await, Ruled::Deny);
    world.you().enable(lead.id(), &Action::command("node x.js"), why()).await.unwrap();
    assert_eq!(ruled(&lead, Action::command("node x.js")).await, Ruled::Allow);
    assert_eq!(ruled(&lead, Action::command("node x.js")).await, Ruled::Deny, "once");
}

fn raise(program: &str) -> bestow::command::Raise {
    bestow::command::Raise {
        program: program.to_owned(),
        words: Vec::new(),
        tier: bestow::command::Tier::Destructive,
        matches: vec![format!("{program} x.js")],
        not_matches: vec!["ls".to_owned()],
    }
}

/// A use of a permission counts even if it opens nothing.
#[tokio::test]
async fn what_a_rule_denies_cannot_be_used_by_naming_the_permission() {
    let world = World::new();
    let mut file = policy(settings(|_| ()), &[("lead", "you", &["@write:/ws"])]);
    let no = bestow::policy::Rule {
        verdict: bestow::decision::Verdict::Deny,
        tool: None,
        operation: Some(bestow::action::Operation::Write),
        path: Some(String::from("/ws/closed/**").try_into().unwrap()),
        command: None,
        shape: None,
        cwd: None,
        children: false,
        why: None,
        place: bestow::grant::Place { file: "agents.toml".into(), line: 1 },
    };
    file.agents.get_mut(&id("lead")).unwrap().rules = [no].into();
    world.engine.configure(file).await.unwrap();
    let lead = world.engine.agent(id("lead")).unwrap();
    assert!(lead.spend(&tag("@write:/ws/open/a")).await.is_ok());
    let denied = refusal(lead.spend(&tag("@write:/ws/closed/a")).await);
    assert!(matches!(denied, Refusal::NotAllowed(_)), "{denied}");
}

/// The attack: requests about actions are pending, and another agent grants the missing permission. A naive engine
/// finds nothing missing any more and approves the actions.
#[tokio::test]
async fn a_permission_that_comes_answers_no_question_about_an_action() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let lead = world.lead("lead", &["@network"]).await;
    let (_, plain) = asked(&ann, dangerous()).await;
    let (_, with_network) = asked(&ann, Action::command("node b.js").needing(tag("@network"))).await;
    lead.grant(&id("ann"), tag("@network"), why()).await.unwrap();
    assert!(plain.poll().is_none() && with_network.poll().is_none(), "only a person says that");
    world.you().answer(plain.id(), Answer::allow()).await.unwrap();
    assert_eq!(ruled(&ann, dangerous()).await, Ruled::Allow);
    assert!(with_network.poll().is_none());
}

/// The attack: a lasting approval of a confined run is used for an unconfined run.
#[tokio::test]
async fn a_yes_that_lasts_is_for_the_circumstances_too() {
    for scope in [Scope::Session, Scope::Always] {
        let world = World::new();
        let ann = world.worker("ann", &[]).await;
        let run = |circumstances: &str| Action::command("npm test").under(circumstances);
        let (_, ticket) = asked(&ann, run("no network, read only")).await;
        let (_, whole) = asked(&ann, run("the whole machine")).await;
        world.you().answer(ticket.id(), Answer::allow().scope(scope)).await.unwrap();
        assert!(whole.poll().is_none(), "{scope:?}: another question");
        assert_eq!(ruled(&ann, run("no network, read only")).await, Ruled::Allow, "{scope:?}");
        assert_eq!(ruled(&ann, run("the whole machine")).await, Ruled::Ask, "{scope:?}");
        assert_eq!(ruled(&ann, Action::command("npm test")).await, Ruled::Ask, "{scope:?}");
    }
}

#[tokio::test]
async fn a_no_for_the_run_holds_whatever_stands_beside_the_command() {
    for (denied, then) in [
        ("node script.js > out.txt", "/usr/bin/node script.js > out.txt"),
        ("node script.js > out.txt", "(node script.js > out.txt)"),
        ("node script.js > out.txt", "node script.js > out.txt; true"),
        ("node script.js > out.txt", "env node script.js >> other.txt"),
        ("FOO=1 node script.js", "FOO=1 /usr/bin/node script.js"),
        ("FOO=1 node script.js", "( FOO=1 node script.js )"),
    ] {
        let world = World::new();
        let ann = world.worker("ann", &[]).await;
        let (_, ticket) = asked(&ann, Action::command(denied)).await;
        world.you().answer(ticket.id(), Answer::deny().scope(Scope::Session)).await.unwrap();
        assert_eq!(ruled(&ann, Action::command(then)).await, Ruled::Deny, "{denied}, then {then}");
    }
}

/// The attack: a program whose name looks like a secret is called through a variable or a path.
#[tokio::test]
async fn what_runs_is_shown_however_it_is_called() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    for line in [
        "token=evil1234567x; $token",
        "token=evil1234567x; ./$token",
        "./ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "cd bin && ./ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    ] {
        let (decision, _) = asked(&ann, Action::command(line)).await;
        assert_eq!(&*decision.action.resource, line);
    }
}

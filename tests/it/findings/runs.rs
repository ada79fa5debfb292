//! Tests of runs: one for each agent, begun and ended by people.

use std::collections::BTreeSet;

use bestow::{
    Action, Agent, Answer, Event, InitialGrants, Kind,
    action::Authorization,
    agent::RunId,
    decision::{Refusal, Verdict},
    grant::Scope,
    tool::{PathPolicy, PolicyPatch, ToolPolicies},
};
use proptest::prelude::*;

use crate::support::{World, check, heard, id, policy, profile, refusal, settings, tag, tags, why};

fn run(name: &str) -> RunId {
    name.parse().unwrap()
}

/// Returns an action that needs the approval of a person.
fn dangerous() -> Action {
    Action::command("make deploy")
}

async fn says_no_for_this_run(world: &World, agent: &Agent, action: Action) {
    let Authorization::Asked(_, ticket) = agent.authorize(action).await.unwrap() else { panic!("it asks") };
    world.you().answer(ticket.id(), Answer::deny().scope(Scope::Session)).await.unwrap();
}

/// A9: agents shared a run, so a policy that a person set for one agent also freed the others.
#[tokio::test]
async fn each_agent_has_a_run_of_its_own_however_it_came() {
    let world = World::new();
    let file = || policy(settings(|_| {}), &[("f", "you", &[]), ("g", "you", &[])]);
    world.engine.configure(file()).await.unwrap();
    let host = [world.worker("h", &[]).await, world.worker("i", &[]).await];
    let kid = host[0].create(profile("kid", "you", Kind::Subagent), &[], why()).await.unwrap();
    let more = policy(settings(|_| {}), &[("f", "you", &[]), ("g", "you", &[]), ("late", "you", &[])]);
    world.engine.configure(more).await.unwrap();
    let names = ["f", "g", "late", "h", "i", kid.id().as_str()].map(id);
    let runs: BTreeSet<_> = names.iter().map(|name| world.engine.run_of(name).unwrap()).collect();
    assert_eq!(runs.len(), names.len(), "{runs:?}");
    let before: Vec<_> = names.iter().map(|name| world.engine.run_of(name).unwrap()).collect();
    world
        .engine
        .configure(policy(settings(|_| {}), &[("f", "you", &[]), ("g", "you", &[]), ("late", "you", &[])]))
        .await
        .unwrap();
    let after: Vec<_> = names.iter().map(|name| world.engine.run_of(name).unwrap()).collect();
    assert_eq!(before, after, "a reload begins no run of who stays");
}

#[tokio::test]
async fn a_policy_of_one_agents_run_frees_no_other() {
    let world = World::new();
    let holds: &[&str] = &["@write:/ws"];
    world.engine.configure(policy(settings(|_| {}), &[("one", "you", holds), ("other", "you", holds)])).await.unwrap();
    let [one, other] = [world.engine.agent(id("one")).unwrap(), world.engine.agent(id("other")).unwrap()];
    let you = world.you();
    let write = || Action::write("/ws/Makefile").by_tool("write_file".parse().unwrap());
    let asks = || ToolPolicies {
        write: PathPolicy { default: Some(Verdict::Ask), ..Default::default() },
        ..Default::default()
    };
    for agent in [&one, &other] {
        you.set_policies(&world.engine.run_of(agent.id()).unwrap(), None, asks()).await.unwrap();
    }
    let frees = PolicyPatch::writing().allow("**").by_default(Verdict::Allow);
    you.update_policy(&world.engine.run_of(one.id()).unwrap(), frees).await.unwrap();
    assert_eq!(one.verdict(&write()).unwrap(), Verdict::Allow);
    assert_eq!(other.verdict(&write()).unwrap(), Verdict::Ask);
}

/// A8: an agent that entered the run of another one got its approvals. A separate call now adds an agent to a run.
#[tokio::test]
async fn nobody_gets_into_anothers_run_by_its_name() {
    let world = World::new();
    let [one, other] = [world.worker("one", &[]).await, world.worker("other", &[]).await];
    let stranger = world.agent("stranger", "them", Kind::Subagent, &[]).await;
    world.engine.begin_run(one.id(), run("night")).await.unwrap();
    assert_eq!(refusal(world.engine.begin_run(other.id(), run("night")).await), Refusal::RunGoesOn(run("night")));
    assert_eq!(refusal(world.you().begin_run(other.id(), run("night")).await), Refusal::RunGoesOn(run("night")));
    assert_eq!(refusal(world.engine.join_run(other.id(), &run("day")).await), Refusal::UnknownRun(run("day")));
    // Runs of another owner are other runs, whatever their name.
    assert_eq!(refusal(world.engine.join_run(stranger.id(), &run("night")).await), Refusal::UnknownRun(run("night")));
    world.engine.begin_run(stranger.id(), run("night")).await.unwrap();
    world.engine.join_run(other.id(), &run("night")).await.unwrap();
    assert_eq!(world.engine.run_of(other.id()).unwrap(), run("night"));
    says_no_for_this_run(&world, &one, dangerous()).await;
    assert_eq!(other.verdict(&dangerous()).unwrap(), Verdict::Deny, "who is in it is bound by what is said in it");
    assert_eq!(stranger.verdict(&dangerous()).unwrap(), Verdict::Ask);
}

#[tokio::test]
async fn a_run_that_a_child_was_made_in_is_entered_by_nobody_without_saying_so() {
    let world = World::new();
    let [lead, other] = [world.worker("lead", &[]).await, world.worker("other", &[]).await];
    world.engine.begin_run(lead.id(), run("night")).await.unwrap();
    lead.create(profile("kid", "you", Kind::Subagent), &[], why()).await.unwrap();
    world.engine.begin_run(lead.id(), run("day")).await.unwrap();
    assert_eq!(refusal(world.engine.begin_run(other.id(), run("night")).await), Refusal::RunGoesOn(run("night")));
}

#[tokio::test]
async fn a_person_begins_and_ends_runs_of_their_own_agents_only() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let (you, them) = (world.you(), world.approver("them"));
    let before = world.engine.run_of(ann.id()).unwrap();
    assert!(matches!(refusal(them.begin_run(ann.id(), run("theirs")).await), Refusal::OtherOwner { .. }));
    assert!(matches!(refusal(them.join_run(ann.id(), &before).await), Refusal::OtherOwner { .. }));
    assert!(matches!(refusal(them.end_run(ann.id()).await), Refusal::OtherOwner { .. }));
    assert_eq!(world.engine.run_of(ann.id()).unwrap(), before);
    let mut events = world.engine.subscribe();
    you.begin_run(ann.id(), run("mine")).await.unwrap();
    let told: Vec<_> = heard(&mut events).into_iter().map(|recorded| recorded.event).collect();
    assert!(
        matches!(&told[..], [Event::RunEnded { run: ended, .. }, Event::RunBegan { run: began, by: Some(_), .. }]
        if *ended == before && *began == run("mine")),
        "{told:?}"
    );
}

#[tokio::test]
async fn the_end_of_a_run_ends_what_was_for_it() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    world.engine.begin_run(ann.id(), run("night")).await.unwrap();
    world.you().give(ann.id(), tag("@network"), Scope::Session, why()).await.unwrap();
    says_no_for_this_run(&world, &ann, dangerous()).await;
    assert_eq!(ann.verdict(&dangerous()).unwrap(), Verdict::Deny);
    let mut events = world.engine.subscribe();
    world.engine.end_run(ann.id()).await.unwrap();
    let ended = |event: &Event| match event {
        Event::RunEnded { agent, run: over } => agent == ann.id() && *over == run("night"),
        _ => false,
    };
    assert_eq!(heard(&mut events).iter().filter(|recorded| ended(&recorded.event)).count(), 1);
    assert!(!check(&ann, "@network").is_held());
    assert_eq!(ann.verdict(&dangerous()).unwrap(), Verdict::Ask, "the no was for that run");
    assert_ne!(world.engine.run_of(ann.id()).unwrap(), run("night"));
    assert!(world.you().guards(&run("night")).is_err(), "it is over");
    world.engine.begin_run(ann.id(), run("night")).await.unwrap();
    assert!(!check(&ann, "@network").is_held(), "a run of the same name is another");
}

/// A denial in the run that created a child still binds the child after the parent has begun another run.
#[tokio::test]
async fn the_end_of_a_run_does_not_free_who_was_made_in_it() {
    let world = World::new();
    let lead = world.worker("lead", &["@write:/ws"]).await;
    says_no_for_this_run(&world, &lead, dangerous()).await;
    let kid = lead.create(profile("kid", "you", Kind::Subagent), &tags(&["@write:/ws"]), why()).await.unwrap();
    world.engine.end_run(lead.id()).await.unwrap();
    world.engine.end_run(kid.id()).await.unwrap();
    assert_eq!(kid.verdict(&dangerous()).unwrap(), Verdict::Deny);
}

/// A call of an agent or of its child. Each number selects one of the existing items.
#[derive(Clone, Copy, Debug)]
enum Call {
    Create(u8, u8),
    Grant(u8, u8, u8, u8),
    Revoke(u8, u8),
    Request(u8, u8),
    Cancel(u8, u8),
    Spend(u8, u8),
    Authorize(u8, u8),
    Override(u8, u8),
    Say(u8),
}

fn call() -> impl Strategy<Value = Call> {
    let n = any::<u8>;
    prop_oneof![
        3 => (n(), n()).prop_map(|(who, what)| Call::Create(who, what)),
        6 => (n(), n(), n(), n()).prop_map(|(who, to, what, scope)| Call::Grant(who, to, what, scope)),
        4 => (n(), n()).prop_map(|(who, which)| Call::Revoke(who, which)),
        2 => (n(), n()).prop_map(|(who, what)| Call::Request(who, what)),
        1 => (n(), n()).prop_map(|(who, which)| Call::Cancel(who, which)),
        1 => (n(), n()).prop_map(|(who, what)| Call::Spend(who, what)),
        3 => (n(), n()).prop_map(|(who, what)| Call::Authorize(who, what)),
        1 => (n(), n()).prop_map(|(who, what)| Call::Override(who, what)),
        1 => n().prop_map(Call::Say),
    ]
}

const WANTS: [&str; 9] = [
    "@network",
    "@events",
    "@write:/ws",
    "@write:/ws/free",
    "@read:/ws/asked",
    "@write:/ws/secret",
    "@write:/only",
    "@write:/only/a",
    "@read:/",
];

fn actions() -> Vec<Action> {
    let paths = ["/ws/free/a", "/ws/asked/a", "/ws/secret/a", "/ws/else", "/only/a", "/far"];
    let files = paths.into_iter().flat_map(|path| [Action::write(path), Action::read(path)]);
    let commands = ["ls", "make deploy", "make other", "rm -rf /"].into_iter().map(Action::command);
    let given = Action::command("ls").needing(tag("@write:/ws/secret"));
    files.chain(commands).chain([given, Action::network("example.org")]).collect()
}

/// Returns the effect of each action.
fn answers(agent: &Agent) -> Vec<bestow::Effect> {
    actions().iter().map(|action| agent.verdict(action).unwrap()).collect()
}

/// An agent with many restrictions, a friend that granted it a permission for passing on, and an agent that holds
/// nothing.
struct Bound {
    world: World,
    handles: Vec<Agent>,
    other: Agent,
}

async fn bound() -> Bound {
    let world = World::with(|settings| settings.max_grants = 64);
    let holding = InitialGrants::of(tags(&["@write:/ws", "@network"])).passing_on(tags(&["@write:/only"]));
    let boss = world.engine.register(profile("boss", "you", Kind::Subagent), holding).await.unwrap();
    let friend = world.worker("friend", &["@write:/only"]).await;
    friend.grant(boss.id(), tag("@write:/only"), why()).await.unwrap();
    let other = world.worker("other", &[]).await;
    let glob = |text: &str| crate::guards::glob(text);
    let write =
        PathPolicy { allow: vec![glob("/ws/free/**")], deny: vec![glob("/ws/secret/**")], default: Some(Verdict::Ask) };
    let policies = ToolPolicies { write, ..ToolPolicies::default() };
    world.you().set_policies(&world.engine.run_of(boss.id()).unwrap(), None, policies).await.unwrap();
    says_no_for_this_run(&world, &boss, dangerous()).await;
    Bound { world, handles: vec![boss], other }
}

impl Bound {
    async fn carry_out(&mut self, call: Call) {
        let who = |number: u8| self.handles[usize::from(number) % self.handles.len()].clone();
        let wanted = |number: u8| tag(WANTS[usize::from(number) % WANTS.len()]);
        let action = |number: u8| actions().swap_remove(usize::from(number) % actions().len());
        // A refused call has changed nothing, and no person answers the requests.
        match call {
            Call::Create(number, what) => {
                let child = profile(&format!("kid{}", self.handles.len()), "you", Kind::Subagent);
                let made = who(number).create(child, &[wanted(what)], why()).await;
                self.handles.extend(made);
            }
            Call::Grant(number, to, what, scope) => {
                let names = self.handles.iter().map(Agent::id).chain([self.other.id()]).cloned();
                let names: Vec<_> = names.chain([id("friend")]).collect();
                let to = &names[usize::from(to) % names.len()];
                let scope = [Scope::Once, Scope::Session, Scope::Always][usize::from(scope) % 3];
                let _ = who(number).grant_for(to, wanted(what), scope, why()).await;
            }
            Call::Revoke(number, which) => {
                let (agent, all) = (who(number), self.world.engine.grants().unwrap());
                let _ = agent.revoke(all[usize::from(which) % all.len()].id, None).await;
            }
            Call::Request(number, what) => {
                drop(who(number).request(bestow::PermissionRequest::new(wanted(what), why())).await)
            }
            Call::Cancel(number, which) => {
                let pending = self.world.engine.pending().unwrap();
                if let Some(asked) = pending.get(usize::from(which) % pending.len().max(1)) {
                    let _ = who(number).cancel(asked.request.id).await;
                }
            }
            Call::Spend(number, what) => drop(who(number).spend(&wanted(what)).await),
            Call::Authorize(number, what) => drop(who(number).authorize(action(what)).await),
            Call::Override(number, what) => drop(who(number).authorize(action(what).overriding()).await),
            Call::Say(number) => drop(who(number).say("it is fine").await),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::support::cases(64), ..ProptestConfig::default() })]

    /// A8: no sequence of calls of an agent and its children allows any of them more than before. Other agents get no
    /// permission that the agent did not hold.
    #[test]
    fn nothing_an_agent_calls_widens_what_it_may_do(calls in prop::collection::vec(call(), 1..24)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut bound = bound().await;
            let before = answers(&bound.handles[0]);
            let could: Vec<_> = WANTS.map(|wanted| bound.handles[0].check(&tag(wanted))).into();
            let passed_on: Vec<_> = WANTS.map(|wanted| !bound.handles[0].why(&tag(wanted)).unwrap().is_empty()).into();
            let commands = |agent: &Agent| {
                let without_need = ["pwd", "make deploy", "rm -rf /"].map(Action::command);
                without_need.map(|action| agent.verdict(&action).unwrap())
            };
            let others = commands(&bound.other);
            for call in calls {
                bound.carry_out(call).await;
                for (place, agent) in bound.handles.iter().enumerate() {
                    for ((after, before), action) in answers(agent).into_iter().zip(&before).zip(actions()) {
                        // A permission for passing on may be used by the agents that receive it.
                        let is_for_passing_on = place > 0 && format!("{action:?}").contains("/only");
                        prop_assert!(
                            is_for_passing_on || after >= *before,
                            "{:?}: {} may {:?}: {:?} -> {:?}", call, agent.id(), action, before, after
                        );
                    }
                }
                for (number, wanted) in WANTS.into_iter().enumerate() {
                    let boss = bound.handles[0].check(&tag(wanted));
                    prop_assert!(boss >= could[number], "{:?}: it holds {}", call, wanted);
                    let got = bound.other.check(&tag(wanted)) != bestow::decision::Check::NotHeld;
                    prop_assert!(!got || passed_on[number], "{:?}: another got {}", call, wanted);
                }
                prop_assert_eq!(commands(&bound.other), others);
            }
            Ok(())
        })?;
    }
}

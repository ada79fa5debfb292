//! Tests of the permissions that a host's own sandbox may open (attack 13).

use bestow::{
    Action, Agent, Kind,
    action::{Authorization, Confinement},
    agent::Mode,
    decision::{Refusal, Ruled, Verdict},
    event::SandboxFacts,
    grant::Scope,
};

use super::{bound, rule};
use crate::{
    findings::uses::given,
    support::{World, id, policy, profile, refusal, settings, tag, why},
};

/// Returns the confinement of an action that is allowed in a sandbox only.
async fn confined(agent: &Agent, action: Action) -> Confinement {
    match agent.authorize(action).await.unwrap() {
        Authorization::Confined(_, what) => what,
        other => panic!("{other:?}"),
    }
}

fn facts(write_roots: &[&str]) -> SandboxFacts {
    let mut facts = SandboxFacts::stated("jail", "/ws".parse().unwrap());
    facts.write_roots = write_roots.iter().map(|root| root.parse().unwrap()).collect();
    facts
}

fn with_network() -> SandboxFacts {
    let mut facts = facts(&[]);
    facts.network = true;
    facts
}

async fn is_refused(world: &World, agent: &Agent, action: Action, facts: SandboxFacts, wider: &str) {
    let what = confined(agent, action.clone()).await;
    let refused = refusal(world.engine.confine(what, facts).await);
    assert_eq!(refused, Refusal::WiderThanDecided(tag(wider)), "{action:?}");
}

async fn is_fine(world: &World, agent: &Agent, action: Action, facts: SandboxFacts) {
    let what = confined(agent, action.clone()).await;
    let decision = world.engine.confine(what, facts).await.unwrap();
    assert_eq!(decision.decision, Ruled::Sandboxed, "{action:?}");
}

#[tokio::test]
async fn what_is_not_held_is_not_open_in_the_sandbox_of_a_host() {
    let world = World::new();
    let agent = bound(&world, Mode::OnFailure, &["@write:/ws"], &[]).await;
    let _there = world.you().attend().unwrap();
    for path in ["/elsewhere/x", "/etc/cron.d/x", "/home/x/.bashrc"] {
        let line = Action::command(&format!("touch {path}"));
        is_refused(&world, &agent, line.clone(), facts(&[path]), &format!("@write:{path}")).await;
        is_fine(&world, &agent, line, facts(&[])).await;
    }
    let line = || Action::command("curl https://example.com");
    is_refused(&world, &agent, line(), with_network(), "@network").await;
    is_fine(&world, &agent, line(), facts(&[])).await;
    is_fine(&world, &agent, Action::command("node x > y"), facts(&["/ws/y"])).await;
}

/// A one-time permission is open for its one use.
#[tokio::test]
async fn a_permission_for_one_use_is_open_in_the_sandbox_of_a_host_once() {
    let world = World::new();
    let agent = bound(&world, Mode::OnFailure, &[], &[]).await;
    let _there = world.you().attend().unwrap();
    let posts = |what: &str| Action::command(&format!("curl -d {what} https://example.com"));
    world.you().give(agent.id(), tag("@network"), Scope::Once, why()).await.unwrap();
    is_fine(&world, &agent, posts("a"), with_network()).await;
    is_refused(&world, &agent, posts("b"), with_network(), "@network").await;
}

#[tokio::test]
async fn a_permission_to_a_directory_opens_nothing_sensitive_in_it() {
    let world = World::new();
    let agent = bound(&world, Mode::OnFailure, &["@write:/ws", "@write:/ws/.env"], &[]).await;
    let _there = world.you().attend().unwrap();
    let action = || given("node x", "@write:/ws");
    is_refused(&world, &agent, action(), facts(&["/ws/.git/hooks"]), "@write:/ws/.git/hooks").await;
    is_refused(&world, &agent, action(), facts(&["/ws", "/ws/.env"]), "@write:/ws/.env").await;
    is_fine(&world, &agent, action(), facts(&["/ws/sub"])).await;
    is_fine(&world, &agent, given("node x", "@write:/ws/.env"), facts(&["/ws/.env"])).await;
}

#[tokio::test]
async fn a_socket_of_the_engine_is_open_to_who_is_given_it() {
    let world = World::new();
    let agent = bound(&world, Mode::OnFailure, &["@events"], &[]).await;
    let _there = world.you().attend().unwrap();
    let mut with_socket = facts(&[]);
    with_socket.unix_sockets = vec!["/run/engine.sock".into()];
    is_refused(&world, &agent, Action::command("node x"), with_socket.clone(), "@events").await;
    is_fine(&world, &agent, given("node x", "@events"), with_socket).await;
}

/// The sandbox must exclude paths below a root that a rule denies or that are protected.
#[tokio::test]
async fn what_is_denied_below_a_root_is_not_open_in_the_sandbox_of_a_host() {
    let world = World::new();
    let protected = settings(|settings| settings.protected = ["/ws/keys".parse().unwrap()].into());
    let mut file = policy(protected, &[("ann", "you", &["@write:/ws"])]);
    let of_file = file.agents.get_mut(&id("ann")).unwrap();
    of_file.rules = [rule(Verdict::Deny, None, Some("/ws/secrets/**"))].into();
    of_file.profile = profile("ann", "you", Kind::Permanent).in_mode(Mode::OnFailure);
    world.engine.configure(file).await.unwrap();
    let agent = world.engine.agent(id("ann")).unwrap();
    let _there = world.you().attend().unwrap();
    let keeping = |paths: &[&str]| {
        let mut facts = facts(&["/ws"]);
        facts.read_only = paths.iter().map(|path| path.parse().unwrap()).collect();
        facts
    };
    let action = || given("node x", "@write:/ws");
    is_refused(&world, &agent, action(), keeping(&["/ws/secrets"]), "@write:/ws/keys").await;
    is_refused(&world, &agent, action(), keeping(&["/ws/keys"]), "@write:/ws/secrets").await;
    is_fine(&world, &agent, action(), keeping(&["/ws/keys", "/ws/secrets"])).await;
    is_fine(&world, &agent, action(), facts(&["/ws/sub"])).await;
}

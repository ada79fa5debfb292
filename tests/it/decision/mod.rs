//! Tests of actions: their decisions, requests and records. See `sources/002` and its consequences.

mod answers;
mod beside;
mod envelope;
mod facts;
mod hooks;
mod lineage;
mod modes;
mod orders;
mod secrets;
mod seen;
mod trees;

use bestow::{
    Action, Agent, Event,
    action::Authorization,
    agent::Mode,
    decision::{Decision, Ruled},
    event::Subscription,
    request::Ticket,
};

use crate::support::{World, heard, id, profile, tags};

/// Registers a worker of `you` in `mode`.
async fn in_mode(world: &World, name: &str, mode: Mode, holds: &[&str]) -> Agent {
    let profile = profile(name, "you", bestow::Kind::Subagent).in_mode(mode);
    world.engine.register(profile, bestow::InitialGrants::of(tags(holds))).await.unwrap()
}

/// Returns the decision about `action`.
async fn decided(agent: &Agent, action: Action) -> Decision {
    Decision::clone(agent.authorize(action).await.unwrap().decision())
}

async fn ruled(agent: &Agent, action: Action) -> Ruled {
    decided(agent, action).await.decision
}

/// Returns the decision and the request that `action` leads to.
async fn asked(agent: &Agent, action: Action) -> (Decision, Ticket) {
    match agent.authorize(action).await.unwrap() {
        Authorization::Asked(decision, ticket) => (Decision::clone(&decision), ticket),
        other => panic!("expected a question, not {other:?}"),
    }
}

/// Returns a command that needs the approval of a person.
fn dangerous() -> Action {
    Action::command("node script.js")
}

/// Returns the kinds of the events since the last call, except those of routing.
fn kinds(events: &mut Subscription) -> Vec<&'static str> {
    let kinds = heard(events).into_iter().map(|recorded| recorded.event.kind());
    kinds.filter(|kind| *kind != "permission.routed").collect()
}

fn evaluated(events: &[bestow::event::Recorded]) -> Vec<Decision> {
    let decision = |recorded: &bestow::event::Recorded| match &recorded.event {
        Event::Evaluated { decision } => Some(Decision::clone(decision)),
        _ => None,
    };
    events.iter().filter_map(decision).collect()
}

fn agent_of(world: &World, name: &str) -> Agent {
    world.engine.agent(id(name)).unwrap()
}

//! Actions: decided, asked about, recorded. `sources/002` and what follows from it.

mod answers;
mod envelope;
mod facts;
mod hooks;
mod lineage;
mod modes;
mod secrets;

use bestow::{Action, Agent, Authorization, Decision, Event, Mode, Ruled, Subscription, Ticket};

use crate::support::{World, heard, id, profile, tags};

/// A worker of `you` in `mode`.
async fn in_mode(world: &World, name: &str, mode: Mode, holds: &[&str]) -> Agent {
    let profile = profile(name, "you", bestow::Kind::Subagent).in_mode(mode);
    world.engine.register(profile, bestow::Holding::of(tags(holds))).await.unwrap()
}

/// What is decided about `action`.
async fn decided(agent: &Agent, action: Action) -> Decision {
    Decision::clone(agent.authorize(action).await.unwrap().decision())
}

async fn ruled(agent: &Agent, action: Action) -> Ruled {
    decided(agent, action).await.decision
}

/// The question that `action` comes to.
async fn asked(agent: &Agent, action: Action) -> (Decision, Ticket) {
    match agent.authorize(action).await.unwrap() {
        Authorization::Asked(decision, ticket) => (Decision::clone(&decision), ticket),
        other => panic!("expected a question, not {other:?}"),
    }
}

/// A command that needs a person's word.
fn dangerous() -> Action {
    Action::command("node script.js")
}

/// The kinds of the events since the last time, but for those of hooks' starts and of routing.
fn kinds(events: &mut Subscription) -> Vec<&'static str> {
    let kinds = heard(events).into_iter().map(|recorded| recorded.event.kind());
    kinds.filter(|kind| *kind != "permission.routed").collect()
}

fn evaluated(events: &[bestow::Recorded]) -> Vec<Decision> {
    let decision = |recorded: &bestow::Recorded| match &recorded.event {
        Event::Evaluated { decision } => Some(Decision::clone(decision)),
        _ => None,
    };
    events.iter().filter_map(decision).collect()
}

fn agent_of(world: &World, name: &str) -> Agent {
    world.engine.agent(&id(name)).unwrap()
}

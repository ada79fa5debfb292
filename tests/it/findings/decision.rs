//! Tests that a decision covers everything that happens, whatever agent, tool and input cause it.

#[cfg(all(feature = "cli", feature = "sandbox"))]
mod kept;
mod noes;
mod programs;
#[cfg(feature = "sandbox")]
mod read;
mod stated;
mod tools;
mod yeses;

use bestow::{Action, Agent, Answer, Effect, decision::Verdict, grant::Scope, policy::Rule};
use serde_json::Value;

use super::uses::{bound, decided, everything_allowed};
use crate::support::{World, rule};

/// Returns the call of a tool.
pub(super) fn call(tool: &str, input: Value) -> Action {
    Action::tool(tool.parse().unwrap(), input)
}

fn verdict(agent: &Agent, action: &Action) -> Effect {
    agent.explain(action).unwrap().decision.verdict()
}

pub(super) fn on_command(verdict: Verdict, pattern: &str) -> Rule {
    Rule { command: Some(pattern.parse().unwrap()), ..rule(verdict, None, None) }
}

/// Answers the request of `action` as a person.
async fn answers(world: &World, agent: &Agent, action: Action, answer: Answer) {
    let decision = decided(agent, action).await;
    world.you().answer(decision.approval_action_id.unwrap(), answer).await.unwrap();
}

pub(super) async fn says_no(world: &World, agent: &Agent, action: Action, scope: Scope) {
    answers(world, agent, action, Answer::deny().scope(scope)).await;
}

async fn says_yes(world: &World, agent: &Agent, action: Action, scope: Scope) {
    answers(world, agent, action, Answer::allow().scope(scope)).await;
}

/// Asserts that each of `actions` has the effect `expected`.
pub(super) fn all_are(agent: &Agent, expected: Effect, actions: impl IntoIterator<Item = Action>) {
    for action in actions {
        let explained = agent.explain(&action).unwrap();
        assert_eq!(explained.decision.verdict(), expected, "{action:?}\n{explained}");
    }
}

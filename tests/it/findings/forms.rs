//! Tests that a denial applies to every form of an action.

mod commands;
mod hosts;
mod paths;
mod programs;

use bestow::{Action, Agent, Effect};

/// Returns the lines whose effect differs from `expected`.
fn others(agent: &Agent, expected: Effect, lines: &[&str]) -> Vec<String> {
    let verdict = |line: &str| agent.explain(&Action::command(line)).unwrap();
    let all = lines.iter().map(|line| (line, verdict(line)));
    let wrong = all.filter(|(_, explained)| explained.decision.verdict() != expected);
    wrong.map(|(line, explained)| format!("{line}: {:?}", explained.decision.verdict())).collect()
}

fn all_denied(agent: &Agent, lines: &[&str]) {
    let wrong = others(agent, Effect::Deny, lines);
    assert!(wrong.is_empty(), "not denied: {wrong:#?}");
}

fn all_asked(agent: &Agent, lines: &[&str]) {
    let wrong = others(agent, Effect::Ask, lines);
    assert!(wrong.is_empty(), "not asked: {wrong:#?}");
}

fn all_allowed(agent: &Agent, lines: &[&str]) {
    let wrong = others(agent, Effect::Allow, lines);
    assert!(wrong.is_empty(), "not allowed: {wrong:#?}");
}

/// Returns a rule that asks about an operation.
fn asks(operation: bestow::action::Operation) -> bestow::policy::Rule {
    crate::support::rule(bestow::decision::Verdict::Ask, Some(operation), None)
}

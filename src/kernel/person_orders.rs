//! The orders of `bestow` that a person gives. No agent gives one, in any mode and by any rule.

use crate::model::{Said, Spoken, base_name};

use super::{resolved_action::ResolvedAction, target::Target};

/// The name of the program.
const PROGRAM: &str = "bestow";

/// The commands of the program that are not orders: they only read, or they act with what the agent has itself. Every
/// other one is an order, also one that is added later.
const HARMLESS: &[&str] = &[
    "audit",
    "check",
    "check-config",
    "classify",
    "completions",
    "events",
    "explain",
    "grant",
    "grants",
    "help",
    "hook",
    "init",
    "man",
    "mcp",
    "request",
    "requests",
    "sandbox",
    "state",
    "tasks",
    "why",
];

/// The words that make an order of a harmless command: it moves or cuts the trail, runs a task, or lets whoever drives
/// it answer as a person.
const ORDERS: &[(&str, &[&str])] = &[("audit", &["cut", "rotate"]), ("mcp", &["--elicit"]), ("tasks", &["run"])];

/// Returns the order of a person that the action gives, as in `bestow approve`.
pub(super) fn order_in(action: &ResolvedAction) -> Option<String> {
    let commands = action.uses.iter().filter_map(|used| {
        let Target::Command { parts: Some(parts), .. } = &used.target else { return None };
        Some(parts)
    });
    let mut commands = commands.flatten().flat_map(|part| part.runs.iter().chain(&part.starts));
    commands.find_map(order)
}

/// Returns the order that a command gives. A command whose program is unknown gives none: that is in doubt, and the
/// tier of the command says so.
fn order(command: &Spoken) -> Option<String> {
    let mut words = command.words.iter();
    let is_program = |word: &Said| word.known().is_some_and(|text| base_name(text) == PROGRAM);
    if command.anywhere {
        words.find(|word| is_program(word))?;
    } else {
        words.next().filter(|word| is_program(word))?;
    }
    match words.next().map(Said::known) {
        None => None,
        Some(None) => Some(PROGRAM.to_owned()),
        Some(Some(word)) if word.starts_with('-') => None,
        Some(Some(word)) if HARMLESS.contains(&word) => {
            let (_, orders) = ORDERS.iter().find(|(name, _)| *name == word)?;
            let is_order = |word: &Said| word.known().is_none_or(|text| orders.contains(&text));
            words.any(is_order).then(|| format!("{PROGRAM} {word}"))
        }
        Some(Some(word)) => Some(format!("{PROGRAM} {word}")),
    }
}

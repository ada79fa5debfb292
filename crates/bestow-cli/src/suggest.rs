//! Suggestions for names that do not exist.

use std::{fmt, path::Path};

use bestow::{
    Agent, AgentId, Engine, Policy,
    text::{Escaped, closest_word},
};

use crate::exit::Exit;

/// The number of names that a message lists.
const MOST_LISTED: usize = 8;

/// Returns the way out for a word that is none of `known`: the closest name, or a list of them.
pub(crate) fn suggest(word: &str, known: &[&str]) -> String {
    closest_word(word, known.iter().copied()).map_or_else(|| listed(known), |known| format!("did you mean `{known}`?"))
}

/// Lists names, but not all of very many.
pub(crate) fn listed(known: &[&str]) -> String {
    let more = known.len().saturating_sub(MOST_LISTED);
    let listed: Vec<_> = known.iter().take(MOST_LISTED).map(|known| format!("`{known}`")).collect();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("there is {}{more}", listed.join(", "))
}

/// Returns a registered agent. If there is none with this id, the text says which ones there are.
pub(crate) fn registered(engine: &Engine, agent: &AgentId, file: &Path) -> Result<Agent, String> {
    engine.agent(agent).map_err(|why| {
        let known = engine.agents().unwrap_or_default();
        let known: Vec<_> = known.iter().map(|profile| profile.id.as_str()).collect();
        let file = Escaped(&file.to_string_lossy()).to_string();
        match known.is_empty() {
            true => format!("{why}: {file} defines no agent"),
            false => format!("{why}, and {file} does not define it: {}", suggest(agent.as_str(), &known)),
        }
    })
}

/// Refuses an agent that the file does not have.
pub(crate) fn require_agent(agent: &AgentId, policy: &Policy, file: impl fmt::Display) -> Result<(), Exit> {
    if policy.agents.contains_key(agent) {
        return Ok(());
    }
    let all: Vec<_> = policy.agents.keys().map(AgentId::as_str).collect();
    let file = Escaped(&file.to_string()).to_string();
    let way_out = suggest(agent.as_str(), &all);
    Err(Exit::failed(format_args!("{file}: agent `{agent}` does not exist in this file: {way_out}")))
}

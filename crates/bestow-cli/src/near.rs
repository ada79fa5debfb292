//! What somebody may have meant who typed something else.

use std::fmt;

use bestow::{AgentId, Escaped, Policy};

use crate::end::End;

/// How many names a message lists.
const MOST_LISTED: usize = 8;

/// Names longer than this are nobody's slip.
const LONGEST: usize = 64;

/// The one of `known` that a word may be a slip of.
pub(crate) fn close<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    if word.len() > LONGEST {
        return None;
    }
    let near = known.iter().map(|known| (strsim::damerau_levenshtein(&word.to_lowercase(), known), *known));
    near.min().filter(|(distance, known)| *distance <= known.len().div_ceil(3)).map(|(_, known)| known)
}

/// The way out for a word that is none of `known`.
pub(crate) fn meant(word: &str, known: &[&str]) -> String {
    if let Some(known) = close(word, known) {
        return format!("did you mean `{known}`?");
    }
    let more = known.len().saturating_sub(MOST_LISTED);
    let listed: Vec<_> = known.iter().take(MOST_LISTED).map(|known| format!("`{known}`")).collect();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("there is {}{more}", listed.join(", "))
}

/// Only agents of the file can be asked about.
pub(crate) fn known(agent: &AgentId, policy: &Policy, file: impl fmt::Display) -> Result<(), End> {
    if policy.agents.contains_key(agent) {
        return Ok(());
    }
    let all: Vec<_> = policy.agents.keys().map(AgentId::as_str).collect();
    let file = Escaped(&file.to_string()).to_string();
    Err(End::failed(format_args!("{file}: there is no agent `{agent}` in this file: {}", meant(agent.as_str(), &all))))
}

//! Runs: one for each agent, begun and ended by people.

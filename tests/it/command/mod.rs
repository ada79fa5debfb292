//! Shell commands and tool calls in three tiers.

mod cases;

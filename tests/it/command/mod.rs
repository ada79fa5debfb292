//! Shell commands and tool calls in three tiers.

mod additions;
mod cases;
mod differential;
mod documented;
mod lines;
mod properties;
mod shapes;
mod tools;
mod traps;

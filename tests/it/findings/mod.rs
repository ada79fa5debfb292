//! Attacks on the first version of the engine. Each of them worked once, and is now a test of its name.

mod allow_rules;
mod answers;
mod below;
#[cfg(feature = "cli")]
mod command_ends;
mod content;
mod decision;
mod facts;
mod floor;
mod forms;
mod models;
mod modes;
mod network;
mod person;
mod processes;
mod runs;
mod taking;
mod tools;
mod uses;
#[cfg(feature = "sandbox")]
mod uses_confined;

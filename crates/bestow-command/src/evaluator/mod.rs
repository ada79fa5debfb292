//! The evaluator: it answers what an invocation of a program does.
//!
//! It gives two separate answers: "destructive" is searched for, and "read-only" is proven. The programs themselves are
//! data: see [`programs`](crate::programs).

mod code_patterns;
mod container;
mod decision;
mod embedded;
mod evaluation;
mod find_traits;
mod hidden;
mod inline_code;
mod known;
mod leading;
mod program_use;
mod reader;
mod recording;
mod runners;
mod shell;
mod sql_client;
mod started;
mod traits;
mod wrappers;

pub(crate) use decision::Programs;
pub(crate) use evaluation::Evaluation;
pub(crate) use inline_code::runs_code;
pub(crate) use known::{is_known, runs_text};
pub(crate) use program_use::Use;
pub(crate) use shell::{is_input, is_shell};
pub(crate) use sql_client::statement;
pub(crate) use traits::Traits;
#[cfg(test)]
pub(crate) use wrappers::prefixes;

//! The interpreter: it follows a parsed text in the way a shell would run it, and collects the effects of every part.
//!
//! It takes every branch and enters every substitution. It keeps the state of the shell (variables, functions, the
//! directory) as far as the text determines it. It has no knowledge of programs: it asks an [`Evaluator`] what an
//! [`Invocation`](crate::invocation::Invocation) does.

mod arithmetic;
mod brace;
mod builtin;
mod command_lines;
mod control_flow;
mod dialect;
mod draft;
mod expand;
mod function;
mod generated_files;
mod id_output;
mod output;
mod parameter_expansion;
mod redirections;
mod round;
mod scope;
mod shared;
mod simple;
mod state;
mod text;
mod trap;
mod value;

pub(crate) use builtin::{declares_variables, unwrapped};
pub(crate) use dialect::Dialect;
pub(crate) use redirections::is_free;
#[cfg(test)]
pub(crate) use round::FOLLOWS_EACH;
pub(crate) use scope::{Positional, Scope};
pub(crate) use state::{Evaluator, Interpreter};
pub(crate) use trap::{is_evaluation_trap, is_plain_number, runs_in_arithmetic};
pub(crate) use value::Value;

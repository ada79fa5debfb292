#![doc = include_str!("../README.md")]
//!
//! # How it decides
//!
//! [`classify`] parses a command line as bash would and follows everything that may run. It asks two questions about
//! each part of this parse. Is the part proven to be read-only? Is it found to destroy something permanently? A part
//! for which both answers are no is dangerous, and so is everything that was not understood. The tier of the whole is
//! that of its strictest part.
//!
//! This crate neither runs programs nor reads the disk. It does not see scripts in files, aliases, links or the
//! configuration of a repository. It is a gate, not a sandbox. `docs/commands.md` lists the proofs and their limits.

#![forbid(unsafe_code)]

mod about;
mod addition;
mod addition_check;
mod addition_examples;
mod any_form;
mod beside;
mod budget;
mod builtins;
mod classification;
mod classifier;
mod critical_paths;
mod custom_form;
mod destroy;
mod evaluator;
mod few;
mod hash;
mod interpreter;
mod invocation;
mod lang;
mod line;
mod named_uses;
mod needs;
mod obeys;
mod options;
mod part;
mod parts;
mod place;
mod predicates;
mod programs;
#[cfg(test)]
mod property_cases;
mod rules;
mod safe;
mod shape;
mod span;
mod spelling;
mod surroundings;
mod syntax;
#[cfg(test)]
mod tests;
mod tier;
mod tool;
mod undo;
pub mod values;
mod variables;
mod verdict;
mod wildcard;
mod word;

pub use about::{ProgramFacts, ProgramForm, known_programs};
pub use addition::Additions;
pub use addition_check::{InvalidAddition, Row};
pub use classification::Classification;
pub use classifier::{Classifier, classify};
pub use part::Part;
pub use shape::{InvalidShape, Shape, ShapeWord};
pub use span::Span;
pub use tier::{InvalidProfile, InvalidTier, Profile, Tier};
pub use tool::{built_in_tools, classify_tool, is_session_tool, session_tools};
pub use values::{CommandRules, InvalidShell, Raise, SafeAddition, Shell, StrictJson};

/// Pieces that the engine of `bestow` uses. They are no part of the public interface, and change without notice.
#[doc(hidden)]
pub mod internal {
    pub use crate::{
        any_form::may_match,
        builtins::is_builtin,
        classification::Judged,
        named_uses::NamedUses,
        needs::{bare_hosts, hosts_in},
        programs::{SecretOption, secret_option, secret_words},
        spelling::{GIVEN, quoted},
        surroundings::Surroundings,
        tool::{
            Call, DECLARED, DeclaredCall, Followed, IN_SESSION, TYPED, ToolUse, UNLISTED, Undeclared, command_lines,
            declaration, destroying_word, is_certainly_a_path, is_known_command, read as read_call,
            read_as as read_call_as, with_nested_json,
        },
        undo::NO_ROLLBACK,
        values::shared::*,
        variables::steers_programs,
    };
}

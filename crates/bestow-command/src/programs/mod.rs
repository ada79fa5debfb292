//! All that is known about programs: the records of `programs/*.toml`, which the build script compiles into static
//! data.
//!
//! Nothing here decides anything. The records say which forms of a program only read, which destroy, which run another
//! program, and so on. `safe`, `destroy`, `needs`, `obeys`, `undo` and the evaluation of wrappers ask for them.

mod condition;
mod form;
mod operand_kind;
mod record;
mod subcommands;
mod table;

pub(crate) use condition::{Count, Test};
pub(crate) use form::has_form;
pub(crate) use operand_kind::OperandKind;
pub use record::SecretOption;
pub(crate) use record::{
    AllWords, Answer, Destroys, Here, HostOperands, Hosts, Online, Operands, Plain, Program, Reach, Reads, Role,
    Selects, Starts, Uses, When, Wraps,
};
pub(crate) use subcommands::{Firsts, Subcommands};
pub(crate) use table::{NAMED, all, at, find, find_by_start, known, place_of};

/// Returns the places of secrets among the words of a program: `add_user * §`.
pub fn secret_words(program: &str) -> &'static [&'static str] {
    find(program).map(|program| program.secret_words).unwrap_or_default()
}

/// Returns the short option of a program that takes a secret, if there is one.
pub fn secret_option(program: &str) -> Option<SecretOption> {
    find(program)?.secret_option
}

//! All that is known about programs: the records of `programs/*.toml`, which the build script compiles into static data.
//!
//! Nothing here decides anything. The records say which forms of a program only read, which destroy, which run another
//! program, and so on. `safe`, `destroy`, `needs`, `obeys`, `undo` and the evaluation of wrappers ask for them.

mod form;
mod hash;
mod record;
mod table;

pub(crate) use form::has_form;
pub(crate) use record::{
    AllWords, Count, Destroys, Files, HostOperands, Hosts, Online, Operands, Plain, Program, Reach, Reads, Role,
    SecretOption, Starts, Test, Uses, When, Wraps,
};
pub(crate) use table::{all, find, find_by_start};

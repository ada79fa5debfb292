//! The compiled records, and the lookup by name.

use std::borrow::Cow;

use super::{
    condition::{Count, Test},
    operand_kind::OperandKind,
    record::{
        AllWords, Destroys, Files, Here, HostOperands, Hosts, Online, Operands, Plain, Program, Reach, Reads, Role,
        SecretOption, Selects, Starts, Uses, When, Wraps,
    },
    subcommands::{Firsts, Subcommands},
};
use crate::{hash::hash, options::list, predicates, values::Obeyed};

include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// The number of names of programs.
pub(crate) const NAMED: usize = NAMES.len();

/// Returns what is known about the program with this name.
pub(crate) fn find(name: &str) -> Option<&'static Program> {
    named(place_of(name)?)
}

/// Returns what is known about the program whose name has this place.
fn named(place: usize) -> Option<&'static Program> {
    let (_, program) = NAMES.get(place)?;
    PROGRAMS.get(usize::from(*program))
}

/// Returns the place of a name among all names of programs.
pub(crate) fn place_of(name: &str) -> Option<usize> {
    let mut slot = hash(name.as_bytes());
    loop {
        let index = usize::from(*SLOTS.get(slot % SLOTS.len())?).checked_sub(1)?;
        let (known, _) = NAMES.get(index)?;
        if *known == name {
            return Some(index);
        }
        slot += 1;
    }
}

/// Returns what is known about the program with this name, even if that is nothing.
pub(crate) fn known(name: &str) -> &'static Program {
    at(place_of(name))
}

/// Returns what is known about the program whose name has this place, if it has one, even if that is nothing.
pub(crate) fn at(place: Option<usize>) -> &'static Program {
    place.and_then(named).unwrap_or(&UNKNOWN)
}

/// Returns what is known about programs whose names begin like this one, such as `mkfs.ext4`.
pub(crate) fn find_by_start(name: &str) -> impl Iterator<Item = &'static Program> {
    let begun = STARTS.iter().filter(move |(start, _)| name.starts_with(start));
    begun.filter_map(|(_, program)| PROGRAMS.get(usize::from(*program)))
}

/// Returns everything that is known.
pub(crate) fn all() -> impl Iterator<Item = &'static Program> {
    PROGRAMS.iter()
}

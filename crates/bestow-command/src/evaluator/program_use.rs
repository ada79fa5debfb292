//! A use of a program: its words, and what is known about them. The parts of an evaluation share it, so that each fact
//! is found once.

use std::cell::OnceCell;

use crate::{
    programs::{self, Program},
    safe::Proof,
    values::base_name,
    word::Word,
};

/// A use of a program.
#[derive(Debug)]
pub(crate) struct Use<'a> {
    /// The program and its words.
    pub(crate) args: &'a [Word],
    /// The last component of the program.
    pub(crate) name: &'a str,
    /// The words after the program.
    pub(crate) rest: &'a [Word],
    /// The place of this name among the names of programs, if it is one.
    pub(super) place: Option<usize>,
    /// The record of programs of this name.
    pub(crate) known: &'static Program,
    /// The proof that this use only reads, if it was searched for.
    pub(super) proof: OnceCell<Proof>,
}

impl<'a> Use<'a> {
    pub(crate) fn of(args: &'a [Word]) -> Self {
        let (name, rest) = match args.split_first() {
            Some((program, rest)) => (base_name(program.text()), rest),
            None => ("", args),
        };
        let place = programs::place_of(name);
        Use { args, name, rest, place, known: programs::at(place), proof: OnceCell::new() }
    }
}

//! A use of a program: its words, and what is known about them. The parts of an evaluation share it, so that each fact
//! is found once.

use std::cell::OnceCell;

use crate::{
    destroy::Words,
    evaluator::Traits,
    programs::{Program, Reads},
    safe::Proof,
    word::{Signs, Word},
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
    /// The record of programs of this name.
    pub(crate) known: &'static Program,
    pub(crate) traits: Traits,
    /// The signs in the program and its words.
    pub(crate) signs: Signs,
    /// True if the program and each of its words are exactly their texts.
    pub(crate) is_plain: bool,
    /// The proof that this use only reads, if it was searched for.
    pub(super) proof: OnceCell<Proof>,
    /// The form that the proof found, if it found one on a row.
    pub(crate) form: OnceCell<&'static Reads>,
    /// The words after the program as rules see them, if one was asked about them.
    pub(super) ruled: OnceCell<Words<'a>>,
}

impl<'a> Use<'a> {
    /// Returns the words after the program as rules see them.
    pub(crate) fn words(&self) -> &Words<'a> {
        self.ruled.get_or_init(|| Words::new(self.rest))
    }
}

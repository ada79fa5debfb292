//! The state of an evaluation.

use std::borrow::Cow;

use crate::{
    destroy,
    evaluator::{Traits, Use},
    interpreter::Interpreter,
    place::Place,
    rules::Rules,
    safe::{self, Proof},
    word::Word,
};

/// The evaluation of one invocation, with the shell that starts it.
#[derive(Debug)]
pub(crate) struct Evaluation<'s, 'c> {
    pub(crate) rules: &'s Rules,
    pub(crate) shell: &'s mut Interpreter<'c>,
}

impl<'c> Evaluation<'_, 'c> {
    /// Runs `work` one level deeper, unless the limit is reached.
    pub(super) fn deeper<T>(&mut self, work: impl FnOnce(&mut Evaluation<'_, 'c>) -> T) -> Option<T> {
        let rules = self.rules;
        self.shell.deeper(|shell| work(&mut Evaluation { rules, shell }))
    }

    /// Runs `work` without recording parts.
    pub(super) fn discard_parts<T>(&mut self, work: impl FnOnce(&mut Evaluation<'_, 'c>) -> T) -> T {
        let rules = self.rules;
        self.shell.discard_parts(|shell| work(&mut Evaluation { rules, shell }))
    }

    /// Evaluates a command that may not run at all.
    pub(super) fn speculate<T>(&mut self, work: impl FnOnce(&mut Evaluation<'_, 'c>) -> T) -> T {
        let rules = self.rules;
        self.shell.speculate(|shell| work(&mut Evaluation { rules, shell }))
    }

    /// Returns the proof that a use of a program only reads, which is searched for once.
    pub(super) fn proven<'p>(&self, usage: &'p Use<'_>) -> &'p Proof {
        usage.proof.get_or_init(|| safe::prove(usage, self.rules, &self.shell.scope.places))
    }

    /// Returns true if the records prove that a use of a program only reads.
    pub(crate) fn is_proven(&self, usage: &Use<'_>) -> bool {
        matches!(self.proven(usage), Proof::Reads(_))
    }

    /// Returns the reason why running `args` is destructive in one of its possible directories.
    pub(super) fn destroys(&self, args: &[Word]) -> Option<String> {
        self.destroys_as_written(args).or_else(|| self.destroys_as_printed(args))
    }

    /// Returns the reason why a use of a program is destructive by itself.
    pub(super) fn destroys_by_itself(&self, usage: &Use<'_>) -> Option<String> {
        let program = usage.args.first().filter(|_| usage.traits.has(Traits::DESTROYS) && !safe::only_asks(usage))?;
        self.damage_places().find_map(|place| {
            let found = destroy::find_with(program, usage.words(), &place);
            found.or_else(|| self.destroys_around(usage.args, &place))
        })
    }

    /// Returns the reason why these words are destructive.
    pub(super) fn destroys_as_written(&self, args: &[Word]) -> Option<String> {
        self.damage_places()
            .find_map(|place| destroy::find(args, &place).or_else(|| self.destroys_around(args, &place)))
    }

    /// Returns the directories in which a part of the line may destroy something.
    pub(super) fn damage_places(&self) -> impl Iterator<Item = Cow<'_, Place>> {
        self.rules.surroundings.places(&self.shell.scope.places)
    }

    /// Returns the reason why these words destroy a directory of the agent that they spell in another way than `.`.
    fn destroys_around(&self, args: &[Word], place: &Place) -> Option<String> {
        let surroundings = &*self.rules.surroundings;
        if surroundings.are_unknown() || !args.first().is_some_and(|program| destroy::names_program(program.text())) {
            return None;
        }
        destroy::find(&surroundings.shortened(args, place)?, &Place::Start)
    }

    /// Returns the reason why the words are destructive that the outputs of commands in `args` become.
    pub(super) fn destroys_as_printed(&self, args: &[Word]) -> Option<String> {
        let has_output = args.iter().any(|arg| arg.has_output() && arg.content().is_some());
        let printed = has_output.then(|| args.iter().flat_map(Word::printed_words).collect::<Vec<_>>())?;
        self.destroys_as_written(&printed)
    }
}

//! The proof of one row: the words of a command beside the words of a read-only form.

use std::borrow::Cow;

use super::{git_settings, sending};
use crate::{
    options::{Misfit, Options, Reading},
    parts::parts,
    place::{Place, Places},
    programs::{AllWords, Operands, Reach, Reads},
    tier::Profile,
    word::Word,
};

const NOT_WRITTEN: &str = "what is sent over the network is not written out";
const NOT_KNOWN: &str = "it may change, delete or run something in this form";

/// The limit of words that are searched for a subcommand. Each row searches for its own.
const MAX_BEFORE: usize = 64;

impl Reads {
    /// Checks that the row proves these words. An error without a reason means that the row describes another
    /// subcommand.
    pub(super) fn try_prove(&self, rest: &[Word], profile: Profile, places: &Places) -> Result<(), Option<Misfit>> {
        let words = rest;
        let rest = self.after_subcommand(words).ok_or(None)?;
        if self.lenient && profile == Profile::Strict {
            return Err(refusal("asked about by the strict profile"));
        }
        if profile == Profile::Strict && rest.iter().any(reads_secret) {
            return Err(refusal("reads something that is usually secret"));
        }
        if !sending::stays_or_is_written(words, self.reach) {
            return Err(refusal(NOT_WRITTEN));
        }
        if self.only_at_start && !places.iter().all(|place| *place == Place::Start) {
            return Err(refusal("it saves a file in another directory"));
        }
        match self.words {
            AllWords::Listed => {}
            AllWords::Any => return Ok(()),
            AllWords::If(question) => return question(rest).map_err(refusal),
        }
        let reading = Reading { flags: self.flags, stop_at_operand: self.stop_at_operand, inert: self.inert };
        if !self.asks_about_options() {
            return Options::check(rest, reading).map_err(Some);
        }
        let options = Options::read(rest, reading).map_err(Some)?;
        self.check_operands(&options).map_err(refusal)?;
        if self.reach == Reach::Web && !sending::fetches_what_is_written(&options) {
            return Err(refusal(NOT_WRITTEN));
        }
        if !self.tests.iter().all(|test| test.holds(&options)) {
            return Err(refusal(self.otherwise.unwrap_or(NOT_KNOWN)));
        }
        self.code.map_or(Ok(()), |question| question(&options)).map_err(refusal)
    }

    /// Returns false for a row that accepts every command line with listed options.
    fn asks_about_options(&self) -> bool {
        self.operands != Operands::Any || self.reach == Reach::Web || !self.tests.is_empty() || self.code.is_some()
    }

    fn check_operands(&self, options: &Options<'_>) -> Result<(), &'static str> {
        let count = options.operands.len();
        let splits = options.operands.iter().any(|operand| operand.may_split() || operand.is_pattern());
        let fits = match self.operands {
            Operands::Any => true,
            Operands::None => count == 0,
            Operands::AtMost(most) => count <= most && !splits,
            Operands::With(flags) => count == 0 || options.has(flags),
        };
        if fits { Ok(()) } else { Err("it may change or run its operands in this form") }
    }

    /// Returns the words after the subcommand, if the words contain the subcommand of this row.
    pub(crate) fn after_subcommand<'a>(&self, rest: &'a [Word]) -> Option<&'a [Word]> {
        if self.subcommands.is_empty() {
            return Some(rest);
        }
        let words = self.after_globals(rest)?;
        let first = words.first()?.text();
        let mut subcommands = self.subcommands.iter().filter(|subcommand| subcommand.starts_with(first));
        subcommands.find_map(|subcommand| self.after_words(words, subcommand))
    }

    /// Returns the words after `subcommand`, which they begin with. Global options may precede each of its other words.
    pub(super) fn after_words<'a>(&self, words: &'a [Word], subcommand: &str) -> Option<&'a [Word]> {
        let mut wanted = parts(subcommand, b' ');
        let mut behind = after_word(words, wanted.next()?)?;
        for wanted in wanted {
            behind = after_word(self.after_globals(behind)?, wanted)?;
        }
        Some(behind)
    }

    /// Returns the words after global options at their beginning.
    pub(super) fn after_globals<'a>(&self, words: &'a [Word]) -> Option<&'a [Word]> {
        if self.globals.is_empty() || !words.first().is_some_and(|word| word.text().starts_with('-')) {
            return Some(words);
        }
        let reading = Reading { flags: self.globals, stop_at_operand: true, inert: true };
        let options = Options::read(words.get(..MAX_BEFORE).unwrap_or(words), reading).ok()?;
        if !options.given.iter().all(git_settings::is_harmless_global) {
            return None;
        }
        words.get(options.first_operand?..)
    }
}

/// Returns a reason that is no misfit of an option.
fn refusal(why: impl Into<Cow<'static, str>>) -> Option<Misfit> {
    Some(Misfit::Refused(why.into()))
}

/// Returns the words after the first one, if it is this word.
fn after_word<'a>(words: &'a [Word], wanted: &str) -> Option<&'a [Word]> {
    let (word, behind) = words.split_first()?;
    (word.is_written() && word.text() == wanted).then_some(behind)
}

/// Returns true for a file that usually holds secrets, by its name.
fn reads_secret(word: &Word) -> bool {
    crate::tool::is_sensitive(word.text())
}

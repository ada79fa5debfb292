//! The search for a destructive effect.
//!
//! A row requires as little as it needs. Program names are compared by their last component. Options match in any
//! order, joined or abbreviated. Subcommands match after global options that are on no list. In doubt, a row should
//! match.

mod kind;
mod words;

use std::borrow::Cow;

use crate::{
    place::Place,
    programs::{self, Destroys, Program},
    values::{Escaped, base_name, behind_last},
    word::Word,
};
pub(crate) use words::Words;

impl Destroys {
    fn fits(&self, words: &Words<'_>, place: &Place) -> bool {
        if self.subcommands.is_empty() {
            return self.when.iter().all(|when| words.satisfy(*when, place, 0));
        }
        words.may_name(self.subcommands)
            && self.subcommands.iter().any(|subcommand| {
                let end = words.after_subcommand(subcommand);
                end.is_some_and(|end| self.when.iter().all(|when| words.satisfy(*when, place, end)))
            })
    }
}

/// Returns the programs of this name that some rule names.
fn ruled(name: &str) -> impl Iterator<Item = &'static Program> {
    let all = programs::find(name).into_iter().chain(programs::find_by_start(name));
    all.filter(|program| !program.destroys.is_empty())
}

/// Returns true if some rule names the program.
pub(crate) fn knows(name: &str) -> bool {
    ruled(name).next().is_some()
}

/// Returns true if some rule is about the program with this name, in any spelling.
pub(crate) fn names_program(name: &str) -> bool {
    knows(&program_name(name))
}

/// Returns the reason why running `args` is destructive, if a rule matches.
pub(crate) fn find(args: &[Word], place: &Place) -> Option<String> {
    let (program, rest) = args.split_first()?;
    find_with(program, &Words::new(rest), place)
}

/// Returns the reason why running `program` with these words is destructive, if a rule matches.
pub(crate) fn find_with(program: &Word, words: &Words<'_>, place: &Place) -> Option<String> {
    let name = program_name(program.text());
    let programs = ruled(&name);
    let mut rules = programs.filter(|program| words.may_begin(program.destroyers)).flat_map(|program| program.destroys);
    let rule = rules.find(|rule| rule.fits(words, place))?;
    Some(["`", &Escaped(&name).text(), "` ", rule.why].concat())
}

/// Returns the last component of a program name, without `.exe`, without the version of a package (`name@1.2`), and in
/// lower case where a rule knows that spelling.
fn program_name(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-') {
        return text.into();
    }
    let name = base_name(text);
    let name = behind_last(name, b'\\');
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let name = name.split_once('@').map_or(name, |(package, _)| package);
    let is_listed = |name: &str| programs::find(name).is_some_and(|program| !program.destroys.is_empty());
    if !name.bytes().any(|byte| byte.is_ascii_uppercase()) || is_listed(name) {
        return name.into();
    }
    // On a case-insensitive disk, `RM` is `rm`.
    let lower = name.to_ascii_lowercase();
    if is_listed(&lower) { lower.into() } else { name.into() }
}

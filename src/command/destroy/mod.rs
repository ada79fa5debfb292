//! What cannot be undone: a table of programs, subcommands, options and operands.
//!
//! A rule looks for as little as it needs. Names are taken by their last component, options in any order, joined or
//! abbreviated, subcommands behind global options nobody listed: here a mistake in favour of a match is the right one.

mod cloud;
mod containers;
mod databases;
mod disks;
mod files;
mod projects;
mod repositories;
mod services;
mod system;
pub(in crate::command) mod target;
mod words;

use std::{borrow::Cow, sync::LazyLock};

use foldhash::HashMap;

use super::{
    judge::basename,
    walk::{Arg, Place},
};
pub(in crate::command) use words::{Words, occurs};

/// A question about one operand.
type Question = fn(&str, &Place) -> bool;

/// What must be true of the words besides program and subcommand.
#[derive(Clone, Copy, Debug)]
enum When {
    /// One of these options, separated by blanks.
    Flag(&'static str),
    /// None of these options.
    NoFlag(&'static str),
    /// Some operand for which the question is answered yes.
    Operand(Question),
    /// Some operand that is one of these, `*` at the end standing for anything.
    Named(&'static str),
    /// Some word, option or not, with one of these texts in it.
    Text(&'static str),
    /// Some word that is exactly this, and not the first.
    Later(&'static str),
    /// The words behind the program, all together.
    Line(fn(&[Arg], &Place) -> bool),
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(in crate::command) struct Rule {
    /// Names, separated by blanks; `*` at the end stands for anything.
    programs: &'static str,
    /// The words of the subcommand; alternatives are separated by `|`.
    subcommand: &'static str,
    when: &'static [When],
    why: &'static str,
    /// Commands that it finds.
    pub(in crate::command) matches: &'static [&'static str],
    /// Commands that look like it and are not destructive.
    pub(in crate::command) not_matches: &'static [&'static str],
}

const fn rule(programs: &'static str, why: &'static str) -> Rule {
    Rule { programs, subcommand: "", when: &[], why, matches: &[], not_matches: &[] }
}

impl Rule {
    const fn sub(mut self, subcommand: &'static str) -> Self {
        self.subcommand = subcommand;
        self
    }

    const fn when(mut self, when: &'static [When]) -> Self {
        self.when = when;
        self
    }

    const fn examples(mut self, matches: &'static [&'static str], not_matches: &'static [&'static str]) -> Self {
        self.matches = matches;
        self.not_matches = not_matches;
        self
    }

    fn fits(&self, words: &Words<'_>, place: &Place) -> bool {
        if self.subcommand.is_empty() {
            return self.when.iter().all(|when| words.satisfy(*when, place, 0));
        }
        words.may_name(self.subcommand)
            && self.subcommand.split('|').any(|subcommand| {
                let end = words.after_subcommand(subcommand);
                end.is_some_and(|end| self.when.iter().all(|when| words.satisfy(*when, place, end)))
            })
    }
}

/// All rows, by the families they belong to.
pub(in crate::command) const TABLES: &[&[Rule]] = &[
    files::RULES,
    disks::RULES,
    system::RULES,
    repositories::RULES,
    projects::RULES,
    containers::RULES,
    cloud::RULES,
    databases::RULES,
    services::RULES,
];

#[derive(Debug, Default)]
struct Index {
    exact: HashMap<&'static str, Vec<&'static Rule>>,
    /// Rules for names that only begin so.
    starts: Vec<(&'static str, &'static Rule)>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index::default();
    for rule in TABLES.iter().copied().flatten() {
        for program in rule.programs.split(' ') {
            match program.strip_suffix('*') {
                Some(start) => index.starts.push((start, rule)),
                None => index.exact.entry(program).or_default().push(rule),
            }
        }
    }
    index
});

fn rules_for(name: &str) -> impl Iterator<Item = &'static Rule> {
    let exact = INDEX.exact.get(name).into_iter().flatten().copied();
    exact.chain(INDEX.starts.iter().filter(move |(start, _)| name.starts_with(start)).map(|(_, rule)| *rule))
}

/// Whether any rule speaks of a program.
pub(in crate::command) fn knows(name: &str) -> bool {
    rules_for(name).next().is_some()
}

/// Why running `args` destroys something, if a rule says so.
pub(in crate::command) fn find(args: &[Arg], place: &Place) -> Option<String> {
    let (program, rest) = args.split_first()?;
    let name = program_name(&program.text);
    let mut rules = rules_for(&name).peekable();
    rules.peek()?;
    let words = Words::new(rest);
    rules.find(|rule| rule.fits(&words, place)).map(|rule| format!("`{}` {}", crate::Shown(&name), rule.why))
}

/// The last component of a name, without the ending and the case that Windows does not mind.
fn program_name(text: &str) -> Cow<'_, str> {
    let name = basename(text);
    let name = name.rsplit('\\').next().unwrap_or(name);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    if !name.bytes().any(|byte| byte.is_ascii_uppercase()) || INDEX.exact.contains_key(name) {
        return name.into();
    }
    // Where the disk does not mind, `RM` is `rm`.
    let lower = name.to_ascii_lowercase();
    if INDEX.exact.contains_key(lower.as_str()) { lower.into() } else { name.into() }
}

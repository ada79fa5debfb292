//! The table of destructive commands: rows of programs, subcommands, options and operands.
//!
//! A row requires as little as it needs. Program names are compared by their last component. Options match in any
//! order, joined or abbreviated. Subcommands match after global options that are on no list. In doubt, a row should
//! match.

mod cloud;
mod containers;
mod databases;
mod disks;
mod files;
mod projects;
mod repositories;
mod services;
mod system;
pub(crate) mod target;
mod words;

use std::{borrow::Cow, sync::LazyLock};

use foldhash::HashMap;

use super::{judge::basename, place::Place, word::Word};
pub(crate) use words::{Words, occurs};

/// A predicate on one operand.
type Question = fn(&str, &Place) -> bool;

/// A condition on the words after the program and its subcommand.
#[derive(Clone, Copy, Debug)]
enum When {
    /// At least one of these options, separated by blanks.
    Flag(&'static str),
    /// An absence of all these options, separated by blanks.
    NoFlag(&'static str),
    /// At least one operand that satisfies the predicate.
    Operand(Question),
    /// At least one operand that is one of these words. A `*` at the beginning or the end stands for any text.
    Named(&'static str),
    /// At least one word, option or operand, that contains one of these texts.
    Text(&'static str),
    /// A word after the first one that equals this text.
    Later(&'static str),
    /// A predicate on all words after the program.
    Line(fn(&[Word], &Place) -> bool),
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    /// The program names, separated by blanks. A `*` at the end stands for any text.
    programs: &'static str,
    /// The words of the subcommand. Alternatives are separated by `|`.
    subcommand: &'static str,
    when: &'static [When],
    why: &'static str,
    /// Example commands that the row matches.
    pub(crate) matches: &'static [&'static str],
    /// Example commands that look similar but are not destructive.
    pub(crate) not_matches: &'static [&'static str],
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

/// All rows, grouped by families.
pub(crate) const TABLES: &[&[Rule]] = &[
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
    /// Rules whose program name is a prefix.
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

/// Returns true if some rule names the program.
pub(crate) fn knows(name: &str) -> bool {
    rules_for(name).next().is_some()
}

/// Returns the reason why running `args` is destructive, if a rule matches.
pub(crate) fn find(args: &[Word], place: &Place) -> Option<String> {
    let (program, rest) = args.split_first()?;
    let name = program_name(program.text());
    let mut rules = rules_for(&name).peekable();
    rules.peek()?;
    let words = Words::new(rest);
    rules.find(|rule| rule.fits(&words, place)).map(|rule| format!("`{}` {}", crate::values::Escaped(&name), rule.why))
}

/// Returns the last component of a program name, without `.exe` and in lower case where a rule knows that spelling.
fn program_name(text: &str) -> Cow<'_, str> {
    let name = basename(text);
    let name = name.rsplit('\\').next().unwrap_or(name);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    if !name.bytes().any(|byte| byte.is_ascii_uppercase()) || INDEX.exact.contains_key(name) {
        return name.into();
    }
    // On a case-insensitive disk, `RM` is `rm`.
    let lower = name.to_ascii_lowercase();
    if INDEX.exact.contains_key(lower.as_str()) { lower.into() } else { name.into() }
}

//! `[commands]`: the profile that separates safe from dangerous commands, and custom rules, which are checked against
//! their examples.

use toml::de::DeTable;

use super::{
    Baseline, Problem,
    diagnostics::Diagnostics,
    table::{At, Table},
};
use crate::{
    command::{Additions, InvalidAddition, Row},
    model::{CommandProfile, CommandRules, Raise, SafeAddition, Tier},
};

const PROFILES: [(&str, CommandProfile); 2] =
    [("default", CommandProfile::Default), ("strict", CommandProfile::Strict)];
const TIERS: [(&str, Tier); 2] = [("dangerous", Tier::Dangerous), ("destructive", Tier::Destructive)];

/// The lists of one row, and the position of each of their texts.
struct Written<T> {
    row: T,
    offset: usize,
    texts: Vec<(String, usize)>,
}

/// Reads the rules of the file. An invalid rule makes the whole file invalid.
pub(super) fn read(root: &mut Table<'_>, known: &mut Baseline, found: &mut Diagnostics<'_>) -> CommandRules {
    let entries = root.table("commands", found);
    still_written(entries, known, found);
    let Some(entries) = entries else { return CommandRules::default() };
    let mut table = Table::new("`[commands]`", entries);
    let profile = table.word("profile", &PROFILES, found).unwrap_or_default();
    let safe = table.tables("safe", found).into_iter().filter_map(|row| safe(row, found)).collect::<Vec<_>>();
    let raises = table.tables("raise", found).into_iter().filter_map(|row| raise(row, found)).collect::<Vec<_>>();
    table.finish(found);
    let rules = CommandRules {
        profile,
        safe: safe.iter().map(|written| written.row.clone()).collect(),
        raises: raises.iter().map(|written| written.row.clone()).collect(),
    };
    for (row, why) in Additions::check(&rules) {
        let offset = match row {
            Row::Safe(index) => safe.get(index).map(|written| written.place_of(&why)),
            Row::Raise(index) => raises.get(index).map(|written| written.place_of(&why)),
        };
        found.add(offset.unwrap_or_default(), problem(&why));
    }
    rules
}

/// Reports a stricter profile or a raised tier that is gone, because a truncated file must not remove them.
fn still_written(entries: Option<&DeTable<'_>>, known: &mut Baseline, found: &mut Diagnostics<'_>) {
    let written = |key| entries.is_some_and(|entries| entries.contains_key(key));
    for (key, way_out) in [("profile", "`profile = \"default\"`"), ("raise", "`raise = []`")] {
        let name = format!("commands.{key}");
        if written(key) {
            known.settings.insert(name);
        } else if known.settings.contains(&name) {
            let gone = format!(
                "`{key}` is missing from `[commands]`, and the previous version had it; the file may \
                be incomplete"
            );
            found.add_general(Problem::new(gone).help(format!("if the removal is intended, write {way_out} there")));
        }
    }
}

fn safe((offset, entries): (usize, &DeTable<'_>), found: &mut Diagnostics<'_>) -> Option<Written<SafeAddition>> {
    let mut table = Table::new("`[[commands.safe]]`", entries);
    let mut texts = Vec::new();
    let program = program(&mut table, offset, &mut texts, found);
    let row = SafeAddition {
        subcommand: list(&mut table, "subcommand", &mut texts, found),
        subcommands: list(&mut table, "subcommands", &mut texts, found),
        flags: list(&mut table, "flags", &mut texts, found),
        operands: table.flag("operands", found).unwrap_or_default(),
        requires: list(&mut table, "requires", &mut texts, found),
        refuses: list(&mut table, "refuses", &mut texts, found),
        first_operand: list(&mut table, "first_operand", &mut texts, found),
        operand_is: list(&mut table, "operand_is", &mut texts, found),
        operand_not: list(&mut table, "operand_not", &mut texts, found),
        value_not: list(&mut table, "value_not", &mut texts, found),
        written_out: table.flag("written_out", found).unwrap_or_default(),
        matches: list(&mut table, "match", &mut texts, found),
        not_matches: list(&mut table, "not_match", &mut texts, found),
        program: program.clone().unwrap_or_default(),
    };
    table.finish(found);
    program.map(|_| Written { row, offset, texts })
}

fn raise((offset, entries): (usize, &DeTable<'_>), found: &mut Diagnostics<'_>) -> Option<Written<Raise>> {
    let mut table = Table::new("`[[commands.raise]]`", entries);
    let mut texts = Vec::new();
    let program = program(&mut table, offset, &mut texts, found);
    let tier = table.word("tier", &TIERS, found);
    if !table.has("tier") {
        found.add(offset, Problem::new("`tier` is missing in `[[commands.raise]]`"));
    }
    let words = list(&mut table, "words", &mut texts, found);
    let matches = list(&mut table, "match", &mut texts, found);
    let not_matches = list(&mut table, "not_match", &mut texts, found);
    table.finish(found);
    let (program, tier) = (program?, tier?);
    Some(Written { row: Raise { program, words, tier, matches, not_matches }, offset, texts })
}

fn program(
    table: &mut Table<'_>,
    offset: usize,
    texts: &mut Vec<(String, usize)>,
    found: &mut Diagnostics<'_>,
) -> Option<String> {
    if !table.has("program") {
        found.add(offset, Problem::new("`program` is missing: name the program of the rule"));
    }
    let At { place: offset, value } = table.text("program", found)?;
    texts.push((value.to_owned(), offset));
    Some(value.to_owned())
}

fn list(
    table: &mut Table<'_>,
    key: &'static str,
    texts: &mut Vec<(String, usize)>,
    found: &mut Diagnostics<'_>,
) -> Vec<String> {
    let list = table.texts(key, found);
    texts.extend(list.iter().map(|at| (at.value.to_owned(), at.place)));
    list.into_iter().map(|at| at.value.to_owned()).collect()
}

impl<T> Written<T> {
    /// Returns the position of the invalid word, or of the row if no word is invalid.
    fn place_of(&self, why: &InvalidAddition) -> usize {
        let word = match why {
            InvalidAddition::Word(_, word)
            | InvalidAddition::Example { example: word, .. }
            | InvalidAddition::ProvesNothing { example: word, .. } => Some(word),
            InvalidAddition::Program(name) | InvalidAddition::RunsOthers(name) => Some(name),
            InvalidAddition::NoExample(_) | InvalidAddition::NotRaised(_) | InvalidAddition::TooMany(_) => None,
        };
        let place = word.and_then(|word| self.texts.iter().rev().find(|(text, _)| text == word));
        place.map_or(self.offset, |(_, offset)| *offset)
    }
}

fn problem(why: &InvalidAddition) -> Problem {
    let problem = Problem::new(why.to_string());
    match why {
        InvalidAddition::Program(_) => problem.help("write the name alone, without its directory and its arguments"),
        InvalidAddition::Word(..) => problem.help("an option is `-a`, `--all`, `-n:` with a value, or `--color?`"),
        InvalidAddition::NoExample(_) => {
            problem.help("write one command that the rule matches, and a similar one that it does not match")
        }
        InvalidAddition::Example { matches: true, tier: Tier::Destructive, .. } => {
            problem.help("a destructive command stays destructive: no rule changes that")
        }
        InvalidAddition::Example { matches: true, .. } => problem.help("the rule does not have the intended effect"),
        InvalidAddition::Example { matches: false, .. } => problem.help("the rule has more effect than intended"),
        InvalidAddition::ProvesNothing { .. } => {
            problem.help("write a command that only this rule decides, or remove the rule")
        }
        InvalidAddition::RunsOthers(_) | InvalidAddition::NotRaised(_) | InvalidAddition::TooMany(_) => problem,
    }
}

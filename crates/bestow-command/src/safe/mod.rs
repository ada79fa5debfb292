//! The search for a proof that a command only reads.
//!
//! A command is safe if a row of the records lists its program, its subcommand and every one of its options. The tests
//! of the row must also accept the operands. There is no default row: a command that no row describes is not safe.

mod git_settings;
mod help;
mod online;
mod proof;
mod row;
mod secrets;
mod sending;

pub(super) use online::{asks_network, has_subcommands, may_ask_network, stays_here};
pub(crate) use proof::Proof;

use std::borrow::Cow;

use crate::{
    destroy::Words,
    evaluator::Use,
    options::{self, List, Misfit},
    place::Places,
    programs::{self, AllWords, Firsts, Program, Reads},
    rules::Rules,
    tier::Profile,
    values::base_name,
    word::Word,
};

/// The reason why the row that fits best proves nothing.
enum Doubt {
    Name,
    Words(Misfit),
}

/// Directories with trusted programs.
const TRUSTED: &[&str] = &["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/sbin", "/usr/sbin"];

/// Returns the name that is looked up for a program. The program must be a bare name or lie in a system directory.
pub(crate) fn trusted_name(program: &str) -> Option<&str> {
    let name = base_name(program);
    let Some(directory) = program.len().checked_sub(name.len() + 1) else { return Some(program) };
    program.get(..directory).is_some_and(|directory| TRUSTED.contains(&directory)).then_some(name)
}

/// Returns true for a program with a read-only form, or one that is known to change data.
pub(crate) fn knows(name: &str) -> bool {
    let known = programs::known(name);
    !known.reads.is_empty() || known.changes
}

/// Returns those of the read-only forms of a program that may describe these words. Most rows describe another
/// subcommand. Behind options, any word may be the subcommand.
fn rows_about(rows: &'static [&'static Reads], begun: Firsts) -> impl Iterator<Item = &'static Reads> {
    let describes = move |row: &&Reads| row.subcommands.is_empty() || row.subcommands.may_begin_with(begun);
    rows.iter().copied().filter(describes)
}

/// Returns the words that may begin the read-only forms of a program. `words` returns all words as rules see them.
fn beginnings<'u, 'w: 'u>(known: &Program, rest: &[Word], words: impl FnOnce() -> &'u Words<'w>) -> Firsts {
    match rest {
        _ if !known.has_beginnings => Firsts::NONE,
        [first, ..] if first.text().starts_with('-') => {
            rest.iter().map(|word| Firsts::of(word.text().as_bytes())).fold(Firsts::NONE, Firsts::or)
        }
        _ => words().firsts(),
    }
}

/// Returns the options of rows without a predicate, for a program with the words `before` after it. None of these
/// options can do harm, with any value and in any combination.
pub(crate) fn harmless_flags<'n>(name: &str, before: &'n [&'n str]) -> impl Iterator<Item = List<'static>> + 'n {
    let asks_nothing = |row: &Reads| {
        let listed = matches!(row.words, AllWords::Listed) && row.tests.is_empty() && row.code.is_none();
        listed && !row.only_at_start && !row.lenient
    };
    let rows = programs::known(name).reads.iter().filter(move |row| asks_nothing(row));
    let follows = |row: &&&Reads| row.subcommands.iter().any(|words| options::before_has(before, words));
    rows.filter(follows).map(|row| row.flags)
}

/// Searches for a proof that a use of a program is read-only.
pub(crate) fn prove(usage: &Use<'_>, rules: &Rules, places: &Places) -> Proof {
    let (known, rest) = (usage.known, usage.rest);
    let Some(program) = usage.args.first() else { return Proof::Unknown };
    let Some(name) = trusted_name(program.text()) else { return Proof::Unknown };
    if let Some(rule) = rules.additions.proves(name, rest) {
        return Proof::Reads(rule.into());
    }
    if known.loads_first {
        return Proof::Unproven(format!("`{name}` runs code of its directory before it reads its options"));
    }
    if let Some(rule) = answers(name, known, program, rest) {
        return Proof::Reads(rule.into());
    }
    if known.reads.is_empty() {
        return if known.changes { Proof::Unproven(not_only_reading(name)) } else { Proof::Unknown };
    }
    if rules.profile == Profile::Strict && secrets::prints(known, rest) {
        return Proof::Unproven(format!("`{name}`: prints what is usually secret"));
    }
    let mut doubt = None;
    for row in rows_about(known.reads, beginnings(known, rest, || usage.words())) {
        match row.try_prove(rest, rules.profile, places) {
            Ok(()) if program.is_written() => {
                usage.form.get_or_init(|| row);
                return Proof::Reads(only_reads(name, known));
            }
            Ok(()) => doubt = Some(Doubt::Name),
            Err(None) => {}
            Err(Some(why)) => doubt = Some(Doubt::Words(why)),
        }
    }
    Proof::Unproven(match doubt {
        Some(Doubt::Name) => "the name of the program is not written out".into(),
        Some(Doubt::Words(why)) => ["`", name, "`: ", &why.describe()].concat(),
        None => not_only_reading(name),
    })
}

/// Returns true if a use of a program only asks for its version or its help.
pub(crate) fn only_asks(usage: &Use<'_>) -> bool {
    let Some(program) = usage.args.first().filter(|_| !usage.known.loads_first) else { return false };
    trusted_name(program.text()).is_some_and(|name| answers(name, usage.known, program, usage.rest).is_some())
}

/// Returns the rule that a program only prints its version or its help.
fn answers(name: &str, known: &Program, program: &Word, rest: &[Word]) -> Option<String> {
    // The question is the last word.
    let question = rest.last().filter(|word| word.text().starts_with('-') && program.is_written())?;
    let is_asked = || {
        let answers = match question.text() {
            "--help" | "--version" => known.says || !known.reads.is_empty(),
            "-version" => known.says && known.one_dash,
            "-h" => known.short_help,
            _ => false,
        };
        answers && question.is_written()
    };
    match rest {
        [_] if is_asked() => Some(format!("`{name}` only says what it is")),
        _ if help::asks(known, rest) => Some(format!("`{name}` only explains a subcommand")),
        _ => None,
    }
}

fn only_reads(name: &str, known: &Program) -> Cow<'static, str> {
    if known.names.first() == Some(&name) {
        Cow::Borrowed(known.only_reads)
    } else {
        Cow::Owned(about(name, "` only reads in this form"))
    }
}

fn not_only_reading(name: &str) -> String {
    about(name, "` may change, delete or run something in this form")
}

/// Returns a rule about a program. `what` begins with the sign behind the name.
fn about(name: &str, what: &str) -> String {
    let mut rule = String::with_capacity(1 + name.len() + what.len());
    rule.push('`');
    rule += name;
    rule += what;
    rule
}

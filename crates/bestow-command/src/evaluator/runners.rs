//! Programs that run a command from their words in some of their uses.

use crate::{
    invocation::said,
    needs,
    parts::parts,
    programs::{self, Program, Subcommands},
    values::Said,
    word::Word,
};

/// Subcommands that run the command behind them, in programs of all kinds.
const LAUNCHERS: &[&str] = &[
    "cmd", "command", "debug", "dlx", "do", "enter", "exec", "execute", "forall", "foreach", "rsh", "run", "sh",
    "shell", "ssh", "with", "x",
];

/// Subcommands with names of packages, services or other things behind them, in programs of all kinds.
const NAMING: &[&str] = &[
    "add",
    "create",
    "delete",
    "describe",
    "disable",
    "enable",
    "get",
    "info",
    "inspect",
    "install",
    "i",
    "link",
    "list",
    "ls",
    "pin",
    "reinstall",
    "reload",
    "remove",
    "require",
    "restart",
    "rm",
    "search",
    "set",
    "show",
    "start",
    "status",
    "stop",
    "uninstall",
    "unlink",
    "unpin",
    "update",
    "upgrade",
    "use",
    "view",
    "why",
];

/// Returns the subcommands that may run a command from their words. An empty text stands for every use.
fn subcommands(name: &str) -> &'static [&'static str] {
    programs::find(name).map(|program| program.may_start).unwrap_or_default()
}

/// Returns true if the words make this program run a command.
pub(super) fn is_runner(known: &Program, rest: &[Word]) -> bool {
    known.may_start.iter().any(|sub| sub.is_empty() || rest.iter().any(|arg| arg.text() == *sub))
}

/// Returns true if a program has some use that runs a command from its words.
pub(crate) fn has_runner(name: &str) -> bool {
    !subcommands(name).is_empty()
}

/// Returns the programs that have some use that runs a command from their words.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    programs::all().filter(|program| !program.may_start.is_empty()).flat_map(|program| program.names.iter().copied())
}

/// Returns true if the words name a use of a runner that runs a command. `make` is not included.
pub(super) fn is_runner_of(name: &str, rest: &[String]) -> bool {
    name != "make" && subcommands(name).iter().any(|sub| sub.is_empty() || rest.iter().any(|word| word == sub))
}

/// Returns the words of `ssh` without the host, if the host is a single word after `--`. There, a host cannot be an
/// option that runs a command.
pub(super) fn without_host(name: &str, rest: &[Word]) -> Option<Vec<Word>> {
    if name != "ssh" {
        return None;
    }
    let end = rest.iter().position(|arg| arg.is_written() && arg.text() == "--")?;
    let (before, behind) = rest.split_at_checked(end)?;
    let [_, host, there @ ..] = behind else { return None };
    matches!(said(host).as_slice(), [Said::One(_)]).then(|| before.iter().chain(there).cloned().collect())
}

/// Returns the words that may be a command, for a known program in a form that is not proven to only read. There are
/// none if the record says what the words are: files, texts, names or subcommands. Behind a subcommand that runs a
/// command in other programs, all words are followed. Elsewhere, an unknown word ends them.
pub(super) fn launched<'w>(known: &'static Program, rest: &'w [Word]) -> &'w [Word] {
    let operand = |(_, word): &(usize, &Word)| !word.text().starts_with('-');
    let mut operands = rest.iter().enumerate().filter(operand);
    let Some(first) = operands.next() else { return &[] };
    let second = operands.next();
    let may_be_value =
        |at: usize| at.checked_sub(1).and_then(|at| rest.get(at)).is_some_and(|word| word.text().starts_with('-'));
    // A single letter is a common value of an option.
    let launches =
        |(at, word): (usize, &Word)| LAUNCHERS.contains(&word.text()) && (word.text().len() > 1 || !may_be_value(at));
    let names = |(_, word): (usize, &Word)| NAMING.contains(&word.text());
    let behind = |(at, _): (usize, &Word)| rest.get(at + 1..).unwrap_or_default();
    if launches(first) {
        return behind(first);
    }
    if names(first) {
        return &[];
    }
    if let Some(second) = second.filter(|second| launches(*second)) {
        return behind(second);
    }
    if says_what_words_are(known) || second.is_some_and(names) {
        return &[];
    }
    let labels = needs::labels_of(known, rest);
    let is_named = |at: usize, word: &Word| at == first.0 && is_subcommand(known, word.text());
    let begins = |(at, word): &(usize, &Word)| !is_named(*at, word) && !labels.as_slice().contains(at);
    let start = rest.iter().enumerate().filter(operand).find(begins).map_or(rest.len(), |(at, _)| at);
    let words = rest.get(start..).unwrap_or_default();
    let end = words.iter().position(|word| !word.is_written()).unwrap_or(words.len());
    words.get(..end).unwrap_or_default()
}

/// Returns true if the record of a program says what its words are, or which of its uses run them.
fn says_what_words_are(known: &Program) -> bool {
    let has_role = known.files.is_some_and(|files| files.role.is_some());
    has_role || known.changes || known.only_says || known.opens_nothing || !known.may_start.is_empty()
}

/// Returns true if the record mentions a subcommand that begins with this word.
fn is_subcommand(known: &Program, word: &str) -> bool {
    let begins = |subcommands: Subcommands| subcommands.iter().any(|one| parts(one, b' ').next() == Some(word));
    known.reads.iter().any(|row| begins(row.subcommands))
        || known.destroys.iter().any(|row| begins(row.subcommands))
        || known.plain.iter().any(|form| begins(form.subcommands))
        || [known.help, known.help_groups].iter().any(|list| parts(list, b' ').any(|one| one == word))
        || known.labels.iter().any(|form| parts(form, b' ').next() == Some(word))
}

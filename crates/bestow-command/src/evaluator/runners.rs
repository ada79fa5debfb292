//! Programs that run a command from their words in some of their uses.

use crate::{
    invocation::said,
    programs::{self, Program},
    values::Said,
    word::Word,
};

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

//! Programs that need the network, in addition to the uses that the safe list describes.

use crate::{
    destroy::Words,
    needs::network::hosts,
    programs::{self, Program, Subcommands, Uses},
    safe,
    word::Word,
};

/// Returns the listed name of a program, without a version, the name of a variant, or a file extension, and what is
/// known about it. `known` is what is known about the name itself.
pub(super) fn plain_name<'n>(name: &'n str, known: &'static Program) -> (&'n str, &'static Program) {
    if may_need(known) || !name.bytes().any(|byte| byte.is_ascii_digit() || byte == b'.') {
        return (name, known);
    }
    let endings = [".exe", ".cmd", ".openbsd", ".traditional"];
    let plain = endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    let is_version = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let before_dash = plain.rsplit_once('-').filter(|(_, version)| is_version(version)).map_or(plain, |(name, _)| name);
    [plain, before_dash, without_version(plain)]
        .into_iter()
        .map(|name| (name, programs::known(name)))
        .find(|(_, known)| may_need(known))
        .unwrap_or((name, known))
}

fn without_version(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '_'))
}

/// Returns every program name with each of its subcommands that need the network.
#[cfg(test)]
pub(crate) fn subcommands() -> impl Iterator<Item = (&'static str, &'static str)> {
    let listed = programs::all().flat_map(|program| program.network.iter().map(move |uses| (program, uses)));
    let listed = listed.filter_map(|(program, uses)| match uses {
        Uses::Sub(list) | Uses::Begun(list) => Some((program.names, *list)),
        Uses::All | Uses::AllBut(_) | Uses::SubWith(..) | Uses::Bare | Uses::With(_) => None,
        Uses::Told(_) | Uses::Remote | Uses::Database => None,
    });
    listed.flat_map(|(names, list)| {
        names.iter().flat_map(move |name| list.iter().map(move |subcommand| (*name, subcommand)))
    })
}

/// Returns true if some use of the program may need the network.
pub(super) fn may_need(known: &Program) -> bool {
    !known.network.is_empty() || safe::may_ask_network(known)
}

/// Returns true if the first operand of the program is a subcommand.
pub(super) fn has_subcommands(name: &str, known: &Program) -> bool {
    let says = |uses: &Uses| matches!(uses, Uses::AllBut(_) | Uses::Sub(_) | Uses::Begun(_) | Uses::Bare);
    rows(name, known).iter().any(says) || safe::has_subcommands(known)
}

/// Returns true if the program needs the network with these words.
pub(super) fn needs(name: &str, known: &Program, rest: &[Word], words: &Words<'_>) -> bool {
    let any = |list: &Subcommands| words.has_subcommand(*list);
    rows(name, known).iter().any(|uses| match uses {
        Uses::All => true,
        Uses::AllBut(list) => !rest.first().is_some_and(|first| list.iter().any(|local| first.text() == local)),
        Uses::Sub(list) => any(list),
        Uses::Begun(list) => any(list) || words.begins_subcommand(*list),
        Uses::Bare => rest.iter().all(|word| word.text().starts_with('-')),
        Uses::With(options) => words.has_flag(options),
        Uses::Told(options) => is_told(options, rest),
        Uses::SubWith(list, options) => any(list) && words.has_flag(options),
        Uses::Remote => rest.iter().any(|word| hosts::is_remote(word.text())),
        Uses::Database => rest.iter().any(|word| hosts::is_database(word.text())),
    })
}

/// Returns true if the words only store an address.
pub(super) fn keeps(known: &Program, words: &Words<'_>) -> bool {
    !known.keeps.is_empty() && words.has_subcommand(known.keeps)
}

/// Returns the uses of a program that need the network. A name with a version has those of the name without it.
fn rows(name: &str, known: &Program) -> &'static [Uses] {
    let plain = without_version(name);
    match known.network {
        [] if plain.len() < name.len() => programs::known(plain).network,
        uses => uses,
    }
}

/// Returns true if one of `options` is given with a value that is not a path. A path is a socket of this machine.
fn is_told(options: &str, rest: &[Word]) -> bool {
    let given = |(at, word): (usize, &Word)| {
        let text = word.text();
        let value = options.split(' ').find_map(|option| match text.strip_prefix(option)? {
            "" => Some(rest.get(at + 1).map(Word::text).unwrap_or_default()),
            joined if option.starts_with("--") => joined.strip_prefix('='),
            joined => Some(joined),
        });
        value.is_some_and(|value| !value.starts_with('/') && !value.starts_with("unix:"))
    };
    rest.iter().enumerate().any(given)
}

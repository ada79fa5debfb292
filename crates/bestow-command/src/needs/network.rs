//! The network access that programs need, and the hosts that their words name.
//!
//! The rows of the safe list state this need for the uses that they describe. A table states it for other uses. A word
//! that may name a host is only recorded for rules that deny the network. It requires no permission.

mod globs;
mod hosts;
mod table;

pub(crate) use globs::written_out;
pub use hosts::{bare_in_text as bare_hosts, in_text as hosts_in};
use smol_str::SmolStr;
#[cfg(test)]
pub(crate) use table::subcommands;

use crate::{
    destroy::Words,
    evaluator::{Evaluation, Traits, Use},
    needs::{operand::exact, wraps},
    programs::{self, Program},
    safe,
    values::{Named, base_name},
    word::{Gaps, Signs, Word},
};

/// The limit of names of network programs in a list of words in which any word may begin a command.
const MOST_BEGINNINGS: usize = 64;

/// The need of a command for the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    Nothing,
    /// The need is unknown, because it depends on a word that is not written out.
    Unsaid,
    Network,
}

impl Evaluation<'_, '_> {
    /// Records the network access of a program.
    pub(super) fn name_network(&mut self, usage: &Use<'_>) {
        let Some(program) = usage.args.first() else { return };
        let certain = !self.shell.invocations.is_speculating();
        if is_open(program, usage.name) {
            // An unknown program in a speculative evaluation does not count.
            if certain {
                self.reach(None, false);
            }
            return;
        }
        if !usage.traits.has(Traits::NETWORK) {
            return self.hear_words(usage, usage.name, usage.known);
        }
        let (name, known) = table::plain_name(usage.name, usage.known);
        let need = match behind_version(usage.rest) {
            Some(rest) => need(name, known, usage.args, &Words::new(rest)),
            None => need(name, known, usage.args, usage.words()),
        };
        match need {
            Need::Unsaid if !certain => {}
            Need::Unsaid => self.reach(None, false),
            Need::Network => match hosts::named(name, usage.rest) {
                Some(hosts) => hosts.into_iter().for_each(|host| self.reach(host, certain)),
                None => self.shell.uses.lose(),
            },
            Need::Nothing => self.hear_words(usage, name, known),
        }
    }

    /// Records the hosts that the words of a program may name. `name` is its name without a version.
    fn hear_words(&mut self, usage: &Use<'_>, name: &str, known: &'static Program) {
        // An address contains a colon, and the name of a connection of `awk` a slash.
        if !usage.signs.has(Signs::COLON.or(Signs::SLASH)) {
            return;
        }
        let heard = hosts::heard(name, usage.rest);
        let is_judged = || known.only_says || wraps(name, known) || table::keeps(known, usage.words());
        if !heard.is_empty() && !is_judged() && !self.is_proven(usage) {
            heard.into_iter().for_each(|host| self.reach(host, false));
        }
    }

    /// Records uncertain network access if a command that needs the network may begin at any of `words`.
    pub(crate) fn hear_network(&mut self, words: &[Word]) {
        if self.shell.uses.is_full() {
            return;
        }
        let mut beginnings = 0;
        for (at, word) in words.iter().enumerate() {
            let name = base_name(word.text());
            let (name, known) = table::plain_name(name, programs::known(name));
            if !table::may_need(known) {
                continue;
            }
            beginnings += 1;
            let begins = words.get(at..).unwrap_or_default();
            let rest = begins.get(1..).unwrap_or_default();
            let behind = Words::new(behind_version(rest).unwrap_or(rest));
            if beginnings > MOST_BEGINNINGS || need(name, known, begins, &behind) != Need::Nothing {
                return self.reach(None, false);
            }
        }
    }

    /// Records the hosts that words name, for any program that reads them.
    pub(crate) fn hear_hosts(&mut self, words: &[Word]) {
        hosts::heard("", words).into_iter().for_each(|host| self.reach(host, false));
    }

    /// Records the host that a variable names. A program with network access may contact it.
    pub(crate) fn hear_variable(&mut self, name: &str, value: &Word) {
        if self.shell.uses.is_full() {
            return;
        }
        let Some(host) = exact(value).and_then(|text| hosts::in_variable(name, &text)) else { return };
        if hosts::leads_elsewhere(name) {
            self.reach(Some(host), false);
        } else {
            self.shell.uses.told_host(host);
        }
    }

    /// Records access to a host. `None` stands for an unknown host.
    pub(crate) fn reach(&mut self, host: Option<SmolStr>, certain: bool) {
        self.shell.uses.push(Named::Network { host, certain });
    }
}

/// Returns true if some use of the program with this name may need the network.
pub(crate) fn may_need(name: &str) -> bool {
    let (_, known) = table::plain_name(name, programs::known(name));
    table::may_need(known)
}

/// Returns true for a program whose name is unknown. `name` is its last component.
fn is_open(program: &Word, name: &str) -> bool {
    program.is_pattern() || program.is_open() || program.has_gap() && name.has_gap()
}

/// Returns the words after `+` and a toolchain version, which some programs accept before all other words.
fn behind_version(rest: &[Word]) -> Option<&[Word]> {
    rest.split_first().filter(|(version, _)| version.text().starts_with('+')).map(|(_, rest)| rest)
}

/// Returns the need of `args`, whose program is called `name`. `words` are those after the program and a version.
fn need(name: &str, known: &'static Program, args: &[Word], words: &Words<'_>) -> Need {
    if !table::may_need(known) {
        return Need::Nothing;
    }
    let rest = words.all();
    let needs = safe::asks_network(known, rest, words) || table::needs(name, known, rest, words);
    let unsaid = !needs && is_subcommand_unsaid(rest) && table::has_subcommands(name, known);
    if !needs && !unsaid || safe::stays_here(name, known, args) || is_help(name, known, rest) {
        return Need::Nothing;
    }
    if needs { Need::Network } else { Need::Unsaid }
}

/// Returns true for a single word that asks for help or a version. For a program without subcommands, `help` is a host.
fn is_help(name: &str, known: &Program, rest: &[Word]) -> bool {
    let [word] = rest else { return false };
    match word.text() {
        "--version" | "--help" | "-V" | "-h" | "--manual" => true,
        "help" => table::has_subcommands(name, known),
        _ => false,
    }
}

/// Returns true if the word at the position of the subcommand is not written out.
fn is_subcommand_unsaid(rest: &[Word]) -> bool {
    let mut after_option = false;
    let mut last = None;
    for word in rest {
        if word.text().starts_with('-') && word.text().len() > 1 {
            after_option = !word.text().contains('=');
            continue;
        }
        last = Some(word);
        if !std::mem::take(&mut after_option) {
            break;
        }
    }
    last.is_some_and(|word| exact(word).is_none())
}

/// Returns the host of a path that a shell opens as a connection, such as `/dev/tcp/host/port`. The inner `None` stands
/// for an unknown host.
pub(super) fn connection(text: &str) -> Option<Option<SmolStr>> {
    text.strip_prefix("/dev/").and_then(connection_of_device)
}

fn connection_of_device(device: &str) -> Option<Option<SmolStr>> {
    let rest = device.strip_prefix("tcp/").or_else(|| device.strip_prefix("udp/"))?;
    let host = rest.split_once('/').map_or(rest, |(host, _)| host);
    Some(hosts::name(host))
}

//! The uses in the table that need the network.
//!
//! The rows that describe safe uses also describe the need for the network. Thus no use is missing in a second table.

use super::{FAMILIES, Family, INDEX, Reach, Row, Spec, answers};
use crate::{destroy::Words, place::Places, tier::Profile, word::Word};

/// The uses that need the network, among those that a row describes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Online {
    Never,
    Always,
    /// Uses with an address among the words.
    Addresses,
    /// Uses with one of these subcommands, or one of these options.
    For {
        subcommands: &'static str,
        options: &'static str,
    },
    /// All uses except those with one of these subcommands or options.
    AllBut {
        subcommands: &'static str,
        options: &'static str,
    },
    /// Uses whose words satisfy this predicate.
    If(fn(&[Word]) -> bool),
}

impl Spec {
    pub(super) const fn online(mut self, online: Online) -> Self {
        self.online = Some(online);
        self
    }

    pub(super) const fn offline(self) -> Self {
        self.online(Online::Never)
    }

    pub(super) const fn online_for(self, subcommands: &'static str) -> Self {
        self.online(Online::For { subcommands, options: "" })
    }

    pub(super) const fn online_with(self, options: &'static str) -> Self {
        self.online(Online::For { subcommands: "", options })
    }

    pub(super) const fn online_but_with(self, options: &'static str) -> Self {
        self.online(Online::AllBut { subcommands: "", options })
    }

    /// Returns the uses of this row that need the network. By default, the destination of the words decides.
    fn uses_online(&self, family: &Family) -> Online {
        self.online.unwrap_or(match self.reach.unwrap_or(family.reach) {
            Reach::Here => Online::Never,
            Reach::Addresses => Online::Addresses,
            Reach::Web | Reach::Service | Reach::Elsewhere => Online::Always,
        })
    }

    /// Returns true if this use, which the row describes, needs the network.
    pub(crate) fn is_online(&self, family: &Family, rest: &[Word]) -> bool {
        let words = Words::new(rest);
        match self.uses_online(family) {
            Online::Never => false,
            Online::Always => true,
            Online::Addresses => rest.iter().any(|word| word.text().contains("://")),
            Online::For { subcommands, options } => {
                !subcommands.is_empty() && words.has_subcommand(subcommands)
                    || !options.is_empty() && words.has_flag(options)
            }
            Online::AllBut { subcommands, options } => {
                let stands = |subcommand: &str| !subcommand.is_empty() && self.after_words(rest, subcommand).is_some();
                let given = |word: &Word| options.split(' ').any(|option| option == word.text());
                !subcommands.split('|').any(stands) && !rest.iter().any(given)
            }
            Online::If(asks) => asks(rest),
        }
    }

    /// Returns true for words that contain the subcommand of this row, proven or not.
    fn speaks_of(&self, rest: &[Word]) -> bool {
        let words = Words::new(rest);
        self.after_subcommand(rest).is_some() || words.has_subcommand(self.subcommand)
    }
}

fn rows(name: &str) -> &'static [Row] {
    INDEX.get(name).map(Vec::as_slice).unwrap_or_default()
}

/// Returns the names of the programs that need the network in some use.
pub(crate) fn asking_network() -> impl Iterator<Item = &'static str> {
    let rows = FAMILIES.iter().flat_map(|family| family.specs.iter().map(move |spec| (spec, family)));
    let asking = rows.filter(|(spec, family)| !matches!(spec.uses_online(family), Online::Never) || family.only_online);
    asking.flat_map(|(spec, _)| spec.programs.split_ascii_whitespace())
}

/// Returns true if the first operand of `name` is a subcommand, according to the rows.
pub(crate) fn has_subcommands(name: &str) -> bool {
    rows(name).iter().any(|(spec, family)| !spec.subcommand.is_empty() || family.only_online)
}

/// Returns true if a row lists `name` among the programs that show the content of the files that their operands name.
pub(crate) fn reads_operands(name: &str) -> bool {
    let takes = |spec: &Spec| spec.subcommand.is_empty() && spec.operands != super::Operands::None;
    rows(name).iter().any(|(spec, family)| family.shows_files && takes(spec))
}

/// Returns true if `name` needs the network with these words, according to the rows.
pub(crate) fn asks_network(name: &str, rest: &[Word]) -> bool {
    let asks = |(spec, family): &Row| family.only_online || spec.is_online(family, rest) && spec.speaks_of(rest);
    rows(name).iter().any(asks)
}

/// Returns true if `name` with these words is proven to read only from this machine. No row may say that this use needs
/// the network.
pub(crate) fn stays_here(name: &str, args: &[Word]) -> bool {
    let Some((program, rest)) = args.split_first() else { return false };
    let places = Places::default();
    let proves = |(spec, family): &&Row| spec.try_prove(rest, family, Profile::Default, &places).is_ok();
    let mut proving = rows(name).iter().filter(proves).peekable();
    let is_proven = proving.peek().is_some();
    answers(name, program, rest).is_some() || is_proven && proving.all(|(spec, family)| !spec.is_online(family, rest))
}

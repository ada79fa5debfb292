//! The uses that need the network, among the read-only forms of programs.
//!
//! The rows that describe safe uses also describe the need for the network. Thus no use is missing in a second table.

use super::{answers, beginnings, rows_about};
use crate::{
    destroy::Words,
    place::Places,
    programs::{Online, Program, Reads},
    tier::Profile,
    word::Word,
};

impl Reads {
    /// Returns true if this use, which the row describes, needs the network.
    pub(crate) fn is_online(&self, rest: &[Word], words: &Words<'_>) -> bool {
        match self.online {
            Online::Never => false,
            Online::Always => true,
            Online::Addresses => rest.iter().any(|word| word.text().contains("://")),
            Online::For { subcommands, options } => {
                !subcommands.is_empty() && words.has_subcommand(subcommands)
                    || !options.is_empty() && words.has_flag(options)
            }
            Online::AllBut { subcommands, options } => {
                let begun = self.after_globals(rest).unwrap_or_default();
                let stands = |subcommand: &str| !subcommand.is_empty() && self.after_words(begun, subcommand).is_some();
                let given = |word: &Word| options.split(' ').any(|option| option == word.text());
                !subcommands.iter().any(stands) && !rest.iter().any(given)
            }
            Online::If(asks) => asks(rest),
        }
    }

    /// Returns true for words that contain the subcommand of this row, proven or not.
    fn speaks_of(&self, rest: &[Word], words: &Words<'_>) -> bool {
        self.after_subcommand(rest).is_some() || words.has_subcommand(self.subcommands)
    }
}

/// Returns true if a read-only form of the program needs the network, or if the program only connects to a service.
pub(crate) fn may_ask_network(known: &Program) -> bool {
    known.only_online || !known.online.is_empty()
}

/// Returns true if the first operand of the program is a subcommand, according to the rows.
pub(crate) fn has_subcommands(known: &Program) -> bool {
    known.only_online || known.has_subcommands
}

/// Returns true if the program needs the network with these words, according to the rows.
pub(crate) fn asks_network(known: &Program, rest: &[Word], words: &Words<'_>) -> bool {
    let asks = |row: &Reads| row.speaks_of(rest, words) && row.is_online(rest, words);
    known.only_online || rows_about(known.online, beginnings(known, rest, || words)).any(asks)
}

/// Returns true if `name` with these words is proven to read only from this machine. No row may say that this use needs
/// the network.
pub(crate) fn stays_here(name: &str, known: &'static Program, args: &[Word]) -> bool {
    let Some((program, rest)) = args.split_first() else { return false };
    if answers(name, known, program, rest).is_some() {
        return true;
    }
    let (places, words) = (Places::default(), Words::new(rest));
    let proves = |row: &Reads| row.try_prove(rest, Profile::Default, &places).is_ok();
    let asks = |row: &&Reads| row.is_online(rest, &words);
    let begun = beginnings(known, rest, || &words);
    let proven_by = |asking: bool| rows_about(known.reads, begun).any(|row| asks(&row) == asking && proves(row));
    proven_by(false) && !proven_by(true)
}

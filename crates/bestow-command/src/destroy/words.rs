//! The words of a command as a rule sees them, without knowledge of the options that take a value.

use memchr::memmem;

use crate::{
    place::Place,
    programs::{When, has_form},
    word::Word,
};

#[derive(Debug)]
pub(crate) struct Words<'a> {
    words: &'a [Word],
    /// The index of the `--` that ends the options.
    end_of_options: usize,
}

impl<'a> Words<'a> {
    pub(crate) fn new(words: &'a [Word]) -> Self {
        let end_of_options = words.iter().position(|word| word.text() == "--").unwrap_or(words.len());
        Words { words, end_of_options }
    }

    fn is_option(&self, index: usize, word: &Word) -> bool {
        index < self.end_of_options && word.text().starts_with('-') && word.text().len() > 1
    }

    fn options(&self) -> impl Iterator<Item = &'a str> {
        self.words.iter().take(self.end_of_options).map(Word::text).filter(|text| text.starts_with('-'))
    }

    fn operands(&self, from: usize) -> impl Iterator<Item = &'a str> {
        let operands = self.words.iter().enumerate().skip(from);
        operands
            .filter(|(index, word)| !self.is_option(*index, word))
            .map(|(_, word)| word.text())
            .filter(|text| *text != "--")
    }

    /// Returns the index after the words of a subcommand. The subcommand must be the first word, or it must follow
    /// options and one word that may be the value of such an option.
    pub(crate) fn after_subcommand(&self, subcommand: &str) -> Option<usize> {
        let mut after_option = false;
        for (index, word) in self.words.iter().enumerate() {
            if self.is_option(index, word) {
                after_option = !word.text().contains('=');
                continue;
            }
            if let Some(end) = self.subcommand_at(index, subcommand) {
                return Some(end);
            }
            if !after_option {
                return None;
            }
            after_option = false;
        }
        None
    }

    /// Returns true if one of these subcommands, separated by `|`, is at a position where a subcommand may be.
    pub(crate) fn has_subcommand(&self, list: &str) -> bool {
        self.may_name(list) && list.split('|').any(|subcommand| self.after_subcommand(subcommand).is_some())
    }

    /// Returns true if a word at a possible subcommand position occurs in the list. Most lists fail this cheap test.
    pub(super) fn may_name(&self, list: &str) -> bool {
        let mut after_option = false;
        for (index, word) in self.words.iter().enumerate() {
            if self.is_option(index, word) {
                after_option = !word.text().contains('=');
                continue;
            }
            if occurs(word.text(), list) {
                return true;
            }
            if !std::mem::take(&mut after_option) {
                return false;
            }
        }
        false
    }

    /// Returns true if a word at a possible subcommand position is a prefix of one of these subcommands, separated by
    /// `|`. The prefix must have at least two letters.
    pub(crate) fn begins_subcommand(&self, list: &str) -> bool {
        let names = || list.split('|').filter(|name| !name.contains(' '));
        let mut after_option = false;
        for (index, word) in self.words.iter().enumerate() {
            if self.is_option(index, word) {
                after_option = !word.text().contains('=');
                continue;
            }
            if word.text().len() >= 2 && names().any(|name| name.starts_with(word.text())) {
                return true;
            }
            if !std::mem::take(&mut after_option) {
                return false;
            }
        }
        false
    }

    fn subcommand_at(&self, start: usize, subcommand: &str) -> Option<usize> {
        let mut at = start;
        for wanted in subcommand.split(' ') {
            let mut after_option = false;
            loop {
                let word = self.words.get(at)?;
                at += 1;
                if self.is_option(at - 1, word) {
                    after_option = !word.text().contains('=');
                } else if has_form(word.text(), wanted) {
                    break;
                } else if !std::mem::take(&mut after_option) {
                    return None;
                }
            }
        }
        Some(at)
    }

    /// Returns true if one of `flags`, separated by blanks, is given: alone, joined with others, with a value, or
    /// abbreviated.
    pub(crate) fn has_flag(&self, flags: &str) -> bool {
        flags.split(' ').any(|flag| self.options().any(|option| is_flag(option, flag, 3)))
    }

    pub(super) fn satisfy(&self, when: When, place: &Place, from: usize) -> bool {
        match when {
            When::Flag(flags) => self.has_flag(flags),
            When::NoFlag(flags) => !flags.split(' ').any(|flag| self.options().any(|option| is_flag(option, flag, 5))),
            When::Operand(question) => self.operands(from).any(|operand| question(operand, place)),
            When::Named(list) => self.operands(from).any(|operand| list.split(' ').any(|name| has_form(operand, name))),
            When::Text(list) => self.words.iter().any(|word| list.split(' ').any(|text| word.text().contains(text))),
            When::Line(question) => question(self.words, place),
            When::Later(text) => self.words.iter().skip(1).any(|word| word.text() == text),
        }
    }
}

/// Returns true if `list` may contain `word`: the word is a substring of the list, or the list contains a pattern.
pub(crate) fn occurs(word: &str, list: &str) -> bool {
    memmem::find(list.as_bytes(), word.as_bytes()).is_some() || list.contains('*')
}

/// Returns true if `option` gives `flag`: joined with others, with a value, or as a long option abbreviated to at least
/// `shortest` characters.
fn is_flag(option: &str, flag: &str, shortest: usize) -> bool {
    let name = option.split('=').next().unwrap_or(option);
    match flag.strip_prefix("--") {
        Some(_) => name.starts_with("--") && (name == flag || (name.len() >= shortest && flag.starts_with(name))),
        None if flag.len() == 2 => {
            let letter = flag.chars().nth(1).unwrap_or('-');
            name == flag || (!name.starts_with("--") && name.len() <= 8 && name.chars().skip(1).any(|c| c == letter))
        }
        None => name == flag || name.strip_prefix('-') == Some(flag),
    }
}

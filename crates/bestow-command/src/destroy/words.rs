//! The words of a command as a rule sees them, without knowledge of the options that take a value.

use std::cell::OnceCell;

use crate::{
    parts::parts,
    place::Place,
    programs::{Firsts, Subcommands, When, has_form},
    word::Word,
};

#[derive(Debug)]
pub(crate) struct Words<'a> {
    words: &'a [Word],
    /// The index of the `--` that ends the options.
    end_of_options: usize,
    /// The words where a subcommand may begin, if a row has asked for them.
    firsts: OnceCell<Firsts>,
}

impl<'a> Words<'a> {
    pub(crate) fn new(words: &'a [Word]) -> Self {
        let end_of_options = words.iter().position(|word| word.text() == "--").unwrap_or(words.len());
        Words { words, end_of_options, firsts: OnceCell::new() }
    }

    /// Returns all of the words.
    pub(crate) fn all(&self) -> &'a [Word] {
        self.words
    }

    /// Returns the words where a subcommand may begin.
    pub(crate) fn firsts(&self) -> Firsts {
        *self.firsts.get_or_init(|| match self.words {
            [] => Firsts::NONE,
            // No subcommand begins behind the first word unless that is an option.
            [first, ..] if !first.text().starts_with('-') => Firsts::of(first.text().as_bytes()),
            _ => self.beginnings().map(|(_, word)| Firsts::of(word.text().as_bytes())).fold(Firsts::NONE, Firsts::or),
        })
    }

    /// Returns the words where a subcommand may begin, with their indices: the first word, or a word behind options and
    /// one word that may be the value of such an option.
    fn beginnings(&self) -> impl Iterator<Item = (usize, &'a Word)> {
        let (mut after_option, mut was_last) = (false, false);
        let beginning = move |(index, word): (usize, &'a Word)| {
            if was_last {
                return None;
            }
            let is_option = self.is_option(index, word);
            was_last = !is_option && !after_option;
            after_option = is_option && !word.text().contains('=');
            Some((!is_option).then_some((index, word)))
        };
        self.words.iter().enumerate().map_while(beginning).flatten()
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

    /// Returns the index after the words of a subcommand.
    pub(crate) fn after_subcommand(&self, subcommand: &str) -> Option<usize> {
        self.beginnings().find_map(|(index, _)| self.subcommand_at(index, subcommand))
    }

    /// Returns true if one of these subcommands is at a position where a subcommand may be.
    pub(crate) fn has_subcommand(&self, subcommands: Subcommands) -> bool {
        let named = |(at, word): (usize, &Word)| {
            let first = word.text().bytes().next();
            let may_be_it = |one: &&str| matches!(one.bytes().next(), start if start == first || start == Some(b'*'));
            subcommands.mention(word.text())
                && subcommands.iter().filter(may_be_it).any(|one| self.subcommand_at(at, one).is_some())
        };
        subcommands.may_begin_with(self.firsts()) && self.beginnings().any(named)
    }

    /// Returns false if no word at a position of a subcommand begins one of these. Most rows fail this cheap test.
    pub(crate) fn may_name(&self, subcommands: Subcommands) -> bool {
        subcommands.may_begin_with(self.firsts()) && self.beginnings().any(|(_, word)| subcommands.mention(word.text()))
    }

    /// Returns false if none of these words is at a position where a subcommand may be. Every word may be among all.
    pub(crate) fn may_begin(&self, firsts: Firsts) -> bool {
        firsts == Firsts::ALL || firsts.may_share(self.firsts())
    }

    /// Returns true if a word at a possible subcommand position is a prefix of one of these subcommands. The prefix
    /// must have at least two letters.
    pub(crate) fn begins_subcommand(&self, subcommands: Subcommands) -> bool {
        let mut texts = self.beginnings().map(|(_, word)| word.text()).filter(|text| text.len() >= 2);
        texts.any(|text| subcommands.iter().any(|name| name.starts_with(text) && !name.contains(' ')))
    }

    fn subcommand_at(&self, start: usize, subcommand: &str) -> Option<usize> {
        let mut at = start;
        for wanted in parts(subcommand, b' ') {
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
        self.gives(flags, 3)
    }

    /// Returns true if an option gives one of `flags`, abbreviated to at least `shortest` characters.
    fn gives(&self, flags: &str, shortest: usize) -> bool {
        self.options().any(|option| {
            let name = parts(option, b'=').next().unwrap_or(option);
            parts(flags, b' ').any(|flag| is_flag(name, flag, shortest))
        })
    }

    /// Returns true if an option may take one of `flags` back: `--no-dry-run`, `--dry-run=false`.
    fn takes_back(&self, flags: &str) -> bool {
        const NO: &[&str] = &["false", "f", "no", "n", "off", "none", "never", "0"];
        let long = || parts(flags, b' ').filter_map(|flag| flag.strip_prefix("--"));
        self.options().any(|option| match (option.strip_prefix("--no-"), option.split_once('=')) {
            (Some(name), _) => long().any(|flag| flag.starts_with(name)),
            (None, Some((name, value))) => {
                NO.iter().any(|no| value.eq_ignore_ascii_case(no))
                    && long().any(|flag| name.strip_prefix("--").is_some_and(|name| flag.starts_with(name)))
            }
            (None, None) => false,
        })
    }

    pub(super) fn satisfy(&self, when: When, place: &Place, from: usize) -> bool {
        match when {
            When::Flag(flags) => self.has_flag(flags),
            When::NoFlag(flags) => !self.gives(flags, 5) || self.takes_back(flags),
            When::Kind(kind) => self.operands(from).any(|operand| kind.has(operand, place)),
            When::Named(list) => {
                self.operands(from).any(|operand| parts(list, b' ').any(|name| has_form(operand, name)))
            }
            When::NamedInAnyCase(list) => self
                .operands(from)
                .flat_map(listed)
                .any(|one| parts(list, b' ').any(|name| has_form_in_any_case(one, name))),
            When::Text(list) => self.words.iter().any(|word| parts(list, b' ').any(|text| word.text().contains(text))),
            When::Line(question) => question(self.words, place),
            When::Later(text) => self.words.iter().skip(1).any(|word| word.text() == text),
        }
    }
}

/// Returns the words of a list with commas. A text with `=` assigns or selects something and lists nothing.
fn listed(operand: &str) -> impl Iterator<Item = &str> {
    let lists = !operand.contains('=');
    operand.split(',').filter(move |_| lists)
}

fn has_form_in_any_case(word: &str, pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => word.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start)),
        None => word.eq_ignore_ascii_case(pattern),
    }
}

/// Returns true if an option with this name gives `flag`: joined with others, or as a long option that is abbreviated
/// to at least `shortest` characters.
fn is_flag(name: &str, flag: &str, shortest: usize) -> bool {
    match flag.strip_prefix("--") {
        Some(_) => name.starts_with("--") && (name == flag || (name.len() >= shortest && flag.starts_with(name))),
        None if flag.len() == 2 => {
            let letter = flag.chars().nth(1).unwrap_or('-');
            name == flag || (!name.starts_with("--") && name.len() <= 8 && name.chars().skip(1).any(|c| c == letter))
        }
        None => name == flag || name.strip_prefix('-') == Some(flag),
    }
}

//! The command lines that the words of one command may become.

use crate::{few::Few, word::Word};

/// The words that one word may become.
pub(super) enum Slot {
    /// This word.
    Word(Word),
    /// One of these lists of words.
    OneOf(Few<Few<Word>>),
}

impl Slot {
    /// Returns the number of alternatives.
    pub(super) fn count(&self) -> usize {
        match self {
            Slot::Word(_) => 1,
            Slot::OneOf(alternatives) => alternatives.len().max(1),
        }
    }

    /// Appends the words of all alternatives.
    pub(super) fn add_all(self, words: &mut Vec<Word>) {
        match self {
            Slot::Word(word) => words.push(word),
            Slot::OneOf(alternatives) => alternatives.for_each(|one| words.extend(one)),
        }
    }

    /// Appends each alternative to each of the command lines.
    pub(super) fn extend(self, ways: &mut Few<Vec<Word>>) {
        match self {
            Slot::Word(word) => ways.iter_mut().for_each(|way| way.push(word.clone())),
            Slot::OneOf(alternatives) => match alternatives.as_slice() {
                [] => {}
                [only] => ways.iter_mut().for_each(|way| way.extend_from_slice(only)),
                [others @ .., last] => {
                    let mut longer = Vec::with_capacity(ways.len() * alternatives.len());
                    std::mem::take(ways).for_each(|mut way| {
                        longer.extend(others.iter().map(|words| [way.as_slice(), words].concat()));
                        way.extend_from_slice(last);
                        longer.push(way);
                    });
                    *ways = longer.into();
                }
            },
        }
    }

    /// Keeps only the first and the last alternative if all of them are numbers, because any number has the same
    /// effect.
    pub(super) fn keep_ends_of_numbers(&mut self) {
        let is_number = |words: &Few<Word>| match words.as_slice() {
            [word] => word.text().bytes().all(|byte| byte.is_ascii_digit()),
            _ => false,
        };
        if let Slot::OneOf(Few::Many(alternatives)) = self
            && alternatives.len() > 2
            && alternatives.iter().all(is_number)
        {
            alternatives.drain(1..alternatives.len() - 1);
        }
    }
}

/// The command lines that words may become, while the words are expanded.
pub(super) struct Lines {
    /// The words before the first one with several alternatives.
    pub(super) start: Vec<Word>,
    /// The words from it on.
    pub(super) slots: Few<Slot>,
}

impl Lines {
    #[inline]
    pub(super) fn push(&mut self, word: Word) {
        if self.slots.is_empty() {
            self.start.push(word);
        } else {
            self.slots.push(Slot::Word(word));
        }
    }

    pub(super) fn push_one_of(&mut self, alternatives: Few<Few<Word>>) {
        match alternatives {
            Few::One(Few::One(word)) => self.push(word),
            Few::One(words) if self.slots.is_empty() => words.for_each(|word| self.start.push(word)),
            alternatives @ (Few::One(_) | Few::Many(_)) => self.slots.push(Slot::OneOf(alternatives)),
        }
    }
}

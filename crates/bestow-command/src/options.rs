//! A parser that splits command lines into options and operands by an option list.
//!
//! A list is text. In `-a -n: --sort?:name|size --color? -#`, `-a` takes no value and `-n` takes one. `--sort` accepts
//! one of two values after `=`, `--color` accepts any value after `=`, and `-5` is an option too. An option that is not
//! on the list is an error, and so is an abbreviated one: the parser never guesses. An entry `=` means that the program
//! joins neither short options nor an option and its value: `-ab` is one option and not two. The value of `-e:-` may
//! look like an option: the program takes the next word, whatever it is.

mod list;

pub(crate) use list::{Letters, List, index, letters, list, slots};

use std::{borrow::Cow, slice};

use super::{
    few::Few,
    parts::parts,
    word::{Gaps, Signs, Word},
};
use smol_str::{SmolStr, SmolStrBuilder};

/// The value that a listed option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes<'l> {
    Nothing,
    /// A value, in the same word or the next. It must be one of the given values, unless the text is empty.
    Value(&'l str),
    /// A value, in the same word or the next, which may look like an option.
    Anything,
    /// A value in the same word, or no value.
    Maybe(&'l str),
}

impl<'l> Takes<'l> {
    /// Returns the values that are allowed. An empty text allows every value.
    fn allowed(self) -> &'l str {
        match self {
            Takes::Value(allowed) | Takes::Maybe(allowed) => allowed,
            Takes::Nothing | Takes::Anything => "",
        }
    }
}

/// A parsed command line.
#[derive(Debug, Default)]
pub(super) struct Options<'a> {
    pub(super) operands: Few<&'a Word>,
    pub(super) given: Few<(SmolStr, Option<SmolStr>)>,
    /// The index of the first operand among the words.
    pub(super) first_operand: Option<usize>,
    /// The words that hold option values, for checks of data that a program sends.
    pub(super) values: Few<&'a Word>,
    /// True if the options and operands are only checked, and not kept.
    forgets: bool,
}

/// The settings of the parser.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading<'l> {
    pub(super) flags: List<'l>,
    /// True if options end at the first operand, as in programs that run another command.
    pub(super) stop_at_operand: bool,
    /// True if no option of the program can do harm, so that a word that may expand to an option is accepted.
    pub(super) inert: bool,
}

/// The reason why a command line does not fit a list.
#[derive(Debug)]
pub(super) enum Misfit {
    /// An option that is not on the list.
    Unknown(SmolStr),
    Value(SmolStr),
    MissingValue(SmolStr),
    MayBeOption,
    /// Another reason.
    Refused(Cow<'static, str>),
}

impl Misfit {
    pub(super) fn describe(self) -> Cow<'static, str> {
        match self {
            Misfit::Unknown(option) => ["option `", &shown(&option), "` is not on the list"].concat().into(),
            Misfit::Value(option) => ["the value of ", &option, " is not on the list"].concat().into(),
            Misfit::MissingValue(option) => ["option ", &option, " lacks its value"].concat().into(),
            Misfit::MayBeOption => "an expansion may turn into an option".into(),
            Misfit::Refused(why) => why,
        }
    }
}

impl<'a> Options<'a> {
    pub(super) fn has(&self, names: &str) -> bool {
        self.given.iter().any(|(name, _)| parts(names, b' ').any(|wanted| wanted == name))
    }

    pub(super) fn value(&self, names: &str) -> Option<&str> {
        let named = |name: &str| parts(names, b' ').any(|wanted| wanted == name);
        self.given.iter().rev().find(|(name, _)| named(name)).and_then(|(_, value)| value.as_deref())
    }

    /// Checks that `words`, which do not include the program name, can be parsed.
    pub(super) fn check(words: &'a [Word], reading: Reading<'_>) -> Result<(), Misfit> {
        let mut options = Options { forgets: true, ..Options::default() };
        options.add(words, reading)
    }

    /// Parses `words`, which do not include the program name.
    pub(super) fn read(words: &'a [Word], reading: Reading<'_>) -> Result<Self, Misfit> {
        let mut options = Options::default();
        options.add(words, reading)?;
        Ok(options)
    }

    /// Parses `words` and keeps their options and operands, unless they are only checked.
    fn add(&mut self, words: &'a [Word], reading: Reading<'_>) -> Result<(), Misfit> {
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let behind = words.len() - rest.len();
            if word.text() == "--" {
                self.first_operand = self.first_operand.or(Some(behind));
                self.add_operands(rest.as_slice());
                break;
            }
            if word.text().starts_with('-') && word.text().len() > 1 {
                self.add_option(word, reading, &mut rest)?;
                continue;
            }
            if !reading.inert && word.may_be_option() {
                return Err(Misfit::MayBeOption);
            }
            self.first_operand = self.first_operand.or(Some(behind - 1));
            self.add_operands(slice::from_ref(word));
            if reading.stop_at_operand {
                self.add_operands(rest.as_slice());
                break;
            }
        }
        Ok(())
    }

    fn add_operands(&mut self, operands: &'a [Word]) {
        if !self.forgets {
            self.operands.extend(operands);
        }
    }

    fn give(&mut self, name: impl Into<SmolStr>, value: Option<&str>) {
        if !self.forgets {
            self.given.push((name.into(), value.map(SmolStr::from)));
        }
    }

    /// Parses an option. `rest` are the words behind it.
    fn add_option(
        &mut self,
        word: &'a Word,
        reading: Reading<'_>,
        rest: &mut slice::Iter<'a, Word>,
    ) -> Result<(), Misfit> {
        let assigned = if word.has(Signs::EQUALS) { word.text().split_once('=') } else { None };
        let (name, attached) = assigned.map_or((word.text(), None), |(name, value)| (name, Some(value)));
        // `-d:` is the option `-d` with a value, and not an entry of the list.
        if name.len() > 2
            && !name.ends_with(':')
            && let Some(takes) = reading.flags.find(name)
        {
            return self.take(word, name, takes, attached, reading, rest);
        }
        if name.starts_with("--") {
            return Err(Misfit::Unknown(name.into()));
        }
        let letters = word.text().get(1..).unwrap_or_default();
        // `-20`, and the old form `-20f` of `tail`.
        let behind = letters.trim_start_matches(|c: char| c.is_ascii_digit());
        if behind.len() < letters.len() && reading.flags.find("-#").is_some() && !reading.flags.is_apart() {
            let number = letters.strip_suffix(behind).unwrap_or(letters);
            self.give(SmolStr::new_static("-#"), Some(number));
            return self.cluster(word, behind, reading, rest);
        }
        if letters.len() > 1 && reading.flags.is_apart() {
            return Err(Misfit::Unknown(name.into()));
        }
        self.cluster(word, letters, reading, rest)
    }

    /// Parses joined letters such as `-abc`. The first letter with a value takes the rest of the word or the next word.
    fn cluster(
        &mut self,
        word: &'a Word,
        letters: &str,
        reading: Reading<'_>,
        rest: &mut slice::Iter<'a, Word>,
    ) -> Result<(), Misfit> {
        for (at, letter) in letters.char_indices() {
            match reading.flags.find_letter(letter) {
                None => return Err(Misfit::Unknown(short(letter))),
                Some(Takes::Nothing) => self.give(short(letter), None),
                Some(takes) => {
                    let attached = letters.get(at + letter.len_utf8()..).filter(|attached| !attached.is_empty());
                    return self.take(word, &short(letter), takes, attached, reading, rest);
                }
            }
        }
        Ok(())
    }

    fn take(
        &mut self,
        word: &'a Word,
        name: &str,
        takes: Takes<'_>,
        attached: Option<&str>,
        reading: Reading<'_>,
        rest: &mut slice::Iter<'a, Word>,
    ) -> Result<(), Misfit> {
        // If no option can do harm, the assignment of values to options does not matter.
        let must_stay = !reading.inert || reading.stop_at_operand;
        let (holder, value) = match (takes, attached) {
            (Takes::Nothing | Takes::Maybe(_), None) => (None, None),
            (Takes::Nothing, Some(_)) => return Err(Misfit::Value(name.into())),
            (Takes::Value(_) | Takes::Anything | Takes::Maybe(_), Some(value)) => {
                // `-F"$x"` takes the next word if `x` is empty.
                let vanishes =
                    value.without_optional_start().is_empty() && !name.starts_with("--") && !value.is_empty();
                if must_stay && (word.may_split() || vanishes) {
                    return Err(Misfit::MayBeOption);
                }
                (Some(word), Some(value))
            }
            (Takes::Value(_) | Takes::Anything, None) => {
                let value = rest.next().ok_or_else(|| Misfit::MissingValue(name.into()))?;
                // A value that may expand to several words or to no word may shift the other words.
                let is_dashed = is_dashed(value.text()) && !(takes == Takes::Anything && value.is_written());
                if must_stay && (value.may_split() || value.is_pattern() || value.is_open() || is_dashed) {
                    return Err(Misfit::MayBeOption);
                }
                (Some(value), Some(value.text()))
            }
        };
        let allowed = takes.allowed();
        if !allowed.is_empty() && value.is_some_and(|value| allowed.split('|').all(|one| one != value)) {
            return Err(Misfit::Value(name.into()));
        }
        self.values.extend(holder.filter(|_| !self.forgets));
        self.give(name, value);
        Ok(())
    }
}

/// Returns true if `word` consists of listed options with permitted values.
pub(super) fn knows(list: List<'_>, word: &str) -> bool {
    let (name, attached) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    let fits = |takes: Takes<'_>| match (takes, attached) {
        (Takes::Nothing, None) | (Takes::Value("") | Takes::Anything | Takes::Maybe(_), None) => true,
        (Takes::Nothing, Some(_)) | (Takes::Value(_), None) => false,
        (Takes::Anything, Some(_)) => true,
        (Takes::Value(allowed) | Takes::Maybe(allowed), Some(value)) => {
            allowed.is_empty() || allowed.split('|').any(|one| one == value)
        }
    };
    if name.len() > 2
        && !name.ends_with(':')
        && let Some(takes) = list.find(name)
    {
        return fits(takes);
    }
    let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')) else { return false };
    if letters.len() > 1 && list.is_apart() {
        return false;
    }
    for (at, letter) in letters.char_indices() {
        match list.find_letter(letter) {
            None => return false,
            Some(Takes::Nothing) => {}
            Some(Takes::Anything) => return true,
            Some(Takes::Value(allowed) | Takes::Maybe(allowed)) => {
                let rest = letters.get(at + letter.len_utf8()..).unwrap_or_default();
                return allowed.is_empty() || allowed.split('|').any(|one| one == rest);
            }
        }
    }
    !letters.is_empty()
}

/// Returns true if the words `before` an option begin with the words of the subcommand.
pub(crate) fn before_has(before: &[&str], subcommand: &str) -> bool {
    let mut words = before.iter();
    subcommand.split_ascii_whitespace().all(|wanted| words.next() == Some(&wanted))
}

/// Returns true if `name` is on a list of plain words that are separated by blanks.
pub(super) fn is_listed(list: List<'_>, name: &str) -> bool {
    !name.is_empty() && list.find(name) == Some(Takes::Nothing)
}

/// Returns true if the option of one letter is on a list of plain words that are separated by blanks.
pub(super) fn is_listed_letter(list: List<'_>, letter: char) -> bool {
    list.find_letter(letter) == Some(Takes::Nothing)
}

/// Returns true if the option takes a value, in the same word or the next, and false if no other word is its value.
/// Returns none for an option that is not on the list of all options.
pub(super) fn takes_value(list: List<'_>, option: &str) -> Option<bool> {
    Some(match list.find(option)? {
        Takes::Nothing | Takes::Maybe(_) => false,
        Takes::Value(_) | Takes::Anything => true,
    })
}

/// The options of one letter.
const SHORT: &str = "-A-B-C-D-E-F-G-H-I-J-K-L-M-N-O-P-Q-R-S-T-U-V-W-X-Y-Z\
                     -a-b-c-d-e-f-g-h-i-j-k-l-m-n-o-p-q-r-s-t-u-v-w-x-y-z";

/// Returns the option of one letter.
pub(super) fn short(letter: char) -> SmolStr {
    let index = match letter {
        'A'..='Z' => Some(u32::from(letter) - u32::from('A')),
        'a'..='z' => Some(u32::from(letter) - u32::from('a') + 26),
        _ => None,
    };
    let start = index.and_then(|index| usize::try_from(2 * index).ok());
    if let Some(option) = start.and_then(|start| SHORT.get(start..start + 2)) {
        return SmolStr::new_static(option);
    }
    let mut option = SmolStrBuilder::new();
    option.push('-');
    option.push(letter);
    option.finish()
}

/// Returns the beginning of an option, without control characters.
fn shown(name: &str) -> String {
    name.chars().take(24).filter(|c| !c.is_control()).collect()
}

/// Returns true for a text that looks like an option and not like a number. A program with an optional value takes such
/// a text for an option.
fn is_dashed(value: &str) -> bool {
    value.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| !c.is_ascii_digit()))
}

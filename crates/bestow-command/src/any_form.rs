//! The match of a pattern of a rule that denies or asks with every spelling of a command: options in another order,
//! joined or apart, short or long, abbreviated, behind operands.
//!
//! Only such rules match in this way. A pattern of a rule that allows matches the words as they are written.

use smol_str::SmolStr;

use crate::{
    options::{List, short, takes_value},
    programs::{self, Program},
    values::{CommandPattern, Said, Spoken, base_name, is_like},
};

/// The limit of words at the end of a command that are tried as options and their values.
const MAX_TRIMMED: usize = 64;

/// Returns true if the pattern of a rule that denies or asks may match the command in any of its spellings. A pattern
/// without a wildcard matches with any words behind it: `rm` means every use of the program, and `git push` every push.
pub fn may_match(pattern: &CommandPattern, command: &Spoken) -> bool {
    pattern.may_cover_more(command) || may_match_respelled(pattern, command)
}

fn may_match_respelled(pattern: &CommandPattern, command: &Spoken) -> bool {
    let mut words = pattern.as_str().split(' ');
    let Some(program) = words.next() else { return false };
    let (options, others): (Vec<&str>, Vec<&str>) = words.partition(|word| is_option(word));
    let others = [program].into_iter().chain(others).chain(pattern.is_plain().then_some("**"));
    if options.is_empty() {
        return false;
    }
    // Without its options, the pattern still begins with a program.
    let Ok(others) = others.collect::<Vec<_>>().join(" ").parse::<CommandPattern>() else { return false };
    let known = programs::known(base_name(program));
    let options: Vec<Wanted<'_>> = options.into_iter().flat_map(|option| wanted(option, known)).collect();
    let given = Given::of(command, known);
    options.iter().all(|option| given.may_have(option, known)) && given.may_be(&others, command.anywhere)
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-') && word != "--"
}

/// An option of a pattern.
struct Wanted<'p> {
    name: SmolStr,
    /// The pattern of its value, if it has one after `=`.
    value: Option<&'p str>,
}

/// Returns the options of one word of a pattern. Joined letters are one option each.
fn wanted<'p>(word: &'p str, known: &Program) -> Vec<Wanted<'p>> {
    let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    let is_joined = !name.starts_with("--") && name.len() > 2 && value.is_none() && !name.contains('*');
    if is_joined && !is_listed(known, name) && !known.one_dash {
        return name.chars().skip(1).map(|letter| Wanted { name: short(letter), value: None }).collect();
    }
    vec![Wanted { name: name.into(), value }]
}

/// Returns the lists of the options of a program.
fn lists(known: &Program) -> impl Iterator<Item = List<'static>> {
    let reads = known.reads.iter().flat_map(|form| [form.flags, form.globals]);
    reads.chain(known.plain.iter().map(|form| form.flags)).chain(known.wraps.map(|wraps| wraps.flags))
}

fn is_listed(known: &Program, option: &str) -> bool {
    lists(known).any(|list| takes_value(list, option).is_some())
        || synonyms(known).any(|mut names| names.any(|name| name == option))
}

/// Returns true if some form of the program takes the rest of the word, or the next word, as the value of the option.
fn may_take_value(known: &Program, option: &str) -> bool {
    lists(known).any(|list| takes_value(list, option) == Some(true))
}

/// Returns the options that mean the same, group by group. The words of a subcommand before them do not matter here.
fn synonyms(known: &Program) -> impl Iterator<Item = impl Iterator<Item = &'static str>> {
    known.synonyms.iter().map(|names| names.split(' ').filter(|name| is_option(name)))
}

/// Returns true if both options mean the same to the program, under some of its subcommands.
fn are_same(known: &Program, one: &str, other: &str) -> bool {
    let has = |names: &str, name: &str| names.split(' ').any(|word| word == name);
    one == other || known.synonyms.iter().any(|names| has(names, one) && has(names, other))
}

/// The words of a command, with each option and each value by itself.
#[derive(Default)]
struct Given {
    words: Vec<Said>,
    /// The options, and the value that is joined to each or may follow it.
    options: Vec<(SmolStr, Option<SmolStr>)>,
    /// The starts of words that may be options but are not known.
    unknown: Vec<SmolStr>,
}

impl Given {
    fn of(command: &Spoken, known: &Program) -> Given {
        let mut given = Given::default();
        let mut is_behind = false;
        for (at, word) in command.words.iter().enumerate() {
            let next = command.words.get(at + 1).and_then(Said::known);
            match word {
                Said::Is(text) | Said::Maybe(text) if at > 0 && is_option(text) && !is_behind => {
                    given.add_option(text, next, known);
                }
                Said::Is(text) | Said::Maybe(text) => {
                    is_behind |= text == "--" && !command.anywhere;
                    given.words.push(word.clone());
                }
                Said::One(ends) | Said::Many(ends) => {
                    if ends.start.is_empty() || ends.start.starts_with('-') {
                        given.unknown.push(ends.start.clone());
                    }
                    given.words.push(word.clone());
                }
            }
        }
        given
    }

    fn add_option(&mut self, text: &SmolStr, next: Option<&str>, known: &Program) {
        let assigned = text.split_once('=').filter(|(name, _)| !name.is_empty());
        if let Some((name, value)) = assigned {
            self.push(name, Some(value), true);
        }
        if text.starts_with("--") || known.one_dash || is_listed(known, text) {
            if assigned.is_none() {
                self.push(text, next, false);
            }
            return;
        }
        for (start, letter) in text.char_indices().skip(1) {
            let option = short(letter);
            let rest = text.get(start + letter.len_utf8()..).unwrap_or_default();
            if may_take_value(known, &option) {
                let value = if rest.is_empty() { next } else { Some(rest) };
                return self.push(&option, value, !rest.is_empty());
            }
            self.push(&option, if rest.is_empty() { next } else { None }, false);
        }
    }

    fn push(&mut self, name: &str, value: Option<&str>, is_joined: bool) {
        self.options.push((name.into(), value.map(SmolStr::from)));
        self.words.push(Said::Is(name.into()));
        self.words.extend(value.filter(|_| is_joined).map(|value| Said::Is(value.into())));
    }

    /// Returns true if the command may have the option.
    fn may_have(&self, wanted: &Wanted<'_>, known: &Program) -> bool {
        let is_value = |value: &Option<SmolStr>| match wanted.value {
            None => true,
            Some(pattern) => value.as_ref().is_none_or(|value| is_like(pattern, value)),
        };
        let is_it = |(name, value): &(SmolStr, Option<SmolStr>)| names(name, &wanted.name, known) && is_value(value);
        let may_become = |start: &SmolStr| {
            let joined = start.starts_with('-') && !start.starts_with("--");
            joined || wanted.name.starts_with(start.as_str()) || start.starts_with("--")
        };
        self.options.iter().any(is_it) || self.unknown.iter().any(may_become)
    }

    /// Returns true if the words may match a pattern without options. Options and their values may stand at the end.
    fn may_be(&self, pattern: &CommandPattern, anywhere: bool) -> bool {
        let is_option = |word: &Said| word.known().is_some_and(is_option);
        let whole = self.words.len();
        let mut ends = vec![whole];
        for (at, word) in self.words.iter().enumerate().rev().take(MAX_TRIMMED) {
            let before = at.checked_sub(1).and_then(|before| self.words.get(before));
            if is_option(word) {
                ends.push(at);
            } else if !before.is_some_and(is_option) {
                break;
            }
        }
        let covers = |end: usize| {
            let words = self.words.get(..end).unwrap_or_default();
            pattern.may_cover(&Spoken { words: words.into(), anywhere })
        };
        ends.into_iter().any(covers)
    }
}

/// Returns true if the option of a command is the option of a pattern, another name of it, or an abbreviation.
fn names(given: &str, wanted: &str, known: &Program) -> bool {
    let abbreviates =
        |name: &str| given.len() > 3 && given.starts_with("--") && name.starts_with(given) && !is_listed(known, given);
    let is_it = |name: &str| are_same(known, given, name) || abbreviates(name);
    let others = known.synonyms.iter().filter(|names| names.split(' ').any(|name| name == wanted));
    is_it(wanted)
        || wanted.contains('*') && is_like(wanted, given)
        || others.flat_map(|names| names.split(' ')).any(|name| is_option(name) && is_it(name))
}

//! Rules that a person adds: programs that only read, and commands that deserve a higher tier.
//!
//! Both are checked with their own examples when they are made. Neither can lower a destructive tier: destruction is
//! searched for before anything is proven, whatever has been added.

use std::{fmt, sync::Arc};

use crate::model::{CommandRules, Raise, SafeAddition, Shown};

use super::{
    answer::Classification,
    classifier::Classifier,
    judge::{self, Verdict},
    options::{Options, Reading},
    tier::{Profile, Tier},
    walk::Arg,
};

/// Why an addition is refused. Each names the program and, where there is one, the example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidAddition {
    /// Not a bare name of letters, digits, `.`, `_`, `+` and `-`.
    Program(String),
    /// The program runs others or runs code, so that no form of it only reads.
    RunsOthers(String),
    /// An option that does not start with `-`, or a subcommand that does: the program, the word.
    Word(String, String),
    /// There is no example, or none that must not match.
    NoExample(String),
    /// An example did not come out as it was said to.
    Example {
        /// The program of the addition.
        program: String,
        /// The example.
        example: String,
        /// Whether it stands among those that must match.
        matches: bool,
        /// What it came out as.
        tier: Tier,
        /// Why.
        reason: String,
    },
    /// An example that comes out the same without the addition: it shows nothing.
    ProvesNothing {
        /// The program of the addition.
        program: String,
        /// The example.
        example: String,
        /// What it comes out as anyway.
        tier: Tier,
    },
    /// A raise that raises nothing.
    NotRaised(String),
    /// More additions, or more text in one, than a person writes.
    TooMany(String),
}

impl fmt::Display for InvalidAddition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidAddition::Program(name) => write!(f, "`{}` is not the bare name of a program", Shown(name)),
            InvalidAddition::RunsOthers(name) => {
                write!(f, "`{name}` runs other programs or code and cannot be declared safe")
            }
            InvalidAddition::Word(name, word) => {
                write!(f, "`{}` is not an option or subcommand of `{name}`", Shown(word))
            }
            InvalidAddition::NoExample(name) => {
                write!(f, "`{name}` needs an example in `match` and one in `not_match`")
            }
            InvalidAddition::Example { program, example, matches, tier, reason } => {
                let (list, example) = (if *matches { "match" } else { "not_match" }, Shown(example));
                write!(f, "`{example}` stands in `{list}` of `{program}` and comes out {tier}: {}", Shown(reason))
            }
            InvalidAddition::ProvesNothing { program, example, tier } => {
                let example = Shown(example);
                write!(f, "`{example}` stands in `match` of `{program}` and is {tier} without it: it shows nothing")
            }
            InvalidAddition::NotRaised(name) => write!(f, "`{name}` can be raised to dangerous or destructive only"),
            InvalidAddition::TooMany(name) => {
                write!(f, "`{}` is beyond {MAX_ROWS} rules of a kind, or has more than {MAX_WORDS} words", Shown(name))
            }
        }
    }
}

impl std::error::Error for InvalidAddition {}

/// Which addition of [`CommandRules`] is meant, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(clippy::exhaustive_enums, reason = "there are two kinds of additions")]
pub enum Row {
    /// Of those that are safe.
    Safe(usize),
    /// Of those that are raised.
    Raise(usize),
}

/// Each command is compared with every row.
const MAX_ROWS: usize = 256;
/// Words and examples of one row.
const MAX_WORDS: usize = 256;

/// Checked additions. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Additions {
    safe: Arc<[Safe]>,
    raises: Arc<[Raise]>,
}

#[derive(Clone, Debug)]
struct Safe {
    program: String,
    subcommand: Vec<String>,
    flags: String,
    operands: bool,
}

impl Additions {
    /// Checks additions together, each with its examples.
    ///
    /// # Errors
    ///
    /// The first addition that is malformed or contradicts its own examples.
    pub fn new(safe: Vec<SafeAddition>, raises: Vec<Raise>) -> Result<Self, InvalidAddition> {
        let rules = CommandRules { profile: Profile::Default, safe, raises };
        match Self::check(&rules).into_iter().next() {
            Some((_, why)) => Err(why),
            None => Self::of(&rules),
        }
    }

    /// Everything that is wrong with the additions of `rules`: with their form, or else with their examples.
    pub fn check(rules: &CommandRules) -> Vec<(Row, InvalidAddition)> {
        let wrong = malformed(rules);
        match Self::of(rules) {
            Ok(additions) if wrong.is_empty() => additions.against_examples(rules),
            _ => wrong,
        }
    }

    /// Those of `rules`, their examples taken on trust.
    pub(super) fn of(rules: &CommandRules) -> Result<Self, InvalidAddition> {
        if let Some((_, why)) = malformed(rules).into_iter().next() {
            return Err(why);
        }
        let rows = rules.safe.iter().map(|addition| Safe {
            program: addition.program.clone(),
            subcommand: addition.subcommand.clone(),
            flags: addition.flags.join(" "),
            operands: addition.operands,
        });
        Ok(Additions { safe: rows.collect(), raises: rules.raises.iter().cloned().collect() })
    }

    fn against_examples(self, rules: &CommandRules) -> Vec<(Row, InvalidAddition)> {
        let with = Classifier::new(Profile::Default).with_additions(self.clone());
        let mut wrong = Vec::new();
        for (index, row) in rules.safe.iter().enumerate() {
            let without = Classifier::new(Profile::Default).with_additions(self.without(index));
            let example = Examples { program: &row.program, matches: &row.matches, not_matches: &row.not_matches };
            let found = example.wrong(&with, Some(&without), |tier| tier == Tier::Safe);
            wrong.extend(found.into_iter().map(|why| (Row::Safe(index), why)));
        }
        for (index, row) in rules.raises.iter().enumerate() {
            let example = Examples { program: &row.program, matches: &row.matches, not_matches: &row.not_matches };
            // A raise of what is as bad already lets nothing run that did not: it need not prove itself.
            let found = example.wrong(&with, None, |tier| tier >= row.tier);
            wrong.extend(found.into_iter().map(|why| (Row::Raise(index), why)));
        }
        wrong
    }

    /// All but one of those that are safe.
    fn without(&self, left_out: usize) -> Additions {
        let others = self.safe.iter().enumerate().filter(|(index, _)| *index != left_out);
        Additions { safe: others.map(|(_, row)| row.clone()).collect(), raises: Arc::clone(&self.raises) }
    }

    /// The rule by which a command only reads, if one was added.
    pub(super) fn proves(&self, name: &str, rest: &[Arg]) -> Option<String> {
        let fits = |row: &&Safe| row.program == name && row.fits(rest);
        self.safe.iter().find(fits).map(|row| format!("`{}` was added as only reading in this form", row.program))
    }

    /// Whether some use of the program was raised to destructive.
    pub(super) fn may_destroy(&self, name: &str) -> bool {
        self.raises.iter().any(|raise| raise.tier == Tier::Destructive && raise.program == name)
    }

    /// The tier a command was raised to.
    pub(super) fn raise(&self, args: &[Arg]) -> Option<Verdict> {
        let (program, rest) = args.split_first()?;
        let name = judge::basename(&program.text);
        let fits = |raise: &&Raise| {
            raise.program == name && raise.words.iter().all(|word| rest.iter().any(|arg| arg.text == *word))
        };
        let raise = self.raises.iter().filter(fits).max_by_key(|raise| raise.tier)?;
        let rule = format!("`{}` was raised by an added rule", raise.program);
        Some(Verdict { tier: raise.tier, rule: rule.into() })
    }
}

/// The examples of one addition.
struct Examples<'r> {
    program: &'r str,
    matches: &'r [String],
    not_matches: &'r [String],
}

impl Examples<'_> {
    /// What is wrong with them: they do not come out as they should, or do so without the addition.
    fn wrong(
        &self,
        with: &Classifier,
        without: Option<&Classifier>,
        fits: impl Fn(Tier) -> bool,
    ) -> Vec<InvalidAddition> {
        let examples =
            self.matches.iter().map(|one| (one, true)).chain(self.not_matches.iter().map(|one| (one, false)));
        let wrong = |(example, matches): (&String, bool)| {
            let (program, example) = (self.program.to_owned(), example.to_owned());
            let Classification { tier, reason, .. } = with.classify(&example);
            if fits(tier) != matches {
                return Some(InvalidAddition::Example { program, example, matches, tier, reason });
            }
            let tier = without.filter(|_| matches)?.classify(&example).tier;
            fits(tier).then_some(InvalidAddition::ProvesNothing { program, example, tier })
        };
        examples.filter_map(wrong).collect()
    }
}

impl Safe {
    fn fits(&self, rest: &[Arg]) -> bool {
        let subcommand = self.subcommand.len();
        let named = rest.len() >= subcommand
            && self.subcommand.iter().zip(rest).all(|(wanted, arg)| arg.is_written() && arg.text == *wanted);
        let reading = Reading { flags: &self.flags, stop_at_operand: false, inert: false };
        named
            && Options::read(rest.get(subcommand..).unwrap_or_default(), reading)
                .is_ok_and(|options| self.operands || options.operands.is_empty())
    }
}

fn check_safe(index: usize, addition: &SafeAddition) -> Result<(), InvalidAddition> {
    let lists = [&addition.subcommand[..], &addition.flags, &addition.matches, &addition.not_matches];
    check_size(index, &addition.program, lists)?;
    check_program(&addition.program, &addition.matches, &addition.not_matches)?;
    if judge::runs_text(&addition.program, &[]) {
        return Err(InvalidAddition::RunsOthers(addition.program.clone()));
    }
    let bad_flag = addition
        .flags
        .iter()
        .find(|flag| !flag.starts_with('-') || flag.len() < 2 || flag.contains(char::is_whitespace));
    let bad_word = addition.subcommand.iter().find(|word| word.starts_with('-') || word.is_empty());
    match bad_flag.or(bad_word) {
        Some(word) => Err(InvalidAddition::Word(addition.program.clone(), word.clone())),
        None => Ok(()),
    }
}

fn check_raise(index: usize, raise: &Raise) -> Result<(), InvalidAddition> {
    check_size(index, &raise.program, [&raise.words, &raise.matches, &raise.not_matches, &[]])?;
    check_program(&raise.program, &raise.matches, &raise.not_matches)?;
    if raise.tier == Tier::Safe { Err(InvalidAddition::NotRaised(raise.program.clone())) } else { Ok(()) }
}

/// Each row that does not even have the form of one.
fn malformed(rules: &CommandRules) -> Vec<(Row, InvalidAddition)> {
    let safe = rules.safe.iter().enumerate().map(|(index, row)| (Row::Safe(index), check_safe(index, row)));
    let raises = rules.raises.iter().enumerate().map(|(index, row)| (Row::Raise(index), check_raise(index, row)));
    safe.chain(raises).filter_map(|(row, checked)| checked.err().map(|why| (row, why))).collect()
}

fn check_size(index: usize, name: &str, lists: [&[String]; 4]) -> Result<(), InvalidAddition> {
    let words: usize = lists.iter().map(|list| list.len()).sum();
    if index < MAX_ROWS && words <= MAX_WORDS { Ok(()) } else { Err(InvalidAddition::TooMany(name.into())) }
}

fn check_program(name: &str, matches: &[String], not_matches: &[String]) -> Result<(), InvalidAddition> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte);
    if name.is_empty() || name.starts_with('-') || !name.bytes().all(plain) {
        return Err(InvalidAddition::Program(name.into()));
    }
    if matches.is_empty() || not_matches.is_empty() {
        return Err(InvalidAddition::NoExample(name.into()));
    }
    Ok(())
}

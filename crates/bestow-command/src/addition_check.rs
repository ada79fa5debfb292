//! The check of the form of custom rules.

use crate::{
    addition::Additions,
    custom_form::misplaced,
    evaluator,
    tier::Tier,
    values::{CommandRules, Escaped, Raise, SafeAddition},
};
use std::fmt;

/// The reason why an addition is refused. Each variant names the program and, if there is one, the example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the reader of each file explains every reason")]
pub enum InvalidAddition {
    /// A name that contains other characters than letters, digits, `.`, `_`, `+` and `-`, or that starts with `-`.
    Program(String),
    /// A program that runs other programs or code. No form of such a program is read-only.
    RunsOthers(String),
    /// An option that does not start with `-`, or a subcommand that does. The fields are the program and the word.
    Word(String, String),
    /// A rule without an example that must match, or without an example that must not match.
    NoExample(String),
    /// An example whose tier contradicts its list.
    Example {
        /// The program of the addition.
        program: String,
        /// The example.
        example: String,
        /// True if the example is listed in `match`, false if it is listed in `not_match`.
        matches: bool,
        /// The tier that the classifier gave the example.
        tier: Tier,
        /// The classifier's reason for this tier.
        reason: String,
    },
    /// An example that has the expected tier even without the addition. Such an example proves nothing.
    ProvesNothing {
        /// The program of the addition.
        program: String,
        /// The example.
        example: String,
        /// The tier of the example without the addition.
        tier: Tier,
    },
    /// A raise to the tier `safe`, which raises nothing.
    NotRaised(String),
    /// More than 256 additions of a kind, or more than 256 words in one addition.
    TooMany(String),
}

impl fmt::Display for InvalidAddition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidAddition::Program(name) => write!(f, "`{}` is not the bare name of a program", Escaped(name)),
            InvalidAddition::RunsOthers(name) => {
                write!(f, "`{name}` runs other programs or code and cannot be declared safe")
            }
            InvalidAddition::Word(name, word) => {
                write!(f, "`{}` is not an option or subcommand of `{name}`", Escaped(word))
            }
            InvalidAddition::NoExample(name) => {
                write!(f, "`{name}` needs an example in `match` and one in `not_match`")
            }
            InvalidAddition::Example { program, example, matches, tier, reason } => {
                let (list, example) = (if *matches { "match" } else { "not_match" }, Escaped(example));
                write!(f, "`{example}` stands in `{list}` of `{program}` and comes out {tier}: {}", Escaped(reason))
            }
            InvalidAddition::ProvesNothing { program, example, tier } => {
                let example = Escaped(example);
                write!(f, "`{example}` stands in `match` of `{program}` and is {tier} without it: it shows nothing")
            }
            InvalidAddition::NotRaised(name) => write!(f, "`{name}` can be raised to dangerous or destructive only"),
            InvalidAddition::TooMany(name) => {
                write!(
                    f,
                    "`{}` is beyond {MAX_ROWS} rules of a kind, or has more than {MAX_WORDS} words",
                    Escaped(name)
                )
            }
        }
    }
}

impl std::error::Error for InvalidAddition {}

/// The addition of [`CommandRules`] that an error belongs to, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(clippy::exhaustive_enums, reason = "there are two kinds of additions")]
pub enum Row {
    /// The index of an addition that declares a program read-only.
    Safe(usize),
    /// The index of a raise.
    Raise(usize),
}

/// Limits the number of rows of each kind, because each command is compared with every row.
const MAX_ROWS: usize = 256;
/// Limits the number of words and examples of one row.
const MAX_WORDS: usize = 256;

impl Additions {
    /// Builds the additions of `rules` without running their examples.
    pub(crate) fn of(rules: &CommandRules) -> Result<Self, InvalidAddition> {
        if let Some((_, why)) = malformed(rules).into_iter().next() {
            return Err(why);
        }
        Ok(Additions::of_valid(rules))
    }
}

fn check_safe(index: usize, addition: &SafeAddition) -> Result<(), InvalidAddition> {
    let forms = [&addition.subcommand, &addition.subcommands, &addition.flags, &addition.requires, &addition.refuses];
    let operands = [&addition.first_operand, &addition.operand_is, &addition.operand_not, &addition.value_not];
    let lists = forms.into_iter().chain(operands).chain([&addition.matches, &addition.not_matches]);
    check_size(index, &addition.program, lists)?;
    check_program(&addition.program, &addition.matches, &addition.not_matches)?;
    if evaluator::runs_text(&addition.program, &[]) {
        return Err(InvalidAddition::RunsOthers(addition.program.clone()));
    }
    match misplaced(addition) {
        Some(word) => Err(InvalidAddition::Word(addition.program.clone(), word.to_owned())),
        None => Ok(()),
    }
}

fn check_raise(index: usize, raise: &Raise) -> Result<(), InvalidAddition> {
    check_size(index, &raise.program, [&raise.words, &raise.matches, &raise.not_matches])?;
    check_program(&raise.program, &raise.matches, &raise.not_matches)?;
    if raise.tier == Tier::Safe { Err(InvalidAddition::NotRaised(raise.program.clone())) } else { Ok(()) }
}

/// Returns every row with an invalid form.
pub(crate) fn malformed(rules: &CommandRules) -> Vec<(Row, InvalidAddition)> {
    let safe = rules.safe.iter().enumerate().map(|(index, row)| (Row::Safe(index), check_safe(index, row)));
    let raises = rules.raises.iter().enumerate().map(|(index, row)| (Row::Raise(index), check_raise(index, row)));
    safe.chain(raises).filter_map(|(row, checked)| checked.err().map(|why| (row, why))).collect()
}

fn check_size<'l>(
    index: usize,
    name: &str,
    lists: impl IntoIterator<Item = &'l Vec<String>>,
) -> Result<(), InvalidAddition> {
    let words: usize = lists.into_iter().map(Vec::len).sum();
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

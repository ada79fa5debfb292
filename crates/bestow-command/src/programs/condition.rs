//! The conditions of a read-only form on the options and operands of a command. Records and the rules of a person have
//! the same ones.

use std::borrow::Cow;

use super::form::has_form;
use crate::{interpreter, options::Options, syntax, word::Word};

/// A condition on a parsed command line. A pattern may have a `*` at its beginning and at its end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Test<'t> {
    /// The number of options that are given.
    Options(Count),
    /// At least one of these options, separated by blanks.
    Requires(&'t str),
    /// None of these options.
    Refuses(&'t str),
    /// The first operand, if there is one, is written out and matches a pattern.
    FirstOperand(&'t [Cow<'t, str>]),
    /// The last operand, if there is one, is written out and matches a pattern.
    LastOperand(&'t [Cow<'t, str>]),
    /// Every operand matches a pattern.
    OperandIs(&'t [Cow<'t, str>]),
    /// No operand matches a pattern.
    OperandNot(&'t [Cow<'t, str>]),
    /// No value of an option matches a pattern.
    ValueNot(&'t [Cow<'t, str>]),
    /// Every operand is known in full.
    WrittenOut,
    /// No operand may be any text.
    Known,
    /// Every operand consists of digits.
    Numbers,
    /// Every operand is the name of a variable.
    VariableNames,
    /// Every operand is a target that stores nothing, such as `/dev/null`.
    FreeTargets,
    /// Every operand has the form of the name of a Debian package, which may have a version or an architecture.
    PackageNames,
    LeastOperands(usize),
    MostOperands(usize),
}

/// A number of options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    None,
    One,
    Some,
}

impl Test<'_> {
    /// Returns true if the command line satisfies the condition.
    pub(crate) fn holds(self, options: &Options<'_>) -> bool {
        let fits =
            |patterns: &[Cow<'_, str>], word: &Word| patterns.iter().any(|pattern| has_form(word.text(), pattern));
        let is_one = |word: &&Word, patterns| word.is_exact() && fits(patterns, word);
        let mut operands = options.operands.iter();
        match self {
            Test::Options(Count::None) => options.given.is_empty(),
            Test::Options(Count::One) => options.given.len() == 1,
            Test::Options(Count::Some) => !options.given.is_empty(),
            Test::Requires(flags) => options.has(flags),
            Test::Refuses(flags) => !options.has(flags),
            Test::FirstOperand(patterns) => operands.next().is_none_or(|word| is_one(word, patterns)),
            Test::LastOperand(patterns) => operands.last().is_none_or(|word| is_one(word, patterns)),
            Test::OperandIs(patterns) => operands.all(|word| fits(patterns, word)),
            Test::OperandNot(patterns) => !operands.any(|word| fits(patterns, word)),
            Test::ValueNot(patterns) => !options.values.iter().any(|word| fits(patterns, word)),
            Test::WrittenOut => operands.all(|word| word.is_exact()),
            Test::Known => !operands.any(|word| word.is_wild()),
            Test::Numbers => operands.all(|word| word.text().bytes().all(|byte| byte.is_ascii_digit())),
            Test::VariableNames => operands.all(|word| word.is_exact() && syntax::is_name(word.text())),
            Test::FreeTargets => operands.all(|word| word.is_exact() && interpreter::is_free(word.text())),
            Test::PackageNames => operands.all(|word| is_package_name(word.text())),
            Test::LeastOperands(least) => operands.len() >= least,
            Test::MostOperands(most) => operands.len() <= most,
        }
    }
}

/// Returns true for a text that `apt-get` reads as a package, and never as the value of a switch: it reads `No`, `+0`
/// and ` 0` after a switch as its value.
fn is_package_name(text: &str) -> bool {
    let name = text.split(['=', ':', '/']).next().unwrap_or_default();
    let is_of_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte);
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.bytes().all(is_of_name)
}

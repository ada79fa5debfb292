//! Rules that a person adds: programs that only read, and commands that deserve a higher tier.
//!
//! Both are checked with their own examples when they are made. Neither can lower a destructive tier: destruction is
//! searched for before anything is proven, whatever has been added.

use std::{fmt, sync::Arc};

use serde::Deserialize;

use super::{
    classifier::Classifier,
    judge::{self, Verdict},
    options::{Options, Reading},
    tier::{Profile, Tier},
    walk::Arg,
};

/// A form of a program that only reads, as a person writes it down.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SafeAddition {
    /// The bare name of the program.
    pub program: String,
    /// The words of the subcommand, in order; none for the program itself.
    #[serde(default)]
    pub subcommand: Vec<String>,
    /// Every option that may be given: `-a` stands alone, `-n:` takes a value, `--color?` may take one with `=`.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Whether operands are allowed; they must then only be read.
    #[serde(default)]
    pub operands: bool,
    /// Commands that must come out safe. At least one.
    #[serde(rename = "match")]
    pub matches: Vec<String>,
    /// Commands that must not come out safe. At least one.
    #[serde(rename = "not-match")]
    pub not_matches: Vec<String>,
}

/// Commands that are worse than the built-in rules say.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Raise {
    /// The bare name of the program; it is found under any path.
    pub program: String,
    /// Words that must all be among the arguments, in any order; none for every use of the program.
    #[serde(default)]
    pub words: Vec<String>,
    /// The tier of such a command: dangerous or destructive.
    pub tier: Tier,
    /// Commands that must come out at this tier. At least one.
    #[serde(rename = "match")]
    pub matches: Vec<String>,
    /// Commands that must stay below this tier. At least one.
    #[serde(rename = "not-match")]
    pub not_matches: Vec<String>,
}

/// Why an addition is refused. Each names the program and, where there is one, the example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidAddition {
    /// Not a bare name of letters, digits, `.`, `_`, `+` and `-`.
    Program(String),
    /// The program runs others or runs code, so that no form of it only reads.
    RunsOthers(String),
    /// An option that does not start with `-`, or a subcommand that does.
    Word(String, String),
    /// There is no example, or none that must not match.
    NoExample(String),
    /// An example did not come out as it was said to.
    Example(String, String, Tier),
    /// A raise that raises nothing.
    NotRaised(String),
}

impl fmt::Display for InvalidAddition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidAddition::Program(name) => write!(f, "`{name}` is not the bare name of a program"),
            InvalidAddition::RunsOthers(name) => {
                write!(f, "`{name}` runs other programs or code and cannot be declared safe")
            }
            InvalidAddition::Word(name, word) => write!(f, "`{word}` is not an option or subcommand of `{name}`"),
            InvalidAddition::NoExample(name) => {
                write!(f, "`{name}` needs an example that matches and one that does not")
            }
            InvalidAddition::Example(name, example, tier) => {
                write!(f, "the example `{example}` of `{name}` comes out {tier}")
            }
            InvalidAddition::NotRaised(name) => write!(f, "`{name}` can be raised to dangerous or destructive only"),
        }
    }
}

impl std::error::Error for InvalidAddition {}

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
        safe.iter().try_for_each(check_safe)?;
        raises.iter().try_for_each(check_raise)?;
        let rows = safe.iter().map(|addition| Safe {
            program: addition.program.clone(),
            subcommand: addition.subcommand.clone(),
            flags: addition.flags.join(" "),
            operands: addition.operands,
        });
        let additions = Additions { safe: rows.collect(), raises: raises.iter().cloned().collect() };
        let classifier = Classifier::new(Profile::Default).with_additions(additions.clone());
        for addition in &safe {
            examples(&classifier, &addition.program, &addition.matches, |tier| tier == Tier::Safe)?;
            examples(&classifier, &addition.program, &addition.not_matches, |tier| tier > Tier::Safe)?;
        }
        for raise in &raises {
            examples(&classifier, &raise.program, &raise.matches, |tier| tier >= raise.tier)?;
            examples(&classifier, &raise.program, &raise.not_matches, |tier| tier < raise.tier)?;
        }
        Ok(additions)
    }

    /// The rule by which a command only reads, if one was added.
    pub(super) fn proves(&self, name: &str, rest: &[Arg]) -> Option<String> {
        let fits = |row: &&Safe| row.program == name && row.fits(rest);
        self.safe.iter().find(fits).map(|row| format!("`{}` was added as only reading in this form", row.program))
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

fn check_safe(addition: &SafeAddition) -> Result<(), InvalidAddition> {
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

fn check_raise(raise: &Raise) -> Result<(), InvalidAddition> {
    check_program(&raise.program, &raise.matches, &raise.not_matches)?;
    if raise.tier == Tier::Safe { Err(InvalidAddition::NotRaised(raise.program.clone())) } else { Ok(()) }
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

fn examples(
    classifier: &Classifier,
    name: &str,
    examples: &[String],
    wanted: impl Fn(Tier) -> bool,
) -> Result<(), InvalidAddition> {
    for example in examples {
        let tier = classifier.classify(example).tier;
        if !wanted(tier) {
            return Err(InvalidAddition::Example(name.into(), example.clone(), tier));
        }
    }
    Ok(())
}

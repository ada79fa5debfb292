//! The settings for commands: the tiers, the limit of the lowest tier, and rules that a person adds.
//!
//! The module [`command`](crate::command) reads commands. This one does not.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The amount of harm that a command can do (`sources/003`, command classification tiers). The order is the order of
/// strictness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "three tiers are what the classifier promises")]
pub enum Tier {
    /// Proven read-only: every part, option and operand of the command is on a list.
    Safe,
    /// Neither proven safe nor found destructive.
    Dangerous,
    /// Found to do irreversible harm.
    Destructive,
}

impl Tier {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Tier::Safe => "safe",
            Tier::Dangerous => "dangerous",
            Tier::Destructive => "destructive",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The error for a text that is not the name of a [`Tier`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "there is one way to be none of three words")]
pub struct InvalidTier;

impl fmt::Display for InvalidTier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a tier is `safe`, `dangerous` or `destructive`")
    }
}

impl std::error::Error for InvalidTier {}

impl FromStr for Tier {
    type Err = InvalidTier;

    fn from_str(text: &str) -> Result<Self, InvalidTier> {
        [Tier::Safe, Tier::Dangerous, Tier::Destructive]
            .into_iter()
            .find(|tier| tier.as_str() == text)
            .ok_or(InvalidTier)
    }
}

/// The limit between safe and dangerous commands. The order is the order of strictness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "two lines are what the classifier knows")]
pub enum CommandProfile {
    /// The limit of `sources/003`: plain `env`, `curl URL`, `wget URL` and reading any file are safe.
    #[default]
    Default,
    /// The stricter limit: printing the environment, using the network and reading secrets need an approval too.
    Strict,
}

impl fmt::Display for CommandProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CommandProfile::Default => "default",
            CommandProfile::Strict => "strict",
        })
    }
}

/// The error for a text that is not the name of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "there is one way to be neither of two words")]
pub struct InvalidProfile;

impl fmt::Display for InvalidProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a profile of commands is `default` or `strict`")
    }
}

impl std::error::Error for InvalidProfile {}

impl FromStr for CommandProfile {
    type Err = InvalidProfile;

    fn from_str(text: &str) -> Result<Self, InvalidProfile> {
        match text {
            "default" => Ok(CommandProfile::Default),
            "strict" => Ok(CommandProfile::Strict),
            _ => Err(InvalidProfile),
        }
    }
}

/// A read-only form of a program, as a person writes it in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(clippy::exhaustive_structs, reason = "a form and its examples, as they stand in the file")]
pub struct SafeAddition {
    /// The bare name of the program.
    pub program: String,
    /// The words of the subcommand, in order. Empty for the program itself.
    #[serde(default)]
    pub subcommand: Vec<String>,
    /// Alternatives of the subcommand, each with its words separated by blanks. They count in addition to `subcommand`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subcommands: Vec<String>,
    /// Every allowed option: `-a` takes no value, `-n:` takes a value, `--color?` may take a value with `=`.
    #[serde(default)]
    pub flags: Vec<String>,
    /// True if operands are allowed. The program must only read them.
    #[serde(default)]
    pub operands: bool,
    /// Groups of options, separated by blanks. At least one option of each group must be given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<String>,
    /// Options that must not be given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refuses: Vec<String>,
    /// The words that the first operand may be. A `*` at the beginning or the end stands for any text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first_operand: Vec<String>,
    /// The words that every operand may be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operand_is: Vec<String>,
    /// The words that no operand may be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operand_not: Vec<String>,
    /// The words that no value of an option may be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub value_not: Vec<String>,
    /// True if every operand must be written out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub written_out: bool,
    /// Examples that must be classified as safe. At least one.
    #[serde(rename = "match")]
    pub matches: Vec<String>,
    /// Examples that must not be classified as safe. At least one.
    #[serde(rename = "not_match")]
    pub not_matches: Vec<String>,
}

/// Commands with a stricter tier than the built-in rules give.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(clippy::exhaustive_structs, reason = "words, a tier and examples, as they stand in the file")]
pub struct Raise {
    /// The bare name of the program. It matches under any path.
    pub program: String,
    /// Words that must all be among the arguments, in any order. Empty for every use of the program.
    #[serde(default)]
    pub words: Vec<String>,
    /// The tier of such a command: dangerous or destructive.
    pub tier: Tier,
    /// Examples that must get this tier. At least one.
    #[serde(rename = "match")]
    pub matches: Vec<String>,
    /// Examples that must stay below this tier. At least one.
    #[serde(rename = "not_match")]
    pub not_matches: Vec<String>,
}

/// Formats the added form, without the examples.
impl fmt::Display for SafeAddition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.subcommand.iter().chain(&self.flags).map(String::as_str);
        let operands = self.operands.then_some("<operands>");
        let form: Vec<&str> = std::iter::once(self.program.as_str()).chain(words).chain(operands).collect();
        write!(f, "`{}` runs as safe", form.join(" "))?;
        if !self.subcommands.is_empty() {
            write!(f, " with `{}`", self.subcommands.join("` or `"))?;
        }
        Ok(())
    }
}

/// Formats the stricter rule, without the examples.
impl fmt::Display for Raise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.program)?;
        if !self.words.is_empty() {
            write!(f, " with `{}`", self.words.join("` and `"))?;
        }
        write!(f, " is {}", self.tier)
    }
}

/// The rules for classifying commands: the profile, and the additions of a person to the built-in rules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(clippy::exhaustive_structs, reason = "a line, what lies below it besides, and what lies above")]
pub struct CommandRules {
    /// The limit between safe and dangerous.
    #[serde(default)]
    pub profile: CommandProfile,
    /// Read-only forms of programs.
    #[serde(default)]
    pub safe: Vec<SafeAddition>,
    /// Commands with a stricter tier than the built-in rules give.
    #[serde(default)]
    pub raises: Vec<Raise>,
}

impl CommandRules {
    /// Lists the changes from these rules to `new`, one sentence each.
    #[doc(hidden)]
    pub fn changes(&self, new: &CommandRules) -> Vec<String> {
        let profile = (self.profile != new.profile)
            .then(|| format!("the profile of commands from {} to {}", self.profile, new.profile));
        let more = new.safe.iter().filter(|row| !gives(&self.safe, row)).map(|row| row.to_string());
        let less = self.safe.iter().filter(|row| !gives(&new.safe, row)).map(|row| format!("no longer: {row}"));
        let stricter = new.raises.iter().filter(|row| !raises(&self.raises, row)).map(|row| row.to_string());
        let laxer = self.raises.iter().filter(|row| !raises(&new.raises, row)).map(|row| format!("no longer: {row}"));
        profile.into_iter().chain(more).chain(less).chain(stricter).chain(laxer).collect()
    }

    /// Returns the part of `new` that allows no command which these rules do not allow.
    #[doc(hidden)]
    pub fn narrowed(&self, new: &CommandRules) -> CommandRules {
        let kept = self.raises.iter().filter(|row| !raises(&new.raises, row));
        CommandRules {
            profile: self.profile.max(new.profile),
            safe: new.safe.iter().filter(|row| gives(&self.safe, row)).cloned().collect(),
            raises: new.raises.iter().chain(kept).cloned().collect(),
        }
    }
}

/// Returns true if `rows` contain the same form. The examples are not compared.
fn gives(rows: &[SafeAddition], row: &SafeAddition) -> bool {
    let form = |row: &SafeAddition| (row.program.clone(), row.subcommand.clone(), row.flags.clone(), row.operands);
    rows.iter().any(|other| form(other) == form(row))
}

/// Returns true if `rows` raise the same commands to this tier or a stricter one.
fn raises(rows: &[Raise], row: &Raise) -> bool {
    rows.iter().any(|other| other.program == row.program && other.words == row.words && other.tier >= row.tier)
}

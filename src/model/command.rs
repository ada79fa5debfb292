//! What a person writes down about commands: the tiers, where the line of the lowest one lies, and rules of their own.
//!
//! Nothing here reads a command; that is [`command`](crate::command).

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// How much harm a command can do (`sources/003`, command classification tiers). The order is the order of strictness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "three tiers are what the classifier promises")]
pub enum Tier {
    /// Proven to read only: every part, flag and operand of it is on a list.
    Safe,
    /// Everything that is neither proven safe nor found destructive.
    Dangerous,
    /// Found to do harm that nobody can undo.
    Destructive,
}

impl Tier {
    /// The name on the wire.
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

/// The text is not the name of a [`Tier`].
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

/// Where the line between safe and dangerous is drawn. The order is the order of strictness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "two lines are what the classifier knows")]
pub enum CommandProfile {
    /// The line of `sources/003`: plain `env`, `curl URL`, `wget URL` and reading any file are safe.
    #[default]
    Default,
    /// Printing the environment, talking to the network and reading secrets ask as well.
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

/// The text is not the name of a profile.
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

/// A form of a program that only reads, as a person writes it down.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(clippy::exhaustive_structs, reason = "a form and its examples, as they stand in the file")]
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
    #[serde(rename = "not_match")]
    pub not_matches: Vec<String>,
}

/// Commands that are worse than the built-in rules say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(clippy::exhaustive_structs, reason = "words, a tier and examples, as they stand in the file")]
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
    #[serde(rename = "not_match")]
    pub not_matches: Vec<String>,
}

/// What is allowed besides, without the examples.
impl fmt::Display for SafeAddition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.subcommand.iter().chain(&self.flags).map(String::as_str);
        let operands = self.operands.then_some("<operands>");
        let form: Vec<&str> = std::iter::once(self.program.as_str()).chain(words).chain(operands).collect();
        write!(f, "`{}` runs as safe", form.join(" "))
    }
}

/// What is stricter, without the examples.
impl fmt::Display for Raise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.program)?;
        if !self.words.is_empty() {
            write!(f, " with `{}`", self.words.join("` and `"))?;
        }
        write!(f, " is {}", self.tier)
    }
}

/// How commands are judged: the profile, and what a person added to the built-in rules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(clippy::exhaustive_structs, reason = "a line, what lies below it besides, and what lies above")]
pub struct CommandRules {
    /// Where the line between safe and dangerous is drawn.
    #[serde(default)]
    pub profile: CommandProfile,
    /// Forms of programs that only read.
    #[serde(default)]
    pub safe: Vec<SafeAddition>,
    /// Commands that are worse than they look.
    #[serde(default)]
    pub raises: Vec<Raise>,
}

impl CommandRules {
    /// What `new` changes, a sentence each.
    pub(crate) fn changes(&self, new: &CommandRules) -> Vec<String> {
        let profile = (self.profile != new.profile)
            .then(|| format!("the profile of commands from {} to {}", self.profile, new.profile));
        let more = new.safe.iter().filter(|row| !gives(&self.safe, row)).map(|row| row.to_string());
        let less = self.safe.iter().filter(|row| !gives(&new.safe, row)).map(|row| format!("no longer: {row}"));
        let stricter = new.raises.iter().filter(|row| !raises(&self.raises, row)).map(|row| row.to_string());
        let laxer = self.raises.iter().filter(|row| !raises(&new.raises, row)).map(|row| format!("no longer: {row}"));
        profile.into_iter().chain(more).chain(less).chain(stricter).chain(laxer).collect()
    }

    /// `new`, as far as it lets nothing run that these do not.
    pub(crate) fn narrowed(&self, new: &CommandRules) -> CommandRules {
        let kept = self.raises.iter().filter(|row| !raises(&new.raises, row));
        CommandRules {
            profile: self.profile.max(new.profile),
            safe: new.safe.iter().filter(|row| gives(&self.safe, row)).cloned().collect(),
            raises: new.raises.iter().chain(kept).cloned().collect(),
        }
    }
}

/// Whether `rows` let the same form run; examples give nothing.
fn gives(rows: &[SafeAddition], row: &SafeAddition) -> bool {
    let form = |row: &SafeAddition| (row.program.clone(), row.subcommand.clone(), row.flags.clone(), row.operands);
    rows.iter().any(|other| form(other) == form(row))
}

/// Whether `rows` raise the same commands as high.
fn raises(rows: &[Raise], row: &Raise) -> bool {
    rows.iter().any(|other| other.program == row.program && other.words == row.words && other.tier >= row.tier)
}

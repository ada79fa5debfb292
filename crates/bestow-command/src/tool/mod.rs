//! Tool calls: the effects of a call, from its tool name and input. Tiers and decisions use the same interpretation.

mod built_in;
mod declared;
mod patch;
mod sensitive;
mod undeclared;

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::{
    classification::Classification,
    classifier::Classifier,
    tier::{Profile, Tier},
    values::{Access, Operation, Tool, Tools},
};

pub use built_in::built_in_tools;
pub(super) use sensitive::{is_guarded, is_sensitive, reading, writing};
pub(super) use undeclared::words_in;
pub use undeclared::{Followed, Undeclared, is_certainly_a_path};

/// The effects of a tool call, according to its name, its input and the declarations.
#[derive(Debug)]
pub enum Call<'v> {
    /// The call of a declared tool with a valid input.
    Declared(Box<DeclaredCall<'v>>),
    /// The call of a declared tool whose input lacks a required value or is invalid.
    Invalid(Operation, &'static str),
    /// The call of an unknown tool.
    Undeclared,
}

/// The call of a declared tool.
#[derive(Debug)]
pub struct DeclaredCall<'v> {
    /// The declaration of the tool.
    pub tool: Tool,
    /// The main use of the call. There is always one.
    pub own: ToolUse<'v>,
    /// The further uses of the call.
    pub further: Vec<ToolUse<'v>>,
    /// The globs that restrict the uses below its directories. Without a glob, the call uses everything below them.
    pub globs: Vec<&'v str>,
    /// The fields that may change the effect of the command line.
    pub besides: Map<String, Value>,
}

/// One use of a call, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolUse<'v> {
    /// A path, alone or with everything below it.
    Path {
        /// The kind of access.
        operation: Operation,
        /// The path as written.
        text: Cow<'v, str>,
        /// True if everything below the path is used too.
        tree: bool,
    },
    /// A command line.
    Command(Cow<'v, str>),
    /// A host.
    Host(&'v str),
    /// Any host.
    Network,
    /// The tool itself.
    Tool,
}

impl ToolUse<'_> {
    fn read(text: &str) -> ToolUse<'_> {
        ToolUse::Path { operation: Operation::Read, text: text.into(), tree: false }
    }

    /// Returns the operation of the use.
    pub fn operation(&self) -> Operation {
        match self {
            ToolUse::Path { operation, .. } => *operation,
            ToolUse::Command(_) => Operation::Command,
            ToolUse::Host(_) | ToolUse::Network => Operation::Network,
            ToolUse::Tool => Operation::Tool,
        }
    }
}

/// Returns the declaration of the tool `name`: one of `declared`, or otherwise a built-in one.
pub fn declaration<'t>(declared: &'t Tools, name: &str) -> Option<&'t Tool> {
    declared.get(name).or_else(|| built_in::find(name))
}

/// Interprets a call of the tool `name` with `input`.
pub fn read<'v>(declared: &Tools, name: &str, input: &'v Value) -> Call<'v> {
    let Some(tool) = declaration(declared, name) else { return Call::Undeclared };
    match read_as(tool, input) {
        Ok(call) => Call::Declared(Box::new(call)),
        Err(why) => Call::Invalid(tool.operation, why),
    }
}

/// Interprets a call with `input` according to the declaration `tool`.
pub fn read_as<'v>(tool: &Tool, input: &'v Value) -> Result<DeclaredCall<'v>, &'static str> {
    let (own, further) = declared::read(tool, input)?;
    let globs = declared::globs(tool, input)?;
    Ok(DeclaredCall { own, further, globs, besides: declared::besides(tool, input), tool: tool.clone() })
}

/// Returns the classification of a call.
pub(super) fn classify(classifier: &Classifier, name: &str, input: &Value) -> Classification {
    match read(classifier.tools(), name, input) {
        Call::Declared(call) => {
            let uses = std::iter::once(&call.own).chain(&call.further);
            let worst = uses.map(|used| tier_of(classifier, used, &call.besides)).reduce(worse);
            worst.unwrap_or_else(|| Classification::plain(Tier::Dangerous, UNLISTED))
        }
        Call::Invalid(Operation::Read, _) if classifier.profile() == Profile::Default => {
            at_least(Tier::Safe, "reads only", classifier, input)
        }
        Call::Invalid(_, why) => at_least(Tier::Dangerous, why, classifier, input),
        Call::Undeclared => at_least(Tier::Dangerous, UNLISTED, classifier, input),
    }
}

/// The reason for the tier of an unknown tool.
pub const UNLISTED: &str = "a tool that is not on any list";

/// Returns `tier`, or destructive if any text of the input is a destructive command.
fn at_least(tier: Tier, why: &str, classifier: &Classifier, input: &Value) -> Classification {
    let destroys = Undeclared::of(input).follow(classifier).worst;
    let destroys = destroys.filter(|found| found.tier == Tier::Destructive);
    destroys.map_or_else(|| Classification::plain(tier, why), |found| found.at_least_dangerous(why))
}

fn worse(one: Classification, other: Classification) -> Classification {
    if other.tier > one.tier { other } else { one }
}

fn tier_of(classifier: &Classifier, used: &ToolUse<'_>, besides: &Map<String, Value>) -> Classification {
    match used {
        ToolUse::Command(line) => classifier.classify_with(line, besides),
        ToolUse::Path { operation: Operation::Read, text, .. } => {
            let (tier, why) = reading(classifier.profile(), text);
            Classification::plain(tier, why)
        }
        ToolUse::Path { operation: Operation::Write, text, .. } => {
            let (tier, why) = classifier.writing(text);
            Classification::plain(tier, why)
        }
        ToolUse::Path { .. } => Classification::plain(Tier::Dangerous, "runs a program file"),
        ToolUse::Host(_) | ToolUse::Network => {
            let tier = if classifier.profile() == Profile::Strict { Tier::Dangerous } else { Tier::Safe };
            Classification::plain(tier, "reaches what it may reach")
        }
        ToolUse::Tool => Classification::plain(Tier::Dangerous, DECLARED),
    }
}

/// The reason for the tier of a declared tool that is neither file, command nor network.
pub const DECLARED: &str = "a tool whose effect is not classified";

/// Returns the operation for an access to a path.
fn operation_of(access: Access) -> Operation {
    match access {
        Access::Read => Operation::Read,
        Access::Write => Operation::Write,
    }
}

//! The tier of a tool call.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    classification::Classification,
    classifier::Classifier,
    surroundings::Surroundings,
    tier::{Profile, Tier},
    tool::{Call, DeclaredCall, ToolUse, Undeclared, read, sensitive::reading, with_nested_json},
    values::Operation,
    word::literal,
};

impl Classifier {
    /// Returns the tier of a tool call.
    ///
    /// The input of a declared or built-in tool says what the call does (`docs/tools.md`). An unknown tool is at least
    /// dangerous, and so is an input with contradictory fields. A destructive command is found in any input.
    pub fn classify_tool(&self, name: &str, input: &serde_json::Value) -> Classification {
        classify(self, name, input)
    }
}

/// Returns the tier of a tool call, with the built-in rules of the default profile.
///
/// ```
/// use bestow_command::{Tier, classify_tool};
/// let call = classify_tool("write", &serde_json::json!({ "file_path": "src/index.ts" }));
/// assert_eq!(call.tier, Tier::Safe);
/// ```
pub fn classify_tool(name: &str, input: &serde_json::Value) -> Classification {
    Classifier::default().classify_tool(name, input)
}

/// Returns the classification of a call.
fn classify(classifier: &Classifier, name: &str, input: &Value) -> Classification {
    match read(classifier.tools(), None, name, input) {
        Call::Declared(call) | Call::Session(call) => {
            let uses = std::iter::once(&call.own).chain(&call.further);
            let worst = uses.map(|used| tier_of(classifier, used, &call)).reduce(worse);
            let mut worst = worst.unwrap_or_else(|| Classification::plain(Tier::Dangerous, UNLISTED));
            if call.is_typed {
                worst = worse(worst, Classification::plain(Tier::Dangerous, TYPED));
            }
            unnamed_destroys(classifier, &call).map_or(worst.clone(), |found| worse(worst, found))
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

/// The reason for the tier of a command line that is typed into a running program.
pub const TYPED: &str = "Dangerous command: it is typed into a running program, whose state is unknown";

/// Returns `tier`, or destructive if any text of the input is a destructive command.
fn at_least(tier: Tier, why: &str, classifier: &Classifier, input: &Value) -> Classification {
    let input = with_nested_json(input);
    let destroys = Undeclared::of(&input).worst(classifier);
    let destroys = destroys.filter(|found| found.tier == Tier::Destructive);
    destroys.map_or_else(|| Classification::plain(tier, why), |found| found.at_least_dangerous(why))
}

/// Returns the classification of a destructive command in the unnamed fields of a call. The fields of a tool that is
/// declared as neither file, command nor network are texts.
pub(super) fn unnamed_destroys(classifier: &Classifier, call: &DeclaredCall<'_>) -> Option<Classification> {
    if call.tool.operation() == Operation::Tool {
        return None;
    }
    let worst = Undeclared::of_fields(&call.unnamed).worst(classifier);
    worst.filter(|found| found.tier == Tier::Destructive)
}

fn worse(one: Classification, other: Classification) -> Classification {
    if other.tier > one.tier { other } else { one }
}

fn tier_of(classifier: &Classifier, used: &ToolUse<'_>, call: &DeclaredCall<'_>) -> Classification {
    match used {
        ToolUse::Command(line) => {
            let start = call.directory.map(|directory| literal(directory).into_owned());
            let surroundings = Surroundings { start, ..Surroundings::default() };
            classifier.run_by(call.tool.shell).within(&Arc::new(surroundings)).classify_with(line, &call.besides)
        }
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

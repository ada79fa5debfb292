//! `bestow check-config`: the mistakes of a policy file.

use std::{collections::BTreeSet, fmt};

use bestow::{
    Error, Policy, PolicyFile,
    decision::Verdict,
    grant::Place,
    policy::{ConfigError, DryRun, Rule},
};
use serde_json::{Value, json};

use crate::{
    args::{CheckConfigArgs, Form},
    exit::Exit,
};

/// Prints every mistake of a policy file, or the number of things in it.
pub(crate) fn check_config(args: CheckConfigArgs) -> Result<Exit, Exit> {
    let form = args.form.form();
    let file = PolicyFile::new(args.path());
    let (name, checked) = (file.path().display(), checked(&file));
    match (form, checked) {
        (Form::Text, Ok(counts)) => {
            let notes: String = counts.notes.iter().map(|note| format!("{name}:{note}\n")).collect();
            Ok(Exit::print(&format!("{notes}{name}: {counts}\n")))
        }
        (Form::Text, Err(wrong)) => Err(Exit::failed(wrong)),
        (Form::Json, Ok(counts)) => Ok(Exit::print(&format!("{}\n", counts.to_json(&name)))),
        (Form::Json, Err(wrong)) => {
            let printed = Exit::print(&format!("{}\n", wrong.to_json(&name)));
            Err(if matches!(printed, Exit::Done) { Exit::Failed(String::new()) } else { printed })
        }
    }
}

/// Checks a policy file as an engine does that starts with it.
pub(crate) fn checked(file: &PolicyFile) -> Result<Counts, Wrong> {
    let (policy, text) = file.check().map_err(Wrong::File)?;
    let counts = Counts::of(&policy, text.tests());
    DryRun::of(policy).map_err(Wrong::Engine)?;
    Ok(counts)
}

/// The numbers of things in a good policy file.
#[derive(Debug)]
pub(crate) struct Counts {
    agents: usize,
    rules: usize,
    tests: usize,
    /// The notes about lines whose meaning a reader of the file may not expect.
    notes: BTreeSet<String>,
}

impl Counts {
    /// Counts agents, rules and tests. A rule counts once, for however many agents and paths it holds.
    fn of(policy: &Policy, tests: usize) -> Counts {
        let rules = policy.agents.values().flat_map(|agent| agent.rules.iter());
        let rules = rules.map(|Rule { place: Place { line, .. }, .. }| line).collect::<BTreeSet<_>>().len();
        let all = policy.agents.values().flat_map(|agent| agent.rules.iter());
        Counts { agents: policy.agents.len(), rules, tests, notes: all.filter_map(plain_pattern).collect() }
    }

    fn to_json(&self, file: &impl ToString) -> Value {
        let Counts { agents, rules, tests, notes } = self;
        let (file, valid) = (file.to_string(), true);
        json!({ "file": file, "valid": valid, "agents": agents, "rules": rules, "tests": tests, "notes": notes })
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let some = |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
        let (agents, rules) = (some(self.agents, "agent"), some(self.rules, "rule"));
        write!(f, "good: {agents}, {rules}, {}", some(self.tests, "test"))
    }
}

/// Returns what a pattern without a wildcard means.
fn plain_pattern(rule: &Rule) -> Option<String> {
    let pattern = rule.command.as_ref().filter(|pattern| pattern.is_plain())?;
    let line = rule.place.line;
    Some(match rule.verdict {
        Verdict::Allow => format!(
            "{line}: note: `{pattern}` allows exactly these words; `{pattern} **` allows it with any operands and \
             harmless options"
        ),
        Verdict::Ask | Verdict::Deny => format!(
            "{line}: note: `{pattern}` applies with any words behind it, as `{pattern} **` does; write `{pattern} **`"
        ),
    })
}

/// The reason why an engine would not take a policy file.
#[derive(Debug)]
pub(crate) enum Wrong {
    /// The file has mistakes.
    File(ConfigError),
    /// An engine refuses the policy of the file.
    Engine(Error),
}

impl Wrong {
    fn to_json(&self, file: &impl ToString) -> Value {
        let (problems, further) = match self {
            Wrong::File(why) => {
                let problems = why.problems().iter().map(|problem| {
                    json!({
                        "line": problem.position.map(|position| position.line),
                        "column": problem.position.map(|position| position.column),
                        "message": problem.message,
                        "help": problem.help,
                    })
                });
                (problems.collect(), why.further_problems())
            }
            Wrong::Engine(why) => {
                (vec![json!({ "line": null, "column": null, "message": why.to_string(), "help": null })], 0)
            }
        };
        json!({ "file": file.to_string(), "valid": false, "problems": problems, "furtherProblems": further })
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::File(why) => why.fmt(f),
            Wrong::Engine(why) => why.fmt(f),
        }
    }
}

//! `bestow check`, `bestow explain`, `bestow check-config` and `bestow protected`: a policy file, tried out.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use bestow::{
    Policy, PolicyFile, Settings,
    decision::Explanation,
    event::camel_case,
    grant::Place,
    policy::{DryRun, Rule},
    text::Escaped,
};
use serde::Serialize;

use crate::{
    args::{CheckArgs, CheckConfigArgs, Form},
    exit::Exit,
    suggest,
};

/// Prints the decision, in one line.
pub(crate) fn check(args: &CheckArgs) -> Result<Exit, Exit> {
    let explanation = explanation(args)?;
    let text = match args.form.form() {
        Form::Text => format!("{}\n", explanation.decision),
        Form::Json => json(&explanation.decision)?,
    };
    Ok(Exit::decided(explanation.decision.verdict(), &text))
}

/// Prints how the decision is reached.
pub(crate) fn explain(args: &CheckArgs) -> Result<Exit, Exit> {
    let explanation = explanation(args)?;
    let text = match args.form.form() {
        Form::Text => explanation.to_string(),
        Form::Json => json(&explanation)?,
    };
    Ok(Exit::decided(explanation.decision.verdict(), &text))
}

fn explanation(args: &CheckArgs) -> Result<Explanation, Exit> {
    let (action, file) = (args.action()?, &args.file.config);
    let policy = PolicyFile::new(file).load().map_err(Exit::failed)?;
    suggest::require_agent(&args.agent, &policy, file.display())?;
    DryRun::of(policy).and_then(|rehearsal| rehearsal.explain(&args.agent, &action)).map_err(Exit::failed)
}

fn json(value: &impl Serialize) -> Result<String, Exit> {
    serde_json::to_value(value).map(|value| format!("{}\n", camel_case(value))).map_err(Exit::failed)
}

/// Prints every mistake of a policy file, or the number of things in it.
pub(crate) fn check_config(args: CheckConfigArgs) -> Result<Exit, Exit> {
    let file = PolicyFile::new(args.path());
    let counts = checked(&file)?;
    Ok(Exit::print(&format!("{}: {counts}\n", file.path().display())))
}

/// Checks a policy file as an engine does that starts with it. Returns the number of things in it.
pub(crate) fn checked(file: &PolicyFile) -> Result<String, Exit> {
    let read = file.read().and_then(|text| Ok((text.parse()?, text.tests())));
    let (policy, tests) = read.map_err(Exit::failed)?;
    let counts = counted(&policy, tests);
    DryRun::of(policy).map_err(Exit::failed)?;
    Ok(counts)
}

/// Prints every protected path, one on each line.
pub(crate) fn protected(config: Option<PathBuf>) -> Result<Exit, Exit> {
    let policy = match config {
        Some(file) => PolicyFile::new(file).load().map_err(Exit::failed)?,
        None => Policy { settings: Settings::default(), agents: BTreeMap::new(), left_out: Vec::new() },
    };
    let paths = DryRun::of(policy).and_then(|rehearsal| rehearsal.protected()).map_err(Exit::failed)?;
    Ok(Exit::print(&paths.iter().map(|path| format!("{}\n", Escaped(path.as_str()))).collect::<String>()))
}

/// Counts agents, rules and tests. A rule counts once, for however many agents and paths it holds.
fn counted(policy: &Policy, tests: usize) -> String {
    let rules = policy.agents.values().flat_map(|agent| agent.rules.iter());
    let rules = rules.map(|Rule { place: Place { line, .. }, .. }| line).collect::<BTreeSet<_>>().len();
    let some = |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    let agents = some(policy.agents.len(), "agent");
    format!("good: {agents}, {}, {}", some(rules, "rule"), some(tests, "test"))
}

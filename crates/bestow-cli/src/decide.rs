//! `bestow check`, `bestow explain` and `bestow protected`: a policy file, tried out.

use std::{collections::BTreeMap, path::PathBuf};

use bestow::{Policy, PolicyFile, Settings, decision::Explanation, event::camel_case, policy::DryRun, text::Escaped};
use serde::Serialize;

use crate::{
    args::{CheckArgs, Form},
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

/// Prints every protected path, one on each line.
pub(crate) fn protected(config: Option<PathBuf>) -> Result<Exit, Exit> {
    let policy = match config {
        Some(file) => PolicyFile::new(file).load().map_err(Exit::failed)?,
        None => Policy { settings: Settings::default(), agents: BTreeMap::new(), left_out: Vec::new() },
    };
    let paths = DryRun::of(policy).and_then(|rehearsal| rehearsal.protected()).map_err(Exit::failed)?;
    Ok(Exit::print(&paths.iter().map(|path| format!("{}\n", Escaped(path.as_str()))).collect::<String>()))
}

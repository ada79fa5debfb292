//! `bestow check`, `bestow explain` and `bestow check-config`: what would be decided if a file were in force.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use bestow::{DryRun, Escaped, Explanation, Place, Policy, PolicyFile, Rule, Settings};
use serde::Serialize;

use crate::{
    arguments::{Deciding, Reader},
    end::End,
    near,
};

/// The decision, in one line.
pub(crate) fn check(asked: &Deciding) -> End {
    answered(asked, |explanation| match asked.reader {
        Reader::Person => Ok(format!("{}\n", explanation.decision)),
        Reader::Program => json(&explanation.decision),
    })
}

/// The whole way to the decision.
pub(crate) fn explain(asked: &Deciding) -> End {
    answered(asked, |explanation| match asked.reader {
        Reader::Person => Ok(explanation.to_string()),
        Reader::Program => json(explanation),
    })
}

fn answered(asked: &Deciding, told: impl FnOnce(&Explanation) -> Result<String, End>) -> End {
    let explanation = PolicyFile::new(&asked.config).load().map_err(End::failed).and_then(|policy| {
        near::known(&asked.agent, &policy, asked.config.display())?;
        DryRun::of(policy).and_then(|rehearsal| rehearsal.explain(&asked.agent, &asked.action)).map_err(End::failed)
    });
    let answer = explanation.and_then(|explanation| Ok((told(&explanation)?, explanation.decision.verdict())));
    answer.map_or_else(|end| end, |(text, verdict)| End::decided(verdict, &text))
}

fn json(value: &impl Serialize) -> Result<String, End> {
    serde_json::to_string(value).map(|text| text + "\n").map_err(End::failed)
}

/// Everything that is wrong with a file, or how much is in it.
pub(crate) fn check_config(file: PathBuf) -> End {
    let file = PolicyFile::new(file);
    let checked = file.read().and_then(|text| Ok((text.parse()?, text.tests()))).map_err(End::failed);
    let taken = checked.and_then(|(policy, tests)| {
        let told = counted(&policy, tests);
        DryRun::of(policy).map_err(End::failed)?;
        Ok(told)
    });
    match taken {
        Ok(told) => End::said(&format!("{}: {told}\n", file.path().display())),
        Err(end) => end,
    }
}

/// Every path that is protected, a line each.
pub(crate) fn protected(config: Option<PathBuf>) -> End {
    let policy = match config {
        Some(file) => PolicyFile::new(file).load().map_err(End::failed),
        None => Ok(Policy { settings: Settings::default(), agents: BTreeMap::new(), left_out: Vec::new() }),
    };
    let listed = policy.and_then(|policy| DryRun::of(policy).and_then(|all| all.protected()).map_err(End::failed));
    let lines =
        listed.map(|paths| paths.iter().map(|path| format!("{}\n", Escaped(path.as_str()))).collect::<String>());
    lines.map_or_else(|end| end, |lines| End::said(&lines))
}

/// A rule that binds many agents counts once, and so does one that lists many things.
fn counted(policy: &Policy, tests: usize) -> String {
    let rules = policy.agents.values().flat_map(|agent| agent.rules.iter());
    let rules = rules.map(|Rule { place: Place { line, .. }, .. }| line).collect::<BTreeSet<_>>().len();
    let some = |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    let agents = some(policy.agents.len(), "agent");
    format!("good: {agents}, {}, {}", some(rules, "rule"), some(tests, "test"))
}

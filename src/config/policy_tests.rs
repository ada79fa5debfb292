//! `[[test]]`: the decisions that a person expects of the file. While a test fails, no part of the file takes effect.

use serde_json::Value;
use toml::de::DeValue;

use super::{
    Problem,
    absolute::Base,
    agents::Draft,
    diagnostics::{Diagnostics, did_you_mean, quoted},
    permissions,
    table::{At, Table},
};
use crate::{
    engine::{DryRun, Error},
    kernel::Explanation,
    model::{Action, AgentId, Effect, Escaped, Operation, Permissions, Policy},
    node::Node,
    ports::AsWritten,
};

/// The keys that name the action of the agent.
const OPERATIONS: [(&str, Operation); 5] = [
    ("read", Operation::Read),
    ("write", Operation::Write),
    ("exec", Operation::Exec),
    ("command", Operation::Command),
    ("network", Operation::Network),
];

/// The decisions that a test may expect.
const EFFECTS: [(&str, Effect); 4] =
    [("allow", Effect::Allow), ("confined", Effect::Confined), ("ask", Effect::Ask), ("deny", Effect::Deny)];

/// One test.
#[derive(Debug)]
pub(super) struct PolicyTest {
    offset: usize,
    agent: AgentId,
    action: Action,
    /// The action as written in the file.
    shown: String,
    expect: Effect,
    /// The stage that decides, or a part of its reason.
    because: Option<String>,
}

/// A test that fails.
#[derive(Debug)]
pub(super) enum Failure {
    /// A test that would pass if every path were real as written.
    OfTheDisk(Problem),
    OfTheText(Problem),
}

/// Reads the tests of the file.
pub(super) fn read(
    root: &mut Table<'_>,
    base: Base<'_>,
    drafts: &[Draft],
    found: &mut Diagnostics<'_>,
) -> Vec<PolicyTest> {
    let tables = root.tables("test", found);
    let read = |(offset, entries)| one(Table::new("a test", entries), offset, base, drafts, found);
    tables.into_iter().filter_map(read).collect()
}

/// Reads one test. Returns none if an invalid value was reported.
fn one(
    mut table: Table<'_>,
    offset: usize,
    base: Base<'_>,
    drafts: &[Draft],
    found: &mut Diagnostics<'_>,
) -> Option<PolicyTest> {
    for key in ["agent", "expect"] {
        if !table.has(key) {
            found.add(offset, Problem::new(format!("`{key}` is missing from a test")));
        }
    }
    let agent = table.text("agent", found);
    let agent = agent.and_then(|text| found.ok(text.place, known(text.value, drafts)));
    let expect = table.word("expect", &EFFECTS, found);
    let because = because(&mut table, found);
    let action = action(&mut table, offset, base, found);
    let needs = needs(&mut table, base, found);
    table.finish(found);
    let (agent, expect, because, (shown, action), needs) = (agent?, expect?, because?, action?, needs?);
    let action = match needs {
        Some(needs) => action.needing(needs),
        None => action,
    };
    Some(PolicyTest { offset, agent, action, shown, expect, because })
}

/// Reads the stage or reason that the decision must have, if the test names one. Returns the outer none if an invalid
/// value was reported.
fn because(table: &mut Table<'_>, found: &mut Diagnostics<'_>) -> Option<Option<String>> {
    if !table.has("because") {
        table.know("because");
        return Some(None);
    }
    let At { place: offset, value } = table.text("because", found)?;
    if value.trim().is_empty() {
        found.add(offset, Problem::new("`because` must not be blank: every reason holds that"));
        return None;
    }
    Some(Some(value.to_owned()))
}

/// Reads the permissions that the action needs besides, if the test names some. Returns the outer none if an invalid
/// value was reported.
fn needs(table: &mut Table<'_>, base: Base<'_>, found: &mut Diagnostics<'_>) -> Option<Option<Permissions>> {
    if !table.has("needs") {
        table.know("needs");
        return Some(None);
    }
    let tags = table.one_or_more("needs", found)?;
    let (first, length) = (tags.first()?.place, tags.len());
    let needs: Vec<_> =
        tags.into_iter().filter_map(|tag| found.ok(tag.place, permissions::parse(tag.value, base))).collect();
    let needs = Some(needs).filter(|needs| needs.len() == length)?;
    let needs = Permissions::try_from(needs).map_err(|why| Problem::new(format!("`needs`: {why}")));
    found.ok(first, needs).map(Some)
}

/// Returns the id of the agent with this name in the file.
pub(super) fn known(id: &str, drafts: &[Draft]) -> Result<AgentId, Problem> {
    let known = drafts.iter().find(|draft| draft.id.as_str() == id).map(|draft| draft.id.clone());
    known.ok_or_else(|| {
        let mut problem = Problem::new(format!("there is no agent {} in this file", quoted(id)));
        problem.help = did_you_mean(id, drafts.iter().map(|draft| draft.id.as_str()));
        problem
    })
}

/// Reads the one action of a test, as text of the file and as an action.
fn action(
    table: &mut Table<'_>,
    offset: usize,
    base: Base<'_>,
    found: &mut Diagnostics<'_>,
) -> Option<(String, Action)> {
    let mut actions = Vec::new();
    let mut written = 0;
    for (key, operation) in OPERATIONS {
        written += usize::from(table.has(key));
        let Some(At { place: offset, value }) = table.text(key, found) else { continue };
        let resource = match operation {
            Operation::Read | Operation::Write | Operation::Exec => base.path(value).map(|path| path.to_string()),
            Operation::Command | Operation::Network | Operation::Events | Operation::Tool => Ok(value.to_owned()),
        };
        let action = found.ok(offset, resource).map(|resource| Action::new(operation, &resource));
        actions.extend(action.map(|action| (format!("{key} {}", quoted(value)), action)));
    }
    written += usize::from(table.has("tool"));
    actions.extend(call(table, found));
    if written != 1 {
        let message = "a test names exactly one of `read`, `write`, `exec`, `command`, `network` and `tool`";
        found.add(offset, Problem::new(message));
        return None;
    }
    actions.pop()
}

/// Reads a call of a tool.
fn call(table: &mut Table<'_>, found: &mut Diagnostics<'_>) -> Option<(String, Action)> {
    let name = table.text("tool", found);
    let input = table.value("input", found);
    let Some(At { place: offset, value }) = name else {
        let without = input.filter(|_| !table.has("tool"));
        without.into_iter().for_each(|input| found.add(input.place(), Problem::new("`input` belongs to a `tool`")));
        return None;
    };
    let tool = value.parse().map_err(|why| Problem::new(format!("{} is not the name of a tool: {why}", quoted(value))));
    let tool = found.ok(offset, tool)?;
    let input = match input {
        None => Some(Value::Object(serde_json::Map::new())),
        Some(input) => found
            .ok(input.place(), json(input.get_ref()).ok_or_else(|| Problem::new("`input` holds no number of JSON"))),
    };
    Some((format!("{} {}", quoted(value), input.as_ref()?), Action::tool(tool, input?)))
}

/// Converts a value to JSON. Returns none if a number cannot be expressed in JSON.
fn json(value: &DeValue<'_>) -> Option<Value> {
    Some(match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok()?.into(),
        DeValue::Float(number) => serde_json::Number::from_f64(number.as_str().parse().ok()?)?.into(),
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Datetime(moment) => Value::String(moment.to_string()),
        DeValue::Array(list) => Value::Array(list.iter().map(|item| json(item.get_ref())).collect::<Option<_>>()?),
        DeValue::Table(table) => {
            let entries = table.iter().map(|(key, value)| Some((key.get_ref().to_string(), json(value.get_ref())?)));
            Value::Object(entries.collect::<Option<_>>()?)
        }
    })
}

/// Returns the `trials` that fail under `policy`. The policy of the text alone is computed only if one fails.
pub(super) fn rehearse(
    policy: &Policy,
    as_written: impl Fn() -> Policy,
    trials: &[PolicyTest],
) -> Vec<(usize, Failure)> {
    if trials.is_empty() {
        return Vec::new();
    }
    let rehearsal = DryRun::of(policy.clone());
    let failed: Vec<_> = trials.iter().filter_map(|trial| Some((trial, trial.failure(rehearsal.as_ref())?))).collect();
    if failed.is_empty() {
        return Vec::new();
    }
    let rehearsal = DryRun::on(as_written(), std::sync::Arc::new(AsWritten));
    let failed = failed.into_iter().map(|(trial, problem)| {
        let failure = match trial.failure(rehearsal.as_ref()) {
            Some(_) => Failure::OfTheText(problem),
            None => Failure::OfTheDisk(problem.help("the text alone says what is expected: see where its paths lead")),
        };
        (trial.offset, failure)
    });
    failed.collect()
}

impl PolicyTest {
    /// Returns the reason why the test fails; none if it passes.
    fn failure(&self, rehearsal: Result<&DryRun, &Error>) -> Option<Problem> {
        let PolicyTest { agent, action, shown, expect, .. } = self;
        let expected = match &self.because {
            Some(because) => format!("{expect} because of {}", quoted(because)),
            None => expect.to_string(),
        };
        let what = format!("this test fails: `{agent}` {shown}: expected {expected}");
        let explanation = match rehearsal.map_err(Error::clone).and_then(|rehearsal| rehearsal.explain(agent, action)) {
            Ok(explanation) => explanation,
            Err(why) => return Some(Problem::new(format!("{what}, found no answer: {why}"))),
        };
        (!self.is_as_expected(&explanation)).then(|| Problem::new(format!("{what}, found {}", found(&explanation))))
    }

    fn is_as_expected(&self, explanation: &Explanation) -> bool {
        let decision = &explanation.decision;
        let because = self.because.as_ref().is_none_or(|because| {
            explanation.decided_by.as_str() == because
                || decision.decision_reason.contains(because)
                || decision.rule_refs.iter().any(|rule| rule.to_string().contains(because))
        });
        decision.verdict() == self.expect && because
    }
}

/// Describes the decision: its verdict, the stage that decides, and the rules.
fn found(explanation: &Explanation) -> String {
    let decision = &explanation.decision;
    let refs = decision.rule_refs.iter().map(|rule| format!("; {rule}")).collect::<String>();
    let (stage, reason) = (explanation.decided_by.as_str(), Escaped(&decision.decision_reason));
    format!("{} ({stage}: {reason}{refs})", decision.verdict())
}

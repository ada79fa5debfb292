//! Labelled cases: the given ones and the project's own, judged by one standard.

use bestow::command::{Tier, classify};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    command: String,
    tier: Tier,
    #[serde(default)]
    min: bool,
}

fn cases(text: &str) -> Vec<Case> {
    text.lines().filter(|line| !line.trim().is_empty()).map(|line| serde_json::from_str(line).expect(line)).collect()
}

pub(crate) fn given_commands() -> Vec<String> {
    let all = [include_str!("../../cases/commands.jsonl"), include_str!("../../cases/commands-own.jsonl")];
    all.into_iter().flat_map(cases).map(|case| case.command).collect()
}

/// Returns each row whose tier differs from its label.
fn wrong(text: &str) -> Vec<String> {
    let fits = |case: &Case, tier: Tier| if case.min { tier >= case.tier } else { tier == case.tier };
    cases(text)
        .iter()
        .map(|case| (case, classify(&case.command)))
        .filter(|(case, answer)| !fits(case, answer.tier))
        .map(|(case, answer)| format!("{:?} should be {}: {}", case.command, case.tier, answer.reason))
        .collect()
}

#[test]
fn every_given_case_comes_out_as_labelled() {
    let wrong = wrong(include_str!("../../cases/commands.jsonl"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_case_of_our_own_comes_out_as_labelled() {
    let wrong = wrong(include_str!("../../cases/commands-own.jsonl"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

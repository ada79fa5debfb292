//! Labelled cases: the given ones and the project's own, judged by one standard.

use bestow::command::{Classification, Classifier, Shell, Tier, classify};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    command: String,
    tier: Tier,
    #[serde(default)]
    min: bool,
    /// The shell that the label is about, if another shell would run something else. Without a known shell, the line
    /// is not safe.
    shell: Option<Shell>,
    /// The answer that is given instead, with its reason.
    accepted: Option<Accepted>,
}

/// An answer that differs from the label on purpose.
#[derive(Deserialize)]
struct Accepted {
    tier: Tier,
    why: String,
}

fn cases(text: &str) -> Vec<Case> {
    text.lines().filter(|line| !line.trim().is_empty()).map(|line| serde_json::from_str(line).expect(line)).collect()
}

pub(crate) fn given_commands() -> Vec<String> {
    let all = [include_str!("../../cases/commands.jsonl"), include_str!("../../cases/commands-own.jsonl")];
    all.into_iter().flat_map(cases).map(|case| case.command).collect()
}

/// Returns the answer in the shell of a case. A mark of a shell that makes no difference, or more than one between safe
/// and dangerous, is wrong.
fn answer(case: &Case) -> Classification {
    let Some(shell) = case.shell else { return classify(&case.command) };
    let (known, unknown) = (Classifier::default().in_shell(shell).classify(&case.command), classify(&case.command));
    assert_eq!((known.tier, unknown.tier), (Tier::Safe, Tier::Dangerous), "{:?}: {}", case.command, unknown.reason);
    known
}

/// Returns each row whose tier differs from its label.
fn wrong(text: &str) -> Vec<String> {
    let fits = |case: &Case, tier: Tier| if case.min { tier >= case.tier } else { tier == case.tier };
    cases(text)
        .iter()
        .map(|case| (case, answer(case)))
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

/// Returns each row whose answer is neither that of its label nor the accepted one. A difference that is gone is wrong
/// too.
fn wrong_with_differences(text: &str) -> Vec<String> {
    let fits = |case: &Case, tier: Tier| if case.min { tier >= case.tier } else { tier == case.tier };
    let is_right = |case: &Case, tier: Tier| match &case.accepted {
        Some(accepted) => tier == accepted.tier && !fits(case, tier) && accepted.why.len() > 10,
        None => fits(case, tier),
    };
    let answers = cases(text).into_iter().map(|case| (answer(&case), case));
    let wrong = answers.filter(|(answer, case)| !is_right(case, answer.tier));
    wrong.map(|(answer, case)| format!("{:?} is {}: {}", case.command, answer.tier, answer.reason)).collect()
}

/// Checks the sets that were labelled without sight of the code, and attacks by the classes of known leaks.
#[test]
fn every_blind_case_comes_out_as_labelled_or_as_accepted() {
    let sets = [
        include_str!("../../cases/blind-traffic.jsonl"),
        include_str!("../../cases/blind-attacks.jsonl"),
        include_str!("../../cases/blind-traffic-2.jsonl"),
        include_str!("../../cases/blind-attacks-2.jsonl"),
        include_str!("../../cases/blind-traffic-3.jsonl"),
        include_str!("../../cases/blind-attacks-3.jsonl"),
        include_str!("../../cases/blind-traffic-4.jsonl"),
        include_str!("../../cases/blind-attacks-4.jsonl"),
        include_str!("../../cases/blind-traffic-5.jsonl"),
        include_str!("../../cases/blind-mixed-5.jsonl"),
        include_str!("../../cases/attacks-own.jsonl"),
    ];
    let wrong: Vec<String> = sets.into_iter().flat_map(wrong_with_differences).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

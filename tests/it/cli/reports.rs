//! The cases of `tests/cases/reports.jsonl`: what people reported in public about the permissions of coding agents,
//! each as a small world, an action and the answer that the report expects. The program under test answers in a real
//! tree.
//!
//! `tests/cases/reports-accepted.jsonl` lists the cases that this version answers otherwise, each with the reason.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, Permissions},
    io::Write as _,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use super::{BESTOW, text};

const CASES: &str = include_str!("../../cases/reports.jsonl");
const ACCEPTED: &str = include_str!("../../cases/reports-accepted.jsonl");

#[test]
fn public_reports_about_tiers_get_the_expected_tier() {
    assert_answers("classify", classified);
}

#[test]
fn public_reports_about_actions_get_the_expected_verdict() {
    assert_answers("check", checked);
}

#[test]
fn public_reports_about_hooks_get_the_expected_answer() {
    assert_answers("hook", hooked);
}

#[test]
fn public_reports_about_confined_commands_get_the_expected_result() {
    if Command::new("bwrap").arg("--version").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "bubblewrap is missing");
        eprintln!("notice: bubblewrap is missing, so no confined command of the reports ran");
        return;
    }
    assert_answers("exec", executed);
}

#[test]
fn public_reports_about_other_commands_get_the_expected_result() {
    assert_answers("other", run_words);
}

#[test]
fn every_accepted_difference_names_a_case_once_and_a_reason() {
    let rows: Vec<Value> = ACCEPTED.lines().map(parsed).collect();
    let ids: BTreeSet<_> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    let known: BTreeSet<_> = CASES.lines().map(|line| parsed(line)["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.len(), rows.len());
    assert!(ids.iter().all(|id| known.contains(*id)));
    assert!(rows.iter().all(|row| row["reason"].as_str().is_some_and(|reason| reason.len() > 20)));
}

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

/// The answer of the program, and everything it printed.
struct Answered {
    is_expected: bool,
    printed: String,
}

fn assert_answers(surface: &str, answer: fn(&Value) -> Answered) {
    let accepted: BTreeMap<String, Value> =
        ACCEPTED.lines().map(parsed).map(|row| (row["id"].as_str().unwrap().to_owned(), row)).collect();
    let (mut count, mut wrong) = (0, Vec::new());
    for case in CASES.lines().map(parsed).filter(|case| case["surface"] == surface) {
        count += 1;
        let id = case["id"].as_str().unwrap();
        let answered = answer(&case);
        if answered.is_expected == accepted.contains_key(id) {
            let is_accepted = if answered.is_expected { " (remove it from the accepted differences)" } else { "" };
            let (expect, why) = (&case["expect"], &case["why"]);
            wrong.push(format!("{id}{is_accepted}: expected {expect}, because {why}; got {}", answered.printed));
        }
    }
    assert!(count > 0 && wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns true if `verdict` is what the case expects: a verdict, or `not` and a verdict.
fn is_verdict(case: &Value, verdict: &str) -> bool {
    let expected = case["expect"].as_str().unwrap();
    expected.strip_prefix("not ").map_or(verdict == expected, |other| verdict != other)
}

fn classified(case: &Value) -> Answered {
    const TIERS: [&str; 3] = ["safe", "dangerous", "destructive"];
    let line = case["command"].as_str().unwrap();
    let output = Command::new(BESTOW).args(["classify", "--json", "--", line]).output().unwrap();
    let rank = |tier: &str| TIERS.iter().position(|known| *known == tier).unwrap();
    let tier = parsed(text(&output.stdout))["tier"].as_str().unwrap().to_owned();
    let expected = case["expect"].as_str().unwrap();
    let is_expected = match expected.strip_suffix('+') {
        Some(least) => rank(&tier) >= rank(least),
        None => tier == expected,
    };
    Answered { is_expected, printed: tier }
}

/// The world of a case, in a directory of its own.
struct World {
    root: TempDir,
}

impl World {
    fn new(case: &Value) -> World {
        let world = World { root: tempfile::tempdir().unwrap() };
        fs::create_dir_all(world.path("policy")).unwrap();
        fs::create_dir_all(world.path("home")).unwrap();
        for step in case["input"]["setup"].as_array().unwrap() {
            let step = world.put(step.as_str().unwrap());
            let output = world.command("bash", "").args(["-c", &step]).output().unwrap();
            assert!(output.status.success(), "{step}: {}", text(&output.stderr));
        }
        if let Some(policy) = case["input"]["policy"].as_str() {
            fs::write(world.config(case), world.put(policy)).unwrap();
            fs::set_permissions(world.config(case), Permissions::from_mode(0o600)).unwrap();
        }
        world
    }

    fn path(&self, name: &str) -> String {
        self.root.path().join(name).to_str().unwrap().to_owned()
    }

    fn config(&self, case: &Value) -> String {
        let named = case["input"]["config"].as_str().filter(|name| Path::new(name).starts_with("proj"));
        self.path(named.unwrap_or("policy/agents.toml"))
    }

    fn put(&self, text: &str) -> String {
        text.replace("${ROOT}", self.root.path().to_str().unwrap()).replace("${BESTOW}", BESTOW)
    }

    fn words(&self, words: &Value) -> Vec<String> {
        words.as_array().unwrap().iter().map(|word| self.put(word.as_str().unwrap())).collect()
    }

    fn command(&self, program: &str, cwd: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path(cwd)).env("HOME", self.path("home")).env("SHELL", "/bin/bash");
        command
    }

    fn run(&self, cwd: &str, words: &[&str], input: &str) -> Output {
        let mut command = self.command(BESTOW, cwd);
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A program that ends before it has read everything says so by its output.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }
}

fn printed(output: &Output) -> String {
    format!("{:?} {}{}", output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn checked(case: &Value) -> Answered {
    let (world, input) = (World::new(case), &case["input"]);
    let (config, action) = (world.config(case), world.words(&input["action"]));
    let mut words = vec!["check", "--config", &config, "--agent", input["agent"].as_str().unwrap()];
    words.extend(action.iter().map(String::as_str));
    let output = world.run(input["cwd"].as_str().unwrap(), &words, "");
    let verdict = match output.status.code() {
        Some(0) => "allow",
        Some(2) => "ask",
        Some(3) => "deny",
        _ => panic!("{}", printed(&output)),
    };
    Answered { is_expected: is_verdict(case, verdict), printed: printed(&output) }
}

fn hooked(case: &Value) -> Answered {
    let (world, input) = (World::new(case), &case["input"]);
    let (config, state) = (world.config(case), world.path("policy/state"));
    let host = input["host"].as_str().unwrap();
    let mut words = vec!["hook", host, "--agent", host, "--config", &config, "--state", &state];
    words.extend((host == "codex").then_some("--assume-directory"));
    let output = world.run("proj", &words, &world.put(&input["call"].to_string()));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let fields =
        [&answer["hookSpecificOutput"]["permissionDecision"], &answer["permissionDecision"], &answer["decision"]];
    let verdict = match fields.iter().find_map(|field| field.as_str()) {
        Some("block") => "deny",
        Some(verdict) => verdict,
        None if output.status.success() => "allow",
        None => "deny",
    };
    let reason = case["reason_contains"].as_str().unwrap_or_default();
    let is_expected = is_verdict(case, verdict) && printed(&output).contains(reason);
    Answered { is_expected, printed: printed(&output) }
}

fn executed(case: &Value) -> Answered {
    let (world, input) = (World::new(case), &case["input"]);
    let (config, script) = (world.config(case), world.put(input["script"].as_str().unwrap()));
    let grants = world.words(&input["grants"]);
    let mut words = vec!["exec", "--config", &config, "--agent", input["agent"].as_str().unwrap()];
    words.extend(grants.iter().flat_map(|grant| ["--grant", grant]));
    words.extend(["--", "sh", "-c", &script]);
    as_expected(case, &world.run("proj", &words, ""))
}

fn run_words(case: &Value) -> Answered {
    let (world, input) = (World::new(case), &case["input"]);
    let words = world.words(&input["argv"]);
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    as_expected(case, &world.run(input["cwd"].as_str().unwrap(), &words, ""))
}

fn as_expected(case: &Value, output: &Output) -> Answered {
    let (code, both) =
        (output.status.code().map(i64::from), format!("{}{}", text(&output.stdout), text(&output.stderr)));
    let is_expected = case["expect"].as_object().unwrap().iter().all(|(name, expected)| match name.as_str() {
        "exit" => code == expected.as_i64(),
        "exit_not" => code != expected.as_i64(),
        "stdout_contains" => text(&output.stdout).contains(expected.as_str().unwrap()),
        "stdout_or_stderr_contains" => both.contains(expected.as_str().unwrap()),
        _ => panic!("{name}"),
    });
    Answered { is_expected, printed: printed(output) }
}

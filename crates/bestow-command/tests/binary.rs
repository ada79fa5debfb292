//! Tests of the program `bestow-classify`, and of the example in Python that uses it.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Output, Stdio},
};

use bestow_command::Classifier;
use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_bestow-classify");

fn asked(words: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(PROGRAM)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

fn answers(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{output:?}");
    std::str::from_utf8(&output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_line_has_the_answer_of_the_library() {
    let commands = ["git log --oneline | head -5", "make install", "rm -rf ~", "echo 'a\nb'", "", "echo \"open"];
    let lines: String = commands.iter().map(|command| json!({ "command": command }).to_string() + "\n").collect();
    let classifier = Classifier::default();
    let expected: Vec<Value> =
        commands.iter().map(|command| serde_json::to_value(classifier.classify(command)).unwrap()).collect();
    assert_eq!(answers(&asked(&[], lines.as_bytes())), expected);
    let without_end = lines.strip_suffix('\n').unwrap();
    assert_eq!(answers(&asked(&[], without_end.as_bytes())), expected, "the last line needs no end");
}

#[test]
fn an_answer_comes_before_the_next_question() {
    let mut child = Command::new(PROGRAM).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    for (question, tier) in [(r#"{"command":"ls"}"#, "safe"), (r#"{"command":"rm -rf /"}"#, "destructive")] {
        writeln!(stdin, "{question}").unwrap();
        let mut answer = String::new();
        stdout.read_line(&mut answer).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&answer).unwrap()["tier"], tier);
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_line_that_is_no_question_is_dangerous_and_the_next_one_is_answered() {
    let long = format!("{{\"command\":\"{}\"}}", "x".repeat(3 << 20));
    for bad in ["ls", "{}", "[1]", r#"{"command":1}"#, r#"{"command":"ls","command":"x"}"#, "\u{feff}{}", &long] {
        let found = answers(&asked(&[], format!("{bad}\n{{\"command\":\"ls\"}}\n").as_bytes()));
        let tiers: Vec<_> = found.iter().map(|answer| answer["tier"].as_str().unwrap()).collect();
        assert_eq!(tiers, ["dangerous", "safe"], "{}", bad.get(..20).unwrap_or(bad));
        assert!(found[0]["reason"].as_str().unwrap().contains("not a question"), "{}", found[0]);
    }
    let found = answers(&asked(&[], b"{\"command\":\"\xff\"}\n"));
    assert_eq!(found[0]["tier"], "dangerous", "not UTF-8");
}

#[test]
fn the_words_of_the_program_are_checked() {
    let question = br#"{"command":"curl https://example.com"}"#;
    assert_eq!(answers(&asked(&[], question))[0]["tier"], "safe");
    assert_eq!(answers(&asked(&["--strict"], question))[0]["tier"], "dangerous");
    for words in [&["--what"][..], &["ls"], &["--strict", "--strict"]] {
        let told = asked(words, question);
        assert_eq!(told.status.code(), Some(64), "{words:?}");
        assert!(told.stdout.is_empty() && told.stderr.starts_with(b"bestow-classify [--strict]"), "{told:?}");
    }
    assert!(asked(&["--help"], b"").stdout.starts_with(b"bestow-classify [--strict]"));
    let version = format!("bestow-classify {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(asked(&["--version"], b"").stdout, version.as_bytes());
}

#[test]
fn the_program_finds_what_a_launcher_runs() {
    let lines = ["pyenv exec rm -rf /", "nx exec -- rm -rf /", "cp /bin/rm x; ./x -rf /", "git commit -m 'rm -rf /'"];
    let questions: String = lines.iter().map(|line| format!("{{\"command\":\"{line}\"}}\n")).collect();
    let found = answers(&asked(&[], questions.as_bytes()));
    let tiers: Vec<_> = found.iter().map(|answer| answer["tier"].as_str().unwrap()).collect();
    assert_eq!(tiers, ["destructive", "destructive", "destructive", "dangerous"]);
}

#[test]
fn the_example_in_python_asks_the_program() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/classify.py");
    let told = Command::new("python3")
        .arg(example)
        .args(["git status", "make\ninstall", "rm -rf ~ # \u{e4}"])
        .env("BESTOW_CLASSIFY", PROGRAM)
        .output()
        .unwrap();
    assert!(told.status.success(), "{told:?}");
    let told = String::from_utf8(told.stdout).unwrap();
    let tiers: Vec<&str> = told.lines().filter(|line| !line.starts_with("  ")).collect();
    assert_eq!(tiers, ["safe: git status", "dangerous: make", "install", "destructive: rm -rf ~ # \u{e4}"], "{told}");
    assert!(told.contains("  destructive: `rm` removes a root, home"), "{told}");
}

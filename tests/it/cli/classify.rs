//! Tests of `bestow classify`.

use std::{
    fs,
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
    process::Command,
};

use bestow::command::{Tier, classify};
use serde_json::{Value, json};

use super::{BESTOW, bestow, one_by_one, text, unheard};
use crate::command::cases::given_commands;

fn lines(words: &[&str], input: &[u8]) -> Vec<Value> {
    let told = bestow(&[&["classify", "--jsonl"], words].concat(), input);
    assert_eq!(told.status.code(), Some(0), "{}", text(&told.stderr));
    text(&told.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn said(words: &[&str]) -> String {
    let told = bestow(&[&["classify"], words].concat(), b"");
    assert_eq!(told.status.code(), Some(0), "{}", text(&told.stderr));
    text(&told.stdout).to_owned()
}

fn tier(words: &[&str]) -> String {
    let answer: Value = serde_json::from_str(&said(&[&["--json"], words].concat())).unwrap();
    answer["tier"].as_str().unwrap().to_owned()
}

/// Creates a policy file with mode 600, with one agent and `commands`.
fn policy(commands: &str) -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agents.toml");
    let agent = "agents.lead = { kind = \"foreground\", owner = \"you\", working_dir = \"workspace\" }\n";
    fs::write(&path, format!("{agent}{commands}")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (directory, path)
}

const ADDED: &str = r#"
[commands]
profile = "strict"
[[commands.safe]]
program = "mytool"
subcommand = ["list"]
flags = ["-a"]
operands = true
match = ["mytool list -a x"]
not_match = ["mytool delete x"]
[[commands.raise]]
program = "kubectl"
words = ["apply"]
tier = "destructive"
match = ["kubectl apply -f x"]
not_match = ["kubectl get pods"]
"#;

#[test]
fn every_case_is_answered_in_order_as_the_library_answers_it() {
    let commands = given_commands();
    let input: String = commands.iter().map(|command| json!({ "command": command }).to_string() + "\n").collect();
    let answers = lines(&[], input.as_bytes());
    assert_eq!(answers.len(), commands.len());
    for (command, answer) in commands.iter().zip(answers) {
        assert_eq!(answer, serde_json::to_value(classify(command)).unwrap(), "{command}");
    }
}

#[test]
fn a_person_reads_the_reason_the_parts_and_what_always_would_mean() {
    let told = said(&["ls; rm -rf /"]);
    assert!(told.starts_with("Destructive command: `rm` removes a root"), "{told}");
    assert!(told.contains("1. safe: ls") && told.contains("2. destructive: rm -rf /") && told.contains("bytes 4..12"));
    assert!(said(&["git commit -m x"]).contains("an approval for `always` would cover: git commit -m <any text>"));
    assert!(!said(&["rm -rf /"]).contains("always"));
    assert!(!said(&["echo \u{1b}[2J"]).contains('\u{1b}'), "nothing of the command reaches the terminal as it is");
}

#[test]
fn whatever_the_tier_the_exit_code_says_that_there_is_an_answer() {
    for (command, expected) in
        [("ls", "safe"), ("npm test", "dangerous"), ("rm -rf /", "destructive"), ("'", "dangerous")]
    {
        assert_eq!(tier(&[command]), expected);
    }
    assert_eq!(tier(&["--", "--help"]), "dangerous", "behind `--` stands a command");
}

#[test]
fn a_command_that_is_not_text_is_at_least_dangerous_and_searched() {
    for (bytes, expected) in [(&b"ls \xff"[..], Tier::Dangerous), (b"echo \xff; rm -rf /", Tier::Destructive)] {
        let command = std::ffi::OsStr::from_bytes(bytes);
        let told = Command::new(BESTOW).args(["classify", "--json"]).arg(command).output().unwrap();
        let answer: Value = serde_json::from_slice(&told.stdout).unwrap();
        assert_eq!((told.status.code(), &answer["tier"]), (Some(0), &json!(expected)), "{bytes:?}");
    }
}

#[test]
fn a_line_that_is_no_question_is_answered_and_says_so_and_the_order_is_kept() {
    let mut input = Vec::new();
    let no_questions: [&[u8]; 12] = [
        b"",
        b"{",
        b"null",
        b"ls",
        b"{}",
        b"{\"command\":7}",
        b"{\"command\":\"ls\",\"command\":\"ls\"}",
        b"{\"command\":\"ls\",\"toolName\":\"bash\"}",
        b"{\"toolName\":7}",
        b"{\"command\":\"\\ud800\"}",
        b"{\"command\":\"ls \xff\"}",
        &[b'['; 300_000],
    ];
    for line in no_questions {
        input.extend_from_slice(line);
        input.extend_from_slice(b"\n{\"command\":\"ls\"}\r\n");
    }
    let answers = lines(&[], &input);
    assert_eq!(answers.len(), 2 * no_questions.len());
    for pair in answers.chunks(2) {
        assert_eq!(pair[0]["tier"], "dangerous", "{pair:?}");
        assert!(pair[0]["reason"].as_str().is_some_and(|why| why.contains("the line is not a question")), "{pair:?}");
        assert_eq!(pair[1]["tier"], "safe");
    }
}

#[test]
fn a_line_that_is_too_long_is_answered_and_not_kept() {
    let mut input = vec![b'x'; 3 << 20];
    input.extend_from_slice(b"\n{\"command\":\"ls\"}");
    let answers = lines(&[], &input);
    assert_eq!(answers.len(), 2);
    assert!(answers[0]["reason"].as_str().unwrap().contains("longer than"), "{}", answers[0]["reason"]);
    assert_eq!((&answers[0]["tier"], &answers[1]["tier"]), (&json!("dangerous"), &json!("safe")));
}

#[test]
fn a_tool_call_is_a_question_too() {
    let input = "{\"toolName\":\"bash\",\"toolInput\":{\"command\":\"sudo ls\"}}\n\
                 {\"toolName\":\"write\",\"toolInput\":{\"file_path\":\"src/a.rs\"}}\n{\"toolName\":\"deploy\"}\n";
    let tiers: Vec<_> = lines(&[], input.as_bytes()).into_iter().map(|answer| answer["tier"].clone()).collect();
    assert_eq!(tiers, ["destructive", "safe", "dangerous"]);
}

#[test]
fn each_answer_comes_before_the_next_question_is_put() {
    let commands = ["ls", "npm test", "rm -rf /"];
    one_by_one(&["classify", "--jsonl"], &commands.map(|command| json!({ "command": command })), |number, answer| {
        let answer: Value = serde_json::from_str(answer).unwrap();
        assert_eq!(answer["tier"], json!(classify(commands[number]).tier));
    });
}

#[test]
fn who_stops_listening_ends_it_quietly() {
    assert_eq!(unheard(&["classify", "--jsonl"], "{\"command\":\"ls\"}"), (Some(1), String::new()));
}

#[test]
fn the_profile_comes_from_the_file_and_the_command_line_wins() {
    let (_directory, file) = policy(ADDED);
    assert_eq!(tier(&["curl https://example.com"]), "safe");
    assert_eq!(tier(&["--profile", "strict", "curl https://example.com"]), "dangerous");
    assert_eq!(tier(&["--config", &file, "curl https://example.com"]), "dangerous");
    assert_eq!(tier(&["--config", &file, "--profile", "default", "curl https://example.com"]), "safe");
}

#[test]
fn what_a_file_adds_counts_only_where_it_is_named() {
    let (_directory, file) = policy(ADDED);
    for (command, without, with) in [
        ("mytool list -a x | wc -l", "dangerous", "safe"),
        ("mytool delete x", "dangerous", "dangerous"),
        ("env kubectl apply -f x", "dangerous", "destructive"),
        ("./unknown kubectl apply -f x", "dangerous", "destructive"),
        ("mytool list; rm -rf /", "destructive", "destructive"),
    ] {
        assert_eq!(
            (tier(&[command]).as_str(), tier(&["--config", &file, command]).as_str()),
            (without, with),
            "{command}"
        );
    }
    let input = b"{\"command\":\"mytool list\"}\n";
    assert_eq!(lines(&["--config", &file], input)[0]["tier"], "safe");
}

#[test]
fn a_file_that_cannot_be_used_is_an_error_and_answers_nothing() {
    let (_directory, file) = policy("[commands]\nprofil = \"strict\"\n");
    for words in [["--config", &file, "ls"], ["--config", &file, "--jsonl"], ["--config", "/no/such/file", "ls"]] {
        let told = bestow(&[&["classify"], &words[..]].concat(), b"{\"command\":\"ls\"}\n");
        assert_eq!((told.status.code(), text(&told.stdout)), (Some(1), ""), "{words:?}");
        assert!(!told.stderr.is_empty());
    }
    let told = bestow(&["classify", "--config", &file, "ls"], b"");
    assert!(
        text(&told.stderr).contains("agents.toml:3:1: unknown key `profil` in `[commands]`; did you mean `profile`?")
    );
}

#[test]
fn words_that_make_no_sense_are_a_usage_error() {
    for words in [
        &[][..],
        &["ls", "-la"],
        &["ls", "pwd"],
        &["--json"],
        &["--json", "--jsonl"],
        &["--jsonl", "ls"],
        &["--profile", "lax", "ls"],
        &["--profile"],
        &["--tier", "ls"],
    ] {
        let told = bestow(&[&["classify"], words].concat(), b"");
        assert_eq!(told.status.code(), Some(64), "{words:?}: {}", text(&told.stderr));
        assert!(told.stdout.is_empty() && !told.stderr.is_empty(), "{words:?}");
    }
    assert!(said(&["--help"]).contains("classify"));
}

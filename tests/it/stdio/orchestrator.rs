//! Tests of the example that tells the whole story.

use std::process::Stdio;

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Command,
};

use super::{repository, soon};
use crate::support::example;

/// Returns the command that runs the example, built from the current sources.
fn orchestrator(arguments: &[&str]) -> Command {
    let mut command = Command::new(example("orchestrator"));
    command.args(arguments).current_dir(repository()).stdin(Stdio::null()).kill_on_drop(true);
    command
}

#[tokio::test]
async fn the_example_tells_its_story_to_the_end_and_leaves_its_files() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path().to_str().unwrap();
    let output = soon("the story", orchestrator(&["--script", "--dir", dir]).output()).await.unwrap();
    let (told, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{told}\n{log}");
    assert!(!told.contains('\u{1b}'), "no colour where there is no terminal");
    for file in
        ["site/index.html", "reports/summary.md", "check/notes.txt", "assets/checked/logo.txt", "done/signed.txt"]
    {
        assert!(directory.path().join("workspace").join(file).exists(), "{file} is missing:\n{told}");
    }
}

/// A person at a terminal: waits for a text, types an answer, repeats, and then prints the whole output.
const PERSON: &str = r#"
import json, os, pty, select, sys
steps, command = json.loads(sys.argv[1]), sys.argv[2:]
def fail(why):
    print(why, told.decode(), sep="\n", flush=True)
    # No status of the example.
    os._exit(99)
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)
told = b""
def more():
    global told
    if not select.select([terminal], [], [], 60)[0]:
        fail("nothing more is told")
    try:
        part = os.read(terminal, 65536)
    except OSError:
        part = b""
    told += part
    return part
place = 0
for wanted, typed in steps:
    while (found := told.find(wanted.encode(), place)) < 0:
        if not more():
            fail("it ended before " + wanted)
    place = found + len(wanted.encode())
    os.write(terminal, typed.encode())
while more():
    pass
print(told.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"#;

/// Returns the exit code and the text on the terminal.
async fn at_a_terminal(steps: &[(&str, &str)]) -> (Option<i32>, String) {
    let example = orchestrator(&[]);
    let mut command = Command::new("python3");
    command.arg("-c").arg(PERSON).arg(serde_json::to_string(steps).unwrap());
    command.arg(example.as_std().get_program()).args(example.as_std().get_args());
    command.current_dir(repository()).kill_on_drop(true);
    let output = soon("the person", command.output()).await.unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), told)
}

#[tokio::test]
async fn a_person_is_asked_again_after_no_answer_and_reminded_and_may_leave() {
    let choice = "Then Enter:";
    let (status, told) = at_a_terminal(&[
        (choice, "stop\n"),
        ("This is not an answer. Type y (yes, for this session), o (once), a (always) or n (no)", ""),
        (choice, "\n"),
        ("This is not an answer. Type y (yes, for this session), o (once), a (always) or n (no)", ""),
        (choice, ""),
        ("> (", "ask him\n"),
        ("This is not an answer. Type y (yes, for this session), o (once), a (always) or n (no)", ""),
        (choice, "\u{4}"),
        ("you left", ""),
        ("without the console nobody answers", ""),
    ])
    .await;
    assert_eq!(status, Some(1), "{told}");
    assert!(!told.contains("approved by you"), "{told}");
}

#[tokio::test]
async fn a_person_may_answer_to_the_end_of_the_story() {
    let choice = "Then Enter:";
    let (status, told) =
        at_a_terminal(&[(choice, "y\n"), (choice, "no use what you know\n"), (choice, "once\n")]).await;
    assert_eq!(status, Some(0), "{told}");
    assert!(told.contains("use what you know"), "{told}");
}

#[tokio::test]
async fn without_a_terminal_the_script_answers_and_says_so() {
    let mut command = orchestrator(&[]);
    let mut alone = Command::new("setsid");
    alone.arg("-w").arg(command.as_std().get_program()).args(command.as_std().get_args());
    command = alone;
    command.current_dir(repository()).stdin(Stdio::null()).kill_on_drop(true);
    let output = soon("the story", command.output()).await.unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("no terminal: answering by script"));
}

#[tokio::test]
async fn a_terminated_story_leaves_no_directory() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = orchestrator(&["--script"]);
    command.env("TMPDIR", directory.path()).stdout(Stdio::piped());
    let mut story = command.spawn().unwrap();
    let mut lines = BufReader::new(story.stdout.take().unwrap()).lines();
    soon("the first line", async { while !lines.next_line().await.unwrap().unwrap().starts_with("The story") {} })
        .await;
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 1);
    // The process does not outlive this test, so its number is still valid.
    let pid = story.id().unwrap().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().await.unwrap().success());
    let rest = async { while lines.next_line().await.unwrap().is_some() {} };
    let (status, ()) = soon("the end", async { tokio::join!(story.wait(), rest) }).await;
    assert_eq!(status.unwrap().code(), Some(143));
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
}

#[tokio::test]
async fn help_is_given_and_what_is_not_known_is_an_error() {
    let output = soon("the example", orchestrator(&["--help"]).output()).await.unwrap();
    assert!(output.status.success());
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains("--script") && told.contains("--dir D"), "{told}");
    for arguments in [["--skript"].as_slice(), &["--dir"]] {
        let output = soon("the example", orchestrator(arguments).output()).await.unwrap();
        assert_eq!(output.status.code(), Some(64));
        assert!(String::from_utf8_lossy(&output.stderr).contains("--script"));
    }
}

/// Returns a line of the story without what differs from run to run: its number, short codes, numbers of grants.
fn stable(line: &str) -> String {
    let line = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
    let is_number =
        |word: &str| word.strip_prefix('g').is_some_and(|rest| rest.trim_end_matches(',').parse::<u32>().is_ok());
    let stable = |word: &str| if word.starts_with('[') || is_number(word) { "#".to_owned() } else { word.to_owned() };
    line.split_whitespace().map(stable).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn the_story_in_the_readme_is_what_the_example_tells() {
    let output = soon("the story", orchestrator(&["--script"]).output()).await.unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<String> = told.lines().map(stable).collect();
    let readme = std::fs::read_to_string(repository().join("README.md")).unwrap();
    let story = readme.split_once("```text\n").unwrap().1.split_once("```").unwrap().0;
    let shown: Vec<String> = story.lines().filter(|line| line.trim() != "…").map(stable).collect();
    assert!(shown.len() > 10);
    for line in &shown {
        assert!(lines.contains(line), "the README shows `{line}`, which is not in\n{told}");
    }
    // Each fact is told once, the facts are counted from 1, and no path is longer than it has to be.
    let facts: Vec<&str> =
        told.lines().skip(1).filter(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit())).collect();
    for (place, fact) in facts.iter().enumerate() {
        assert!(fact.trim_start().starts_with(&format!("{} ", place + 1)), "{fact}");
        assert!(!fact.contains(std::env::temp_dir().to_str().unwrap()), "{fact}");
        assert_eq!(facts.iter().filter(|other| stable(other) == stable(fact)).count(), 1, "{fact}");
    }
}

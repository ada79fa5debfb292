//! Tests of the binary as a separate process.

mod classify;
mod decide;
mod exec;
mod heads;
mod help;
mod init;
mod keep;
mod killed;
mod path;
mod path_lookup;
mod program;
mod reports;
mod starting;
mod state;
mod tasks;
mod watch;
mod words;

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, Command, Output, Stdio},
};

use bestow::control::Surfaces;
use serde_json::Value;

/// The binary under test.
const BESTOW: &str = crate::support::BESTOW;

/// Runs the program to its end, as a process of a person, while the engine runs in this process.
pub(crate) fn run_for(surfaces: Option<Surfaces>, words: &[&str]) -> (String, String, Option<i32>) {
    let done = started_for(surfaces, words).wait_with_output().unwrap();
    (text(&done.stdout).to_owned(), text(&done.stderr).to_owned(), done.status.code())
}

/// Starts the program as a process of a person. The engine under test runs in this process and admits no other process
/// that it has started.
fn started_for(surfaces: Option<Surfaces>, words: &[&str]) -> Child {
    let Some(surfaces) = surfaces else { return started(words) };
    let [stdin, stdout, stderr] = [Stdio::piped(), Stdio::piped(), Stdio::piped()];
    // The shell waits for a line, so the program starts only after the engine has admitted it.
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "read -r go; exec \"$0\" \"$@\"", BESTOW]).args(words).args(crate::support::secret(words));
    let mut child = shell.stdin(stdin).stdout(stdout).stderr(stderr).spawn().unwrap();
    surfaces.admit(child.id()).unwrap();
    child.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
    child
}

fn started(words: &[&str]) -> Child {
    let [stdin, stdout, stderr] = [Stdio::piped(), Stdio::piped(), Stdio::piped()];
    Command::new(BESTOW)
        .args(words)
        .args(crate::support::secret(words))
        .stdin(stdin)
        .stdout(stdout)
        .stderr(stderr)
        .spawn()
        .unwrap()
}

/// Sends each question after the answer to the previous one, and passes each answer with its number to `check`.
fn one_by_one(words: &[&str], questions: &[Value], mut check: impl FnMut(usize, &str)) {
    let mut child = started(words);
    let (mut to, mut from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()).lines());
    for (number, question) in questions.iter().enumerate() {
        writeln!(to, "{question}").unwrap();
        check(number, &from.next().unwrap().unwrap());
    }
    drop(to);
    assert!(child.wait().unwrap().success());
}

/// Returns the exit code and the standard error of a program whose output is closed.
fn unheard(words: &[&str], question: &str) -> (Option<i32>, String) {
    let mut child = started(words);
    drop(child.stdout.take());
    // The program may end before all questions are written.
    let _ = child.stdin.take().unwrap().write_all(format!("{question}\n").repeat(1000).as_bytes());
    let told = child.wait_with_output().unwrap();
    (told.status.code(), text(&told.stderr).to_owned())
}

/// Runs the program with these arguments and this input.
fn bestow(words: &[&str], input: &[u8]) -> Output {
    ended(started(words), input)
}

fn ended(mut child: Child, input: &[u8]) -> Output {
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // A thread writes the input: the program answers during the input, and neither side may wait for the other.
        scope.spawn(move || stdin.write_all(input));
        child.wait_with_output().unwrap()
    })
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Fails if a key of `value` is not in camelCase.
fn assert_in_camel_case(value: &serde_json::Value) {
    match value {
        serde_json::Value::Array(list) => list.iter().for_each(assert_in_camel_case),
        serde_json::Value::Object(object) => {
            for (name, inner) in object {
                assert!(!name.contains('_'), "{name} in {value}");
                assert_in_camel_case(inner);
            }
        }
        _ => {}
    }
}

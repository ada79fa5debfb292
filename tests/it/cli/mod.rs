//! The binary as a process of its own.

mod classify;
mod decide;
mod exec;
mod keep;
mod path;
mod state;
mod tasks;
mod words;

use std::{
    io::Write,
    process::{Command, Output, Stdio},
};

/// The binary under test.
const BESTOW: &str = env!("CARGO_BIN_EXE_bestow");

/// Runs it with these words and this input.
fn bestow(words: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(BESTOW)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // From a thread: it answers while it is asked, and neither side may wait for the other.
        scope.spawn(move || stdin.write_all(input));
        child.wait_with_output().unwrap()
    })
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

//! `cargo xtask alone`: the classifier is usable without the rest. It has few dependencies and compiles to WebAssembly.

use std::process::Command;

use super::{
    Outcome, Result,
    tree::packages,
    workspace::{self, cargo, run},
};

const CLASSIFIER: &str = "bestow-command";
const TARGET: &str = "wasm32-unknown-unknown";

/// The most dependencies of the classifier, with theirs, and with those that only run in the compiler.
const MOST: usize = 14;

/// Counts the dependencies of the classifier, and compiles it for a web page.
pub(crate) fn check() -> Result<Outcome> {
    let dependencies = packages(CLASSIFIER, "normal")?.saturating_sub(1);
    let told = format!("{CLASSIFIER} has {dependencies} dependencies");
    if dependencies > MOST {
        return Err(format!("{told}: {MOST} are the most").into());
    }
    if !is_installed() && !install() {
        let why = format!("{TARGET} is not installed (rustup target add {TARGET})");
        let told = format!("the classifier as WebAssembly: {why}");
        return if std::env::var_os("CI").is_some() { Err(told.into()) } else { Ok(Outcome::NotRun(told)) };
    }
    let mut cargo = cargo();
    cargo.current_dir(workspace::root());
    cargo.args(["check", "--quiet", "--package", CLASSIFIER, "--lib", "--target", TARGET]);
    run(&mut cargo, &format!("{CLASSIFIER} does not compile for {TARGET}"))?;
    Ok(Outcome::Done(format!("{told} and compiles for {TARGET}")))
}

/// Returns true if the compiler has the standard library of the target.
fn is_installed() -> bool {
    let output = Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    let text = output.ok().and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    std::fs::read_dir(text.trim()).is_ok_and(|mut files| files.next().is_some())
}

/// Asks rustup for the target. Returns false if there is no rustup, or no network.
fn install() -> bool {
    let output = Command::new("rustup").args(["target", "add", TARGET]).output();
    output.is_ok_and(|output| output.status.success()) && is_installed()
}

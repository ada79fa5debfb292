//! Checks and generators for the people who work on bestow. `cargo xtask --help` lists them.

#![allow(clippy::indexing_slicing, reason = "a key that a value of JSON lacks is null, and no panic")]

mod alone;
mod api;
mod book;
mod licences;
mod msrv;
mod publish;
mod tree;
mod workspace;

use std::{env, process::ExitCode};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The result of a task that did not fail.
enum Outcome {
    /// The task ran. The text tells its result in one line.
    Done(String),
    /// The task could not run here, for the reason in the text. It found no mistake.
    NotRun(String),
}

/// The exit status of a task that could not run, as other test programs use it. `scripts/test` looks for it.
const NOT_RUN: u8 = 77;

const USAGE: &str = "\
usage: cargo xtask TASK

  alone          counts the dependencies of the classifier, and compiles it for wasm32-unknown-unknown
  api [--check]  writes the public API of the libraries to docs/public-api.txt and
                 crates/*/public-api.txt, or compares it with these files
  book           builds docs/ into target/book, and checks every link and anchor
  licences       checks the licence and the source of every dependency by deny.toml, and lists duplicates
  msrv           checks that the packages compile with the oldest supported compiler
  publish        packs every publishable member, compiles what was packed, and publishes it in a dry run
                 (--no-verify does not compile)
  tree           counts the packages that a program gets with the default features, and compares them
                 with their bound

Exit status: 0 done, 1 failed, 77 not run (the reason is printed).
";

fn main() -> ExitCode {
    if let Some(rustdoc) = api::wrapped_rustdoc() {
        return api::run_rustdoc(&rustdoc);
    }
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        ["alone"] => alone::check(),
        ["api"] => api::write(),
        ["api", "--check"] => api::check(),
        ["book"] => book::build(),
        ["licences"] => licences::check(),
        ["msrv"] => msrv::check(),
        ["publish"] => publish::package(true),
        ["publish", "--no-verify"] => publish::package(false),
        ["tree"] => tree::check(),
        ["--help" | "-h" | "help"] => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::FAILURE;
        }
    };
    match outcome {
        Ok(Outcome::Done(line)) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Ok(Outcome::NotRun(why)) => {
            println!("not run: {why}");
            ExitCode::from(NOT_RUN)
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

//! The program `bestow-classify`: it reads one question per line of standard input, as JSON, and answers each with one
//! line of JSON.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use bestow_command::{Classifier, Profile};

const HELP: &str = "\
bestow-classify [--strict]

Reads one question per line of standard input: {\"command\":\"...\"} or {\"toolName\":\"...\",\"toolInput\":{...}}.
Answers each with one line, {\"tier\":\"safe\"|\"dangerous\"|\"destructive\",\"reason\":\"...\",\"parts\":[...]},
before it reads the next. A line that is no question is answered with `dangerous`.

--strict   what prints secrets, contacts a server or obeys files of its directory is not safe
--help     prints this text
--version  prints the version
";

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let words: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
    match words.as_deref() {
        Some([]) => answer(Profile::Default),
        Some(["--strict"]) => answer(Profile::Strict),
        Some(["--help" | "-h"]) => ended(io::stdout().write_all(HELP.as_bytes())),
        Some(["--version" | "-V"]) => ended(writeln!(io::stdout(), "bestow-classify {}", env!("CARGO_PKG_VERSION"))),
        _ => {
            let _ = io::stderr().write_all(HELP.as_bytes());
            ExitCode::from(64)
        }
    }
}

fn answer(profile: Profile) -> ExitCode {
    ended(Classifier::new(profile).answer_lines(io::stdin().lock(), io::stdout().lock()))
}

fn ended(result: io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            let _ = writeln!(io::stderr(), "bestow-classify: {why}");
            ExitCode::FAILURE
        }
    }
}

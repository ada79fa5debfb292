//! Compiles the records of `programs/*.toml` into static data, and refuses a record that is not well formed.
//!
//! The records say what is known about each program. `docs/programs.md` explains their words.

#[path = "build/check.rs"]
mod check;
#[path = "build/emit.rs"]
mod emit;
#[path = "src/hash.rs"]
mod hash;
#[path = "src/programs/operand_kind.rs"]
mod operand_kind;
#[path = "build/read.rs"]
mod read;
#[path = "build/schema.rs"]
mod schema;

use std::{env, fs, path::Path, process::ExitCode};

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=programs");
    println!("cargo::rerun-if-changed=src/predicates/mod.rs");
    match compile() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problems) => {
            for problem in problems {
                println!("cargo::error={problem}");
            }
            ExitCode::FAILURE
        }
    }
}

/// Compiles all records. Returns every problem with its file and line.
fn compile() -> Result<(), Vec<String>> {
    let texts = read::texts(Path::new("programs")).map_err(|why| vec![why.to_string()])?;
    let book = read::book(texts)?;
    let predicates = fs::read_to_string("src/predicates/mod.rs").map_err(|why| vec![why.to_string()])?;
    let programs = check::programs(&book, &check::named_in(&predicates))?;
    let code = emit::code(&book, &programs);
    let target = env::var_os("OUT_DIR").ok_or_else(|| vec!["no directory for the result".to_owned()])?;
    fs::write(Path::new(&target).join("programs.rs"), code).map_err(|why| vec![why.to_string()])
}

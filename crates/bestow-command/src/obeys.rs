//! The files that programs obey in their directory: settings that may make a read-only program run another program.
//!
//! A classification names the program and these files. The engine knows which agents may write them.

use std::{collections::HashMap, sync::LazyLock};

use foldhash::fast::RandomState;
use smol_str::SmolStr;

use super::word::Word;
use crate::values::{Obeyed, Obeys, base_name};

const CARGO: &[&str] = &[".cargo/config.toml", ".cargo/config", "rust-toolchain.toml", "rust-toolchain"];
const PYPROJECT: &[&str] = &["pyproject.toml", "poetry.toml", "pdm.toml", "hatch.toml", "Pipfile"];
const PYTHON_TOOLS: &[&str] = &[
    "conftest.py",
    "pytest.ini",
    "pyproject.toml",
    "tox.ini",
    "setup.cfg",
    ".flake8",
    "pylintrc",
    ".pylintrc",
    "mypy.ini",
];
const PRETTIER: &[&str] = &[
    "package.json",
    ".prettierrc",
    ".prettierrc.cjs",
    ".prettierrc.js",
    ".prettierrc.json",
    ".prettierrc.mjs",
    ".prettierrc.toml",
    ".prettierrc.yaml",
    ".prettierrc.yml",
    "prettier.config.cjs",
    "prettier.config.js",
    "prettier.config.mjs",
];

/// Rows of programs, separated by blanks, and the files that they obey in their working directory and its ancestors.
const ROWS: &[(&str, Obeyed)] = &[
    ("git gitk tig", Obeyed::Repository),
    ("hg", Obeyed::Files(&[".hg/hgrc", ".hg"])),
    ("cargo cargo-clippy clippy-driver rustc rustdoc rustfmt rustup", Obeyed::Files(CARGO)),
    ("npm npx", Obeyed::Files(&[".npmrc"])),
    ("pnpm pnpx", Obeyed::Files(&[".npmrc", ".pnpmfile.cjs", "pnpm-workspace.yaml"])),
    ("ruff", Obeyed::Files(&["ruff.toml", ".ruff.toml", "pyproject.toml"])),
    ("yarn yarnpkg", Obeyed::Files(&[".npmrc", ".yarnrc", ".yarnrc.yml"])),
    ("mvn mvnd", Obeyed::Files(&[".mvn"])),
    ("mise rtx", Obeyed::Files(&["mise.toml", ".mise.toml"])),
    ("poetry pdm hatch pipenv rye", Obeyed::Files(PYPROJECT)),
    ("pytest py.test pylint flake8 mypy", Obeyed::Files(PYTHON_TOOLS)),
    ("bundle bundler", Obeyed::Files(&["Gemfile", ".bundle/config"])),
    ("composer", Obeyed::Files(&["composer.json", "vendor"])),
    ("rails", Obeyed::Files(&["bin/rails"])),
    ("terraform tofu", Obeyed::Files(&[".terraform"])),
    ("pulumi", Obeyed::Files(&["Pulumi.yaml"])),
    ("vagrant", Obeyed::Files(&["Vagrantfile"])),
    (
        "ansible ansible-config ansible-doc ansible-galaxy ansible-inventory ansible-playbook",
        Obeyed::Files(&["ansible.cfg"]),
    ),
    ("task", Obeyed::Files(&["Taskfile.yml", "Taskfile.yaml"])),
    ("prettier", Obeyed::Files(PRETTIER)),
    ("tflint", Obeyed::Files(&[".tflint.hcl"])),
    ("jest lerna nx webpack", Obeyed::Files(&["node_modules"])),
];

/// The obeyed files by program.
static BY_PROGRAM: LazyLock<HashMap<&str, Obeyed, RandomState>> = LazyLock::new(|| {
    let rows = ROWS.iter().flat_map(|(programs, files)| programs.split(' ').map(|program| (program, *files)));
    rows.collect()
});

/// Returns the files that a read-only program obeys, without the directories in which it runs.
pub(super) fn of(args: &[Word]) -> Option<Obeys> {
    let (program, rest) = args.split_first()?;
    let name = base_name(program.text());
    let files = *BY_PROGRAM.get(name)?;
    let only_answers = files == Obeyed::Repository && answers(rest);
    let obeys = Obeys { program: name.into(), files, into: into(name, rest), dirs: Vec::new() };
    (!only_answers).then_some(obeys)
}

/// Returns true if git only prints its version or help. It looks for no repository then.
fn answers(rest: &[Word]) -> bool {
    matches!(rest.first().map(Word::text), Some("--version" | "-v" | "version" | "--help" | "help"))
}

/// Returns the directory that options before a subcommand select, one relative to the other. Returns `None` if an
/// option may select any directory.
fn into(name: &str, rest: &[Word]) -> Option<SmolStr> {
    let mut at = String::new();
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let text = word.text();
        let named = match text.split_once('=') {
            Some((option, value)) if leads(name, option) && option.starts_with("--") => Some(value),
            _ if leads(name, text) => Some(words.next()?.text()),
            _ if name == "git" && text.len() > 2 && text.starts_with("-C") => text.get(2..),
            // The remaining words belong to the subcommand.
            _ if name == "git" && !text.starts_with('-') => break,
            _ if name == "git" && text == "-c" => {
                words.next();
                None
            }
            _ => None,
        };
        if let Some(named) = named {
            if named.starts_with('/') {
                at.clear();
            }
            if !at.is_empty() {
                at.push('/');
            }
            at += named;
        }
    }
    Some(if at.is_empty() { ".".into() } else { at.into() })
}

/// Returns true if the option takes a directory to work in, or a file in this directory.
fn leads(name: &str, option: &str) -> bool {
    match name {
        "git" => option == "-C",
        "hg" => matches!(option, "-R" | "--cwd" | "--repository"),
        "npm" | "npx" => matches!(option, "--prefix" | "-C"),
        "pnpm" | "pnpx" => matches!(option, "-C" | "--dir" | "--prefix"),
        "yarn" | "yarnpkg" => option == "--cwd",
        "poetry" | "pdm" | "hatch" | "rye" => matches!(option, "-C" | "--directory" | "-P" | "--project"),
        "terraform" | "tofu" => option == "-chdir" || option == "--chdir",
        "composer" => matches!(option, "-d" | "--working-dir"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{BY_PROGRAM, ROWS};

    #[test]
    fn a_program_stands_in_one_row() {
        assert_eq!(BY_PROGRAM.len(), ROWS.iter().map(|(programs, _)| programs.split(' ').count()).sum::<usize>());
    }
}

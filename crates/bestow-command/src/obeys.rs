//! The files that programs obey in their directory: settings that may make a read-only program run another program.
//!
//! A classification names the program and these files. The engine knows which agents may write them.

use smol_str::SmolStr;

use crate::{
    evaluator::Use,
    options::{List, Options, Reading},
    programs::{AllWords, Program, Reads},
    values::{Obeyed, Obeys},
    word::{Gaps, Word},
};

/// Long options with which programs take another directory, or other settings. If the record does not say that one of
/// them names the directory, it may lead anywhere.
pub(crate) const LEADING: &[&str] = &[
    "--base-dir",
    "--basedir",
    "--chdir",
    "--config",
    "--config-file",
    "--config-path",
    "--cwd",
    "--dir",
    "--directory",
    "--env-file",
    "--file",
    "--gemfile",
    "--git-dir",
    "--manifest-path",
    "--project",
    "--project-dir",
    "--project-directory",
    "--root",
    "--root-dir",
    "--rootdir",
    "--settings",
    "--solution",
    "--work-tree",
    "--workdir",
    "--working-dir",
    "--working-directory",
    "--workspace-root",
];

/// Returns the files that a read-only program obeys, without the directories in which it runs.
pub(super) fn of(usage: &Use<'_>) -> Option<Obeys> {
    let (name, known, rest) = (usage.name, usage.known, usage.rest);
    let files = known.obeys.filter(|_| obeys_files(known, rest))?;
    let into = into(name, known, usage.form.get().copied(), rest);
    Some(Obeys { program: name.into(), files, into, dirs: Vec::new() })
}

/// Returns true if a program obeys files with these words.
pub(super) fn obeys_files(known: &Program, rest: &[Word]) -> bool {
    known.obeys.is_some_and(|files| files != Obeyed::Repository || !answers(rest))
}

/// Returns true if git only prints its version or help. It looks for no repository then.
fn answers(rest: &[Word]) -> bool {
    matches!(rest.first().map(Word::text), Some("--version" | "-v" | "version" | "--help" | "help"))
}

/// Returns the directory that options select, one relative to the other. Returns `None` if an option may select any
/// directory. The options are read as the proof of the form read them.
fn into(name: &str, known: &Program, form: Option<&'static Reads>, rest: &[Word]) -> Option<SmolStr> {
    let is_directory = |option: &str| known.directory.split(' ').any(|directory| directory == option);
    let given = match form.filter(|form| matches!(form.words, AllWords::Listed)) {
        Some(form) => given(name, form, rest)?,
        None => {
            // Nothing is known about the options. One that is spelled like a leading one may be one.
            let may_lead = |word: &Word| {
                let option = word.text().split('=').next().unwrap_or_default();
                let begins = |short: &str| short.len() == 2 && !option.starts_with("--") && option.starts_with(short);
                let is_one = is_directory(option) || LEADING.contains(&option);
                option.len() > 1 && option.starts_with('-') && (is_one || known.directory.split(' ').any(begins))
            };
            if rest.iter().any(may_lead) {
                return None;
            }
            Vec::new()
        }
    };
    let mut at = String::new();
    for (option, value) in given {
        let Some(named) = value else { continue };
        if !is_directory(&option) {
            if LEADING.contains(&option.as_str()) {
                return None;
            }
            continue;
        }
        if named.has_unknown() {
            return None;
        }
        if named.starts_with('/') {
            at.clear();
        }
        if !at.is_empty() {
            at.push('/');
        }
        at += &named;
    }
    Some(if at.is_empty() { SmolStr::new_static(".") } else { at.into() })
}

/// Returns the options of a proven form with their values: those before the subcommand, and those behind it. For git,
/// the words behind it belong to the subcommand.
fn given(name: &str, form: &Reads, rest: &[Word]) -> Option<Vec<(SmolStr, Option<SmolStr>)>> {
    let behind = form.after_subcommand(rest)?;
    let before = rest.get(..rest.len() - behind.len())?;
    // The subcommand may be spelled like an option, as in `npm -v`.
    let before = match before.split_last() {
        Some((last, globals)) if last.text().starts_with('-') => globals,
        _ => before,
    };
    let read = |words, flags: List<'static>, stop_at_operand| {
        let options = Options::read(words, Reading { flags, stop_at_operand, inert: true }).ok();
        options.map(|options| options.given.into_vec())
    };
    let mut given = read(before, form.globals, false)?;
    if name != "git" {
        given.extend(read(behind, form.flags, form.stop_at_operand)?);
    }
    Some(given)
}

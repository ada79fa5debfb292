//! The files that programs obey in their directory: settings that may make a read-only program run another program.
//!
//! A classification names the program and these files. The engine knows which agents may write them.

use smol_str::SmolStr;

use crate::{
    programs::Program,
    values::{Obeyed, Obeys},
    word::{Gaps, Word},
};

/// Returns the files that a read-only program obeys, without the directories in which it runs.
pub(super) fn of(name: &str, known: &Program, rest: &[Word]) -> Option<Obeys> {
    let files = known.obeys?;
    if files == Obeyed::Repository && answers(rest) {
        return None;
    }
    let into = into(name, known.directory, rest);
    Some(Obeys { program: name.into(), files, into, dirs: Vec::new() })
}

/// Returns true if git only prints its version or help. It looks for no repository then.
fn answers(rest: &[Word]) -> bool {
    matches!(rest.first().map(Word::text), Some("--version" | "-v" | "version" | "--help" | "help"))
}

/// Returns the directory that options before a subcommand select, one relative to the other. Returns `None` if an
/// option may select any directory.
fn into(name: &str, options: &str, rest: &[Word]) -> Option<SmolStr> {
    let leads = |option: &str| options.split(' ').any(|known| known == option);
    let mut at = String::new();
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let text = word.text();
        if !text.starts_with('-') {
            // For git, the remaining words belong to the subcommand.
            if name == "git" {
                break;
            }
            continue;
        }
        let named = match text.split_once('=') {
            Some((option, value)) if leads(option) && option.starts_with("--") => Some(value),
            _ if leads(text) => Some(words.next()?.text()),
            _ if name == "git" && text.len() > 2 && text.starts_with("-C") => text.get(2..),
            _ if name == "git" && text == "-c" => {
                words.next();
                None
            }
            _ => None,
        };
        if let Some(named) = named {
            if named.has_unknown() {
                return None;
            }
            if named.starts_with('/') {
                at.clear();
            }
            if !at.is_empty() {
                at.push('/');
            }
            at += named;
        }
    }
    Some(if at.is_empty() { SmolStr::new_static(".") } else { at.into() })
}

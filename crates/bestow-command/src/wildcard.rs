//! Words that a wildcard in an allow pattern does not match.
//!
//! A user who writes `git push origin **` means branches and tags, and not `--receive-pack='touch x'`. So a wildcard
//! matches operands, and options that a table lists as harmless for this program and subcommand. Any other word that
//! may change the command or its place must be written in the pattern itself.

use crate::{
    options,
    programs::{self, Plain},
    safe,
    values::{Said, Spoken, base_name},
};

/// Options that select another working directory, in any program.
const DIRECTORIES: &[&str] = &[
    "--chdir",
    "--cwd",
    "--dir",
    "--directory",
    "--git-dir",
    "--manifest-path",
    "--prefix",
    "--project",
    "--project-directory",
    "--work-tree",
];

/// Returns the indexes of the words in `command` that a pattern must write out to allow the command.
pub(super) fn by_name(command: &Spoken) -> Vec<usize> {
    let Some(words) = command.words.iter().map(Said::written).collect::<Option<Vec<_>>>() else { return Vec::new() };
    let Some((program, rest)) = words.split_first() else { return Vec::new() };
    let name = base_name(program);
    let must = rest.iter().enumerate().filter(|(at, word)| {
        let before = rest.get(..*at).unwrap_or_default();
        if is_option(word) { !is_harmless(name, before, word) } else { sets_something(name, *at, word) }
    });
    must.map(|(at, _)| at + 1).collect()
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word != "--" && word.starts_with(['-', '+'])
}

/// Returns true if some table lists the option as harmless for the program and the subcommand in `before`.
fn is_harmless(name: &str, before: &[&str], word: &str) -> bool {
    let option = word.split('=').next().unwrap_or_default();
    let leads_away = DIRECTORIES.contains(&option) || (!option.starts_with("--") && option.contains('C'));
    let follows = |form: &&Plain| form.subcommands.iter().any(|subcommand| options::before_has(before, subcommand));
    let plain = programs::find(name).map(|program| program.plain).unwrap_or_default().iter();
    let mut flags = plain.filter(follows).map(|form| form.flags).chain(safe::harmless_flags(name, before));
    !leads_away && flags.any(|flags| options::knows(flags, word))
}

/// Returns true if an operand has a special meaning: `make SHELL=x`, `gcc @options`, `git clone ext::x`, `tar xIf x`.
fn sets_something(name: &str, at: usize, word: &str) -> bool {
    let known = programs::find(name);
    let setting = word.split_once('=').is_some_and(|(key, _)| {
        !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-+?:".contains(&byte))
    });
    setting
        || (word.starts_with('@') && known.is_some_and(|program| program.option_file))
        || (name == "git" && word.contains("::"))
        || (at == 0 && known.is_some_and(|program| program.letter_bundle))
}

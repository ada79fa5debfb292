//! Words that a wildcard in an allow pattern does not match.
//!
//! A user who writes `git push origin **` means branches and tags, and not `--receive-pack='touch x'`. So a wildcard
//! matches operands, and options that a table lists as harmless for this program and subcommand. Any other word that
//! may change the command or its place must be written in the pattern itself.

use crate::{
    needs::{end_of_form, own_words, wraps},
    options,
    programs::{self, Plain, Role},
    safe,
    span::Span,
    values::{Said, Spoken, base_name},
    word::Word,
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
    let (mut must, mut start) = (Vec::new(), 0);
    for _ in 0..MAX_STARTED {
        let Some((program, rest)) = words.get(start..).and_then(<[&str]>::split_first) else { break };
        let name = base_name(program);
        let passed = find_passed_words(program, name, rest);
        let own = rest.iter().enumerate().filter(|(at, word)| {
            let before = rest.get(..*at).unwrap_or_default();
            let is_own = match passed {
                PassedWords::Nothing => true,
                PassedWords::Behind(end) => *at < end || leads_away(word) && !before.contains(&"--"),
                PassedWords::Command(command) => *at < command,
            };
            is_own
                && !is_mode(name, *at, word)
                && if is_option(word) { !is_harmless(name, before, word) } else { sets_something(name, *at, word) }
        });
        must.extend(own.map(|(at, _)| start + at + 1));
        match passed {
            PassedWords::Command(command) => start += command + 1,
            PassedWords::Nothing | PassedWords::Behind(_) => return must,
        }
    }
    // Too many programs start each other.
    must.extend(start..words.len());
    must
}

/// The limit of programs that start each other in one command.
const MAX_STARTED: usize = 8;

/// The words of a program that are not its own.
#[derive(Clone, Copy)]
enum PassedWords {
    Nothing,
    /// The words from this index on belong to code that runs anyway.
    Behind(usize),
    /// The words from this index on are a command.
    Command(usize),
}

/// Returns the words that a program passes on.
fn find_passed_words(program: &str, name: &str, rest: &[&str]) -> PassedWords {
    let words: Vec<Word> = rest.iter().map(|word| Word::literal(*word, Span::default())).collect();
    let Some(known) = programs::find(name) else {
        // The code of a program of the project runs anyway, whatever its words are.
        let is_of_project = program.contains('/') && safe::trusted_name(program).is_none();
        return if is_of_project { PassedWords::Behind(0) } else { PassedWords::Nothing };
    };
    if wraps(name, known) {
        let own = own_words(name, known, &words);
        return if own < rest.len() { PassedWords::Command(own) } else { PassedWords::Nothing };
    }
    let dashes = rest.iter().position(|word| *word == "--");
    for form in known.passes {
        let (form, ends_at_dashes) = form.strip_suffix(" --").map_or((*form, false), |form| (form, true));
        let (form, starts) = form.strip_suffix('>').map_or((form, false), |form| (form, true));
        let Some(end) = end_of_form(form, starts, known, &words) else { continue };
        match dashes.filter(|dashes| *dashes >= end) {
            Some(dashes) if ends_at_dashes => return PassedWords::Behind(dashes),
            _ if ends_at_dashes => {}
            _ if starts => return PassedWords::Command(end),
            _ => return PassedWords::Behind(end),
        }
    }
    PassedWords::Nothing
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word != "--" && word.starts_with(['-', '+'])
}

/// Returns true for an option that selects another working directory, in any program.
fn leads_away(word: &str) -> bool {
    DIRECTORIES.contains(&word.split('=').next().unwrap_or_default())
}

/// Returns true for the mode of `chmod`, which may look like an option.
fn is_mode(name: &str, at: usize, word: &str) -> bool {
    let changes = programs::known(name).files.is_some_and(|files| files.role == Some(Role::Changes));
    at == 0 && changes && word.starts_with('+')
}

/// Returns true if some table lists the option as harmless for the program and the subcommand in `before`.
fn is_harmless(name: &str, before: &[&str], word: &str) -> bool {
    let option = word.split('=').next().unwrap_or_default();
    let leads_away = leads_away(word) || (!option.starts_with("--") && option.contains('C'));
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

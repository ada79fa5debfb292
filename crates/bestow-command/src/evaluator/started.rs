//! Programs that run a command in some of their uses, and commands with another name. The inner command is evaluated by
//! itself, in addition to the program around it.

use std::borrow::Cow;

use crate::{
    destroy::Words,
    evaluator::{Evaluation, Traits, Use, inline_code},
    invocation::Input,
    options::{Options, Reading, list},
    programs::{self, Starts},
    safe,
    verdict::Verdict,
    word::Word,
};

/// The listed name of the program loader, whose real name differs between machines.
const LOADER: &str = "ld.so";

/// Returns true if some use of the program runs a command, or if the name is another name of a command.
pub(super) fn may_run(name: &str) -> bool {
    !uses(listed_name(name)).is_empty() || name.starts_with("git-")
}

/// Returns the uses of a program that run the command after them.
fn uses(name: &str) -> &'static [Starts] {
    programs::find(name).map(|program| program.starts).unwrap_or_default()
}

fn listed_name(name: &str) -> &str {
    let is_loader = ["ld-", "ld64"].iter().any(|start| name.starts_with(start)) && name.contains(".so");
    if is_loader { LOADER } else { name }
}

impl Evaluation<'_, '_> {
    /// Returns the verdict on the inner command, if there is one.
    pub(super) fn evaluate_started(&mut self, usage: &Use<'_>, input: &Input) -> Option<Verdict> {
        let (inner, rule) = match (self.by_another_name(usage), within(listed_name(usage.name), usage.words())) {
            (Some(inner), _) => (Cow::Owned(inner), "a command by another name"),
            (None, Some(inner)) => (Cow::Borrowed(inner), "runs another program"),
            (None, None) => return None,
        };
        let verdict = match inner.as_ref() {
            // A shell reads a single word with blanks.
            [text] if text.text().contains(char::is_whitespace) => self.shell.run_text(text.text(), text.span()),
            inner => self.evaluate(inner, input),
        };
        Some(Verdict::dangerous(rule).or_stricter(verdict))
    }

    /// Translates `git-fetch x`, `python3 -m pip install x` and `python3 /usr/bin/pip install x` to the command that
    /// they run.
    fn by_another_name(&self, usage: &Use<'_>) -> Option<Vec<Word>> {
        let (name, rest) = (usage.name, usage.rest);
        let program = usage.args.first()?;
        let named = |text: &str| Word::literal(text, program.span());
        if let Some(subcommand) = name.strip_prefix("git-").filter(|subcommand| !subcommand.is_empty()) {
            return Some(git(named, [named(subcommand)], rest));
        }
        if name == "git" {
            let pushes = renamed_push(usage.words()).map(|behind| git(named, [named("push")], behind));
            return pushes.or_else(|| in_each_repository(usage.words()).map(|behind| git(named, [], behind)));
        }
        if !usage.traits.has(Traits::RUNS_CODE) || self.is_proven(usage) {
            return None;
        }
        let module = if inline_code::runs_modules(name) { module(rest) } else { None };
        let (command, rest) = module.or_else(|| system_program(rest))?;
        Some(std::iter::once(command).chain(rest.iter().cloned()).collect())
    }
}

/// Returns a command of `git` with these words.
fn git<'w>(
    named: impl Fn(&str) -> Word,
    subcommand: impl IntoIterator<Item = Word>,
    rest: impl IntoIterator<Item = &'w Word>,
) -> Vec<Word> {
    std::iter::once(named("git")).chain(subcommand).chain(rest.into_iter().cloned()).collect()
}

/// Returns the words behind `git for-each-repo`, which are a subcommand with its words.
fn in_each_repository<'a>(words: &Words<'a>) -> Option<&'a [Word]> {
    let behind = words.all().get(words.after_subcommand("for-each-repo")?..)?;
    let reading = Reading { flags: list!("--config: --keep-going"), stop_at_operand: true, inert: true };
    behind.get(Options::read(behind, reading).ok()?.first_operand?..)
}

/// Returns the words behind a subcommand of `git` that pushes by another name.
fn renamed_push<'a>(words: &Words<'a>) -> Option<&'a [Word]> {
    let pushes = ["subtree push", "send-pack", "http-push", "lfs push"];
    let behind = pushes.iter().find_map(|subcommand| words.after_subcommand(subcommand));
    words.all().get(behind?..)
}

/// Returns the command after the own words of the program.
fn within<'a>(name: &str, words: &Words<'a>) -> Option<&'a [Word]> {
    let uses = uses(name);
    if uses.is_empty() {
        return None;
    }
    let may_start = |running: &&Starts| running.subcommands.is_empty() || words.may_name(running.subcommands);
    uses.iter().filter(may_start).find_map(|running| {
        let ends = running.subcommands.iter().map(|subcommand| match subcommand {
            "" => Some(0),
            subcommand => words.after_subcommand(subcommand),
        });
        let behind = words.all().get(ends.flatten().next()?..)?;
        let reading = Reading { flags: running.flags, stop_at_operand: true, inert: true };
        let start = Options::read(behind, reading).ok()?.first_operand?;
        behind.get(start..).filter(|inner| !inner.is_empty())
    })
}

/// Returns the module that `-m` names, and its arguments.
fn module(rest: &[Word]) -> Option<(Word, &[Word])> {
    let mut words = rest.iter().enumerate();
    while let Some((at, word)) = words.next() {
        if word.text().starts_with("--") {
            if word.text() == "--check-hash-based-pycs" {
                words.next();
            }
            continue;
        }
        let letters = word.text().strip_prefix('-')?;
        // `-W` and `-X` take the rest of the word or the next word as their value, and `-c` takes code.
        let taking = letters.char_indices().find(|(_, letter)| matches!(letter, 'm' | 'c' | 'W' | 'X'));
        let Some((place, letter)) = taking else { continue };
        let joined = letters.get(place + 1..).filter(|joined| !joined.is_empty());
        let module = match (letter, joined) {
            ('m', Some(joined)) => word.with_text(joined),
            ('m', None) => words.next()?.1.clone(),
            ('c', _) => return None,
            (_, Some(_)) => continue,
            (_, None) => {
                words.next();
                continue;
            }
        };
        let behind = if joined.is_some() { at + 1 } else { at + 2 };
        return module.is_exact().then_some(module).zip(rest.get(behind..));
    }
    None
}

/// Returns the program name and the arguments of a script in a directory of system programs.
fn system_program(rest: &[Word]) -> Option<(Word, &[Word])> {
    let at = rest.iter().position(|word| !word.text().starts_with('-'))?;
    let script = rest.get(at).filter(|script| script.is_exact() && script.text().starts_with('/'))?;
    let name = safe::trusted_name(script.text())?;
    Some((script.with_text(name), rest.get(at + 1..)?))
}

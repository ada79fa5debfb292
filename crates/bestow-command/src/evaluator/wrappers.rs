//! Wrappers: programs that run the program that their arguments name.

use crate::{
    evaluator::{Evaluation, Use},
    invocation::Input,
    lang::find,
    needs::{ENV_FLAGS, XARGS_FLAGS, names_what_it_reads},
    obeys,
    options::{Options, Reading},
    programs::{self, Wraps},
    span::Span,
    tier::Tier,
    values::base_name,
    variables,
    verdict::Verdict,
    word::{IDENTIFIERS, Origin, Signs, Word},
};

/// Wrappers that are parsed in a way of their own.
const SPECIAL: &[&str] = &["env", "xargs", "gxargs", "find", "gfind", "fd", "fdfind", "parallel", "watch"];

/// Returns all programs that run the program that their arguments name.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let listed = programs::all().filter(|program| program.wraps.is_some());
    SPECIAL.iter().copied().chain(listed.flat_map(|program| program.names.iter().copied()))
}

/// Returns every listed wrapper with as many words of its own as it takes, ready for a command after it.
#[cfg(test)]
pub(crate) fn prefixes() -> Vec<String> {
    let special = [
        "env",
        "env A=b",
        "xargs",
        "gxargs",
        "find . -exec",
        "gfind . -exec",
        "fd -x",
        "fdfind -x",
        "parallel",
        "watch",
    ];
    let listed = programs::all().filter_map(|program| Some((program.names, program.wraps?.operands)));
    let listed = listed.flat_map(|(names, own)| names.iter().map(move |name| format!("{name}{}", " 1".repeat(own))));
    listed.chain(special.map(str::to_owned)).collect()
}

/// Returns true if [`Evaluation::evaluate_wrapped`] may have a verdict on some use of the program.
pub(super) fn is_evaluated(name: &str) -> bool {
    is_wrapper(name) || name == "command"
}

/// Returns true if a program runs the program that its arguments name.
pub(super) fn is_wrapper(name: &str) -> bool {
    programs::known(name).wraps.is_some() || SPECIAL.contains(&name)
}

impl Evaluation<'_, '_> {
    /// Returns the verdict on the inner command, if `name` runs one.
    pub(super) fn evaluate_wrapped(&mut self, usage: &Use<'_>, input: &Input) -> Option<Verdict> {
        let rest = usage.rest;
        if matches!(rest, [word] if word.is_written() && matches!(word.text(), "--version" | "--help")) {
            return None;
        }
        match usage.name {
            "env" => self.evaluate_env(rest, input),
            "xargs" | "gxargs" => self.evaluate_xargs(rest, input),
            "find" | "gfind" => self.evaluate_find(rest),
            "fd" | "fdfind" => self.evaluate_fd(rest),
            "command" if rest.first().is_some_and(|arg| matches!(arg.text(), "-v" | "-V")) => {
                Some(Verdict::safe("`command -v` only looks a name up"))
            }
            _ => {
                let wrapper = usage.known.wraps?;
                // Some wrappers only report without a command, or with a command that their record lists.
                let asks_one = matches!(rest, [word] if word.text().starts_with('-'));
                let is_proven = !asks_one && !usage.known.reads.is_empty() && self.is_proven(usage);
                let wrapper = Wraps { dangerous: wrapper.dangerous && !is_proven, ..wrapper };
                self.evaluate_wrapper(wrapper, is_proven, rest, input)
            }
        }
    }

    /// Evaluates the command behind a wrapper. If the use of the wrapper is proven, other options name no command.
    fn evaluate_wrapper(&mut self, wrapper: Wraps, is_proven: bool, rest: &[Word], input: &Input) -> Option<Verdict> {
        let reading = Reading { flags: wrapper.flags, stop_at_operand: true, inert: true };
        let Ok(options) = Options::read(rest, reading) else {
            return (!is_proven).then(|| self.unread_wrapper(rest));
        };
        let start = options.first_operand? + wrapper.operands;
        let inner = rest.get(start..).filter(|inner| !inner.is_empty())?;
        options.values.iter().copied().chain(inner.first()).for_each(|word| self.record_texts_in(word));
        let verdict = self.evaluate(inner, input);
        let tier = if wrapper.dangerous { Tier::Dangerous } else { Tier::Safe };
        let floor = Verdict { tier, rule: "runs another program in a changed setting".into() };
        Some(floor.or_stricter(verdict))
    }

    /// Evaluates a wrapper with an unknown option. The option may take the next word or not, so every word may start
    /// the command.
    fn unread_wrapper(&mut self, rest: &[Word]) -> Verdict {
        self.hear_hosts(rest);
        Verdict::dangerous("runs another program with options that are not on the list")
            .or_stricter(self.search_words(rest))
    }

    fn evaluate_env(&mut self, rest: &[Word], input: &Input) -> Option<Verdict> {
        let reading = Reading { flags: ENV_FLAGS, stop_at_operand: true, inert: true };
        let Ok(options) = Options::read(rest, reading) else { return Some(self.unread_wrapper(rest)) };
        let mut verdict = Verdict::safe("`env` only sets variables");
        if let Some(text) = options.value("-S --split-string") {
            let words =
                format!("{text} {}", options.operands.iter().map(|arg| arg.text()).collect::<Vec<_>>().join(" "));
            let span = rest.first().map(|arg| arg.span()).unwrap_or_default();
            if text.contains(['\\', '$', '#', '"', '\'']) {
                // The text has escapes, variables and quotes of its own.
                self.record_anything();
            }
            return Some(
                Verdict::dangerous("`env -S` splits a text into a command")
                    .or_stricter(self.shell.search_text(&words, span)),
            );
        }
        let mut start = options.first_operand?;
        while let Some(word) = rest.get(start) {
            let Some((name, value)) = word.text().split_once('=') else { break };
            let value = word.with_text(value);
            verdict = verdict.or_stricter(variables::evaluate(name, &value, false));
            self.record_variable(name, &value);
            start += 1;
        }
        match rest.get(start..) {
            Some(inner) if !inner.is_empty() => {
                let before = self.shell.scope.places.clone();
                if let Some(directory) = options.value("-C --chdir") {
                    self.shell.scope.enter(directory);
                }
                let found = self.evaluate(inner, input);
                self.shell.scope.places = before;
                Some(verdict.or_stricter(found))
            }
            _ if verdict.tier > Tier::Safe => Some(verdict),
            _ => None,
        }
    }

    fn evaluate_xargs(&mut self, rest: &[Word], input: &Input) -> Option<Verdict> {
        let reading = Reading { flags: XARGS_FLAGS, stop_at_operand: true, inert: true };
        let Ok(options) = Options::read(rest, reading) else {
            let words: Vec<Word> = rest.iter().cloned().chain([Word::anything(self.shell.here)]).collect();
            return Some(self.unread_wrapper(&words));
        };
        let inner = match options.first_operand {
            Some(start) => rest.get(start..).unwrap_or_default().to_vec(),
            None => vec![Word::literal("echo", rest.first().map(|arg| arg.span()).unwrap_or_default())],
        };
        let file = options.given.iter().any(|(name, _)| name == "-a" || name == "--arg-file");
        let content = options
            .values
            .iter()
            .find_map(|value| value.content().map(str::to_owned))
            .filter(|_| file)
            .map(Input::Text);
        let input = if file { content.as_ref().unwrap_or(&Input::Unknown) } else { input };
        // If the input is not split at blanks, a name may begin with any character.
        let cut = matches!(input, Input::Text(text) if text == IDENTIFIERS) && options.has("-d --delimiter");
        let input = if cut { &Input::Unknown } else { input };
        let mark = options.value("-I -i --replace -J");
        let mark = mark.or_else(|| options.has("-i --replace").then_some("{}"));
        let whole_lines = mark.is_some() || options.has("-0 --null -d --delimiter -L");
        let words = input_words(input, whole_lines, inner.first().map(|arg| arg.span()).unwrap_or_default());
        let words: Vec<&Word> = words.iter().collect();
        let mut verdict = self.evaluate(&filled(&inner, &words, mark, MAX_FILLED), &Input::Unknown);
        if verdict.tier == Tier::Safe && words.len() > 1 {
            // A later run begins with other words.
            let later = Word::anything(self.shell.here);
            verdict = verdict.or_stricter(self.evaluate(&filled(&inner, &[&later], mark, MAX_FILLED), &Input::Unknown));
        }
        // Of `-I` and `-L` or `-n`, the later option counts. With `-L` or `-n`, the words are appended after all.
        if mark.is_some() && options.has("-L -n --max-args --max-lines") {
            return Some(
                verdict.or_stricter(self.evaluate(&filled(&inner, &words, None, MAX_FILLED), &Input::Unknown)),
            );
        }
        Some(verdict)
    }

    /// Evaluates the programs that `-exec` and similar actions run on the results.
    fn evaluate_find(&mut self, rest: &[Word]) -> Option<Verdict> {
        let actions = find::actions(rest);
        let commands = &actions.commands;
        if commands.is_empty() && !actions.deletes {
            return None;
        }
        let found = find::found(rest);
        let removes = |command: &find::Run| {
            command.words.first().is_some_and(|program| matches!(base_name(program.text()), "rm" | "unlink" | "shred"))
        };
        // Deleting file by file has the effect of deleting the whole tree.
        let tree = (actions.deletes || commands.iter().any(removes)).then(|| {
            let words = ["rm", "-r"].map(|word| Word::literal(word, self.shell.here));
            let tree: Vec<Word> = words.into_iter().chain(found.iter().cloned()).collect();
            self.destroys(&tree)
        });
        let mut verdict = unless_it_only_reads(&actions);
        // If there are many commands, only the first and the last directory are tried.
        let found: Vec<&Word> = match found.as_slice() {
            [first, .., last] if commands.len() > MAX_COMMANDS => vec![first, last],
            all => all.iter().collect(),
        };
        let most = 4 * MAX_FILLED / commands.len().max(1);
        for command in commands {
            let unknown_files = self.shell.uses.unknown_files();
            let words = filled(&command.words, &found, Some("{}"), most.min(MAX_FILLED));
            verdict = verdict.or_stricter(self.evaluate(&words, &Input::Unknown));
            if command.is_for_many && verdict.tier == Tier::Safe {
                // With more operands, a program may write the last one.
                let several: Vec<&Word> = found.iter().copied().cycle().take(SEVERAL.max(found.len())).collect();
                let words = filled(&command.words, &several, Some("{}"), MAX_FILLED);
                verdict = verdict.or_stricter(self.evaluate(&words, &Input::Unknown));
            }
            if names_what_it_reads(rest, command) {
                self.shell.uses.restore_unknown_files(unknown_files);
            }
        }
        Some(tree.flatten().map_or(verdict, Verdict::destructive))
    }

    fn evaluate_fd(&mut self, rest: &[Word]) -> Option<Verdict> {
        let runs = |arg: &&Word| matches!(arg.text(), "-x" | "-X" | "--exec" | "--exec-batch");
        let at = rest.iter().position(|arg| runs(&arg))?;
        let found = find::found_by_name(rest);
        let found: Vec<&Word> = found.iter().collect();
        let inner = filled(rest.get(at + 1..).unwrap_or_default(), &found, None, MAX_FILLED);
        let verdict = self.evaluate(&inner, &Input::Unknown);
        Some(Verdict::dangerous("`fd` runs a program on what it finds").or_stricter(verdict))
    }
}

/// The number of results that stands for any number of them.
const SEVERAL: usize = 9;

/// Returns safe if an expression only reads, apart from its commands, and if each command is exactly known. A program
/// that obeys files of its directory is not run on results.
fn unless_it_only_reads(actions: &find::Actions) -> Verdict {
    if actions.deletes {
        return Verdict::dangerous("`find` deletes what it finds");
    }
    let obeys_files = |words: &[Word]| {
        let Some((program, rest)) = words.split_first() else { return false };
        let name = base_name(program.text());
        obeys::obeys_files(programs::known(name), rest)
    };
    let runs = |command: &find::Run| command.is_certain && !obeys_files(&command.words);
    if !actions.commands.iter().all(runs) {
        return Verdict::dangerous("`find` runs a program on what it finds");
    }
    match find::check(&actions.others) {
        Ok(()) => Verdict::safe("`find` runs a program that only reads"),
        Err(why) => Verdict::dangerous(format!("`find`: {why}")),
    }
}

/// Returns the words that `xargs` appends: separate words or whole lines.
fn input_words(input: &Input, whole_lines: bool, span: Span) -> Vec<Word> {
    match input {
        Input::Text(text) if text == IDENTIFIERS => {
            vec![Word::identifiers(span)]
        }
        Input::Text(text) => {
            let lines = text.lines().take(if whole_lines { 64 } else { 0 });
            let words = lines.chain(text.split_whitespace().take(256));
            // `xargs` may leave each word to a later run.
            let maybe = |word| Word::literal(word, span).of_origin(Origin::Output);
            let mut words: Vec<Word> = words.map(maybe).collect();
            words.push(Word::anything(span));
            words
        }
        Input::Unknown | Input::Terminal => vec![Word::anything(span)],
    }
}

/// The limit of commands of one `find` that are tried on every directory.
const MAX_COMMANDS: usize = 8;

/// The limit of words that replace marks.
const MAX_FILLED: usize = 1_024;

/// The limit of bytes that one word takes in the place of all its marks.
const MAX_FILLED_BYTES: usize = 1 << 16;

/// Returns a command with `words` in the place of `mark`, or at its end. With a mark, it uses about `most` of the
/// words.
fn filled(inner: &[Word], words: &[&Word], mark: Option<&str>, most: usize) -> Vec<Word> {
    let words = words.iter().copied();
    let Some(mark) = mark else { return inner.iter().chain(words).cloned().collect() };
    // Every mark becomes every word. If there are too many, the first words and the last one are used.
    let marks: usize = inner.iter().map(|arg| marks_in(arg, mark)).sum();
    let room = (most / marks.max(1)).max(1);
    let short = |word: &&Word| word.text().len() * marks <= MAX_FILLED_BYTES;
    let few: Vec<&Word> = words.clone().filter(short).take(room).chain(words.skip(room).last()).collect();
    let mut line = Vec::with_capacity(inner.len() + marks * few.len());
    for arg in inner {
        if marks_in(arg, mark) > 0 {
            line.extend(few.iter().map(|word| arg.filled(mark, word)));
        } else {
            line.push(arg.clone());
        }
    }
    line
}

/// Returns how often a word has the mark.
fn marks_in(arg: &Word, mark: &str) -> usize {
    match arg.text() {
        text if text == mark => 1,
        _ if mark.starts_with('{') && !arg.has(Signs::BRACE) => 0,
        text => text.matches(mark).count(),
    }
}

//! The invocations that a command line may start, for the patterns of rules. They include every evaluated command, and
//! the commands that words and texts may contain. The tiers are decided elsewhere, during the same walk.

use foldhash::HashSet;
use smol_str::SmolStr;

use crate::{
    invocation::Input,
    judge::{self},
    lang::find,
    span::Span,
    values::{Ends, Said, Spoken, base_name},
    variables,
    walk::Walker,
    word::{Fragment, Gaps, Known, UNKNOWN, Word, is_gap},
};

/// The limit of words that are recorded for one line. Further words count as any command.
const MAX_WORDS: usize = 1 << 16;
/// The limit of texts in words that are searched, in addition to those that certainly run.
const MAX_TEXTS: usize = 256;
/// The limit of lines of a program's input that are evaluated as commands.
const MAX_LINES: usize = 64;
/// The limit of words of a wrapper that are evaluated as the words of the inner program.
const MAX_TOLD: usize = 256;

/// The recorded commands of the current part, and the state of the search for them.
#[derive(Debug, Default)]
pub(super) struct Overheard {
    spoken: Vec<Spoken>,
    words: usize,
    texts: HashSet<String>,
    /// True inside a text or command that may not run at all. Unknown parts of it do not count.
    guessing: bool,
}

impl Overheard {
    pub(super) fn is_guessing(&self) -> bool {
        self.guessing
    }

    pub(super) fn extend(&mut self, spoken: Vec<Spoken>) {
        self.spoken.extend(spoken);
    }

    /// Returns true if no further command is recorded.
    fn is_full(&self) -> bool {
        self.words > MAX_WORDS
    }

    fn push(&mut self, spoken: Spoken) {
        if self.is_full() {
            return;
        }
        self.words += spoken.words.len();
        self.spoken.push(if self.words > MAX_WORDS { Spoken::anything() } else { spoken });
    }
}

impl Walker<'_> {
    /// Runs `work` and returns the commands that it records, instead of adding them to the recorded commands.
    pub(super) fn overhearing<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> (T, Vec<Spoken>) {
        let outside = std::mem::take(&mut self.overheard.spoken);
        let result = work(self);
        (result, std::mem::replace(&mut self.overheard.spoken, outside))
    }

    /// Records that a command of these words may run.
    pub(super) fn speak(&mut self, args: &[Word]) {
        if !self.overheard.is_full() {
            self.overheard.push(Spoken::of(said_of(args)));
        }
    }

    /// Records that a command may begin at any of these words.
    pub(super) fn speak_anywhere(&mut self, words: &[Word]) {
        if words.is_empty() {
            return;
        }
        if self.overheard.is_full() {
            return self.reach(None, false);
        }
        self.hear_network(words);
        self.overheard.push(Spoken { words: said_of(words), anywhere: true });
    }

    /// Records that any command may run.
    pub(super) fn speak_of_anything(&mut self) {
        if !self.overheard.guessing {
            self.uses.run_anything();
            self.overheard.push(Spoken::anything());
        }
    }

    /// Evaluates a command that may not run at all. The commands that it starts are recorded. Its unknown parts are
    /// not.
    pub(super) fn guess<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.overheard.guessing, true);
        let result = work(self);
        self.overheard.guessing = before;
        result
    }

    /// Records every suffix of the words and every text in them as a command, except for programs that start no other
    /// program.
    pub(super) fn overhear_all(&mut self, args: &[Word]) {
        const START_NOTHING: &[&str] = &[
            "chgrp", "chmod", "chown", "cp", "dd", "kill", "killall", "ln", "mv", "pkill", "rm", "rmdir", "shred",
            "truncate", "unlink", "wipefs",
        ];
        let name = args.first().map(|program| base_name(program.text())).unwrap_or_default();
        if !START_NOTHING.contains(&name) {
            self.speak_anywhere(args);
            self.overhear_texts(args);
        }
    }

    /// Records commands after unknown words of a wrapper, because the command may begin after any of them.
    pub(super) fn overhear_wrapper(&mut self, args: &[Word], input: &Input) {
        let Some((program, rest)) = args.split_first() else { return };
        let name = base_name(program.text());
        // A program with an unknown name may be a shell.
        if judge::starts_a_shell(name, rest) || !is_plain(program) && !said(program).iter().all(is_known) {
            self.overhear_input(input);
        }
        if !input.is_silent() || self.reads_unknown(input) {
            self.overhear_reader(name, rest, input);
        }
        let is_find = matches!(name, "find" | "gfind");
        let (wraps, may_run) = (judge::runs_its_words(name), judge::has_runner(name));
        if !wraps && !may_run && !is_find {
            return;
        }
        let runs = wraps || judge::is_runner(name, rest);
        if runs && rest.iter().any(|arg| judge::is_shell(arg.text())) {
            self.overhear_input(input);
        }
        if runs && self.reads_unknown(input) && has_reader(rest) {
            self.speak_of_anything();
        }
        if is_find {
            return self.overhear_find(rest);
        }
        let unknown = |arg: &Word| !is_plain(arg) && said(arg).iter().any(|word| !is_known(word));
        if without_host(name, rest).is_some_and(|others| !others.iter().any(unknown)) {
            return;
        }
        let operand = |arg: &&Word| arg.is_written() && !arg.text().starts_with('-') && !arg.text().contains('=');
        if rest.iter().take_while(|arg| !operand(arg)).any(unknown) {
            self.speak_anywhere(rest);
            self.overhear_texts(rest);
        }
    }

    /// Records the commands in the input of a program that runs its input. Each line may be a command, with or without
    /// a sign before it.
    fn overhear_reader(&mut self, name: &str, rest: &[Word], input: &Input) {
        if !judge::runs_what_it_reads(name, rest) {
            return;
        }
        match input {
            Input::Text(text) => {
                let signs = |c: char| c.is_whitespace() || "@-+!\\:".contains(c);
                for line in text.lines().map(|line| line.trim_start_matches(signs)).take(MAX_LINES) {
                    self.overhear_text(&line.as_data(), self.here);
                }
            }
            Input::Unknown | Input::Terminal if self.reads_unknown(input) => self.speak_of_anything(),
            Input::Unknown | Input::Terminal => {}
        }
    }

    /// Records the commands in the input of a shell.
    fn overhear_input(&mut self, input: &Input) {
        match input {
            Input::Text(text) => {
                if text.has_unknown() {
                    self.speak_of_anything();
                }
                self.overhear_text(text, self.here);
            }
            Input::Unknown | Input::Terminal if self.reads_unknown(input) => self.speak_of_anything(),
            Input::Unknown | Input::Terminal => {}
        }
    }

    /// Records commands after unknown words of `find`. An unknown word may be `-exec`, unless it is the value of a
    /// test.
    fn overhear_find(&mut self, rest: &[Word]) {
        let mut before: Option<&Word> = None;
        for (at, arg) in rest.iter().enumerate() {
            let value = before.replace(arg).is_some_and(|test| find::takes_value(test.text()));
            if is_plain(arg) {
                continue;
            }
            let said = said(arg);
            if said.iter().any(|word| matches!(word, Said::Many(_))) {
                self.speak_anywhere(rest.get(at..).unwrap_or_default());
            } else if !value && !said.iter().all(is_known) {
                self.speak_anywhere(rest.get(at + 1..).unwrap_or_default());
            }
        }
    }

    /// Records the texts in the words of a program that may run them.
    pub(super) fn overhear_texts(&mut self, words: &[Word]) {
        for word in words {
            let attached = (word.text().starts_with('-') && !word.text().starts_with("--")).then_some(2);
            let marks = word.text().match_indices(['=', '!']).take(8).map(|(at, mark)| at + mark.len());
            for start in [0].into_iter().chain(attached).chain(marks) {
                let Some(text) = word.text().get(start..) else { continue };
                let text = text.trim_start_matches(['!', '|', ' ', '"', '\'']);
                if text.contains(|c: char| c.is_whitespace() || ";|&$`(<>".contains(c)) {
                    // Unknown parts of the text are taken for data.
                    self.overhear_text(&text.as_data(), word.span());
                } else if start > 0 && !text.is_empty() {
                    self.speak(&[word.with_text(text)]);
                }
            }
        }
    }

    /// Records the commands of a text that may run.
    pub(super) fn overhear_text(&mut self, text: &str, span: Span) {
        if self.overheard.texts.len() >= MAX_TEXTS {
            self.uses.lose_words();
            self.overheard.push(Spoken::anything());
            return;
        }
        if !self.overheard.texts.insert(text.to_owned()) {
            return;
        }
        let candidates = self.candidates;
        self.guess(|walker| walker.quietly(|walker| walker.run_text(text, span)));
        self.candidates = candidates;
    }

    /// Records the beginning of a command to which a program appends words.
    pub(super) fn overhear_start_of(&mut self, text: &str, span: Span) {
        self.overhear_text(&format!("{text} {UNKNOWN}"), span);
    }

    /// Records the template of `parallel 'command {}'`. Words replace the mark, or are appended.
    pub(super) fn overhear_template(&mut self, words: &[Word]) {
        let template = words.iter().take_while(|arg| !arg.text().starts_with(":::"));
        let filled = |arg: &Word| match (arg.text().find('{'), arg.text().rfind('}')) {
            (Some(open), Some(close)) if open < close => arg.partly(Fragment::Unknown),
            _ => arg.clone(),
        };
        let mut filled: Vec<Word> = template.map(filled).collect();
        let texts: Vec<&str> = filled.iter().map(Word::text).collect();
        let text = texts.join(" ");
        self.overhear_start_of(&text, self.here);
        filled.push(Word::unknown(Span::default()));
        for start in 0..filled.len().min(16) {
            let words = filled.get(start..).unwrap_or_default().to_vec();
            if words.first().is_some_and(Word::is_written) {
                self.speak(&words);
            }
        }
    }

    /// Records the effects of a variable: a host, or a command that programs run.
    pub(super) fn overhear_variable(&mut self, name: &str, value: &Word) {
        self.hear_variable(name, value);
        let text = value.content().unwrap_or(value.text());
        if name.starts_with("GIT_CONFIG") {
            // The configuration may define an alias, a pager or an editor.
            self.speak_of_anything();
        } else if variables::names_a_command(name) {
            if text.has_unknown() {
                self.speak_of_anything();
            }
            self.overhear_start_of(text, value.span());
        } else if text.contains(char::is_whitespace) {
            // Programs do not run this variable. Unknown parts of the text are taken for data.
            self.overhear_text(&text.as_data(), value.span());
        }
    }
}

/// Returns true if one of these words may be a program that runs its input.
fn has_reader(words: &[Word]) -> bool {
    let mut behind = words;
    while let Some((program, rest)) = behind.split_first() {
        // If there are very many words, the arguments of such a name are not checked.
        let told = if words.len() <= MAX_TOLD { rest } else { &[] };
        if program.is_written() && judge::runs_what_it_reads(base_name(program.text()), told) {
            return true;
        }
        behind = rest;
    }
    false
}

/// Returns the words of `ssh` without the host, if the host is a single word after `--`. There, a host cannot be an
/// option that runs a command.
pub(super) fn without_host(name: &str, rest: &[Word]) -> Option<Vec<Word>> {
    let end = rest.iter().position(|arg| arg.is_written() && arg.text() == "--").filter(|_| name == "ssh")?;
    let (before, behind) = rest.split_at_checked(end)?;
    let [_, host, there @ ..] = behind else { return None };
    matches!(said(host).as_slice(), [Said::One(_)]).then(|| before.iter().chain(there).cloned().collect())
}

fn is_known(word: &Said) -> bool {
    matches!(word, Said::Is(_) | Said::Maybe(_))
}

/// Returns the known parts of these words.
pub(super) fn said_of(args: &[Word]) -> Vec<Said> {
    let mut words = Vec::with_capacity(args.len());
    for arg in args {
        if is_plain(arg) {
            words.push(Said::Is(arg.text().into()));
        } else {
            words.extend(said(arg));
        }
    }
    words
}

/// Returns true if a word is exactly its text.
fn is_plain(arg: &Word) -> bool {
    arg.is_written() && !arg.is_open()
}

/// Returns true if a glob may be an extended pattern such as `@(x)`. The parentheses are already replaced by `*`.
fn may_extend(text: &str) -> bool {
    let doubled = text
        .match_indices("**")
        .any(|(at, stars)| !text.get(at + stars.len()..).is_some_and(|rest| rest.starts_with('/')));
    doubled || ["@*", "+*", "!*", "?*"].iter().any(|sign| text.contains(sign))
}

fn said(arg: &Word) -> Vec<Said> {
    if is_plain(arg) {
        return vec![Said::Is(arg.text().into())];
    }
    let globs = |c: char| matches!(c, '*' | '?' | '[') || (arg.is_expanded() && c == '\\');
    let special = |c: char| is_gap(c) || globs(c);
    let (first, last) = (arg.text().find(special), arg.text().rfind(special));
    let start: SmolStr = first.and_then(|at| arg.text().get(..at)).unwrap_or_default().into();
    if arg.is_open() || (first.is_none() && (arg.known() == Known::Partly || arg.may_split())) {
        return vec![Said::anything()];
    }
    // The end of a character class is not searched.
    let home = arg.text().has_home() && !arg.is_pattern() && !arg.has_unknown();
    let plain_end = !arg.text().contains(['[', '(', '\\']);
    let end: SmolStr = last.and_then(|at| arg.text().get(at + 1..)).filter(|_| plain_end).unwrap_or_default().into();
    match first {
        Some(_) if arg.is_pattern() && may_extend(arg.text()) => {
            let start = start.trim_end_matches(['@', '+', '!']).into();
            vec![Said::Many(Ends { start, end: SmolStr::default() })]
        }
        None if arg.known() == Known::Environment => vec![Said::One(Ends::default())],
        None => vec![Said::Maybe(arg.text().into())],
        // The home directory is a single word.
        Some(_) if home => vec![Said::One(Ends { start, end })],
        Some(_) if arg.may_split() && start.is_empty() => vec![Said::anything()],
        Some(_) if arg.may_split() => vec![Said::One(Ends { start, end: SmolStr::default() }), Said::anything()],
        Some(_) if arg.is_pattern() => vec![Said::Many(Ends { start, end })],
        Some(_) => vec![Said::One(Ends { start, end })],
    }
}

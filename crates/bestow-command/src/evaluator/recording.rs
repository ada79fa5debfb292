//! The invocations that a command line may start, for the patterns of rules. They include every evaluated command, and
//! the commands that words and texts may contain. The tiers are decided elsewhere, during the same walk.

use crate::{
    evaluator::{
        Evaluation, Traits, Use, reader,
        runners::{self, without_host},
        shell,
    },
    interpreter::{declares_variables, unwrapped},
    invocation::{Input, is_certain, is_plain, said, said_of},
    lang::find,
    span::Span,
    values::{Said, Spoken, base_name},
    variables,
    word::{Fragment, Gaps, Signs, UNKNOWN, Word},
};

/// The limit of lines of a program's input that are evaluated as commands.
const MAX_LINES: usize = 64;
/// The limit of words of a wrapper that are evaluated as the words of the inner program.
const MAX_TOLD: usize = 256;

impl Evaluation<'_, '_> {
    /// Records the commands that `export name=value` and similar builtins may start, as for a variable before a
    /// command.
    pub(super) fn record_declared(&mut self, usage: &Use<'_>) {
        if !self.shell.is_asked() || !usage.signs.has(Signs::EQUALS) {
            return;
        }
        let Some((program, rest)) = unwrapped(usage.args).filter(|(program, _)| declares_variables(program.text()))
        else {
            return;
        };
        for arg in rest {
            if let Some((name, value)) = arg.text().split_once('=') {
                let value = arg.with_text(value).splitting(arg.may_split() && program.is_expanded());
                self.record_variable(name.trim_end_matches('+'), &value);
            }
        }
    }

    /// Records that a command of these words may run.
    pub(super) fn record_invocation(&mut self, args: &[Word]) {
        if self.shell.is_asked() && !self.shell.invocations.is_full() {
            self.shell.invocations.push(Spoken::of(said_of(args)));
        }
    }

    /// Records that a command may begin at any of these words.
    pub(super) fn record_anywhere(&mut self, words: &[Word]) {
        if words.is_empty() || !self.shell.is_asked() {
            return;
        }
        if self.shell.invocations.is_full() {
            return self.reach(None, false);
        }
        self.hear_network(words);
        self.shell.invocations.push(Spoken { words: said_of(words), anywhere: true });
    }

    /// Records that any command may run.
    pub(super) fn record_anything(&mut self) {
        if self.shell.is_asked() && !self.shell.invocations.is_speculating() {
            self.shell.uses.run_anything();
            self.shell.invocations.push(Spoken::anything());
        }
    }

    /// Records every suffix of the words and every text in them as a command, except for programs that start no other
    /// program.
    pub(super) fn record_all(&mut self, args: &[Word]) {
        const START_NOTHING: &[&str] = &[
            "chgrp", "chmod", "chown", "cp", "dd", "kill", "killall", "ln", "mv", "pkill", "rm", "rmdir", "shred",
            "truncate", "unlink", "wipefs",
        ];
        let name = args.first().map(|program| base_name(program.text())).unwrap_or_default();
        if !START_NOTHING.contains(&name) {
            self.record_anywhere(args);
            self.record_texts(args);
        }
    }

    /// Records commands after unknown words of a wrapper, because the command may begin after any of them.
    pub(super) fn record_wrapper(&mut self, usage: &Use<'_>, input: &Input) {
        let (name, rest, traits) = (usage.name, usage.rest, usage.traits);
        let Some(program) = usage.args.first().filter(|_| self.shell.is_asked()) else { return };
        // A program with an unknown name may be a shell.
        let is_open = || !is_plain(program) && !said(program).iter().all(is_certain);
        if self.has_input(input) && (shell::starts_a_shell(name, rest) || is_open()) {
            self.record_input(input);
        }
        if traits.has(Traits::READS) && (!input.is_silent() || self.reads_unknown(input)) {
            self.record_reader(name, rest, input);
        }
        // `find` runs its words in every use.
        let (wraps, may_run) = (traits.has(Traits::RUNS_ITS_WORDS), traits.has(Traits::HAS_RUNNER));
        if !wraps && !may_run {
            return;
        }
        let runs = wraps || runners::is_runner(usage.known, rest);
        if runs && self.has_input(input) && rest.iter().any(|arg| shell::is_shell(arg.text())) {
            self.record_input(input);
        }
        if runs && self.reads_unknown(input) && has_reader(rest) {
            self.record_anything();
        }
        // No word is unknown.
        if usage.is_plain {
            return;
        }
        if matches!(name, "find" | "gfind") {
            return self.record_find(rest);
        }
        let unknown = |arg: &Word| !is_plain(arg) && said(arg).iter().any(|word| !is_certain(word));
        if without_host(name, rest).is_some_and(|others| !others.iter().any(unknown)) {
            return;
        }
        let operand = |arg: &&Word| arg.is_written() && !arg.text().starts_with('-') && !arg.text().contains('=');
        if rest.iter().take_while(|arg| !operand(arg)).any(unknown) {
            self.record_anywhere(rest);
            self.record_texts(rest);
        }
    }

    /// Records the commands in the input of a program that runs its input. Each line may be a command, with or without
    /// a sign before it.
    fn record_reader(&mut self, name: &str, rest: &[Word], input: &Input) {
        if !reader::runs_what_it_reads(name, rest) {
            return;
        }
        match input {
            Input::Text(text) => {
                let signs = |c: char| c.is_whitespace() || "@-+!\\:".contains(c);
                for line in text.lines().map(|line| line.trim_start_matches(signs)).take(MAX_LINES) {
                    self.record_text(&line.as_data(), self.shell.here);
                }
            }
            Input::Unknown | Input::Terminal if self.reads_unknown(input) => self.record_anything(),
            Input::Unknown | Input::Terminal => {}
        }
    }

    /// Returns true if the input may contain commands.
    fn has_input(&self, input: &Input) -> bool {
        matches!(input, Input::Text(_)) || self.reads_unknown(input)
    }

    /// Records the commands in the input of a shell.
    fn record_input(&mut self, input: &Input) {
        match input {
            Input::Text(text) => {
                if text.has_unknown() {
                    self.record_anything();
                }
                self.record_text(text, self.shell.here);
            }
            Input::Unknown | Input::Terminal if self.reads_unknown(input) => self.record_anything(),
            Input::Unknown | Input::Terminal => {}
        }
    }

    /// Records commands after unknown words of `find`. An unknown word may be `-exec`, unless it is the value of a
    /// test.
    fn record_find(&mut self, rest: &[Word]) {
        let mut before: Option<&Word> = None;
        for (at, arg) in rest.iter().enumerate() {
            let value = before.replace(arg).is_some_and(|test| find::takes_value(test.text()));
            if is_plain(arg) {
                continue;
            }
            let said = said(arg);
            if said.iter().any(|word| matches!(word, Said::Many(_))) {
                self.record_anywhere(rest.get(at..).unwrap_or_default());
            } else if !value && !said.iter().all(is_certain) {
                self.record_anywhere(rest.get(at + 1..).unwrap_or_default());
            }
        }
    }

    /// Records the texts in the words of a program that may run them.
    pub(super) fn record_texts(&mut self, words: &[Word]) {
        words.iter().for_each(|word| self.record_texts_in(word));
    }

    /// Records the texts in a word of a program that may run them.
    pub(super) fn record_texts_in(&mut self, word: &Word) {
        let attached = (word.text().starts_with('-') && !word.text().starts_with("--")).then_some(2);
        let is_no_text = attached.is_none() && !may_be_text(word.text());
        if !self.shell.is_asked() || is_no_text || self.shell.invocations.has_run_text(word) {
            return;
        }
        let marks = word.text().match_indices(['=', '!']).take(8).map(|(at, mark)| at + mark.len());
        for start in [0].into_iter().chain(attached).chain(marks) {
            let Some(text) = word.text().get(start..) else { continue };
            let text = text.trim_start_matches(['!', '|', ' ', '"', '\'']);
            if text.contains(|c: char| c.is_whitespace() || is_of_syntax(c)) {
                // Unknown parts of the text are taken for data.
                self.record_text(&text.as_data(), word.span());
            } else if start > 0 && !text.is_empty() {
                self.record_invocation(&[word.with_text(text)]);
            }
        }
    }

    /// Records the commands of a text that may run.
    pub(super) fn record_text(&mut self, text: &str, span: Span) {
        if !self.shell.is_asked() {
            return;
        }
        match self.shell.invocations.search_text(text) {
            Some(true) => {}
            Some(false) => return,
            None => {
                self.shell.uses.lose_words();
                return self.shell.invocations.push(Spoken::anything());
            }
        }
        self.shell.only_recording(|shell| shell.speculate(|shell| shell.run_text(text, span)));
    }

    /// Records the beginning of a command to which a program appends words.
    pub(super) fn record_start_of(&mut self, text: &str, span: Span) {
        self.record_text(&format!("{text} {UNKNOWN}"), span);
    }

    /// Records the template of `parallel 'command {}'`. Words replace the mark, or are appended.
    pub(super) fn record_template(&mut self, words: &[Word]) {
        if !self.shell.is_asked() {
            return;
        }
        let template = words.iter().take_while(|arg| !arg.text().starts_with(":::"));
        let filled = |arg: &Word| match (arg.text().find('{'), arg.text().rfind('}')) {
            (Some(open), Some(close)) if open < close => arg.partly(Fragment::Unknown),
            _ => arg.clone(),
        };
        let mut filled: Vec<Word> = template.map(filled).collect();
        let texts: Vec<&str> = filled.iter().map(Word::text).collect();
        let text = texts.join(" ");
        self.record_start_of(&text, self.shell.here);
        filled.push(Word::unknown(Span::default()));
        for start in 0..filled.len().min(16) {
            let words = filled.get(start..).unwrap_or_default().to_vec();
            if words.first().is_some_and(Word::is_written) {
                self.record_invocation(&words);
            }
        }
    }

    /// Records the effects of a variable: a host, or a command that programs run.
    pub(super) fn record_variable(&mut self, name: &str, value: &Word) {
        if !self.shell.is_asked() {
            return;
        }
        self.hear_variable(name, value);
        self.name_temporary(name, value);
        let text = value.content().unwrap_or(value.text());
        if name.starts_with("GIT_CONFIG") {
            // The configuration may define an alias, a pager or an editor.
            self.record_anything();
        } else if variables::names_a_command(name) {
            if text.has_unknown() {
                self.record_anything();
            }
            self.record_start_of(text, value.span());
        } else if text.contains(char::is_whitespace) {
            // Programs do not run this variable. Unknown parts of the text are taken for data.
            self.record_text(&text.as_data(), value.span());
        }
    }
}

/// Returns true for a character that has a meaning of its own in a command line.
fn is_of_syntax(c: char) -> bool {
    matches!(c, ';' | '|' | '&' | '$' | '`' | '(' | '<' | '>')
}

/// Returns false for a word that is no text, and has no other text behind a sign.
fn may_be_text(word: &str) -> bool {
    let is_sign = |byte: u8| is_of_syntax(byte.into()) || matches!(byte, b'=' | b'!');
    word.bytes().any(|byte| byte <= b' ' || byte >= 0x7f || is_sign(byte))
}

/// Returns true if one of these words may be a program that runs its input.
fn has_reader(words: &[Word]) -> bool {
    let mut behind = words;
    while let Some((program, rest)) = behind.split_first() {
        // If there are very many words, the arguments of such a name are not checked.
        let told = if words.len() <= MAX_TOLD { rest } else { &[] };
        if program.is_written() && reader::runs_what_it_reads(base_name(program.text()), told) {
            return true;
        }
        behind = rest;
    }
    false
}

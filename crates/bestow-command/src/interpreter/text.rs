//! Texts that the shell runs: `eval`, traps, and the texts that programs run.

use foldhash::HashSet;
use smol_str::SmolStr;

use crate::{
    builtins::{may_end_commands, sets_no_variable},
    interpreter::{Interpreter, Scope},
    span::Span,
    syntax::{
        self, bare_text,
        tree::{Form, Piece, RawWord},
    },
    tier::Tier,
    values::Spoken,
    verdict::Verdict,
    word::{Gaps, Word},
};

impl Interpreter<'_> {
    /// Evaluates `eval`.
    pub(crate) fn eval(&mut self, rest: &[Word]) -> Verdict {
        let text = rest.iter().map(Word::argument).collect::<Vec<_>>().join(" ");
        let span = rest.first().map(|arg| arg.span()).unwrap_or_default();
        let contents: Vec<Verdict> = rest.iter().map(|arg| self.search_content(arg)).collect();
        let before = self.scope.clone();
        let verdict = contents.into_iter().fold(self.run_text(&text, span), Verdict::or_stricter);
        // An error ends the text, and what it has not set keeps its value.
        if self.scope.may_have_failed() || may_end_early(&text) {
            self.scope.join(&before);
        }
        let written = rest.iter().all(Word::is_exact);
        if written {
            verdict
        } else {
            Verdict::dangerous("`eval` runs a text that is not written out").or_stricter(verdict)
        }
    }

    /// Evaluates `trap`.
    pub(crate) fn trap(&mut self, rest: &[Word]) -> Option<Verdict> {
        let operands: Vec<&Word> = rest.iter().filter(|arg| !matches!(arg.text(), "--" | "-l" | "-p")).collect();
        let (text, signals) = operands.split_first()?;
        if !text.is_exact() && (text.may_split() || text.is_open() || text.is_pattern()) && signals.is_empty() {
            return Some(Verdict::dangerous("an expansion may turn into a trap"));
        }
        if signals.is_empty() || matches!(text.text(), "" | "-") {
            return Some(Verdict::safe("resets a trap"));
        }
        let before = self.scope.clone();
        // The variables at the time of the run are unknown. If the trap sets something, the values after it are unknown
        // too.
        self.scope.forget();
        let unset = self.scope.clone();
        let verdict = self.run_text(text.text(), text.span());
        let changes = !self.scope.is_settled(&unset) || !self.keeps_values(text.text());
        self.scope = before;
        if changes {
            // The trap may run between any two commands, so no known value stays valid.
            self.mark_dangerous("a trap changes what the commands behind it mean");
            self.scope.forget();
        }
        self.traps.push((text.text().into(), self.seen(text.span())));
        let verdict = verdict.or_stricter(self.search_text(text.text(), text.span()));
        Some(if text.is_exact() {
            verdict
        } else {
            Verdict::dangerous("a trap that is not written out").or_stricter(verdict)
        })
    }

    /// Returns true for a text of simple commands that set no variable: no assignments, no expansions with an effect,
    /// no functions, and no builtins but those that only print, test or end the shell.
    fn keeps_values(&self, text: &str) -> bool {
        let parsed = syntax::parse(&text.as_source());
        let commands = parsed.script.statements.iter().flat_map(|statement| &statement.pipelines);
        let mut commands = commands.flat_map(|pipeline| &pipeline.commands);
        parsed.understood()
            && commands.all(|command| {
                let Form::Simple(simple) = &command.form else { return false };
                let Some(name) = simple.words.first().and_then(bare_text) else { return false };
                let keeps = |word: &RawWord| word.pieces.iter().all(keeps_value);
                let targets = command.redirects.iter().map(|redirect| &redirect.target);
                sets_no_variable(name, simple.words.get(1).and_then(bare_text))
                    && simple.assignments.is_empty()
                    && self.scope.function(name).is_none()
                    && command.redirects.iter().all(|redirect| !redirect.unusual && !redirect.named)
                    && simple.words.iter().chain(targets).all(keeps)
            })
    }

    /// Evaluates traps with the values that are known at the end. They may destroy when the script ends.
    pub(crate) fn run_traps(&mut self) {
        if self.traps.is_empty() {
            return;
        }
        let mut harmless: HashSet<SmolStr> = HashSet::default();
        for (text, span) in std::mem::take(&mut self.traps) {
            // An equal text has an equal effect here.
            if harmless.contains(&text) {
                continue;
            }
            let found = self.search_text(&text, span);
            if found.tier < Tier::Destructive {
                harmless.insert(text);
            }
            if found.tier == Tier::Destructive {
                self.record_part(found.tier, found.rule, span);
            }
        }
    }

    /// Follows a text as part of the command line. Records its parts and returns the strictest tier.
    pub(crate) fn run_text(&mut self, text: &str, span: crate::span::Span) -> Verdict {
        let before = self.parts.len();
        let here = self.here;
        let done = self.deeper(|shell| {
            shell.here = span;
            if text.has_unknown() && !shell.invocations.is_speculating() {
                // An unknown part may end the quotes around it.
                shell.mark_unknown("a text that is not written out");
            }
            if !shell.budget.take_text(text.len()) {
                shell.uses.lose();
                shell.mark_unknown("more texts within texts than are followed");
                shell.raw_search(text, span);
                return;
            }
            let text = &text.as_source();
            let parsed = syntax::parse(text);
            if !shell.dialect.reads(text, &parsed) {
                shell.mark_dangerous("the shell that runs this text reads it otherwise than bash does");
                shell.raw_search(text, span);
            }
            if !parsed.understood() {
                let why = parsed.faults.first().map_or("not understood", |fault| fault.why);
                shell.mark_unknown(format!("the text that is run was not understood: {why}"));
                shell.raw_search(text, span);
            }
            shell.run_script(&parsed, Some(span));
        });
        self.here = here;
        if done.is_none() {
            return Verdict::dangerous("texts within texts too deep to follow");
        }
        let worst = self.parts.get(before..).unwrap_or_default().iter().max_by_key(|part| part.tier);
        worst.map_or_else(
            || Verdict::safe("runs a text that does nothing"),
            |part| Verdict { tier: part.tier, rule: part.rule.clone() },
        )
    }

    /// Searches a text for destruction. Its other parts do not affect the command line.
    pub(crate) fn search_text(&mut self, text: &str, span: crate::span::Span) -> Verdict {
        let verdict = self.discard_parts(|shell| shell.run_text(text, span));
        if verdict.tier == Tier::Destructive { verdict } else { Verdict::safe("") }
    }

    /// Searches the known content of a word as a text.
    pub(crate) fn search_content(&mut self, arg: &Word) -> Verdict {
        match arg.content() {
            Some(text) => self.search_text(text, arg.span()),
            None => Verdict::safe(""),
        }
    }

    /// Runs `work` without recording parts. The commands that the parts start and the files that they obey are kept.
    pub(crate) fn discard_parts<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.parts.len();
        let scope = self.scope.clone();
        let result = work(self);
        self.discard_since(before, scope);
        result
    }

    /// Returns to a state of the shell, and removes the parts since then.
    fn discard_since(&mut self, parts: usize, scope: Scope) {
        self.scope = scope;
        for part in self.parts.drain(parts..) {
            self.invocations.extend(part.starts);
            self.obeyed.extend(part.obeys);
        }
    }

    /// Searches a text that was not understood. It splits the text at operators and drops the quotes. Then it searches
    /// the words of each stretch.
    pub(crate) fn raw_search(&mut self, text: &str, span: Span) {
        let separators = |c: char| matches!(c, ';' | '|' | '&' | '\n' | '(' | ')' | '`' | '{' | '}' | '<' | '>');
        let text = text.replace("\\\n", "");
        // A program name contains a letter, a digit or a non-ASCII character. Stretches without one are skipped,
        // because a text of operators may have many of them.
        let named = |stretch: &&str| stretch.bytes().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
        for stretch in text.split(separators).filter(named) {
            let words: Vec<Word> = stretch
                .split(|c: char| c.is_whitespace() || c.is_control() || crate::syntax::is_invisible(c))
                .map(|word| word.replace(['\'', '"', '\\'], ""))
                .filter(|word| !word.is_empty())
                .map(|word| Word::literal(word, span))
                .collect();
            let found = self.evaluator.search_words(self, &words);
            if found.tier == Tier::Destructive {
                self.record_part(Tier::Destructive, found.rule, span);
                return;
            }
        }
    }

    /// Runs `work`, which only records commands. It changes nothing on which a tier depends.
    pub(crate) fn only_recording<T>(&mut self, work: impl FnOnce(&mut Self) -> T) {
        let begins = self.budget.begin_recording();
        let (traps, generated, descriptors) = (self.traps.len(), self.generated.len(), self.descriptors);
        let left = self.left.clone();
        self.discard_parts(work);
        self.left = left;
        self.descriptors = descriptors;
        self.traps.truncate(traps);
        self.generated.truncate(generated);
        if begins && self.budget.end_recording() {
            // Commands may be missing.
            self.invocations.push(Spoken::anything());
        }
    }

    /// Runs `work` and returns the commands that it records, instead of adding them to the recorded commands.
    pub(crate) fn recording<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> (T, Vec<Spoken>) {
        let outside = self.invocations.replace(Vec::new());
        let result = work(self);
        (result, self.invocations.replace(outside))
    }

    /// Runs `work` on words that are data here, and drops the commands that it records.
    pub(crate) fn unrecorded<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let texts = self.invocations.texts();
        let (result, _) = self.recording(work);
        self.invocations.forget_texts(texts);
        result
    }

    /// Evaluates a command that may not run at all. The commands that it starts are recorded. Its unknown parts are
    /// not.
    pub(crate) fn speculate<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.invocations.set_speculating(true);
        let result = work(self);
        self.invocations.set_speculating(before);
        result
    }
}

/// Returns true if the expansion of a piece sets no variable.
fn keeps_value(piece: &Piece) -> bool {
    match piece {
        Piece::Bare(_) | Piece::Quoted(_) | Piece::Element | Piece::Glob(_) | Piece::Tilde(_) => true,
        Piece::Parameter(parameter) => parameter.is_plain(),
        Piece::Command { .. } | Piece::Process(_) | Piece::Arithmetic(_) => false,
    }
}

/// Returns true for a text with more than plain words and assignments, which a pattern without a match, a setting or a
/// command such as `break` may end early.
fn may_end_early(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_=-./;'\" \n".contains(c);
    !text.chars().all(is_plain) || text.split(|c: char| !c.is_ascii_alphanumeric()).any(may_end_commands)
}

//! Lists, branches and loops. The classifier does not know which way a line takes. After them, only facts that hold on
//! every way are kept.

use crate::{
    interpreter::{Interpreter, Scope, id_output, output::Output, redirections, round::Round},
    invocation::Input,
    syntax::{
        bare_text,
        tree::{Command, Form, Joint, Pipeline, RawWord, Script, Statement},
    },
    word::IDENTIFIERS,
};

/// The limit of rounds of a loop. After it, all values that the loop changes become unknown.
const MAX_ROUNDS: usize = 4;

impl Interpreter<'_> {
    /// Runs `walk` with a copy of the shell state, as in a subshell.
    pub(super) fn apart<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let scope = self.scope.clone();
        let left = self.left.take();
        let result = walk(self);
        self.scope = scope;
        self.left = left;
        result
    }

    /// Records that the current state may be the state after an enclosing loop or function, because of `break`,
    /// `return` or a similar builtin.
    pub(super) fn leave(&mut self) {
        match &mut self.left {
            Some(left) => left.join(&self.scope),
            None => self.left = Some(self.scope.clone()),
        }
    }

    fn join_left(&mut self) {
        if let Some(left) = &self.left {
            self.scope.join(left);
        }
    }

    /// Follows the body of a function or of a text that may be left early. The states at its exits are joined to the
    /// state after it.
    pub(super) fn leaving<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.left.take();
        let result = walk(self);
        self.join_left();
        self.left = outer;
        result
    }

    /// Follows the statements. Returns their output, as far as it is known.
    pub(super) fn script(&mut self, script: &Script) -> Option<Output> {
        let mut printed: Option<Output> = None;
        for statement in &script.statements {
            let output =
                if statement.background { self.apart(|shell| shell.and_or(statement)) } else { self.and_or(statement) };
            let Some(output) = output else { continue };
            printed = Some(before(printed, output));
        }
        printed
    }

    /// Follows an and-or list. Each pipeline starts from the state that its condition requires.
    pub(super) fn and_or(&mut self, statement: &Statement) -> Option<Output> {
        let (first, others) = statement.pipelines.split_first()?;
        let mut printed = self.pipeline(first);
        if others.is_empty() {
            self.scope.settle();
            return printed;
        }
        let mut failed = self.scope.clone();
        let mut succeeded = std::mem::take(&mut self.scope);
        for pipeline in others {
            let (from, other) = match pipeline.joint {
                Joint::First | Joint::And => (&mut succeeded, &mut failed),
                Joint::Or => (&mut failed, &mut succeeded),
            };
            self.budget.follow_commands(from.weight());
            self.scope = from.clone();
            if pipeline.joint == Joint::Or {
                self.scope.settle();
            }
            let output = self.pipeline(pipeline);
            printed = output.map(|output| before(printed.take(), output)).or(printed);
            if pipeline.joint == Joint::Or && self.ends_the_shell(&pipeline.commands, pipeline.negated) {
                // Whatever follows runs only if all before has succeeded.
                other.succeed();
                *from = other.clone();
                continue;
            }
            self.budget.join(other.variables() + self.scope.variables());
            other.join(&self.scope);
            *from = std::mem::take(&mut self.scope);
        }
        succeeded.join(&failed);
        self.scope = succeeded;
        self.scope.settle();
        printed.map(|output| Output { exact: false, ..output })
    }

    /// Returns true if these commands, which were just followed, certainly end the shell: `exit 1`, or a group with it
    /// at its end.
    fn ends_the_shell(&self, commands: &[Command], negated: bool) -> bool {
        let [command] = commands else { return false };
        if negated || !command.redirects.is_empty() || self.scope.may_not_exit() {
            return false;
        }
        if let Form::Simple(simple) = &command.form {
            return simple.assignments.is_empty() && is_exit(&simple.words);
        }
        let Form::Group(script) = &command.form else { return false };
        let last = script.statements.last().filter(|last| !last.background);
        let only = last.map(|last| last.pipelines.as_slice());
        matches!(only, Some([only]) if self.ends_the_shell(&only.commands, only.negated))
    }

    /// Follows a pipeline. Returns the certain output of its last command.
    fn pipeline(&mut self, pipeline: &Pipeline) -> Option<Output> {
        let printed = self.commands(pipeline);
        if pipeline.negated {
            // A command after `! cd x &&` runs if the `cd` has failed.
            self.scope.settle();
        }
        printed
    }

    /// Follows the commands of a pipeline. Returns the certain output of the last one.
    fn commands(&mut self, pipeline: &Pipeline) -> Option<Output> {
        if let [command] = pipeline.commands.as_slice() {
            return self.command(command, Input::Terminal);
        }
        let before = self.scope.clone();
        let mut input = Input::Terminal;
        let mut last = None;
        let mut names = false;
        let mut commands = pipeline.commands.iter().peekable();
        while let Some(command) = commands.next() {
            let is_last = commands.peek().is_none();
            let output = self.heard(!is_last, |shell| shell.leaving(|shell| shell.command(command, input)));
            if is_last {
                last = output;
                break;
            }
            names = id_output::are_printed(command, names, |name| self.scope.function(name).is_some());
            input = match output {
                _ if names => Input::Text(IDENTIFIERS.into()),
                Some(output) => Input::Text(output.at_least()),
                None => Input::Unknown,
            };
            self.scope = before.clone();
        }
        // The last command may run in the current shell: `lastpipe`, `zsh`, `ksh`.
        self.scope.join(&before);
        last
    }

    /// Follows `if`: any branch may run, and without `else` possibly none.
    pub(super) fn choose(&mut self, branches: &[(Script, Script)], otherwise: Option<&Script>) -> Option<Output> {
        let mut printed: Option<Output> = None;
        let mut ends: Vec<Scope> = Vec::new();
        for (test, body) in branches {
            let asked = self.script(test);
            let after_test = self.scope.clone();
            let done = self.script(body);
            ends.push(std::mem::replace(&mut self.scope, after_test));
            for output in [asked, done].into_iter().flatten() {
                printed = Some(before(printed.take(), output));
            }
        }
        if let Some(output) = otherwise.and_then(|script| self.script(script)) {
            printed = Some(before(printed, output));
        }
        ends.iter().for_each(|end| self.scope.join(end));
        printed
    }

    /// Follows `case`: any arm, none, or several in sequence may run.
    pub(super) fn case(&mut self, subject: &RawWord, arms: &[(Vec<RawWord>, Script)]) -> Option<Output> {
        self.expand_whole(subject);
        let mut printed: Option<Output> = None;
        let entry = self.scope.clone();
        let mut ends = entry.clone();
        for (patterns, body) in arms {
            patterns.iter().for_each(|pattern| drop(self.expand_whole(pattern)));
            if let Some(output) = self.script(body) {
                printed = Some(before(printed.take(), output));
            }
            ends.join(&self.scope);
            self.scope.join(&entry);
        }
        self.scope = ends;
        printed
    }

    /// Follows the body of a loop until another round would not change the known state. `enter` sets the variable of
    /// the loop.
    pub(super) fn repeat(
        &mut self,
        enter: impl Fn(&mut Self),
        body: impl Fn(&mut Self) -> Option<Output>,
    ) -> Option<Output> {
        let outer = self.left.take();
        let entry = self.scope.clone();
        let first_part = self.parts.len();
        let mut printed = None;
        let mut first = None;
        for count in 0..=MAX_ROUNDS {
            let start = self.scope.clone();
            let new_parts = self.parts.len();
            enter(self);
            if count == 0 {
                let round = Round::begin(self);
                printed = body(self);
                first = round.end(self);
            } else {
                if !first.as_ref().is_some_and(|first| first.repeat(self)) {
                    body(self);
                }
                self.drop_repeated(first_part, new_parts);
            }
            self.join_left();
            self.scope.join(&start);
            if self.scope.is_settled(&start) || !self.budget.follows_commands() {
                break;
            }
            match count {
                0 => {}
                count if count + 1 < MAX_ROUNDS => self.scope.widen(&entry),
                _ => self.scope.forget(),
            }
        }
        if let Some(outer) = outer {
            match &mut self.left {
                Some(left) => left.join(&outer),
                None => self.left = Some(outer),
            }
        }
        printed.map(|output| Output { exact: false, ..output })
    }

    /// Removes the parts that a later round of a loop has repeated.
    fn drop_repeated(&mut self, first: usize, new: usize) {
        let later = self.parts.split_off(new.min(self.parts.len()));
        for mut part in later {
            let before = self.parts.get(first..).unwrap_or_default();
            let is_new = !before.contains(&part);
            part.is_repeated |= before.iter().any(|one| one.looks_like(&part));
            if is_new {
                self.parts.push(part);
            }
        }
    }

    /// Returns the output, unless it is redirected.
    pub(super) fn kept(
        &mut self,
        output: Option<Output>,
        redirects: &[crate::syntax::tree::Redirect],
    ) -> Option<Output> {
        self.remember_redirected(output.as_ref(), redirects);
        output.filter(|_| !redirections::goes_elsewhere(redirects))
    }
}

/// Returns true for `exit` without an argument, or with a number.
fn is_exit(words: &[RawWord]) -> bool {
    let number = |text: &str| !text.is_empty() && text.len() < 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    let words: Vec<Option<&str>> = words.iter().map(bare_text).collect();
    match words.as_slice() {
        [Some(exit)] => *exit == "exit",
        [Some(exit), Some(status)] => *exit == "exit" && number(status),
        _ => false,
    }
}

/// Joins two outputs. The result is not exact.
fn before(first: Option<Output>, second: Output) -> Output {
    let text = first.map_or_else(String::new, |output| output.text);
    Output { text: text + &second.text, exact: false }
}

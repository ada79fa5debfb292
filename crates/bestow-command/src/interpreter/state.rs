//! The state of an interpreter, and the commands of a text.

use crate::{
    budget::Budget,
    interpreter::{
        Dialect, Scope, Value, id_output, is_evaluation_trap, is_plain_number,
        output::{self, GeneratedFile, Output},
        redirections,
        redirections::Descriptors,
    },
    invocation::{Input, Invocation, Invocations, Outcome},
    named_uses::NamedUses,
    part::RecordedPart,
    place::Place,
    span::Span,
    syntax::{
        self,
        tree::{Command, Form, Parsed, RawWord, Script},
    },
    tier::Tier,
    values::{Access, Obeys, Spoken},
    variables,
    verdict::Verdict,
    word::{Known, Word},
};
use smol_str::SmolStr;
use std::{borrow::Cow, rc::Rc};

/// The questions that the interpreter asks about programs. It knows none itself.
pub(crate) trait Evaluator: std::fmt::Debug {
    /// Returns what an invocation does. The effects of its texts and of its inner commands are recorded on the way.
    fn evaluate(&self, shell: &mut Interpreter<'_>, invocation: &Invocation<'_>) -> Outcome;

    /// Records what setting a variable starts, and the hosts that it names.
    fn record_variable(&self, shell: &mut Interpreter<'_>, name: &str, value: &Word);

    /// Records the host that a variable names.
    fn record_host(&self, shell: &mut Interpreter<'_>, name: &str, value: &Word);

    /// Records that a redirection reads or writes a file.
    fn record_redirect(&self, shell: &mut Interpreter<'_>, access: Access, target: &Word);

    /// Returns the verdict on a destructive command that begins at any of these words.
    fn search_words(&self, shell: &mut Interpreter<'_>, words: &[Word]) -> Verdict;

    /// Returns the verdict on a destructive command in a file that the invocation may run.
    fn search_file(&self, shell: &mut Interpreter<'_>, words: &[Word], text: &str, is_program: bool) -> Verdict;

    /// Returns true if a program or a builtin has this name.
    fn is_known(&self, name: &str) -> bool;

    /// Returns the directories in which the current part may destroy something.
    fn damage_places<'p>(&'p self, shell: &'p Interpreter<'_>) -> Vec<Cow<'p, Place>>;

    /// Returns the output of a program whose arguments determine it.
    fn printed(&self, name: &str, rest: &[Word]) -> Option<String>;
}

/// An interpreter that follows a text as a shell would run it.
#[derive(Debug)]
pub(crate) struct Interpreter<'c> {
    pub(crate) evaluator: &'c dyn Evaluator,
    /// The whole text.
    pub(crate) text: &'c str,
    pub(crate) budget: Budget,
    pub(crate) scope: Scope,
    pub(crate) parts: Vec<RecordedPart>,
    /// The invocations that the current part may start.
    pub(crate) invocations: Invocations,
    /// The resources that the line names.
    pub(crate) uses: NamedUses,
    /// The files that programs of the current part obey.
    pub(crate) obeyed: Vec<Obeys>,
    /// The bodies of here-documents in the current text.
    pub(super) bodies: Vec<Rc<RawWord>>,
    /// The position of the current command.
    pub(crate) here: Span,
    /// The position of the outer word, for a text that was extracted from it. The parts of the inner text have this
    /// position.
    outer: Option<Span>,
    /// The functions whose bodies are being followed.
    pub(super) running: Vec<SmolStr>,
    /// The joined states at the places where the current loop or function is left early.
    pub(super) left: Option<Scope>,
    /// The input of the current compound command.
    pub(crate) feed: Option<String>,
    /// True if a surrounding compound command has an input, so that the current command may read it.
    pub(crate) is_fed: bool,
    /// True if something reads the output of the current command.
    is_heard: bool,
    /// The shell that reads the current text.
    pub(crate) dialect: Dialect,
    /// The texts of traps. They run again at the end, with the values that are known then.
    pub(super) traps: Vec<(SmolStr, Span)>,
    /// The files that the text has written.
    pub(super) generated: Vec<GeneratedFile>,
    /// The descriptors that may be files which are open for reading.
    pub(super) descriptors: Descriptors,
}

/// The number of parts for which an interpreter has room at least.
const FEW_PARTS: usize = 4;

impl<'c> Interpreter<'c> {
    /// Creates an interpreter for somebody who asks neither for the commands nor for the resources of the line.
    pub(crate) fn new(evaluator: &'c dyn Evaluator, text: &'c str) -> Self {
        Interpreter {
            evaluator,
            text,
            budget: Budget::default(),
            scope: Scope::default(),
            parts: Vec::new(),
            invocations: Invocations::default(),
            uses: NamedUses::unknown(),
            obeyed: Vec::new(),
            bodies: Vec::new(),
            here: Span::default(),
            outer: None,
            running: Vec::new(),
            left: None,
            feed: None,
            is_fed: false,
            is_heard: false,
            dialect: Dialect::Bash,
            traps: Vec::new(),
            generated: Vec::new(),
            descriptors: Descriptors::default(),
        }
    }

    /// Returns this interpreter for somebody who also asks for the commands and the resources of the line.
    pub(crate) fn asked(self) -> Self {
        Interpreter { invocations: Invocations::asked(), uses: NamedUses::default(), ..self }
    }

    /// Returns true if somebody asks for the commands of the line.
    pub(crate) fn is_asked(&self) -> bool {
        self.invocations.is_asked()
    }

    /// Follows a whole text. `at` is its position in the text that a person sees, if it was extracted from a word.
    pub(crate) fn run_script(&mut self, parsed: &Parsed, at: Option<Span>) {
        let bodies = std::mem::replace(&mut self.bodies, parsed.bodies.clone());
        let outer = self.outer;
        self.outer = outer.or(at);
        if self.parts.capacity() == 0 {
            self.parts = Vec::with_capacity(parsed.commands.max(FEW_PARTS));
        } else {
            self.parts.reserve(parsed.commands);
        }
        self.script(&parsed.script);
        self.outer = outer;
        self.bodies = bodies;
    }

    /// Returns true inside a text that was extracted from a word.
    pub(super) fn is_inside(&self) -> bool {
        self.outer.is_some()
    }

    /// Records the effect of a part.
    pub(crate) fn record_part(&mut self, tier: Tier, rule: impl Into<Cow<'static, str>>, span: Span) {
        let part = self.part(tier, rule, span);
        self.parts.push(part);
    }

    /// Creates a part that runs in the start directory of the line.
    #[inline]
    pub(super) fn part(&self, tier: Tier, rule: impl Into<Cow<'static, str>>, span: Span) -> RecordedPart {
        RecordedPart::new(tier, rule.into(), self.seen(span))
    }

    /// Returns the position that a person sees: that of the outer word, inside a text that was extracted from it.
    pub(super) fn seen(&self, span: Span) -> Span {
        self.outer.unwrap_or(span)
    }

    /// Records that the current command cannot be proven harmless.
    pub(crate) fn mark_dangerous(&mut self, rule: impl Into<Cow<'static, str>>) {
        self.record_part(Tier::Dangerous, rule, self.here);
    }

    /// Records that an unknown command may run here.
    pub(crate) fn mark_unknown(&mut self, rule: impl Into<Cow<'static, str>>) {
        self.mark_dangerous(rule);
        let records = self.is_asked() && !self.invocations.is_speculating();
        if let Some(part) = self.parts.last_mut().filter(|_| records) {
            part.starts.push(Spoken::anything());
            self.uses.run_anything();
        }
    }

    /// Records once that the line exceeds the limit of work, and still searches it for destructive commands. The other
    /// uses of the line are unknown. If only speculative work was dropped, then only its uncertain uses are unknown.
    fn exceed_budget(&mut self) {
        self.lose_uses();
        if self.budget.exceed() {
            self.mark_unknown("too much to follow");
            self.raw_search(self.text, Span { start: 0, end: self.text.len() });
        }
    }

    /// Records that the other uses of the line are unknown. Those of a speculative command are uncertain anyway.
    fn lose_uses(&mut self) {
        if self.invocations.is_speculating() {
            self.uses.lose_words();
        } else {
            self.uses.lose();
        }
    }

    /// Returns true if uses of this cost can still be recorded: the directories in which a path is resolved.
    pub(crate) fn can_name(&mut self, cost: usize) -> bool {
        let fits = self.budget.name(cost);
        if !fits {
            self.lose_uses();
        }
        fits
    }

    /// Returns true if `words` more can be evaluated. Wrappers in wrappers and texts in texts multiply them.
    pub(crate) fn can_evaluate(&mut self, words: usize) -> bool {
        let fits = self.budget.evaluate_command(words);
        if !fits {
            self.exceed_budget();
        }
        fits
    }

    /// Returns true if work of this cost can still be followed: words, and the directories in which they are resolved.
    pub(crate) fn can_follow(&mut self, cost: usize) -> bool {
        let fits = self.budget.evaluate_words(cost);
        if !fits {
            self.exceed_budget();
        }
        fits
    }

    /// Runs `work` one level deeper, unless the limit is reached.
    pub(crate) fn deeper<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if !self.budget.descend() {
            // A speculative command does not make the uses of the line unknown.
            if !self.invocations.is_speculating() {
                self.uses.lose();
            }
            self.mark_unknown("nested too deeply to follow");
            return None;
        }
        let result = work(self);
        self.budget.ascend();
        Some(result)
    }

    /// Follows one command. Returns its certain output.
    pub(super) fn command(&mut self, command: &Command, input: Input) -> Option<Output> {
        // Calls multiply the commands of the functions around them.
        if !self.budget.follow_commands(1 + self.running.len()) {
            self.exceed_budget();
            return None;
        }
        self.here = command.span;
        self.heard(!command.redirects.is_empty(), |shell| {
            if let Form::Simple(simple) = &command.form {
                return shell.simple(simple, &command.redirects, command.span, input);
            }
            shell.compound(command, input)
        })
    }

    /// Runs `work`. Something reads its output, or that of the commands around it.
    pub(super) fn heard<T>(&mut self, is_heard: bool, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.is_heard;
        self.is_heard |= is_heard;
        let result = work(self);
        self.is_heard = outer;
        result
    }

    /// Returns true if something reads the output of the current command.
    pub(super) fn is_heard(&self) -> bool {
        self.is_heard
    }

    /// Follows a compound command with its redirections. Returns the known part of its output. Its code stays out of
    /// that of simple commands.
    #[inline(never)]
    fn compound(&mut self, command: &Command, input: Input) -> Option<Output> {
        let given = self.redirects(&command.redirects).unwrap_or(input);
        let was_fed = self.is_fed;
        self.is_fed |= !given.is_silent();
        let outer = if let Input::Text(text) = given { Some(self.feed.replace(text)) } else { None };
        let unchanged = redirections::may_fail(&command.redirects).then(|| self.scope.clone());
        let output = self.inside(command);
        unchanged.iter().for_each(|unchanged| self.scope.join(unchanged));
        self.is_fed = was_fed;
        if let Some(outer) = outer {
            self.feed = outer;
        }
        self.kept(output, &command.redirects)
    }

    /// Follows the inside of a compound command. Returns the known part of its output.
    fn inside(&mut self, command: &Command) -> Option<Output> {
        match &command.form {
            Form::Simple(_) => None,
            Form::Group(script) => self.script(script),
            Form::If { branches, otherwise } => self.choose(branches, otherwise.as_ref()),
            Form::While { test, body } => self.repeat(
                |_| {},
                |shell| {
                    shell.script(test);
                    let after_test = shell.scope.clone();
                    let output = shell.script(body);
                    shell.scope.join(&after_test);
                    output
                },
            ),
            Form::Subshell(script) => self.apart(|shell| shell.script(script)),
            Form::For { variable, words, body } => {
                let value = match words {
                    Some(words) => Value::of(&self.expand_all(words)),
                    None => Value { list: false, ..self.scope.read("@") }.or(&Value::inherited()),
                };
                self.repeat(|shell| shell.set(variable, value.clone()), |shell| shell.script(body))
            }
            Form::Count { header, body } => self.repeat(|shell| shell.arithmetic(header), |shell| shell.script(body)),
            Form::Case { subject, arms } => self.case(subject, arms),
            Form::Function { name, body } => {
                self.define(name, body, command.span);
                None
            }
            Form::Arithmetic(pieces) => {
                self.arithmetic(pieces);
                self.record_part(Tier::Safe, "arithmetic", command.span);
                self.search_commands(pieces);
                None
            }
            Form::Test { words, plain } => {
                if !plain {
                    self.mark_dangerous("what stands in `[[ … ]]` is no test");
                }
                self.test(words, command.span);
                None
            }
        }
    }

    /// Sets a variable. Every assignment except one before a command goes through this function. It records that the
    /// variable may change programs, or that arithmetic may run its value.
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        let plain = name.split('[').next().unwrap_or(name);
        if variables::steers_programs(plain) {
            let shown: String = plain.chars().take(40).collect();
            self.mark_dangerous(format!("the variable `{shown}` may change what programs do"));
        }
        self.suspect_zsh(name);
        let value = self.reckoned(plain, value);
        if plain != name || self.scope.is_fixed(plain) {
            self.scope.may_fail();
        }
        for text in value.texts.iter().filter(|text| is_evaluation_trap(text)) {
            self.mark_unknown("a variable holds a subscript with a command, which arithmetic would run");
            let found = self.search_text(text, self.here);
            if found.tier == Tier::Destructive {
                self.record_part(found.tier, found.rule, self.here);
            }
        }
        // The assignment sets one element of a list and keeps the others.
        let value = if plain == name { value } else { Value::wild() };
        if syntax::is_name(plain) || plain == "0" {
            self.scope.insert(plain, value);
        } else {
            // The variable that is set is unknown.
            self.scope.forget();
        }
    }

    /// Returns the value that a variable has after an assignment. Shells reckon the values of some variables, which may
    /// run commands, change them by themselves, or refuse them.
    pub(super) fn reckoned(&mut self, name: &str, value: Value) -> Value {
        if variables::has_other_name(name) {
            self.mark_dangerous("the shell has another name for the variable");
        }
        if !variables::is_reckoned(name) {
            return value;
        }
        let is_plain = value.known == Known::Fully && value.texts.iter().all(|text| is_plain_number(text));
        if !is_plain {
            self.mark_unknown("the shell evaluates the value of the variable as arithmetic");
            self.evaluate(value.texts.iter().cloned().collect());
        }
        self.scope.may_fail();
        Value::tame()
    }

    /// Records that zsh may take a variable for one of its own.
    pub(super) fn suspect_zsh(&mut self, name: &str) {
        if self.dialect.may_be_zsh() && (name.contains('[') || variables::steers_zsh(name)) {
            self.mark_dangerous("zsh may take the variable for a list of its own, which changes what runs");
        }
    }

    /// Follows the script of a substitution. Returns the value of its output, and the certain part of the output.
    pub(super) fn substitution(&mut self, script: &Script) -> (Value, Option<String>) {
        let here = self.here;
        let printed = self.output(script);
        self.here = here;
        match printed {
            Some(output) if output.exact => (Value::text(output.text.trim_end_matches('\n')), None),
            _ if output::is_tame(script, |name| self.scope.function(name).is_some()) => {
                if output::prints_a_name(script) {
                    return (Value::name(), None);
                }
                // The path of a program shows its name.
                let path = printed.map(|output| output.text).filter(|text| text.starts_with("/usr/local/bin/"));
                (Value::tame(), path)
            }
            _ if self.prints_ids(script) => (Value::tame(), None),
            printed => (Value::wild(), printed.map(|output| output.text).filter(|text| !text.is_empty())),
        }
    }

    fn prints_ids(&self, script: &Script) -> bool {
        let [statement] = script.statements.as_slice() else { return false };
        let [pipeline] = statement.pipelines.as_slice() else { return false };
        let is_function = |name: &str| self.scope.function(name).is_some();
        let ids = |before, command| id_output::are_printed(command, before, is_function);
        !statement.background && pipeline.commands.iter().fold(false, ids)
    }

    /// Returns the content of the file that `<(…)` names. Content that is not exact ends in an unknown part.
    pub(super) fn content(&mut self, script: &Script) -> Option<String> {
        let (here, outer) = (self.here, self.is_fed);
        // A command in `>(…)` reads the text that is written to it.
        self.is_fed = true;
        let printed = self.output(script);
        (self.here, self.is_fed) = (here, outer);
        let output = printed.filter(|output| output.exact || !output.text.is_empty())?;
        Some(output.at_least())
    }

    /// Returns the output of a script that runs in a shell of its own.
    fn output(&mut self, script: &Script) -> Option<Output> {
        self.deeper(|shell| shell.heard(true, |shell| shell.apart(|shell| shell.printed(script))))
    }

    /// Returns the output of all statements of a script.
    fn printed(&mut self, script: &Script) -> Output {
        let mut all = Output { text: String::new(), exact: true };
        for statement in &script.statements {
            let printed = self.and_or(statement);
            all.exact &= !statement.background && printed.as_ref().is_some_and(|output| output.exact);
            all.text.extend(printed.map(|output| output.text));
        }
        all
    }
}

//! Follows a parsed text as a shell would run it and collects what every part does.
//!
//! Every branch is taken and every substitution entered. What a shell would remember (variables, functions, the
//! directory) is remembered as far as the text tells. Nothing here knows what a program does: that is asked of
//! [`judge`](super::judge).

mod arg;
mod brace;
mod expand;
mod output;
mod scope;
mod simple;

use std::rc::Rc;

pub(super) use arg::{Arg, HOME, Known, SOMETHING, UNKNOWN};
use output::Output;
pub(super) use scope::{Place, Scope, Value};
pub(super) use simple::is_free;

use crate::model::Spoken;

use super::{
    answer::{Part, Span},
    classifier::Classifier,
    judge::{Input, variable},
    overheard::Overheard,
    syntax::{
        self,
        tree::{Command, Form, Parsed, Piece, Pipeline, Script, Word},
    },
    tier::Tier,
};

/// How often a command may be looked at, over all: functions and texts inside texts multiply.
const MAX_VISITS: usize = 20_000;
/// How deep texts inside texts, wrappers inside wrappers and calls inside calls are followed.
pub(super) const MAX_NESTING: usize = 24;

/// The state of one walk.
#[derive(Debug)]
pub(super) struct Walker<'c> {
    pub(super) classifier: &'c Classifier,
    pub(super) text: &'c str,
    pub(super) scope: Scope,
    pub(super) parts: Vec<Part>,
    /// What may run because of the part that is being looked at.
    pub(super) overheard: Overheard,
    /// Bodies of here-documents of the text that is being walked.
    bodies: Rc<Vec<Word>>,
    /// What lies on the way to here, so that nothing is followed for ever.
    pub(super) nesting: usize,
    visits: usize,
    /// How many possible commands have been tried in argument vectors whose command is not known.
    pub(super) candidates: usize,
    /// How many bytes of texts inside texts may still be parsed.
    pub(super) text_budget: usize,
    /// Where the command that is being looked at stands.
    pub(super) here: Span,
    /// Set inside a text that was cut out of a word: its parts stand where that word stands.
    outer: Option<Span>,
    /// Functions whose bodies are being walked.
    pub(super) running: Vec<String>,
}

impl<'c> Walker<'c> {
    pub(super) fn new(classifier: &'c Classifier, text: &'c str) -> Self {
        Walker {
            classifier,
            text,
            scope: Scope::default(),
            parts: Vec::new(),
            overheard: Overheard::default(),
            bodies: Rc::default(),
            nesting: 0,
            visits: 0,
            candidates: 0,
            text_budget: 16 * syntax::MAX_BYTES,
            here: Span::default(),
            outer: None,
            running: Vec::new(),
        }
    }

    /// Walks a whole text; `at` is where it stands in the text the person sees, if it was cut out of a word.
    pub(super) fn walk(&mut self, parsed: Parsed, at: Option<Span>) {
        let bodies = std::mem::replace(&mut self.bodies, Rc::new(parsed.bodies));
        let outer = self.outer;
        self.outer = outer.or(at);
        self.script(&parsed.script);
        self.outer = outer;
        self.bodies = bodies;
    }

    /// Writes down what a part does.
    pub(super) fn note(&mut self, tier: Tier, rule: impl Into<String>, span: Span) {
        let part = Part::new(tier, rule, self.text, self.outer.unwrap_or(span));
        self.parts.push(part);
    }

    /// Writes down that something here cannot be proven harmless.
    pub(super) fn suspect(&mut self, rule: impl Into<String>) {
        self.note(Tier::Dangerous, rule, self.here);
    }

    /// Writes down that nobody followed what may run here: it may be anything.
    pub(super) fn lose(&mut self, rule: impl Into<String>) {
        self.suspect(rule);
        let guessing = self.overheard.is_guessing();
        if let Some(part) = self.parts.last_mut().filter(|_| !guessing) {
            part.starts.push(Spoken::anything());
        }
    }

    /// Walks what may run, or run again: nobody knows what is set when.
    fn perhaps<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        self.overheard.branch();
        let result = walk(self);
        self.overheard.join();
        result
    }

    /// Walks with a copy of the shell's memory, as a subshell does.
    fn apart<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let scope = self.scope.clone();
        let result = walk(self);
        self.scope = scope;
        result
    }

    /// Goes one level deeper, unless that is too deep.
    pub(super) fn deeper<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.nesting >= MAX_NESTING {
            self.lose("nested too deeply to follow");
            return None;
        }
        self.nesting += 1;
        let result = walk(self);
        self.nesting -= 1;
        Some(result)
    }

    /// Walks the statements; says what they print, as far as that is known.
    fn script(&mut self, script: &Script) -> Option<Output> {
        let mut printed: Option<Output> = None;
        for statement in &script.statements {
            for (place, pipeline) in statement.pipelines.iter().enumerate() {
                let output = if statement.background {
                    self.apart(|walker| walker.pipeline(pipeline))
                } else if place > 0 {
                    self.perhaps(|walker| walker.pipeline(pipeline))
                } else {
                    self.pipeline(pipeline)
                };
                let Some(output) = output else { continue };
                let text = printed.map_or_else(String::new, |before| before.text);
                printed = Some(Output { text: text + &output.text, exact: false });
            }
        }
        printed
    }

    /// Walks the commands of a pipeline; says what its last one certainly prints.
    fn pipeline(&mut self, pipeline: &Pipeline) -> Option<Output> {
        if let [command] = pipeline.commands.as_slice() {
            return self.command(command, Input::Terminal);
        }
        let mut input = Input::Terminal;
        let mut last = None;
        for command in &pipeline.commands {
            last = self.apart(|walker| walker.command(command, input));
            input = last.clone().map_or(Input::Unknown, |output| Input::Text(output.text));
        }
        last
    }

    /// Walks one command; says what it certainly prints.
    fn command(&mut self, command: &Command, input: Input) -> Option<Output> {
        self.visits += 1;
        if self.visits > MAX_VISITS {
            if self.visits == MAX_VISITS + 1 {
                self.lose("too much to follow");
            }
            return None;
        }
        self.here = command.span;
        if let Form::Simple(simple) = &command.form {
            return self.simple(simple, &command.redirects, command.span, input);
        }
        self.redirects(&command.redirects);
        let output = self.perhaps(|walker| walker.compound(command));
        output.filter(|_| !simple::goes_elsewhere(&command.redirects))
    }

    /// Walks what is more than one command; says what is known of what it prints.
    fn compound(&mut self, command: &Command) -> Option<Output> {
        match &command.form {
            Form::Simple(_) => {}
            Form::Block(scripts) => {
                let printed: Vec<Output> = scripts.iter().filter_map(|script| self.script(script)).collect();
                let text: String = printed.iter().map(|output| output.text.as_str()).collect();
                return (!printed.is_empty()).then_some(Output { text, exact: false });
            }
            Form::Subshell(script) => return self.apart(|walker| walker.script(script)),
            Form::For { variable, words, body } => {
                let values = match words {
                    Some(words) => self.expand_all(words),
                    None => vec![Arg { text: UNKNOWN.into(), known: Known::Environment, ..Arg::default() }],
                };
                if values.iter().any(|value| is_evaluation_trap(&value.text)) {
                    self.lose("a variable holds a subscript with a command, which arithmetic would run");
                }
                self.sets(variable);
                self.overheard.counted(variable);
                self.scope.variables.insert(variable.clone(), value_of(&values));
                return self.script(body);
            }
            Form::Count { header, body } => {
                self.arithmetic(header);
                self.script(body);
            }
            Form::Case { subject, arms } => {
                self.expand_whole(subject);
                for (patterns, body) in arms {
                    patterns.iter().for_each(|pattern| drop(self.expand_whole(pattern)));
                    self.script(body);
                }
            }
            Form::Function { name, body } => self.define(name, body, command.span),
            Form::Arithmetic(pieces) => {
                self.arithmetic(pieces);
                self.note(Tier::Safe, "arithmetic", command.span);
            }
            Form::Test(words) => self.test(words, command.span),
        }
        None
    }

    /// A definition runs nothing, but what it holds may run later, in this text or in the next: it counts.
    fn define(&mut self, name: &str, body: &Rc<Command>, span: Span) {
        self.scope.functions.insert(name.to_owned(), Rc::clone(body));
        let bomb = self.deeper(|walker| {
            walker.running.push(name.to_owned());
            let first = walker.parts.len();
            let scope = walker.scope.clone();
            walker.scope.positional = vec![UNKNOWN.into()];
            walker.command(body, Input::Unknown);
            walker.scope = scope;
            walker.running.pop();
            walker.parts.iter().skip(first).any(|part| part.tier == Tier::Destructive)
        });
        if bomb == Some(false) && calls_itself_twice(name, body) {
            self.note(Tier::Destructive, "a function that starts copies of itself without end (a fork bomb)", span);
        }
    }

    /// `[[ … ]]`: harmless but for operands that are evaluated as arithmetic.
    fn test(&mut self, words: &[Word], span: Span) {
        let words: Vec<Arg> = words.iter().flat_map(|word| self.expand_whole(word)).collect();
        self.here = span;
        let evaluates =
            |arg: &Arg| matches!(arg.text.as_str(), "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-v" | "-R");
        if words.iter().any(evaluates) && words.iter().any(|word| word.is_wild()) {
            self.lose("an arithmetic test evaluates text that nobody has read");
        }
        match words.iter().find(|word| is_evaluation_trap(&word.text)) {
            Some(_) => self.lose("a test evaluates a command hidden in a subscript"),
            None => self.note(Tier::Safe, "a test", span),
        }
    }

    /// Arithmetic evaluates the values of variables, and with them any command in a subscript.
    pub(super) fn arithmetic(&mut self, pieces: &[Piece]) {
        let here = self.here;
        let text: String =
            self.expand_whole(&Word { span: here, pieces: pieces.to_vec() }).into_iter().map(|arg| arg.text).collect();
        self.here = here;
        let wild_name = |name: &str| matches!(self.scope.variables.get(name), Some(Value::Wild));
        let names = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        if names.into_iter().any(wild_name) || text.contains(UNKNOWN) && self.holds_wild(pieces) {
            self.lose("arithmetic evaluates text that nobody has read");
        }
        let assigns = text.contains('=') || text.contains("++") || text.contains("--");
        for name in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|_| assigns) {
            self.sets(name);
            self.overheard.assigned(name);
        }
        if is_evaluation_trap(&text) {
            self.lose("arithmetic evaluates a command hidden in a subscript");
        }
    }

    /// Notes that a variable is set in some other way than by an assignment.
    pub(super) fn sets(&mut self, name: &str) {
        let plain = name.split('[').next().unwrap_or(name);
        if variable::steers_programs(plain) {
            self.suspect(format!("the variable `{plain}` may change what programs do"));
        }
    }

    fn holds_wild(&self, pieces: &[Piece]) -> bool {
        pieces.iter().any(|piece| match piece {
            Piece::Parameter(parameter) => matches!(self.scope.variables.get(&parameter.name), Some(Value::Wild)),
            Piece::Command { script, .. } => !output::is_tame(script),
            Piece::Bare(_) | Piece::Quoted(_) | Piece::Glob(_) | Piece::Tilde(_) => false,
            Piece::Process(_) | Piece::Arithmetic(_) => false,
        })
    }

    /// Walks the script of a substitution and says what is known of its output.
    fn substitution(&mut self, script: &Script) -> Value {
        let here = self.here;
        let printed = self.deeper(|walker| {
            walker.apart(|walker| {
                let mut printed = Vec::new();
                for statement in &script.statements {
                    for pipeline in &statement.pipelines {
                        printed.push(walker.pipeline(pipeline));
                    }
                }
                let exact = |output: Output| output.exact.then_some(output.text);
                printed.into_iter().map(|output| output.and_then(exact)).collect::<Option<String>>()
            })
        });
        self.here = here;
        match printed.flatten() {
            Some(text) => Value::OneOf(vec![text.trim_end_matches('\n').to_owned()]),
            None if output::is_tame(script) => Value::Tame,
            None => Value::Wild,
        }
    }
}

/// A subscript with a command in it: several builtins run it although it is quoted.
pub(super) fn is_evaluation_trap(text: &str) -> bool {
    text.find('[').is_some_and(|open| {
        let rest = text.get(open..).unwrap_or_default();
        rest.contains("$(") || rest.contains('`') || rest.contains("${")
    })
}

/// What a variable holds that is set to one of `values`.
pub(super) fn value_of(values: &[Arg]) -> Value {
    match values.iter().map(|value| value.known).max() {
        // A name that a glob finds is chosen by whoever made the files, but a glob that starts with text starts so.
        Some(Known::Fully | Known::Environment) | None if !values.iter().any(Arg::may_be_option) => {
            Value::OneOf(values.iter().map(|value| value.text.clone()).collect())
        }
        _ => Value::Wild,
    }
}

/// Whether a function calls itself more than once, or in the background: each call then starts others.
fn calls_itself_twice(name: &str, body: &Command) -> bool {
    let mut calls = 0_usize;
    count_calls(name, body, false, &mut calls, 0);
    calls >= 2
}

fn count_calls(name: &str, command: &Command, background: bool, calls: &mut usize, depth: usize) {
    if depth > MAX_NESTING {
        return;
    }
    let mut scripts: Vec<&Script> = Vec::new();
    match &command.form {
        Form::Simple(simple) => {
            let first = simple.words.first().and_then(|word| match word.pieces.as_slice() {
                [Piece::Bare(text) | Piece::Quoted(text)] => Some(text.as_str()),
                _ => None,
            });
            if first == Some(name) {
                *calls += if background { 2 } else { 1 };
            }
        }
        Form::Block(blocks) => scripts.extend(blocks),
        Form::Subshell(script) | Form::For { body: script, .. } | Form::Count { body: script, .. } => {
            scripts.push(script)
        }
        Form::Case { arms, .. } => scripts.extend(arms.iter().map(|(_, script)| script)),
        Form::Function { .. } | Form::Arithmetic(_) | Form::Test(_) => {}
    }
    for statement in scripts.into_iter().flat_map(|script| &script.statements) {
        for inner in statement.pipelines.iter().flat_map(|pipeline| &pipeline.commands) {
            count_calls(name, inner, background || statement.background, calls, depth + 1);
        }
    }
}

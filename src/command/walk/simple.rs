//! Simple commands: assignments, redirections, and the program with its arguments.

use std::rc::Rc;

use super::{
    Arg, HOME, Known, MAX_NESTING, SOMETHING, Scope, UNKNOWN, Walker, is_evaluation_trap,
    output::{self, Output},
    scope::Value,
    value_of,
};
use crate::model::Spoken;

use crate::command::{
    answer::Span,
    destroy::target,
    judge::{Input, Verdict, variable},
    overheard::said_of,
    syntax::tree::{Assignment, Flow, Piece, Redirect, Simple},
    tier::Tier,
};

impl Walker<'_> {
    /// Walks a simple command; says what it certainly prints.
    pub(super) fn simple(
        &mut self,
        simple: &Simple,
        redirects: &[Redirect],
        span: Span,
        input: Input,
    ) -> Option<Output> {
        let alone = simple.words.is_empty();
        // In front of `read`, `IFS` only says how that one line is split.
        let reads = simple
            .words
            .first()
            .is_some_and(|word| matches!(word.pieces.as_slice(), [Piece::Bare(name)] if name == "read"));
        for assignment in simple.assignments.iter().filter(|assignment| !(reads && assignment.name == "IFS")) {
            self.assign(assignment, alone, span);
        }
        for assignment in simple.assignments.iter().filter(|assignment| reads && assignment.name == "IFS") {
            self.expand_whole(&assignment.value);
        }
        let given = self.redirects(redirects);
        self.here = span;
        let args = self.expand_all(&simple.words);
        self.here = span;
        if alone {
            self.note(Tier::Safe, "sets variables or redirects only", span);
            return None;
        }
        let input = given.map_or(input, Input::Text);
        let Some(program) = args.first() else {
            self.lose("what is run depends on an expansion that may be empty");
            return None;
        };
        let output = prints(&args, &input, redirects);
        if let Some(body) = self.scope.functions.get(&program.text).map(Rc::clone) {
            let called = self.call(&args, &body, span);
            // Nobody knows which of the two prints.
            return output.or(called).map(|output| Output { exact: false, ..output });
        }
        let whole = simple.words.len() <= args.len();
        let (verdict, starts) = self.overhearing(|walker| {
            if !whole {
                walker.speak_with_gaps(&args);
            }
            walker.judge(&args, &input)
        });
        self.note(verdict.tier, verdict.rule, span);
        if let Some(part) = self.parts.last_mut() {
            part.runs = Some(Spoken::of(said_of(&args))).filter(|_| whole);
            part.starts = starts;
        }
        let as_written = simple.assignments.is_empty() && !self.scope.variables.contains_key("IFS");
        self.remember(&args, if as_written { &input } else { &Input::Unknown });
        output
    }

    /// A call runs the body with these arguments; the program of the same name may run as well.
    fn call(&mut self, args: &[Arg], body: &Rc<crate::command::syntax::tree::Command>, span: Span) -> Option<Output> {
        let name = args.first().map(|arg| arg.text.clone()).unwrap_or_default();
        let (verdict, starts) = self.overhearing(|walker| {
            walker.speak(args);
            walker.search_suffixes(args.get(1..).unwrap_or_default())
        });
        if verdict.tier == Tier::Destructive {
            self.note(verdict.tier, verdict.rule, span);
        }
        if self.running.contains(&name) || self.running.len() >= MAX_NESTING {
            self.note(Tier::Dangerous, "a function that calls itself", span);
            return None;
        }
        let positional = args.iter().skip(1).map(|arg| arg.text.clone()).collect();
        let before = std::mem::replace(&mut self.scope.positional, positional);
        self.running.push(name);
        let output = self.deeper(|walker| walker.command(body, Input::Unknown));
        self.running.pop();
        self.scope.positional = before;
        self.note(Tier::Safe, "calls a function of this text", span);
        if let Some(part) = self.parts.last_mut() {
            part.starts = starts;
        }
        output.flatten()
    }

    fn assign(&mut self, assignment: &Assignment, alone: bool, span: Span) {
        self.here = span;
        let values = self.expand_whole(&assignment.value);
        self.here = span;
        for value in &values {
            let (verdict, starts) = self.overhearing(|walker| walker.judge_variable(&assignment.name, value, alone));
            if verdict.tier > Tier::Safe {
                self.note(verdict.tier, verdict.rule, span);
                if let Some(part) = self.parts.last_mut() {
                    part.starts = starts;
                }
            }
            if is_evaluation_trap(&value.text) {
                self.lose("a variable holds a subscript with a command, which arithmetic would run");
            }
        }
        let subscript = matches!(assignment.value.pieces.as_slice(), [Piece::Glob('['), ..]);
        if assignment.partial && subscript && values.iter().any(Arg::is_wild) {
            self.lose("a subscript evaluates text that nobody has read");
        }
        if alone {
            self.overheard.assigned(&assignment.name);
            let value = match self.scope.variables.get(&assignment.name) {
                Some(Value::OneOf(before)) if assignment.appends => appended(before, &values),
                _ if assignment.partial => list_value(&values, subscript),
                _ => value_of(&values),
            };
            self.scope.variables.insert(assignment.name.clone(), value);
        }
    }

    /// Walks redirections; gives back the text that becomes the input.
    pub(super) fn redirects(&mut self, redirects: &[Redirect]) -> Option<String> {
        let mut text = None;
        for redirect in redirects {
            let here = self.here;
            match redirect.flow {
                Flow::HereDocument(body) => {
                    let bodies = Rc::clone(&self.bodies);
                    let args = bodies.get(body).map(|word| self.expand_whole(word)).unwrap_or_default();
                    text = Some(joined(&args));
                }
                Flow::HereString => {
                    let args = self.expand_whole(&redirect.target);
                    text = Some(joined(&args));
                }
                Flow::Duplicate => {}
                Flow::Read | Flow::Write => {
                    for target in self.expand_whole(&redirect.target) {
                        self.redirect(redirect.flow, &target);
                        if redirect.flow == Flow::Read && target.content.is_some() {
                            text = target.content;
                        }
                    }
                }
            }
            self.here = here;
        }
        text
    }

    fn redirect(&mut self, flow: Flow, target: &Arg) {
        let text = target.text.as_str();
        let network = text.starts_with("/dev/tcp/") || text.starts_with("/dev/udp/");
        let rule = match flow {
            _ if network => "a redirection opens a network connection",
            Flow::Write if target::is_device(text) => {
                self.note(Tier::Destructive, format!("a redirection overwrites the device `{text}`"), target.span);
                return;
            }
            Flow::Write if !is_free(text) || !target.is_exact() => "a redirection writes a file",
            Flow::Read if target.is_wild() => "a redirection reads a file nobody knows",
            Flow::Read | Flow::Write | Flow::Duplicate | Flow::HereString | Flow::HereDocument(_) => return,
        };
        self.note(Tier::Dangerous, rule, target.span);
    }

    /// What a command changes in the shell that runs it.
    fn remember(&mut self, args: &[Arg], input: &Input) {
        let Some((program, rest)) = args.split_first() else { return };
        self.overheard.changed_by(args);
        if matches!(program.text.as_str(), "read" | "mapfile" | "readarray" | "getopts" | "let") {
            let names = rest.iter().map(|arg| arg.text.split(['=', '+', '-']).next().unwrap_or_default().to_owned());
            names.collect::<Vec<_>>().iter().for_each(|name| self.sets(name));
        }
        // With any other option, `read` takes less than the line, or another one.
        let plainly =
            matches!(rest, [name] if !name.text.starts_with('-')) || matches!(rest, [raw, _] if raw.text == "-r");
        let mut operands = rest.iter().filter(|arg| !arg.text.starts_with('-') || arg.text == "-");
        match program.text.as_str() {
            "cd" | "pushd" => {
                let target = operands.next().map_or_else(|| HOME.to_string(), |arg| arg.text.clone());
                self.scope.enter(&target);
            }
            "popd" => self.scope.enter(&UNKNOWN.to_string()),
            "read" if plainly => {
                let value = line_read(input).map_or(Value::Wild, |line| Value::OneOf(vec![line]));
                self.scope.variables.extend(operands.next().map(|name| (name.text.clone(), value)));
            }
            "read" | "mapfile" | "readarray" | "getopts" => {
                for name in operands {
                    self.scope.variables.insert(name.text.clone(), Value::Wild);
                }
            }
            "export" | "declare" | "local" | "readonly" | "typeset" => {
                for arg in operands {
                    if let Some((name, value)) = arg.text.split_once('=') {
                        let value = Arg { text: value.to_owned(), ..arg.clone() };
                        self.scope.variables.insert(name.to_owned(), value_of(&[value]));
                    }
                }
            }
            "set" => {
                let start = rest.iter().position(|arg| arg.text == "--").map_or(0, |at| at + 1);
                self.scope.positional = rest.iter().skip(start).map(|arg| arg.text.clone()).collect();
            }
            "unset" => {
                for name in operands {
                    self.scope.variables.insert(name.text.clone(), Value::OneOf(vec![String::new()]));
                }
            }
            _ => {}
        }
    }

    fn judge_variable(&mut self, name: &str, value: &Arg, alone: bool) -> Verdict {
        let verdict = variable::judge(name, value, alone);
        if verdict.tier == Tier::Safe {
            return verdict;
        }
        self.overhear_variable(name, value);
        // A variable that a program runs (a pager, an editor) is searched like a command line.
        let found = self.search_text(value.content.as_ref().unwrap_or(&value.text), value.span);
        if found.tier == Tier::Destructive { found } else { verdict }
    }
}

/// The one line that `read` finds in a here-string, if that is all there is.
fn line_read(input: &Input) -> Option<String> {
    let Input::Text(text) = input else { return None };
    let line = text.strip_suffix('\n').unwrap_or(text);
    (!line.contains(['\n', '\\', UNKNOWN, SOMETHING, HOME])).then(|| line.trim().to_owned())
}

/// Each of `before` with each of `values` behind it, if that stays small.
fn appended(before: &[String], values: &[Arg]) -> Value {
    let Value::OneOf(values) = value_of(values) else { return Value::Wild };
    let both = before.iter().flat_map(|start| values.iter().map(move |end| format!("{start}{end}")));
    let both: Vec<String> = both.take(64).collect();
    let small = before.len() * values.len() <= both.len() && both.iter().all(|text| text.len() <= 4_096);
    if small { Value::OneOf(both) } else { Value::Wild }
}

/// The elements of `name=(…)`; anything else that is not a plain value may be anything.
fn list_value(values: &[Arg], subscript: bool) -> Value {
    let [list] = values else { return Value::Wild };
    if subscript || list.known != Known::Fully || !list.text.starts_with(' ') {
        return Value::Wild;
    }
    Value::OneOf(list.text.split_whitespace().take(64).map(str::to_owned).collect())
}

/// Where output may go without leaving anything behind.
pub(in crate::command) fn is_free(target: &str) -> bool {
    matches!(
        target,
        "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "/dev/fd/1" | "/dev/fd/2" | "/dev/fd/63"
    )
}

fn joined(args: &[Arg]) -> String {
    args.iter().map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ") + "\n"
}

/// Whether what is printed goes somewhere else than into the pipe.
pub(super) fn goes_elsewhere(redirects: &[Redirect]) -> bool {
    let elsewhere =
        |redirect: &Redirect| redirect.flow == Flow::Write && redirect.descriptor.is_none_or(|number| number == 1);
    redirects.iter().any(elsewhere)
}

/// What the command prints into a pipe: its own words, or what it was given.
fn prints(args: &[Arg], input: &Input, redirects: &[Redirect]) -> Option<Output> {
    if goes_elsewhere(redirects) {
        return None;
    }
    let passes_on = match args {
        [program] => matches!(program.text.as_str(), "cat" | "tee" | "sort" | "uniq" | "nl"),
        [program, rest @ ..] => {
            let only_options = rest.iter().all(|arg| arg.text.starts_with('-'));
            matches!(program.text.as_str(), "tee") || (program.text == "cat" && only_options)
        }
        [] => false,
    };
    match input {
        Input::Text(text) if passes_on => Some(Output { text: text.clone(), exact: false }),
        Input::Text(_) | Input::Terminal | Input::Unknown => output::printed(args),
    }
}

impl Scope {
    /// Forgets what a caller knows and a program started by it does not.
    pub(in crate::command) fn for_new_shell(&self) -> Scope {
        Scope { functions: Default::default(), positional: Vec::new(), ..self.clone() }
    }
}

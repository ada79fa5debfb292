//! Functions: their definitions, and the commands of their calls.

use crate::{
    budget::MAX_DEPTH,
    few::Few,
    interpreter::{Evaluator, Interpreter, Positional, output::Output, scope::Function},
    invocation::Input,
    span::Span,
    syntax::tree::{Change, Command, Form, Parameter, Piece, RawWord, Script, Simple},
    tier::Tier,
    values::base_name,
    variables,
    word::{Gaps, Word},
};
use smol_str::format_smolstr;
use std::rc::Rc;

/// The limit of definitions of one function that a call follows.
const MAX_BODIES: usize = 8;

impl Interpreter<'_> {
    /// Records the definition of a function. Its body does not run now, but it may run later, so its parts count.
    pub(super) fn define(&mut self, name: &str, body: &Rc<Command>, span: Span) {
        self.scope.define(name, body);
        if variables::is_called_by_shells(name) {
            self.here = span;
            self.mark_dangerous("a function that a shell calls by itself");
        }
        let bomb = self.deeper(|shell| {
            shell.running.push(name.into());
            let first = shell.parts.len();
            shell.apart(|shell| {
                shell.scope.positional = Positional::unknown();
                shell.command(body, Input::Unknown);
            });
            shell.running.pop();
            shell.parts.iter().skip(first).any(|part| part.tier == Tier::Destructive)
        });
        if bomb == Some(false) && calls_itself_twice(name, body) {
            self.record_part(
                Tier::Destructive,
                "a function that starts copies of itself without end (a fork bomb)",
                span,
            );
        }
    }

    /// Defines `alias name=text` as a function. Where the shell expands aliases, the command runs the text and its
    /// arguments.
    pub(super) fn alias(&mut self, words: &[Word]) {
        for word in words {
            let Some((name, text)) = word.text().split_once('=') else { continue };
            // An alias that is not written out is recorded elsewhere. In the text of its own alias, a name means the
            // program.
            let is_itself = text.split_whitespace().next() == Some(name);
            if is_itself || !word.is_exact() || text.has_unknown() {
                continue;
            }
            self.give_meaning(name, Few::One(Piece::Quoted(format_smolstr!("{text} \"$@\""))), word.span());
        }
    }

    /// Defines a name as a text that may run in its place.
    fn give_meaning(&mut self, name: &str, text: Few<Piece>, span: Span) {
        let pieces = [Few::One(Piece::Bare("eval".into())), text];
        let words = pieces.map(|pieces| RawWord { span, pieces });
        let simple = Simple { assignments: Vec::new(), words: words.into() };
        let body = Command { span, form: Form::Simple(simple), redirects: Vec::new() };
        self.scope.define(name, &Rc::new(body));
        self.scope.undefine(name);
    }

    /// Defines the names that `hash -p program name…`, or `hash name=program` of zsh, gives to a program.
    fn hashes(&mut self, words: &[Word]) {
        self.alias(words);
        let option = words.iter().enumerate().find_map(|(at, word)| Some((at, word.text().strip_prefix("-p")?)));
        let Some((at, joined)) = option else { return };
        let (program, names) = match words.get(at + 1..).unwrap_or_default() {
            names if !joined.is_empty() => (joined.to_owned(), names),
            [program, names @ ..] => (program_of(program), names),
            [] => return,
        };
        names.iter().for_each(|name| self.give_name(name.text(), &program, name.span()));
    }

    /// Defines the name that a copy of a program or a link to it has, as a path, or that `hash` gives to a program.
    pub(super) fn renames_program(&mut self, command: &str, words: &[Word]) {
        if command == "hash" {
            return self.hashes(words);
        }
        let mut operands = words.iter().filter(|word| !word.text().starts_with('-'));
        let (Some(program), Some(name), None) = (operands.next(), operands.next(), operands.next()) else { return };
        let (program, path) = (program_of(program), name.text());
        let (old, new) = (base_name(&program), base_name(path));
        // The names of most files have an extension, and a directory keeps the name of the program.
        if old.is_empty() || old.contains('.') || new.is_empty() || new == old || new.contains('.') {
            return;
        }
        let plain = path.trim_start_matches("./");
        self.give_name(plain, &program, name.span());
        if !plain.starts_with('/') {
            self.give_name(&format!("./{plain}"), &program, name.span());
        }
    }

    /// Defines another name of a program that is written as one plain word.
    fn give_name(&mut self, name: &str, program: &str, span: Span) {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._+-".contains(c);
        if !program.is_empty() && program.chars().all(is_plain) {
            let inside = RawWord { span, pieces: Few::default() };
            let subscript = Few::default();
            let all = Parameter { name: "@".into(), quoted: true, form: Change::Nothing, subscript, inside };
            let pieces = vec![Piece::Quoted(format_smolstr!("{program} ")), Piece::Parameter(all.into())];
            self.give_meaning(name, pieces.into(), span);
        }
    }

    /// Follows a call of a function with these arguments, for each body that the name has had.
    pub(super) fn call(&mut self, args: &[Word], function: &Function, span: Span) -> Option<Output> {
        let name = args.first().map(|arg| arg.shared_text()).unwrap_or_default();
        let rest = args.get(1..).unwrap_or_default();
        let verdict = self.evaluator.search_words(self, rest);
        if verdict.tier == Tier::Destructive {
            self.record_part(verdict.tier, verdict.rule, span);
        }
        if self.running.contains(&name) || self.running.len() >= MAX_DEPTH {
            self.record_part(Tier::Dangerous, "a function that calls itself", span);
            self.scope.forget();
            return None;
        }
        if function.bodies.len() > MAX_BODIES {
            self.uses.lose();
            self.mark_unknown("a function with more definitions than are followed");
            self.scope.forget();
            return None;
        }
        let before = self.scope.clone();
        self.running.push(name);
        let mut printed = String::new();
        for body in &function.bodies {
            let after = std::mem::replace(&mut self.scope, before.clone());
            self.scope.positional = Positional::of(rest);
            let output = self.leaving(|shell| shell.deeper(|shell| shell.command(body, Input::Unknown)));
            printed.extend(output.flatten().map(|output| output.text));
            // Local variables have their old values, and other variables the values that the body has set.
            self.scope.positional = before.positional.clone();
            self.scope.join(&after);
        }
        self.running.pop();
        self.record_part(Tier::Safe, "calls a function of this text", span);
        (!printed.is_empty()).then_some(Output { text: printed, exact: false })
    }
}

/// Returns the program that a word names, or that the command in it prints.
fn program_of(word: &Word) -> String {
    let text = if word.is_exact() { Some(word.text()) } else { word.content() };
    text.map(str::trim).unwrap_or_default().to_owned()
}

/// Returns true if a call of the function may run something else with this name. The function may be undefined, or the
/// shell may not search for it.
pub(super) fn may_be_a_program(evaluator: &dyn Evaluator, name: &str, function: &Function) -> bool {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    !function.certain || !plain || evaluator.is_known(name)
}

/// Returns true if a function calls itself more than once or in the background, so that each call starts further calls.
fn calls_itself_twice(name: &str, body: &Command) -> bool {
    let mut calls = 0_usize;
    count_calls(name, body, false, &mut calls, 0);
    calls >= 2
}

fn count_calls(name: &str, command: &Command, background: bool, calls: &mut usize, depth: usize) {
    if depth > MAX_DEPTH {
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
        Form::If { branches, otherwise } => {
            scripts.extend(branches.iter().flat_map(|(test, body)| [test, body]).chain(otherwise));
        }
        Form::While { test, body } => scripts.extend([test, body]),
        Form::Group(script)
        | Form::Subshell(script)
        | Form::For { body: script, .. }
        | Form::Count { body: script, .. } => scripts.push(script),
        Form::Case { arms, .. } => scripts.extend(arms.iter().map(|(_, script)| script)),
        Form::Function { .. } | Form::Arithmetic(_) | Form::Test { .. } => {}
    }
    for statement in scripts.into_iter().flat_map(|script| &script.statements) {
        for inner in statement.pipelines.iter().flat_map(|pipeline| &pipeline.commands) {
            count_calls(name, inner, background || statement.background, calls, depth + 1);
        }
    }
}

//! A walk through a parsed text, in the way a shell would run it, which collects the effects of every part.
//!
//! The walk takes every branch and enters every substitution. It keeps the state of the shell (variables, functions,
//! the directory) as far as the text determines it. It has no knowledge of programs: [`judge`](super::judge) evaluates
//! them.

mod arithmetic;
mod brace;
mod builtin;
mod edit;
mod expand;
mod flow;
mod function;
mod ids;
mod output;
mod scope;
mod simple;
mod value;
mod written;

use crate::{
    classifier::Classifier,
    destroy,
    invocation::Input,
    named_uses::NamedUses,
    overheard::Overheard,
    part::Part,
    span::Span,
    syntax::{
        self,
        tree::{Command, Form, Parsed, RawWord, Script},
    },
    tier::Tier,
    values::{Obeys, Spoken},
    variables,
    word::Word,
};
use smol_str::SmolStr;
use std::rc::Rc;

pub(super) use builtin::declares_variables;
use output::Output;
pub(super) use scope::{Positional, Scope};
pub(super) use simple::is_free;
pub(super) use value::Value;

/// The limit of commands that are visited in total. Functions and texts inside texts multiply them.
const MAX_VISITS: usize = 20_000;
/// The deepest nesting of texts inside texts, wrappers inside wrappers and calls inside calls.
pub(super) const MAX_NESTING: usize = 24;
/// The limit of words that are evaluated in total. Each word counts as often as it may start a command.
const MAX_JUDGED: usize = 1 << 17;
/// The cost of a command in addition to its words.
const COST_OF_A_COMMAND: usize = 4;
/// The limit of bytes in expanded words in total. A value that doubles itself exceeds it long before it is large.
const MAX_EXPANDED: usize = 1 << 22;

/// The part of bash's syntax that a shell reads like bash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// All of it, because the shell is bash.
    Bash,
    /// All except syntax that only bash knows.
    Posix,
    /// Plain words and lists only.
    Plain,
    /// An empty part, for other shells.
    Foreign,
}

impl Dialect {
    /// Returns the dialect of the shell `name`.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "bash" | "rbash" | "bash5" => Dialect::Bash,
            "sh" | "dash" | "ash" => Dialect::Posix,
            "zsh" | "ksh" | "mksh" | "fish" => Dialect::Plain,
            _ => Dialect::Foreign,
        }
    }

    /// Returns true if the shell reads `text`, which was parsed as bash, in the way bash does.
    pub(super) fn reads(self, text: &str, parsed: &Parsed) -> bool {
        match self {
            Dialect::Bash => true,
            Dialect::Posix => !parsed.bash_only,
            Dialect::Plain => !parsed.bash_only && is_plain(text),
            Dialect::Foreign => false,
        }
    }
}

/// Returns true for a text of words, lists, pipes and quotes, without characters that are special only in some shells.
fn is_plain(text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || c.is_ascii_whitespace() || "-_./,:@%+;|&\"'*?>=$".contains(c);
    let mut before = ' ';
    text.chars().all(|c| {
        let starts = !before.is_alphanumeric();
        let odd = (c == '=' && starts) || (before == '$' && !c.is_ascii_alphabetic()) || (before == '&' && c == '>');
        before = c;
        plain(c) && !odd
    }) && before != '$'
}

/// The state of one walk.
#[derive(Debug)]
pub(super) struct Walker<'c> {
    pub(super) classifier: &'c Classifier,
    pub(super) text: &'c str,
    pub(super) scope: Scope,
    pub(super) parts: Vec<Part>,
    /// The commands that may run because of the current part.
    pub(super) overheard: Overheard,
    /// The resources that the line names.
    pub(super) uses: NamedUses,
    /// The bodies of here-documents in the current text.
    bodies: Rc<Vec<RawWord>>,
    /// The current nesting depth.
    pub(super) nesting: usize,
    visits: usize,
    /// The number of words that have been evaluated.
    judged: usize,
    /// True after the limit of work was recorded.
    gave_up: bool,
    /// The number of possible commands that were tried in argument vectors with an unknown command.
    pub(super) candidates: usize,
    /// The bytes of texts inside texts that may still be parsed.
    pub(super) text_budget: usize,
    /// The position of the current command.
    pub(super) here: Span,
    /// The position of the outer word, for a text that was extracted from it. The parts of the inner text have this
    /// position.
    outer: Option<Span>,
    /// The functions whose bodies are being walked.
    pub(super) running: Vec<SmolStr>,
    /// The joined states at the places where the current loop or function is left early.
    left: Option<Scope>,
    /// The bytes of words that have been expanded.
    expanded: usize,
    /// The input of the current compound command.
    pub(super) feed: Option<String>,
    /// True if a surrounding compound command has an input, so that the current command may read it.
    pub(super) is_fed: bool,
    /// The shell that reads the current text.
    pub(super) dialect: Dialect,
    /// The texts of traps. They run again at the end, with the values that are known then.
    pub(super) traps: Vec<(SmolStr, Span)>,
    /// The files that the text has written.
    written: Vec<written::Written>,
    /// The number of searches in these files.
    looked_into: usize,
    /// The files that programs of the current part obey.
    pub(super) obeyed: Vec<Obeys>,
}

impl<'c> Walker<'c> {
    pub(super) fn new(classifier: &'c Classifier, text: &'c str) -> Self {
        Walker {
            classifier,
            text,
            scope: Scope::default(),
            parts: Vec::new(),
            overheard: Overheard::default(),
            uses: NamedUses::default(),
            bodies: Rc::default(),
            nesting: 0,
            visits: 0,
            judged: 0,
            gave_up: false,
            candidates: 0,
            text_budget: 16 * syntax::MAX_BYTES,
            here: Span::default(),
            outer: None,
            running: Vec::new(),
            left: None,
            expanded: 0,
            feed: None,
            is_fed: false,
            dialect: Dialect::Bash,
            traps: Vec::new(),
            written: Vec::new(),
            looked_into: 0,
            obeyed: Vec::new(),
        }
    }

    /// Returns the work so far, in units that do not depend on the machine.
    #[cfg(test)]
    pub(crate) fn work(&self) -> usize {
        self.visits + self.expanded + self.judged
    }

    /// Returns true if no further command is followed.
    fn is_exhausted(&self) -> bool {
        self.visits > MAX_VISITS
    }

    /// Returns the reason why running `args` is destructive in one of its possible directories.
    pub(super) fn destroys(&self, args: &[Word]) -> Option<String> {
        let found = self.scope.places.iter().find_map(|place| destroy::find(args, place));
        found.or_else(|| {
            let printed = args.iter().any(|arg| arg.has_output() && arg.content().is_some());
            let printed = printed.then(|| args.iter().flat_map(Word::printed_words).collect::<Vec<_>>())?;
            self.scope.places.iter().find_map(|place| destroy::find(&printed, place))
        })
    }

    /// Walks a whole text. `at` is its position in the text that a person sees, if it was extracted from a word.
    pub(super) fn walk(&mut self, parsed: Parsed, at: Option<Span>) {
        let bodies = std::mem::replace(&mut self.bodies, Rc::new(parsed.bodies));
        let outer = self.outer;
        self.outer = outer.or(at);
        self.script(&parsed.script);
        self.outer = outer;
        self.bodies = bodies;
    }

    /// Records the effect of a part.
    pub(super) fn note(&mut self, tier: Tier, rule: impl Into<String>, span: Span) {
        let part = Part::new(tier, rule, self.text, self.outer.unwrap_or(span));
        self.parts.push(part);
    }

    /// Records that the current command cannot be proven harmless.
    pub(super) fn suspect(&mut self, rule: impl Into<String>) {
        self.note(Tier::Dangerous, rule, self.here);
    }

    /// Records that an unknown command may run here.
    pub(super) fn lose(&mut self, rule: impl Into<String>) {
        self.suspect(rule);
        let guessing = self.overheard.is_guessing();
        if let Some(part) = self.parts.last_mut().filter(|_| !guessing) {
            part.starts.push(Spoken::anything());
            self.uses.run_anything();
        }
    }

    /// Records once that the line exceeds the limit of work, and still searches it for destructive commands. The other
    /// uses of the line are unknown. If only speculative work was dropped, then only its uncertain uses are unknown.
    fn give_up(&mut self) {
        if self.overheard.is_guessing() {
            self.uses.lose_words();
        } else {
            self.uses.lose();
        }
        if !std::mem::replace(&mut self.gave_up, true) {
            self.lose("too much to follow");
            self.raw_search(self.text, Span { start: 0, end: self.text.len() });
        }
    }

    /// Returns true if `words` more can be evaluated. Wrappers in wrappers and texts in texts multiply them.
    pub(super) fn can_judge(&mut self, words: usize) -> bool {
        self.can_follow(words + COST_OF_A_COMMAND)
    }

    /// Returns true if work of this cost can still be followed: words, and the directories in which they are resolved.
    pub(super) fn can_follow(&mut self, cost: usize) -> bool {
        self.judged += cost;
        let fits = self.judged <= MAX_JUDGED;
        if !fits {
            self.give_up();
        }
        fits
    }

    /// Returns true if even the search for destructive commands must end.
    pub(super) fn is_worn_out(&self) -> bool {
        self.judged > 3 * MAX_JUDGED
    }

    /// Runs `walk` one level deeper, unless the limit is reached.
    pub(super) fn deeper<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.nesting >= MAX_NESTING {
            // A speculative command does not make the uses of the line unknown.
            if !self.overheard.is_guessing() {
                self.uses.lose();
            }
            self.lose("nested too deeply to follow");
            return None;
        }
        self.nesting += 1;
        let result = walk(self);
        self.nesting -= 1;
        Some(result)
    }

    /// Walks one command. Returns its certain output.
    fn command(&mut self, command: &Command, input: Input) -> Option<Output> {
        // Calls multiply the commands of the functions around them.
        self.visits += 1 + self.running.len();
        if self.visits > MAX_VISITS {
            self.give_up();
            return None;
        }
        self.here = command.span;
        if let Form::Simple(simple) = &command.form {
            return self.simple(simple, &command.redirects, command.span, input);
        }
        let given = self.redirects(&command.redirects).unwrap_or(input);
        let outer = (self.feed.clone(), self.is_fed);
        self.is_fed |= !given.is_silent();
        if let Input::Text(text) = given {
            self.feed = Some(text);
        }
        let unchanged = simple::may_fail(&command.redirects).then(|| self.scope.clone());
        let output = self.compound(command);
        unchanged.iter().for_each(|unchanged| self.scope.join(unchanged));
        (self.feed, self.is_fed) = outer;
        self.kept(output, &command.redirects)
    }

    /// Walks a compound command. Returns the known part of its output.
    fn compound(&mut self, command: &Command) -> Option<Output> {
        match &command.form {
            Form::Simple(_) => None,
            Form::Group(script) => self.script(script),
            Form::If { branches, otherwise } => self.choose(branches, otherwise.as_ref()),
            Form::While { test, body } => self.repeat(|walker| {
                walker.script(test);
                let after_test = walker.scope.clone();
                let output = walker.script(body);
                walker.scope.join(&after_test);
                output
            }),
            Form::Subshell(script) => self.apart(|walker| walker.script(script)),
            Form::For { variable, words, body } => {
                let value = match words {
                    Some(words) => Value::of(&self.expand_all(words)),
                    None => Value { list: false, ..self.scope.read("@") }.or(&Value::inherited()),
                };
                self.repeat(|walker| {
                    walker.set(variable, value.clone());
                    walker.script(body)
                })
            }
            Form::Count { header, body } => self.repeat(|walker| {
                walker.arithmetic(header);
                walker.script(body)
            }),
            Form::Case { subject, arms } => self.case(subject, arms),
            Form::Function { name, body } => {
                self.define(name, body, command.span);
                None
            }
            Form::Arithmetic(pieces) => {
                self.arithmetic(pieces);
                self.note(Tier::Safe, "arithmetic", command.span);
                self.search_commands(pieces);
                None
            }
            Form::Test { words, plain } => {
                if !plain {
                    self.suspect("what stands in `[[ … ]]` is no test");
                }
                self.test(words, command.span);
                None
            }
        }
    }

    /// Sets a variable. Every assignment except one before a command goes through this function. It records that the
    /// variable may change programs, or that arithmetic may run its value.
    pub(super) fn set(&mut self, name: &str, value: Value) {
        let plain = name.split('[').next().unwrap_or(name);
        if variables::steers_programs(plain) {
            let shown: String = plain.chars().take(40).collect();
            self.suspect(format!("the variable `{shown}` may change what programs do"));
        }
        if value.texts.iter().any(|text| is_evaluation_trap(text)) {
            self.lose("a variable holds a subscript with a command, which arithmetic would run");
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

    /// Walks the script of a substitution. Returns the value of its output, and the certain part of the output.
    fn substitution(&mut self, script: &Script) -> (Value, Option<String>) {
        let here = self.here;
        let printed = self.output(script);
        self.here = here;
        match printed {
            Some(output) if output.exact => (Value::text(output.text.trim_end_matches('\n')), None),
            _ if output::is_tame(script, |name| self.scope.function(name).is_some()) => {
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
        let ids = |before, command| ids::are_printed(command, before, is_function);
        !statement.background && pipeline.commands.iter().fold(false, ids)
    }

    /// Returns the content of the file that `<(…)` names. Content that is not exact ends in an unknown part.
    fn content(&mut self, script: &Script) -> Option<String> {
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
        self.deeper(|walker| {
            walker.apart(|walker| {
                let mut all = Output { text: String::new(), exact: true };
                for statement in &script.statements {
                    let printed = walker.and_or(statement);
                    all.exact &= !statement.background && printed.as_ref().is_some_and(|output| output.exact);
                    all.text.extend(printed.map(|output| output.text));
                }
                all
            })
        })
    }
}

/// Returns true for a subscript that contains a command. Several builtins run it although it is quoted.
pub(super) fn is_evaluation_trap(text: &str) -> bool {
    text.find('[').is_some_and(|open| {
        let rest = text.get(open..).unwrap_or_default();
        rest.contains("$(") || rest.contains('`') || rest.contains("${")
    })
}

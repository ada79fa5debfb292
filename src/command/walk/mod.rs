//! Follows a parsed text as a shell would run it and collects what every part does.
//!
//! Every branch is taken and every substitution entered. What a shell would remember (variables, functions, the
//! directory) is remembered as far as the text tells. Nothing here knows what a program does: that is asked of
//! [`judge`](super::judge).

mod arg;
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

use smol_str::SmolStr;
use std::rc::Rc;

pub(super) use arg::{Arg, HOME, Known, SOMETHING, UNKNOWN};
pub(super) use builtin::declares_variables;
pub(super) use ids::IDS;
use output::Output;
pub(super) use scope::{Place, Places, Positional, Scope};
pub(super) use simple::is_free;
pub(super) use value::Value;

use crate::model::{Obeys, Spoken};

use super::{
    answer::{Part, Span},
    classifier::Classifier,
    destroy,
    judge::{self, Input, variable},
    needs::NamedUses,
    overheard::Overheard,
    syntax::{
        self,
        tree::{Command, Form, Parsed, Script, Word},
    },
    tier::Tier,
};

/// How often a command may be looked at, over all: functions and texts inside texts multiply.
const MAX_VISITS: usize = 20_000;
/// How deep texts inside texts, wrappers inside wrappers and calls inside calls are followed.
pub(super) const MAX_NESTING: usize = 24;
/// How many words may be judged, over all, each as often as it may start a command.
const MAX_JUDGED: usize = 1 << 17;
/// What a command costs besides its words.
const COST_OF_A_COMMAND: usize = 4;
/// How many bytes of words may be made, over all: a value that doubles itself is given up long before it is large.
const MAX_EXPANDED: usize = 1 << 22;

/// How far a shell reads a text as bash does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// It is bash.
    Bash,
    /// All but what only bash knows.
    Posix,
    /// Plain words and lists only.
    Plain,
    /// Nothing.
    Foreign,
}

impl Dialect {
    /// That of the shell `name`.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "bash" | "rbash" | "bash5" => Dialect::Bash,
            "sh" | "dash" | "ash" => Dialect::Posix,
            "zsh" | "ksh" | "mksh" | "fish" => Dialect::Plain,
            _ => Dialect::Foreign,
        }
    }

    /// Whether the shell reads `text`, which was parsed as bash, in the same way.
    pub(super) fn reads(self, text: &str, parsed: &Parsed) -> bool {
        match self {
            Dialect::Bash => true,
            Dialect::Posix => !parsed.bash_only,
            Dialect::Plain => !parsed.bash_only && is_plain(text),
            Dialect::Foreign => false,
        }
    }
}

/// Words, lists, pipes and quotes, without a sign that means more to some shell than to bash.
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
    /// What may run because of the part that is being looked at.
    pub(super) overheard: Overheard,
    /// What the line names of what it uses.
    pub(super) uses: NamedUses,
    /// Bodies of here-documents of the text that is being walked.
    bodies: Rc<Vec<Word>>,
    /// What lies on the way to here, so that nothing is followed for ever.
    pub(super) nesting: usize,
    visits: usize,
    /// How many words have been judged.
    judged: usize,
    /// It has been said that there was too much to follow.
    gave_up: bool,
    /// How many possible commands have been tried in argument vectors whose command is not known.
    pub(super) candidates: usize,
    /// How many bytes of texts inside texts may still be parsed.
    pub(super) text_budget: usize,
    /// Where the command that is being looked at stands.
    pub(super) here: Span,
    /// Set inside a text that was cut out of a word: its parts stand where that word stands.
    outer: Option<Span>,
    /// Functions whose bodies are being walked.
    pub(super) running: Vec<SmolStr>,
    /// What may be known behind the loop or function that is being walked, because it is left early.
    left: Option<Scope>,
    /// How many bytes of words have been made.
    expanded: usize,
    /// What the compound command that is being walked is given to read.
    pub(super) feed: Option<String>,
    /// What runs here may read something besides what it is given itself: a compound around it is given it.
    pub(super) is_fed: bool,
    /// The shell whose text is being walked.
    pub(super) dialect: Dialect,
    /// Texts of traps: they run again at the end, with what is known then.
    pub(super) traps: Vec<(SmolStr, Span)>,
    /// Files that the text has written.
    written: Vec<written::Written>,
    /// How often those have been looked into.
    looked_into: usize,
    /// The files that programs obey in the part that is being looked at.
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

    /// The work done so far, in units that do not depend on the machine.
    #[cfg(test)]
    pub(in crate::command) fn work(&self) -> usize {
        self.visits + self.expanded + self.judged
    }

    /// Whether nothing more is followed.
    fn is_exhausted(&self) -> bool {
        self.visits > MAX_VISITS
    }

    /// Why running `args` destroys something, in one of the directories that they may be run in.
    pub(super) fn destroys(&self, args: &[Arg]) -> Option<String> {
        let found = self.scope.places.iter().find_map(|place| destroy::find(args, place));
        found.or_else(|| {
            let printed = args.iter().any(|arg| arg.substituted && arg.content.is_some());
            let printed = printed.then(|| args.iter().flat_map(Arg::printed_words).collect::<Vec<_>>())?;
            self.scope.places.iter().find_map(|place| destroy::find(&printed, place))
        })
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
            self.uses.run_anything();
        }
    }

    /// Writes down, once, that there is more than is followed; what destroys by itself is still looked for. What else the
    /// line uses, nobody knows; what its words may be, if nothing but guesses was given up.
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

    /// Whether `words` more can be judged: wrappers in wrappers and texts in texts multiply them.
    pub(super) fn can_judge(&mut self, words: usize) -> bool {
        self.can_follow(words + COST_OF_A_COMMAND)
    }

    /// Whether so much more can be followed: words, and the directories in which they may mean something.
    pub(super) fn can_follow(&mut self, cost: usize) -> bool {
        self.judged += cost;
        let fits = self.judged <= MAX_JUDGED;
        if !fits {
            self.give_up();
        }
        fits
    }

    /// Whether so much has been judged that even the search for what destroys ends.
    pub(super) fn is_worn_out(&self) -> bool {
        self.judged > 3 * MAX_JUDGED
    }

    /// Goes one level deeper, unless that is too deep.
    pub(super) fn deeper<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.nesting >= MAX_NESTING {
            // Words that may be no command at all are not held against the line.
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

    /// Walks one command; says what it certainly prints.
    fn command(&mut self, command: &Command, input: Input) -> Option<Output> {
        // Calls multiply what the functions around them run.
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
        self.is_fed |= !judge::is_silent(&given);
        if let Input::Text(text) = given {
            self.feed = Some(text);
        }
        let unchanged = simple::may_fail(&command.redirects).then(|| self.scope.clone());
        let output = self.compound(command);
        unchanged.iter().for_each(|unchanged| self.scope.join(unchanged));
        (self.feed, self.is_fed) = outer;
        self.kept(output, &command.redirects)
    }

    /// Walks what is more than one command; says what is known of what it prints.
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

    /// The one way in which a variable is set, whoever does it: it may change what programs are, and arithmetic may run
    /// what it holds.
    pub(super) fn set(&mut self, name: &str, value: Value) {
        let plain = name.split('[').next().unwrap_or(name);
        if variable::steers_programs(plain) {
            let shown: String = plain.chars().take(40).collect();
            self.suspect(format!("the variable `{shown}` may change what programs do"));
        }
        if value.texts.iter().any(|text| is_evaluation_trap(text)) {
            self.lose("a variable holds a subscript with a command, which arithmetic would run");
        }
        // One element of a list: the others are what they were.
        let value = if plain == name { value } else { Value::wild() };
        if syntax::is_name(plain) || plain == "0" {
            self.scope.insert(plain, value);
        } else {
            // Nobody knows which variable that was.
            self.scope.forget();
        }
    }

    /// Walks the script of a substitution and says what is known of its output, and what it may be at least.
    fn substitution(&mut self, script: &Script) -> (Value, Option<String>) {
        let here = self.here;
        let printed = self.output(script);
        self.here = here;
        match printed {
            Some(output) if output.exact => (Value::text(output.text.trim_end_matches('\n')), None),
            _ if output::is_tame(script, |name| self.scope.function(name).is_some()) => {
                // Where a program lies says which one it is.
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

    /// What is in the file that `<(…)` names; what is not certain ends in something unknown.
    fn content(&mut self, script: &Script) -> Option<String> {
        let (here, outer) = (self.here, self.is_fed);
        // `>(…)` reads what is written to it.
        self.is_fed = true;
        let printed = self.output(script);
        (self.here, self.is_fed) = (here, outer);
        let output = printed.filter(|output| output.exact || !output.text.is_empty())?;
        Some(output.at_least())
    }

    /// What a script in a shell of its own prints.
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

/// A subscript with a command in it: several builtins run it although it is quoted.
pub(super) fn is_evaluation_trap(text: &str) -> bool {
    text.find('[').is_some_and(|open| {
        let rest = text.get(open..).unwrap_or_default();
        rest.contains("$(") || rest.contains('`') || rest.contains("${")
    })
}

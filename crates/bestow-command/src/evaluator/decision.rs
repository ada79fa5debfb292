//! The evaluation of one argument vector: the strictest of the destruction that is found and the safety that cannot be
//! proven.
//!
//! The evaluation answers two separate questions. "Destructive" is searched for, in the program and in everything that
//! it may run: names are compared by their last component, and abbreviated options count. "Safe" is proven: names,
//! subcommands and options must be written exactly as a list has them. A command that is neither is dangerous.

use std::borrow::Cow;

use crate::{
    budget::MAX_DEPTH,
    destroy,
    evaluator::{
        Evaluation, Traits, Use, inline_code, known, leading::runs_its_words, runners::launched,
        sql_client::statement_of,
    },
    interpreter::{Evaluator, Interpreter},
    invocation::{Input, Invocation, Outcome, said_exactly, said_of},
    obeys,
    place::Place,
    rules::Rules,
    safe::{self, Proof},
    tier::{Profile, Tier},
    values::{Access, Escaped, Obeys, Shell, Spoken, base_name},
    verdict::Verdict,
    word::Word,
};

/// The evaluator that knows the programs of the records, and the rules of a person.
#[derive(Debug)]
pub(crate) struct Programs<'r> {
    rules: &'r Rules,
}

impl<'r> Programs<'r> {
    pub(crate) fn new(rules: &'r Rules) -> Self {
        Programs { rules }
    }

    /// Returns true if earlier calls may have set variables of the shell.
    pub(crate) fn in_used_shell(&self) -> bool {
        self.rules.used_shell
    }

    /// Returns the shell that runs a line.
    pub(crate) fn shell(&self) -> Shell {
        self.rules.shell
    }

    fn on<'s, 'c>(&'s self, shell: &'s mut Interpreter<'c>) -> Evaluation<'s, 'c> {
        Evaluation { rules: self.rules, shell }
    }
}

impl Evaluator for Programs<'_> {
    fn evaluate(&self, shell: &mut Interpreter<'_>, invocation: &Invocation<'_>) -> Outcome {
        let outside = std::mem::take(&mut shell.obeyed);
        let mut usage = Use::of(invocation.words);
        let said = || if usage.is_plain { said_exactly(usage.args) } else { said_of(usage.args) };
        let runs = shell.is_asked().then(|| Spoken::of(said()));
        let (verdict, starts) = shell.recording(|shell| {
            let mut evaluation = self.on(shell);
            evaluation.record_declared(&usage);
            evaluation.evaluate_spoken(&mut usage, invocation.input, runs.clone())
        });
        let obeys = std::mem::replace(&mut shell.obeyed, outside);
        Outcome { verdict, runs, starts, obeys }
    }

    fn record_variable(&self, shell: &mut Interpreter<'_>, name: &str, value: &Word) {
        self.on(shell).record_variable(name, value);
    }

    fn record_host(&self, shell: &mut Interpreter<'_>, name: &str, value: &Word) {
        self.on(shell).hear_variable(name, value);
        self.on(shell).name_temporary(name, value);
    }

    fn record_redirect(&self, shell: &mut Interpreter<'_>, access: Access, target: &Word) {
        self.on(shell).name_redirect(access, target);
    }

    fn search_words(&self, shell: &mut Interpreter<'_>, words: &[Word]) -> Verdict {
        self.on(shell).search_suffixes(words)
    }

    fn search_file(&self, shell: &mut Interpreter<'_>, words: &[Word], text: &str, is_program: bool) -> Verdict {
        self.on(shell).search_file(words, text, is_program)
    }

    fn is_known(&self, name: &str) -> bool {
        known::is_known(name)
    }

    fn damage_places<'p>(&'p self, shell: &'p Interpreter<'_>) -> Vec<Cow<'p, Place>> {
        self.rules.surroundings.places(&shell.scope.places).collect()
    }

    fn printed(&self, name: &str, rest: &[Word]) -> Option<String> {
        inline_code::printed(name, rest)
    }
}

impl Evaluation<'_, '_> {
    /// Evaluates an argument vector with its standard input.
    pub(super) fn evaluate(&mut self, args: &[Word], input: &Input) -> Verdict {
        let is_tried = || self.shell.invocations.is_tried(args, &self.shell.scope.places);
        if matches!(input, Input::Unknown) && is_tried() {
            return Verdict::dangerous("a command that a search tries by itself");
        }
        self.evaluate_spoken(&mut Use::of(args), input, None)
    }

    /// Evaluates a use of a program. `spoken` is what is known about its words, if that was found out before.
    pub(super) fn evaluate_spoken(&mut self, usage: &mut Use<'_>, input: &Input, spoken: Option<Spoken>) -> Verdict {
        let args = usage.args;
        if !self.shell.can_evaluate(args.len()) {
            self.record_anything();
            self.name_words(args);
            let found = self.destroys(args);
            return found.map_or_else(|| Verdict::dangerous("too much to follow"), Verdict::destructive);
        }
        if args.len() > MAX_WRAPPED && wraps_too_often(args) {
            return self.search_wrapped(args);
        }
        match spoken {
            Some(spoken) => self.shell.invocations.push(spoken),
            None => self.record_invocation(args),
        }
        self.name_uses(usage);
        self.record_wrapper(usage, input);
        let outer = self.shell.is_fed;
        self.shell.is_fed |= !input.is_silent();
        let here = self.deeper(|evaluation| evaluation.evaluate_here(usage, input));
        let verdict = here.unwrap_or_else(|| {
            self.record_anything();
            self.name_words(args);
            Verdict::dangerous("wrapped too deeply to follow")
        });
        self.shell.is_fed = outer;
        match input {
            Input::Terminal if self.shell.feed.is_some() => verdict.or_stricter(self.evaluate_with_feed(args)),
            Input::Terminal | Input::Text(_) | Input::Unknown => verdict,
        }
    }

    /// Handles wrappers that are nested too deeply to follow: it only searches for commands that destroy by themselves.
    fn search_wrapped(&mut self, args: &[Word]) -> Verdict {
        if self.shell.invocations.is_speculating() {
            self.shell.uses.lose_words();
        } else {
            self.shell.uses.lose();
        }
        self.record_anything();
        let names = args.iter().enumerate().filter(|(_, word)| destroy::knows(base_name(word.text())));
        let destroying: Vec<usize> = names.map(|(at, _)| at).collect();
        let tried = destroying.iter().take(MAX_WRAPPED).chain(destroying.iter().rev().take(MAX_WRAPPED));
        let found = tried.filter_map(|at| args.get(*at..)).find_map(|behind| self.destroys(behind));
        found.map_or_else(|| Verdict::dangerous("wrapped too deeply to follow"), Verdict::destructive)
    }

    /// Evaluates a command without an input of its own with the input of the surrounding compound command. Only
    /// destruction counts.
    fn evaluate_with_feed(&mut self, args: &[Word]) -> Verdict {
        let Some(text) = self.shell.feed.take() else { return Verdict::safe("") };
        let given = Input::Text(text.clone());
        let mut usage = Use::of(args);
        let verdict = self
            .discard_parts(|evaluation| evaluation.deeper(|evaluation| evaluation.evaluate_here(&mut usage, &given)));
        self.shell.feed = Some(text);
        verdict.filter(|verdict| verdict.tier == Tier::Destructive).unwrap_or_else(|| Verdict::safe(""))
    }

    /// Evaluates a command here.
    fn evaluate_here(&mut self, usage: &mut Use<'_>, input: &Input) -> Verdict {
        let args = usage.args;
        if args.is_empty() {
            return Verdict::dangerous("there is no program to run");
        }
        let printed = || if usage.is_plain { None } else { self.destroys_as_printed(args) };
        if let Some(rule) = self.destroys_by_itself(usage).or_else(printed) {
            self.record_all(args);
            return Verdict::destructive(rule);
        }
        let mut proven = self.prove(usage, input);
        if proven.tier == Tier::Safe && !has_trusted_name(args) {
            proven = Verdict::dangerous(unknown_program(args));
        }
        if let Some(raised) = self.rules.additions.raise(args) {
            proven = proven.or_stricter(raised);
        }
        if proven.tier != Tier::Dangerous {
            return proven;
        }
        let searched = self.search_embedded(usage).or_stricter(self.search_given(usage, input));
        proven.or_stricter(searched)
    }

    /// Evaluates a program that is not destructive by itself. Its name need not be trusted.
    fn prove(&mut self, usage: &mut Use<'_>, input: &Input) -> Verdict {
        let args = usage.args;
        let is_evaluated = usage.traits.has(Traits::EVALUATED);
        let by_name = if is_evaluated { self.evaluate_by_name(usage, input) } else { statement_of(args) };
        if let Some(verdict) = by_name {
            return verdict;
        }
        if (self.shell.is_fed || !input.is_silent()) && sends_its_input(usage) {
            return Verdict::dangerous(format!("`{}` may send what it is given to read", usage.name));
        }
        self.proven(usage);
        match usage.proof.take().unwrap_or(Proof::Unknown) {
            Proof::Reads(rule) => self.obeying(usage, rule),
            Proof::Unproven(rule) => Verdict::dangerous(rule).or_stricter(self.search_launched(usage)),
            Proof::Unknown => {
                self.record_all(args);
                let searched = self.search_suffixes(usage.rest);
                Verdict::dangerous(unknown_program(args)).or_stricter(searched).or_stricter(self.as_if_removing(args))
            }
        }
    }

    /// Searches the words of a known program that is not proven to only read, as far as they may be a command.
    fn search_launched(&mut self, usage: &Use<'_>) -> Verdict {
        let (known, rest) = (usage.known, usage.rest);
        self.record_built(usage);
        let found = self.search_properties(rest);
        found.or_stricter(self.search_suffixes(launched(known, rest)))
    }

    /// Searches the values of properties behind a goal that runs a program: `exec:exec -Dexec.executable=git
    /// -Dexec.args=push`.
    fn search_properties(&mut self, rest: &[Word]) -> Verdict {
        let is_goal = |word: &Word| !word.text().starts_with('-') && word.text().split(':').any(|part| part == "exec");
        if !rest.iter().any(|word| word.text().contains(':') && is_goal(word)) {
            return Verdict::safe("");
        }
        let values = rest.iter().filter_map(|word| Some(word.text().strip_prefix("-D")?.split_once('=')?.1));
        let text = values.take(MAX_PROPERTIES).collect::<Vec<_>>().join(" ");
        self.record_text(&text, self.shell.here);
        self.shell.search_text(&text, self.shell.here)
    }

    /// Records the program that `cargo run` builds from a package and then runs.
    fn record_built(&mut self, usage: &Use<'_>) {
        if usage.name != "cargo" || !usage.rest.iter().any(|word| matches!(word.text(), "run" | "r")) {
            return;
        }
        let dashes = usage.rest.iter().position(|word| word.text() == "--").unwrap_or(usage.rest.len());
        let own = usage.rest.get(..dashes).unwrap_or_default();
        let behind = usage.rest.get(dashes + 1..).unwrap_or_default();
        let takes = |option: &str| matches!(option, "--bin" | "--package" | "-p" | "--example");
        for (at, word) in own.iter().enumerate() {
            let (option, joined) = match word.text().split_once('=') {
                Some((option, value)) => (option, Some(word.with_text(value))),
                None => (word.text(), None),
            };
            let short = word.text().strip_prefix("-p").filter(|value| !value.is_empty() && joined.is_none());
            let value = match short {
                Some(value) => Some(word.with_text(value)),
                None if takes(option) => joined.or_else(|| own.get(at + 1).cloned()),
                None => None,
            };
            let Some(name) = value else { continue };
            // The program of a package is often called like the package without this end.
            let plain = name.text().strip_suffix("-cli").map(|plain| name.with_text(plain));
            for program in std::iter::once(name).chain(plain) {
                let args: Vec<Word> = std::iter::once(program).chain(behind.iter().cloned()).collect();
                self.record_invocation(&args);
            }
        }
    }

    /// Returns the verdict on a program that has an evaluation of its own, or on a statement in its place.
    fn evaluate_by_name(&mut self, usage: &Use<'_>, input: &Input) -> Option<Verdict> {
        let traits = usage.traits;
        let wrapped = if traits.has(Traits::WRAPS) { self.evaluate_wrapped(usage, input) } else { None };
        if wrapped.is_some() {
            return wrapped;
        }
        let within = if traits.has(Traits::STARTS) { self.evaluate_started(usage, input) } else { None };
        let text = if traits.has(Traits::RUNS_TEXT) { self.evaluate_shell(usage, input) } else { None };
        let code = || if traits.has(Traits::TAKES_CODE) { self.evaluate_code(usage, input) } else { None };
        let known = text.or_else(code);
        let known = known.or_else(|| match traits.has(Traits::TAKES_STATEMENTS) {
            true => self.evaluate_sql(usage, input),
            false => statement_of(usage.args),
        });
        within.into_iter().chain(known).reduce(Verdict::or_stricter)
    }

    /// Returns safe for a read-only program, and records the files of its directory that it obeys. The engine knows the
    /// directories and who may write these files. Without it, the strict profile returns dangerous.
    fn obeying(&mut self, usage: &Use<'_>, rule: Cow<'static, str>) -> Verdict {
        let Some(obeys) = obeys::of(usage) else { return Verdict::safe(rule) };
        if self.rules.profile == Profile::Strict && self.rules.surroundings.are_unknown() {
            return Verdict::dangerous(format!("`{}` obeys files of the directory in which it runs", obeys.program));
        }
        let obeys = Obeys { dirs: self.shell.scope.dirs().into_owned(), ..obeys };
        if !self.shell.obeyed.contains(&obeys) {
            self.shell.obeyed.push(obeys);
        }
        Verdict::safe(rule)
    }

    /// Evaluates a program with an unknown name as `rm`, if its words include `-rf`. With a path that must not be
    /// removed, the verdict is destructive.
    fn as_if_removing(&self, args: &[Word]) -> Verdict {
        let Some((program, rest)) = args.split_first() else { return Verdict::safe("") };
        let forces =
            |arg: &Word| arg.text().starts_with('-') && arg.text().contains('f') && arg.text().contains(['r', 'R']);
        if !(program.is_pattern() || program.has_unknown()) || !rest.iter().any(forces) {
            return Verdict::safe("");
        }
        let removing: Vec<Word> =
            std::iter::once(Word::literal("rm", program.span())).chain(rest.iter().cloned()).collect();
        self.destroys(&removing).map_or_else(|| Verdict::safe(""), Verdict::destructive)
    }
}

/// Returns true if the program name is written out, and the path of the program is trusted.
fn has_trusted_name(args: &[Word]) -> bool {
    args.first().is_some_and(|program| program.is_written() && safe::trusted_name(program.text()).is_some())
}

/// The limit of properties whose values are taken for one command.
const MAX_PROPERTIES: usize = 16;
/// The limit of programs that run their words, among the first words of an argument vector.
const MAX_WRAPPED: usize = 2 * MAX_DEPTH;
/// The number of words that this check looks at.
const MAX_LOOKED: usize = 256;

/// Returns true if a program that runs its words is followed by more such programs than are followed.
fn wraps_too_often(args: &[Word]) -> bool {
    let wraps = |word: &&Word| runs_its_words(base_name(word.text()));
    args.first().is_some_and(|program| wraps(&program))
        && args.iter().take(MAX_LOOKED).filter(wraps).count() > MAX_WRAPPED
}

fn unknown_program(args: &[Word]) -> String {
    match args.first() {
        Some(program) if program.is_written() => {
            let name: String = program.text().chars().take(40).collect();
            ["`", &Escaped(&name).text(), "` is not on any list"].concat()
        }
        _ => "the name of the program is not written out".into(),
    }
}

/// Returns true for a program that sends its standard input, unless the input is a terminal.
fn sends_its_input(usage: &Use<'_>) -> bool {
    matches!(usage.name, "http" | "https" | "xh" | "xhs" | "nslookup" | "fping")
        || (usage.name == "openssl" && usage.rest.first().is_some_and(|word| word.text() == "s_client"))
}

//! Simple commands: assignments, redirections, and the program with its arguments.

use crate::{
    critical_paths,
    interpreter::{
        Interpreter, Scope, Value,
        builtin::{list_of, unwrapped},
        function::may_be_a_program,
        generated_files::teed,
        is_free,
        output::{self, Output},
        redirections,
        scope::Function,
    },
    invocation::{Input, Invocation, Outcome},
    lang::filter,
    part::RecordedPart,
    span::Span,
    syntax::tree::{Assignment, Flow, Piece, RawWord, Redirect, Simple},
    tier::Tier,
    values::{Access, StartDir},
    variables,
    word::{Gaps, Known, Word, is_gap},
};

impl Interpreter<'_> {
    /// Follows a simple command. Returns its certain output.
    pub(super) fn simple(
        &mut self,
        simple: &Simple,
        redirects: &[Redirect],
        span: Span,
        input: Input,
    ) -> Option<Output> {
        if !simple.assignments.is_empty() || !redirects.is_empty() {
            return self.prepared(simple, redirects, span, input);
        }
        self.here = span;
        let ways = self.ways(&simple.words);
        let output = self.either(&ways, &input, true, span);
        self.run_written(&ways, &[], span);
        self.remember_teed(output.as_ref(), &ways);
        output
    }

    /// Follows a simple command with assignments or redirections. Most commands have neither, so its code stays out of
    /// theirs.
    #[inline(never)]
    fn prepared(&mut self, simple: &Simple, redirects: &[Redirect], span: Span, input: Input) -> Option<Output> {
        let alone = simple.words.is_empty();
        let before = (!simple.assignments.is_empty() && !alone).then(|| self.scope.clone());
        // Before `read`, `IFS` only controls how this one line is split.
        let reads = simple
            .words
            .first()
            .is_some_and(|word| matches!(word.pieces.as_slice(), [Piece::Bare(name)] if name == "read"));
        // The words are expanded before the assignments in front of them take effect.
        self.here = span;
        let ways = self.ways(&simple.words);
        let given = self.redirects(redirects);
        if ways.iter().all(|args| prints_nothing(args)) {
            self.empties(redirects);
        }
        if given.is_some() && ways.iter().any(|args| opens_only(args)) {
            self.mark_dangerous("changes the input of later commands");
        }
        let unset = redirections::may_fail(redirects).then(|| self.scope.clone());
        for assignment in simple.assignments.iter().filter(|assignment| !(reads && assignment.name == "IFS")) {
            self.assign(assignment, alone, span);
        }
        for assignment in simple.assignments.iter().filter(|assignment| reads && assignment.name == "IFS") {
            self.expand_whole(&assignment.value);
        }
        self.here = span;
        if alone {
            unset.iter().for_each(|unset| self.scope.join(unset));
            self.record_part(Tier::Safe, "sets variables or redirects only", span);
            return None;
        }
        let input = given.unwrap_or(input);
        let output = self.either(&ways, &input, simple.assignments.is_empty(), span);
        if let Some(before) = before {
            // Before a builtin or a function, a variable may stay set.
            self.scope.join(&before);
        }
        unset.iter().for_each(|unset| self.scope.join(unset));
        self.run_written(&ways, redirects, span);
        self.remember_teed(output.as_ref(), &ways);
        self.kept(output, redirects)
    }

    /// Runs one of several possible command lines. The states after all of them are joined. `certain` is false if the
    /// line that `read` takes from the input is unknown.
    fn either(&mut self, ways: &[Vec<Word>], input: &Input, certain: bool, span: Span) -> Option<Output> {
        let line = if certain && self.scope.assigned("IFS").is_none() { input } else { &Input::Unknown };
        if let [only] = ways { self.run(only, input, line, span) } else { self.any_of(ways, input, line, span) }
    }

    /// Runs each of several possible command lines from the same state.
    #[inline(never)]
    fn any_of(&mut self, ways: &[Vec<Word>], input: &Input, line: &Input, span: Span) -> Option<Output> {
        let entry = self.scope.clone();
        let mut after: Option<Scope> = None;
        let mut printed = String::new();
        for way in ways {
            self.budget.follow_commands(1);
            printed.extend(self.run(way, input, line, span).map(|output| output.text));
            let end = std::mem::replace(&mut self.scope, entry.clone());
            match &mut after {
                Some(after) => after.join(&end),
                None => after = Some(end),
            }
        }
        self.scope = after.unwrap_or(entry);
        (!printed.is_empty()).then_some(Output { text: printed, exact: false })
    }

    /// Runs one command line: the function of this name, the program, or possibly either.
    fn run(&mut self, args: &[Word], input: &Input, line: &Input, span: Span) -> Option<Output> {
        self.here = span;
        let Some(program) = args.first() else {
            self.mark_unknown("what is run depends on an expansion that may be empty");
            return None;
        };
        if let Some(function) = self.scope.function(program.text()).cloned() {
            return self.run_function(&function, args, input, line, span);
        }
        self.run_program(args, input, line, span);
        self.prints(args, input)
    }

    /// Runs a function, and the program of this name if the function may not be defined.
    #[inline(never)]
    fn run_function(
        &mut self,
        function: &Function,
        args: &[Word],
        input: &Input,
        line: &Input,
        span: Span,
    ) -> Option<Output> {
        let name = args.first().map(Word::text).unwrap_or_default();
        let called = self.call(args, function, span);
        if may_be_a_program(self.evaluator, name, function) {
            let after_call = self.scope.clone();
            self.run_program(args, input, line, span);
            self.scope.join(&after_call);
        }
        let itself = self.prints(args, input).map(|output| output.text);
        let text: String = called.map(|output| output.text).into_iter().chain(itself).collect();
        (!text.is_empty()).then_some(Output { text, exact: false })
    }

    /// Returns the output of a command into a pipe: of its own words, or of its input. Returns `None` too if nothing
    /// reads it.
    #[inline]
    fn prints(&mut self, args: &[Word], input: &Input) -> Option<Output> {
        let given = if let Input::Text(text) = input { Some(text.as_str()) } else { None };
        let is_read = self.is_heard() || teed(args).is_some();
        if is_read || given.is_some() { self.filters(args, given, is_read) } else { None }
    }

    /// Returns the output of a command from its words and its input, if something reads it. The work counts in any
    /// case.
    #[inline(never)]
    fn filters(&mut self, args: &[Word], given: Option<&str>, is_read: bool) -> Option<Output> {
        let cost = given.map_or(0, str::len);
        let filters = args.first().is_some_and(|program| filter::is_filter(program.text()));
        let runs = filters && self.budget.take_text(cost);
        if !is_read {
            return None;
        }
        match runs.then(|| filter::filtered(args, given)).flatten() {
            Some(text) => Some(Output { text, exact: false }),
            None => output::printed(|name, rest| self.evaluator.printed(name, rest), args),
        }
    }

    fn run_program(&mut self, args: &[Word], input: &Input, line: &Input, span: Span) {
        let known = self.can_follow(self.scope.weight_of_places());
        let dirs = if known { self.scope.dirs() } else { StartDir::ANY.into() };
        let invocation = Invocation { words: args, input };
        let Outcome { verdict, runs, starts, obeys } = self.evaluator.evaluate(self, &invocation);
        match self.parts.last_mut() {
            // A verdict that is safe in several ways is recorded once.
            Some(part) if verdict.tier == Tier::Safe && part.same(verdict.tier, &verdict.rule, span) => {
                part.starts.extend(starts);
                part.dirs.to_mut().extend_from_slice(&dirs);
                part.obeys.extend(obeys);
            }
            _ => {
                let part = self.part(verdict.tier, verdict.rule, span);
                self.parts.push(RecordedPart { is_program: true, runs, starts, dirs, obeys, ..part });
            }
        }
        self.remember(args, line);
    }

    /// Records that dash takes `name+=value` for the name of a program, which may be there if it is a path.
    fn may_name_a_program(&mut self, values: &[Word]) {
        let path = |value: &Word| value.known() >= Known::Environment || value.text().contains('/');
        if values.iter().any(path) {
            self.mark_dangerous("dash takes `name+=value` for the path of a program");
        }
    }

    /// Evaluates the subscripts of `[subscript]=value`, and of such elements of a list. Quotes in them protect nothing.
    fn evaluate_subscripts(&mut self, pieces: &[Piece]) {
        let mut begins = true;
        for (at, piece) in pieces.iter().enumerate() {
            if begins && matches!(piece, Piece::Glob('[')) {
                self.evaluate_subscript(pieces.get(at + 1..).unwrap_or_default());
            }
            begins = matches!(piece, Piece::Element);
        }
    }

    /// Evaluates one subscript, from behind its bracket on.
    fn evaluate_subscript(&mut self, pieces: &[Piece]) {
        let end = |piece: &Piece| {
            let Piece::Bare(text) = piece else { return None };
            let (last, _) = text.split_once("]=").or_else(|| text.split_once("]+="))?;
            Some(last.into())
        };
        let Some((at, last)) = pieces.iter().enumerate().find_map(|(at, piece)| Some((at, end(piece)?))) else {
            return;
        };
        let mut subscript = pieces.get(..at).unwrap_or_default().to_vec();
        if subscript.iter().any(|piece| matches!(piece, Piece::Element)) {
            self.mark_unknown("a subscript may have several words");
        }
        subscript.push(Piece::Bare(last));
        self.arithmetic(&subscript);
    }

    fn assign(&mut self, assignment: &Assignment, alone: bool, span: Span) {
        self.here = span;
        let values = self.expand_whole(&assignment.value);
        self.here = span;
        for value in &values {
            self.evaluator.record_host(self, &assignment.name, value);
            let verdict = variables::evaluate(&assignment.name, value, alone);
            if verdict.tier > Tier::Safe {
                // A variable that a program runs (a pager, an editor) is searched like a command line.
                let text = value.content().unwrap_or(value.text());
                let found = self.unrecorded(|shell| shell.search_text(text, value.span()));
                let ((), starts) =
                    self.recording(|shell| shell.evaluator.record_variable(shell, &assignment.name, value));
                let verdict = if found.tier == Tier::Destructive { found } else { verdict };
                self.record_part(verdict.tier, verdict.rule, span);
                if let Some(part) = self.parts.last_mut() {
                    part.starts = starts;
                }
            }
        }
        let subscript = matches!(assignment.value.pieces.as_slice(), [Piece::Glob('['), ..]);
        if subscript && self.dialect.may_be_dash() {
            self.mark_dangerous("dash takes an assignment with a subscript for a command");
        }
        if assignment.partial {
            self.evaluate_subscripts(&assignment.value.pieces);
        }
        let value = match values.as_slice() {
            _ if subscript => Value::wild(),
            [list] if list.text().is_list() => list_of(list),
            values => Value::of(values),
        };
        let appends_elsewhere = assignment.appends && !value.list && self.dialect.may_be_dash();
        if appends_elsewhere {
            self.may_name_a_program(&values);
        }
        let value = match self.scope.assigned(&assignment.name) {
            Some(before) if assignment.appends && before.list && value.list => {
                let texts = before.texts.iter().chain(&value.texts).cloned().collect();
                Value::list(texts, before.known.max(value.known))
            }
            Some(before) if assignment.appends => before.then(&value),
            None if assignment.appends => Value::inherited().then(&value),
            Some(before) if subscript => before.or(&value),
            // An assignment without a subscript sets the first element and keeps the others.
            Some(before) if before.list && !value.list => before.or(&value),
            _ => value,
        };
        let value = if appends_elsewhere { self.scope.read(&assignment.name).or(&value) } else { value };
        if alone {
            self.set(&assignment.name, value);
        } else {
            self.suspect_zsh(&assignment.name);
            let value = self.reckoned(&assignment.name, value);
            self.scope.insert(&assignment.name, value);
        }
    }

    /// Follows redirections. Returns the input that they give to the command, if any.
    pub(super) fn redirects(&mut self, redirects: &[Redirect]) -> Option<Input> {
        let mut input = None;
        for redirect in redirects {
            let here = self.here;
            if redirect.flow == Flow::Duplicate {
                self.record_descriptor(redirect, &[]);
            }
            if redirect.named {
                let rule = "an older shell takes the name of the descriptor for a word";
                self.record_part(Tier::Dangerous, rule, redirect.target.span);
            }
            let given = match redirect.flow {
                Flow::HereDocument(body) => {
                    let body = self.bodies.get(body).cloned();
                    let args = body.map(|word| self.expand_whole(&word)).unwrap_or_default();
                    Some(Input::Text(joined(&args)))
                }
                Flow::HereString => Some(Input::Text(joined(&self.expand_whole(&redirect.target)))),
                Flow::Duplicate if is_bare(&redirect.target, "-") => {
                    Some(Input::Text(String::new())).filter(|_| redirect.descriptor == Some(0))
                }
                Flow::Duplicate => Some(Input::Unknown).filter(|_| redirect.descriptor == Some(0)),
                Flow::Read | Flow::Write => {
                    let targets = self.expand_target(&redirect.target);
                    targets.iter().for_each(|target| self.redirect(redirect.flow, target));
                    self.record_descriptor(redirect, &targets);
                    let nothing =
                        matches!(targets.as_slice(), [target] if target.is_exact() && target.text() == "/dev/null");
                    // Only a process substitution determines the content of its file. Other words only name a file.
                    let named =
                        |target: Word| target.content().filter(|_| target.text() == "/dev/fd/63").map(str::to_owned);
                    let content = targets.into_iter().find_map(named);
                    let empty = nothing.then(String::new);
                    (redirect.flow == Flow::Read).then(|| content.or(empty).map_or(Input::Unknown, Input::Text))
                }
            };
            // Programs do not read input from other descriptors.
            if redirect.descriptor.is_none_or(|number| number == 0) {
                input = given.or(input);
            }
            self.here = here;
        }
        input
    }

    /// Records what a redirection makes of a descriptor.
    fn record_descriptor(&mut self, redirect: &Redirect, targets: &[Word]) {
        if self.descriptors.record(redirect, targets) {
            let rule = "an output becomes a file that is open for reading, which `/dev/stderr` opens for writing";
            self.record_part(Tier::Dangerous, rule, redirect.target.span);
        }
    }

    /// Records redirections that empty a file of the system.
    fn empties(&mut self, redirects: &[Redirect]) {
        for redirect in redirects.iter().filter(|redirect| redirect.flow == Flow::Write) {
            let targets = self.named(&redirect.target);
            let places = self.evaluator.damage_places(self);
            let lost = |target: &&Word| places.iter().any(|place| critical_paths::is_system_file(target.text(), place));
            if let Some(target) = targets.iter().find(lost).filter(|target| !is_free(target.text())) {
                self.record_part(Tier::Destructive, "a redirection empties a file of the system", target.span());
            }
        }
    }

    /// Returns true for a file that the system needs to start or to know its users.
    fn is_vital(&self, text: &str) -> bool {
        self.evaluator.damage_places(self).iter().any(|place| critical_paths::is_vital(text, place))
    }

    fn redirect(&mut self, flow: Flow, target: &Word) {
        match flow {
            Flow::Read => self.evaluator.record_redirect(self, Access::Read, target),
            Flow::Write => self.evaluator.record_redirect(self, Access::Write, target),
            Flow::Duplicate | Flow::HereString | Flow::HereDocument(_) => {}
        }
        let text = target.text();
        let network = NETWORK.iter().any(|start| text.starts_with(start));
        let rule = match flow {
            _ if network => "a redirection opens a network connection",
            Flow::Write if critical_paths::is_device(text) => {
                self.record_part(
                    Tier::Destructive,
                    format!("a redirection overwrites the device `{text}`"),
                    target.span(),
                );
                return;
            }
            Flow::Write if self.is_vital(text) => {
                let rule = "a redirection overwrites what the system starts or knows its users by";
                self.record_part(Tier::Destructive, rule, target.span());
                return;
            }
            Flow::Write if critical_paths::is_program_of_the_system(text) => {
                self.record_part(Tier::Destructive, "a redirection overwrites a program of the system", target.span());
                return;
            }
            Flow::Write if !is_free(text) || !target.is_exact() => "a redirection writes a file",
            Flow::Read if target.is_wild() && target.has_unknown() && may_be_network(text) => {
                "a redirection reads an unknown file"
            }
            Flow::Read | Flow::Write | Flow::Duplicate | Flow::HereString | Flow::HereDocument(_) => return,
        };
        self.record_part(Tier::Dangerous, rule, target.span());
    }
}

/// The starts of file names that are network connections in a redirection.
const NETWORK: [&str; 2] = ["/dev/tcp/", "/dev/udp/"];

/// Returns true if a target whose known start is given may be a network connection.
fn may_be_network(target: &str) -> bool {
    let start = target.split(is_gap).next().unwrap_or_default();
    NETWORK.iter().any(|network| network.starts_with(start) || start.starts_with(network))
}

/// Returns true if a command prints nothing, so that redirecting its output empties the file.
fn prints_nothing(args: &[Word]) -> bool {
    match args {
        [] => true,
        [program] => matches!(program.text(), ":" | "true"),
        [program, file] => program.text() == "cat" && file.text() == "/dev/null",
        _ => false,
    }
}

/// Returns true for `exec` without a command, whose redirections stay.
fn opens_only(args: &[Word]) -> bool {
    unwrapped(args)
        .is_some_and(|(program, rest)| program.text() == "exec" && rest.iter().all(|word| word.text().starts_with('-')))
}

fn joined(args: &[Word]) -> String {
    // The known part of an output stands behind the text that contains it.
    let known = args.iter().filter(|arg| arg.has_output()).filter_map(Word::content);
    args.iter().map(Word::text).chain(known).collect::<Vec<_>>().join("\n") + "\n"
}

/// Returns true if a word is exactly this unquoted text.
fn is_bare(word: &RawWord, text: &str) -> bool {
    matches!(word.pieces.as_slice(), [Piece::Bare(bare)] if bare == text)
}

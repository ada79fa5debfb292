//! Shells and builtins that run a text.

use crate::{
    invocation::Input,
    judge::{code, inner, sql_client},
    options::{Options, Reading},
    overheard::without_host,
    place::Place,
    syntax,
    tier::Tier,
    values::base_name,
    verdict::Verdict,
    walk::{Dialect, Positional, Value, Walker},
    word::{Gaps, Word, may_be_empty},
};

/// Programs that run a script or a text in (roughly) the language of the shell.
pub(super) const SHELLS: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "mksh",
    "ash",
    "fish",
    "rbash",
    "bash5",
    "csh",
    "tcsh",
    "pwsh",
    "powershell",
    "cmd",
];

/// Returns true if a word names one of these shells.
pub(crate) fn is_shell(word: &str) -> bool {
    SHELLS.contains(&base_name(word))
}

/// Returns true if a program starts a shell when no option names another command.
pub(crate) fn starts_a_shell(name: &str, rest: &[Word]) -> bool {
    let flag = |letters: &'static [char]| {
        let asks = move |arg: &Word| {
            arg.text().starts_with('-') && !arg.text().starts_with("--") && arg.text().contains(letters)
        };
        rest.iter().any(asks)
    };
    let long = |names: &[&str]| rest.iter().any(|arg| names.iter().any(|name| arg.text().starts_with(name)));
    match name {
        "chroot" | "unshare" | "nsenter" | "setarch" | "linux32" | "linux64" | "newgrp" => true,
        "su" | "runuser" | "sg" | "script" => !flag(&['c', 'u']) && !long(&["--command", "--user"]),
        "sudo" | "doas" => flag(&['s', 'i']) || long(&["--shell", "--login"]),
        _ => false,
    }
}

/// Returns the certain part of the input, without its unknown end. `at`, `batch` and `expect` keep their whole input.
fn certain(name: &str, input: &Input) -> Input {
    match input {
        Input::Text(text) if !matches!(name, "at" | "batch" | "expect") => {
            Input::Text(text.trim_end_matches(|c| c == '\n' || may_be_empty(c)).to_owned())
        }
        Input::Text(_) | Input::Unknown | Input::Terminal => input.clone(),
    }
}

/// Returns true if a script is the standard input of the shell.
pub(crate) fn is_input(script: &str) -> bool {
    matches!(script, "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
}

/// Returns true if a name may be that of an open file, whose content is unknown.
fn is_open_file(name: &str) -> bool {
    base_name(name) == "stdin" || name.starts_with("fd/") || name.contains("/fd/")
}

/// Other programs and builtins that run a text from their words or their input.
pub(super) const TEXT_RUNNERS: &[&str] = &[
    "eval",
    "trap",
    "su",
    "runuser",
    "script",
    "nix-shell",
    "flock",
    "sg",
    "ssh",
    "mosh",
    "autossh",
    "rsh",
    "sshpass",
    "dsh",
    "pdsh",
    "tmux",
    "screen",
    "at",
    "batch",
    "parallel",
    "entr",
    "hyperfine",
    "concurrently",
    "expect",
    "watch",
];

/// The limit of input lines that are put into the command of `parallel`.
const MAX_LINES: usize = 8;
/// The limit in bytes of a text in which words replace marks.
const MAX_TEMPLATE: usize = 1 << 16;

/// Words that only ask one of these programs for a list or its version.
const LISTS: &[&str] = &["-ls", "-list", "ls", "list-sessions", "-V"];

const SHELL_FLAGS: &str =
    "-c -l -e -u -x -v -n -f -i -s -p -o: +o: -O: --login --norc --noprofile --posix -E -h -m -B -H -T";

impl Walker<'_> {
    /// Returns the verdict on a shell or a builtin that runs a text, if `name` is one.
    pub(super) fn judge_shell(&mut self, name: &str, args: &[Word], input: &Input) -> Option<Verdict> {
        let rest = args.get(1..).unwrap_or_default();
        if SHELLS.contains(&name) {
            let outer = std::mem::replace(&mut self.dialect, Dialect::of(name));
            let verdict = self.judge_shell_program(rest, input);
            self.dialect = outer;
            if matches!(name, "cmd" | "powershell" | "pwsh") {
                // These shells join all their words to one command line.
                let found = self.search_words(rest);
                return Some(verdict.unwrap_or_else(|| Verdict::safe("")).or_stricter(found))
                    .filter(|verdict| !verdict.rule.is_empty());
            }
            return verdict;
        }
        match name {
            "eval" => Some(self.eval(rest)),
            "trap" => self.trap(rest),
            "source" | "." => {
                let content = rest.first().and_then(|arg| arg.content().map(str::to_owned));
                let unread = |arg: &Word| arg.has_output() || self.may_be_open(arg, input);
                if content.is_none() && rest.first().is_some_and(unread) {
                    self.speak_of_anything();
                }
                let found = content.map_or(Verdict::safe(""), |text| self.run_text(&text, self.here));
                let found = found.or_stricter(self.search_input(input));
                Some(Verdict::dangerous("runs a script that is not part of this text").or_stricter(found))
            }
            "alias" if rest.iter().any(|arg| arg.text().contains('=')) => {
                let found = self.search_values(rest);
                Some(Verdict::dangerous("gives a command another meaning").or_stricter(found))
            }
            "watch" | "gwatch" => self.watch(rest),
            "su" | "runuser" | "script" | "nix-shell" | "flock" | "sg" | "newgrp" | "scriptreplay" => {
                let found = self.search_option(rest, "-c --command --run").or_stricter(self.search_input(input));
                Some(Verdict::dangerous("runs a command as another user or in another environment").or_stricter(found))
            }
            "tmux" | "screen" | "ssh" if matches!(rest, [word] if LISTS.contains(&word.text())) => None,
            "ssh" | "mosh" | "autossh" | "rsh" | "sshpass" | "dsh" | "pdsh" => {
                let reads = rest.iter().filter(|arg| !arg.text().starts_with('-')).count() <= 1;
                if reads && self.reads_unknown(input) {
                    self.speak_of_anything();
                }
                let others = without_host(name, rest);
                Some(self.remote(others.as_deref().unwrap_or(rest)).or_stricter(self.search_input(input)))
            }
            "tmux" | "screen" | "at" | "batch" | "parallel" | "entr" | "hyperfine" | "concurrently" | "expect" => {
                let given = self.search_input(&certain(name, input)).or_stricter(self.search_template(rest, input));
                let found = self.search_words(rest);
                Some(Verdict::dangerous("runs a command later or elsewhere").or_stricter(found).or_stricter(given))
            }
            "crontab" => match input {
                Input::Text(text) => Some(Verdict::dangerous("plans commands").or_stricter(self.search_lines(text))),
                Input::Terminal | Input::Unknown => None,
            },
            _ => None,
        }
    }

    fn judge_shell_program(&mut self, rest: &[Word], input: &Input) -> Option<Verdict> {
        if matches!(rest, [word] if word.is_written() && matches!(word.text(), "--version" | "--help")) {
            return None;
        }
        let reading = Reading { flags: SHELL_FLAGS, stop_at_operand: true, inert: true };
        // `+e` turns an option off.
        let turns_off = rest.iter().any(|word| word.text().starts_with('+'));
        let Ok(Some(options)) = Options::read(rest, reading).map(|options| (!turns_off).then_some(options)) else {
            // The shell may run its input, a script or a text. The classifier cannot tell which.
            self.speak_of_anything();
            let found = self.search_words(rest);
            return Some(Verdict::dangerous("a shell with options that are not on the list").or_stricter(found));
        };
        if options.has("-c") {
            return Some(self.shell_text(&options));
        }
        let script = options.operands.first();
        let unread = |script: &&Word| script.text() == "-" || script.has_output() || self.may_be_open(script, input);
        if script.is_none_or(unread) || options.has("-s") {
            // A known text is followed below. An unknown text may be any command.
            let given = script.is_none_or(|script| is_input(script.text())) || options.has("-s");
            let known =
                script.is_some_and(|script| script.content().is_some()) || (given && matches!(input, Input::Text(_)));
            (!known).then(|| self.speak_of_anything());
        }
        if let Some(text) = options.operands.first().and_then(|script| script.content().map(str::to_owned)) {
            let span = self.here;
            return Some(
                Verdict::dangerous("a shell runs the text it is given").or_stricter(self.run_text(&text, span)),
            );
        }
        let from_input = options.operands.first().is_none_or(|script| is_input(script.text()));
        let reads_input = from_input || options.has("-s");
        Some(match input {
            Input::Text(text) if reads_input => {
                let floor = Verdict::dangerous("a shell runs the text it is given");
                let span = self.here;
                floor.or_stricter(self.run_text(text, span))
            }
            Input::Text(_) | Input::Unknown | Input::Terminal if reads_input => {
                Verdict::dangerous("a shell runs what it is given")
            }
            Input::Text(_) | Input::Unknown | Input::Terminal => {
                Verdict::dangerous("a shell runs a script that is not part of this text")
            }
        })
    }

    /// Returns true if a script may be the content of an open file descriptor.
    fn may_be_open(&self, script: &Word, input: &Input) -> bool {
        let there = |place: &Place| matches!(place, Place::At(path) if path.contains("dev") || path.contains("/proc"));
        let unsaid = (script.is_open() || !script.is_exact()) && !matches!(input, Input::Terminal);
        is_open_file(script.text()) || unsaid || self.scope.places.iter().any(there)
    }

    /// Evaluates `-c text name arguments…`.
    fn shell_text(&mut self, options: &Options<'_>) -> Verdict {
        let Some((text, arguments)) = options.operands.split_first() else {
            return Verdict::dangerous("a shell without its text");
        };
        let quiet = !options.has("-i -s") && text.is_exact();
        let scope = self.scope.clone();
        self.scope = scope.for_new_shell();
        let arguments: Vec<Word> = arguments.iter().copied().cloned().collect();
        self.scope.positional = Positional::of(arguments.get(1..).unwrap_or_default());
        if let Some(name) = arguments.first() {
            self.set("0", Value::of(std::slice::from_ref(name)));
        }
        let verdict = self.run_text(text.text(), text.span()).or_stricter(self.search_content(text));
        self.scope = scope;
        if quiet {
            verdict
        } else {
            Verdict::dangerous("a shell runs a text that is not written out").or_stricter(verdict)
        }
    }

    fn eval(&mut self, rest: &[Word]) -> Verdict {
        let text = rest.iter().map(Word::argument).collect::<Vec<_>>().join(" ");
        let span = rest.first().map(|arg| arg.span()).unwrap_or_default();
        let contents: Vec<Verdict> = rest.iter().map(|arg| self.search_content(arg)).collect();
        let verdict = contents.into_iter().fold(self.run_text(&text, span), Verdict::or_stricter);
        let written = rest.iter().all(Word::is_exact);
        if written {
            verdict
        } else {
            Verdict::dangerous("`eval` runs a text that is not written out").or_stricter(verdict)
        }
    }

    fn trap(&mut self, rest: &[Word]) -> Option<Verdict> {
        let operands: Vec<&Word> = rest.iter().filter(|arg| !matches!(arg.text(), "--" | "-l" | "-p")).collect();
        let (text, signals) = operands.split_first()?;
        if signals.is_empty() || matches!(text.text(), "" | "-") {
            return Some(Verdict::safe("resets a trap"));
        }
        let before = self.scope.clone();
        // The variables at the time of the run are unknown. If the trap sets something, the values after it are unknown
        // too.
        self.scope.forget();
        let unset = self.scope.clone();
        let verdict = self.run_text(text.text(), text.span());
        let changes = !self.scope.is_settled(&unset);
        self.scope = before;
        if changes {
            // The trap may run between any two commands, so no known value stays valid.
            self.suspect("a trap changes what the commands behind it mean");
            self.scope.forget();
        }
        self.traps.push((text.text().into(), text.span()));
        let verdict = verdict.or_stricter(self.search_text(text.text(), text.span()));
        Some(if text.is_exact() {
            verdict
        } else {
            Verdict::dangerous("a trap that is not written out").or_stricter(verdict)
        })
    }

    /// Evaluates traps with the values that are known at the end. They may destroy when the script ends.
    pub(crate) fn run_traps(&mut self) {
        for (text, span) in std::mem::take(&mut self.traps) {
            let found = self.search_text(&text, span);
            if found.tier == Tier::Destructive {
                self.note(found.tier, found.rule, span);
            }
        }
    }

    fn watch(&mut self, rest: &[Word]) -> Option<Verdict> {
        let flags = "-n: -d? -t -b -e -g -c -x --interval: --differences? --no-title --color --errexit --chgexit -p -w";
        let Ok(options) = Options::read(rest, Reading { flags, stop_at_operand: true, inert: true }) else {
            return Some(
                Verdict::dangerous("`watch` with options that are not on the list")
                    .or_stricter(self.search_words(rest)),
            );
        };
        let words: Vec<_> = options.operands.iter().map(|arg| arg.argument()).collect();
        let span = options.operands.first()?.span();
        // Several words are joined without their quotes. Only plain words keep their meaning.
        let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./:=,@%+-".contains(&byte));
        let joined_well = words.len() == 1 || words.iter().all(|text| plain(text));
        let written = joined_well && options.operands.iter().all(|arg| arg.is_exact());
        // The joined words have lost their quotes. They are evaluated as they are written.
        let outer = std::mem::replace(&mut self.dialect, Dialect::Posix);
        let verdict = self.run_text(&words.join(" "), span).or_stricter(self.search_suffixes(rest));
        self.dialect = outer;
        Some(if written {
            verdict
        } else {
            Verdict::dangerous("`watch` runs what is not written out").or_stricter(verdict)
        })
    }

    /// Evaluates the words after the host as a command line of the other machine.
    fn remote(&mut self, rest: &[Word]) -> Verdict {
        let found = self.search_words(rest);
        Verdict::dangerous("runs on another machine").or_stricter(found)
    }

    /// Follows a text as part of the command line. Records its parts and returns the strictest tier.
    pub(crate) fn run_text(&mut self, text: &str, span: crate::span::Span) -> Verdict {
        let before = self.parts.len();
        let here = self.here;
        let done = self.deeper(|walker| {
            walker.here = span;
            if text.has_unknown() && !walker.overheard.is_guessing() {
                // An unknown part may end the quotes around it.
                walker.lose("a text that is not written out");
            }
            if walker.text_budget < text.len() {
                walker.uses.lose();
                walker.lose("more texts within texts than are followed");
                walker.raw_search(text, span);
                return;
            }
            walker.text_budget -= text.len();
            let text = &text.as_source();
            let parsed = syntax::parse(text);
            if !walker.dialect.reads(text, &parsed) {
                walker.suspect("the shell that runs this text reads it otherwise than bash does");
                walker.raw_search(text, span);
            }
            if !parsed.understood() {
                let why = parsed.faults.first().map_or("not understood", |fault| fault.why);
                walker.lose(format!("the text that is run was not understood: {why}"));
                walker.raw_search(text, span);
            }
            walker.walk(parsed, Some(span));
        });
        self.here = here;
        if done.is_none() {
            return Verdict::dangerous("texts within texts too deep to follow");
        }
        let worst = self.parts.get(before..).unwrap_or_default().iter().max_by_key(|part| part.tier);
        worst.map_or_else(
            || Verdict::safe("runs a text that does nothing"),
            |part| Verdict { tier: part.tier, rule: part.rule.clone().into() },
        )
    }

    /// Searches a text for destruction. Its other parts do not affect the command line.
    pub(crate) fn search_text(&mut self, text: &str, span: crate::span::Span) -> Verdict {
        let verdict = self.quietly(|walker| walker.run_text(text, span));
        if verdict.tier == Tier::Destructive { verdict } else { Verdict::safe("") }
    }

    /// Searches every word as a text, and every suffix of the words as a command line.
    pub(super) fn search_words(&mut self, rest: &[Word]) -> Verdict {
        let mut found = self.search_suffixes(rest);
        self.overhear_texts(rest);
        if rest.iter().any(|word| word.has_unknown()) {
            self.speak_of_anything();
        }
        for word in rest.iter().filter(|word| word.text().contains(char::is_whitespace)) {
            found = found.or_stricter(self.search_text(word.text(), word.span()));
        }
        found
    }

    /// Searches the content of a file that `args` run, according to the program: a shell, an interpreter, a database
    /// client.
    pub(crate) fn judge_file(&mut self, args: &[Word], text: &str, is_program: bool) -> Verdict {
        let name = args.first().map(|program| base_name(program.text())).unwrap_or_default().to_owned();
        let runs = is_program || is_shell(&name) || matches!(name.as_str(), "source" | "." | "make");
        let mut found = sql_client::destroys(&name, text);
        if runs || inner::is_wrapper(&name) {
            found = found.or_stricter(self.search_text(text, self.here));
        }
        if is_program || code::is_interpreter(&name) {
            found = found.or_stricter(self.search_code(text, self.here));
        }
        found
    }

    /// Searches the known content of a word as a text.
    fn search_content(&mut self, arg: &Word) -> Verdict {
        match arg.content() {
            Some(text) => self.search_text(text, arg.span()),
            None => Verdict::safe(""),
        }
    }

    /// Searches the input of a program as a text that it runs.
    fn search_input(&mut self, input: &Input) -> Verdict {
        match input {
            Input::Text(text) => self.search_text(text, self.here),
            Input::Terminal | Input::Unknown => Verdict::safe(""),
        }
    }

    /// Evaluates `parallel 'command {}' ::: words`, with the words in the place of each mark.
    fn search_template(&mut self, rest: &[Word], input: &Input) -> Verdict {
        self.overhear_template(rest);
        let Some(at) = rest.iter().position(|arg| arg.text().starts_with(":::")) else {
            return self.search_with_lines(rest, input);
        };
        let (template, words) = rest.split_at(at);
        let template: Vec<&str> = template.iter().map(Word::text).collect();
        let template = template.join(" ");
        let words: Vec<&str> = words.iter().skip(1).map(Word::text).collect();
        let words = words.join(" ");
        let marks = template.matches("{}").count();
        // If there are many marks, only as many are replaced as keep the text small. Then the words are also appended.
        let room = (MAX_TEMPLATE / words.len().max(1)).max(1);
        let text = match marks {
            0 => format!("{template} {words}"),
            marks if marks <= room => template.replace("{}", &words),
            _ => format!("{} {words}", template.replacen("{}", &words, room)),
        };
        self.search_text(&text, self.here)
    }

    /// Evaluates `… | parallel command {}`, with each line in the place of the mark.
    fn search_with_lines(&mut self, rest: &[Word], input: &Input) -> Verdict {
        let Input::Text(lines) = input else { return Verdict::safe("") };
        let mut found = Verdict::safe("");
        for line in lines.lines().filter(|line| !line.trim().is_empty()).take(MAX_LINES) {
            let marked = rest.iter().any(|arg| arg.text().contains("{}"));
            let filled = rest.iter().map(|arg| arg.with_text(arg.text().replace("{}", line)));
            let words: Vec<Word> = filled.chain((!marked).then(|| Word::literal(line, self.here))).collect();
            found = found.or_stricter(self.search_words(&words));
        }
        found
    }

    fn search_values(&mut self, rest: &[Word]) -> Verdict {
        let mut found = Verdict::safe("");
        for word in rest {
            if let Some((_, value)) = word.text().split_once('=') {
                found = found.or_stricter(self.search_text(value, word.span()));
                self.overhear_start_of(value, word.span());
            }
        }
        found
    }

    /// Searches all words, and the value of an option at any position.
    fn search_option(&mut self, rest: &[Word], names: &str) -> Verdict {
        let mut found = self.search_words(rest);
        for (index, word) in rest.iter().enumerate() {
            let short = word.text().starts_with('-') && !word.text().starts_with("--") && word.text().ends_with('c');
            if (short || names.split(' ').any(|name| name == word.text()))
                && let Some(value) = rest.get(index + 1)
            {
                found = found.or_stricter(self.search_text(value.text(), value.span()));
            }
            if let Some((_, value)) = word.text().split_once('=') {
                found = found.or_stricter(self.search_text(value, word.span()));
            }
        }
        found
    }

    /// Searches the lines of a crontab: five time fields, then a command.
    fn search_lines(&mut self, text: &str) -> Verdict {
        let mut found = Verdict::safe("");
        for line in text.lines().take(64) {
            let words: Vec<&str> = line.split_whitespace().skip(if line.starts_with('@') { 1 } else { 5 }).collect();
            found = found.or_stricter(self.search_text(&words.join(" "), self.here));
        }
        found
    }
}

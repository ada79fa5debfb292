//! Shells and builtins that run a text.

use std::sync::LazyLock;

use foldhash::HashSet;

use crate::{
    evaluator::{Evaluation, Use, inline_code, runners::without_host, sql_client, wrappers},
    interpreter::{Dialect, Positional, Value},
    invocation::Input,
    options::{List, Options, Reading, list},
    place::Place,
    values::base_name,
    verdict::Verdict,
    word::{Word, may_be_empty},
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
    static INDEX: LazyLock<HashSet<&str>> = LazyLock::new(|| SHELLS.iter().copied().collect());
    INDEX.contains(base_name(word))
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

/// Options of a shell that do not change the files that a pattern finds.
const SHELL_FLAGS: List<'static> = list!(
    "-c -l -e -u -x -v -n -f -i -s -p --login --norc --noprofile --posix -E -h -m -B -H -T \
     -o:errexit|nounset|pipefail|xtrace|verbose|noclobber|noglob|noexec|errtrace|functrace"
);

/// The thing that a shell, a program or a builtin runs, or the way in which it runs it.
#[derive(Clone, Copy, Debug)]
enum Runs {
    ItsLanguage,
    ItsWords,
    ATrap,
    AFile,
    AnAlias,
    Repeatedly,
    AsAnother,
    Elsewhere,
    Later,
    ByPlan,
}

impl Runs {
    fn of(name: &str) -> Option<Runs> {
        Some(match name {
            "eval" => Runs::ItsWords,
            "trap" => Runs::ATrap,
            "source" | "." => Runs::AFile,
            "alias" => Runs::AnAlias,
            "watch" | "gwatch" => Runs::Repeatedly,
            "su" | "runuser" | "script" | "nix-shell" | "flock" | "sg" | "newgrp" | "scriptreplay" => Runs::AsAnother,
            "ssh" | "mosh" | "autossh" | "rsh" | "sshpass" | "dsh" | "pdsh" => Runs::Elsewhere,
            "tmux" | "screen" | "at" | "batch" | "parallel" | "entr" | "hyperfine" | "concurrently" | "expect" => {
                Runs::Later
            }
            "crontab" => Runs::ByPlan,
            name => return SHELLS.contains(&name).then_some(Runs::ItsLanguage),
        })
    }
}

/// Returns true if [`Evaluation::evaluate_shell`] may have a verdict on some use of the program.
pub(super) fn is_evaluated(name: &str) -> bool {
    Runs::of(name).is_some()
}

/// Returns true if the only word asks for a list or a version.
fn asks_for_a_list(name: &str, rest: &[Word]) -> bool {
    matches!(name, "tmux" | "screen" | "ssh") && matches!(rest, [word] if LISTS.contains(&word.text()))
}

impl Evaluation<'_, '_> {
    /// Returns the verdict on a shell or a builtin that runs a text, if `name` is one.
    pub(super) fn evaluate_shell(&mut self, usage: &Use<'_>, input: &Input) -> Option<Verdict> {
        let (name, rest) = (usage.name, usage.rest);
        let runs = Runs::of(name)?;
        let may_report = matches!(runs, Runs::ItsLanguage | Runs::Later) || name == "flock";
        if may_report && rest.first().is_some_and(Word::is_written) && self.is_proven(usage) {
            return None;
        }
        match runs {
            Runs::ItsLanguage => self.evaluate_shell_named(name, rest, input),
            Runs::ItsWords => Some(self.shell.eval(rest)),
            Runs::ATrap => self.shell.trap(rest),
            Runs::AFile => Some(self.evaluate_source(rest, input)),
            Runs::AnAlias if rest.iter().any(|arg| arg.text().contains('=')) => {
                let found = self.search_values(rest);
                Some(Verdict::dangerous("gives a command another meaning").or_stricter(found))
            }
            Runs::AnAlias => None,
            Runs::Repeatedly => self.watch(rest),
            Runs::AsAnother => {
                let found = self.search_option(rest, "-c --command --run").or_stricter(self.search_input(input));
                Some(Verdict::dangerous("runs a command as another user or in another environment").or_stricter(found))
            }
            Runs::Elsewhere | Runs::Later if asks_for_a_list(name, rest) => None,
            Runs::Elsewhere => {
                let reads = rest.iter().filter(|arg| !arg.text().starts_with('-')).count() <= 1;
                if reads && self.reads_unknown(input) {
                    self.record_anything();
                }
                let others = without_host(name, rest);
                Some(self.remote(others.as_deref().unwrap_or(rest)).or_stricter(self.search_input(input)))
            }
            Runs::Later => {
                let given = self.search_input(&certain(name, input)).or_stricter(self.search_template(rest, input));
                let found = self.search_words(rest);
                Some(Verdict::dangerous("runs a command later or elsewhere").or_stricter(found).or_stricter(given))
            }
            Runs::ByPlan => match input {
                Input::Text(text) => Some(Verdict::dangerous("plans commands").or_stricter(self.search_lines(text))),
                Input::Terminal | Input::Unknown => None,
            },
        }
    }

    fn evaluate_shell_named(&mut self, name: &str, rest: &[Word], input: &Input) -> Option<Verdict> {
        let outer = std::mem::replace(&mut self.shell.dialect, Dialect::of(name));
        let verdict = self.evaluate_shell_program(rest, input);
        self.shell.dialect = outer;
        if matches!(name, "cmd" | "powershell" | "pwsh") {
            // These shells join all their words to one command line.
            let found = self.search_words(rest);
            return Some(verdict.unwrap_or_else(|| Verdict::safe("")).or_stricter(found))
                .filter(|verdict| !verdict.rule.is_empty());
        }
        verdict
    }

    fn evaluate_source(&mut self, rest: &[Word], input: &Input) -> Verdict {
        let content = rest.first().and_then(|arg| arg.content().map(str::to_owned));
        let unread = |arg: &Word| arg.has_output() || self.may_be_open(arg, input);
        if content.is_none() && rest.first().is_some_and(unread) {
            self.record_anything();
        }
        let found = content.map_or(Verdict::safe(""), |text| self.shell.run_text(&text, self.shell.here));
        let found = found.or_stricter(self.search_input(input));
        Verdict::dangerous("runs a script that is not part of this text").or_stricter(found)
    }

    fn evaluate_shell_program(&mut self, rest: &[Word], input: &Input) -> Option<Verdict> {
        if matches!(rest, [word] if word.is_written() && matches!(word.text(), "--version" | "--help")) {
            return None;
        }
        let reading = Reading { flags: SHELL_FLAGS, stop_at_operand: true, inert: true };
        // `+e` turns an option off.
        let turns_off = rest.iter().any(|word| word.text().starts_with('+'));
        let Ok(Some(options)) = Options::read(rest, reading).map(|options| (!turns_off).then_some(options)) else {
            // The shell may run its input, a script or a text. The classifier cannot tell which.
            self.record_anything();
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
            (!known).then(|| self.record_anything());
        }
        if let Some(text) = options.operands.first().and_then(|script| script.content().map(str::to_owned)) {
            let span = self.shell.here;
            return Some(
                Verdict::dangerous("a shell runs the text it is given").or_stricter(self.shell.run_text(&text, span)),
            );
        }
        let from_input = options.operands.first().is_none_or(|script| is_input(script.text()));
        let reads_input = from_input || options.has("-s");
        Some(match input {
            Input::Text(text) if reads_input => {
                let floor = Verdict::dangerous("a shell runs the text it is given");
                let span = self.shell.here;
                floor.or_stricter(self.shell.run_text(text, span))
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
        is_open_file(script.text()) || unsaid || self.shell.scope.places.iter().any(there)
    }

    /// Evaluates `-c text name arguments…`.
    fn shell_text(&mut self, options: &Options<'_>) -> Verdict {
        let Some((text, arguments)) = options.operands.split_first() else {
            return Verdict::dangerous("a shell without its text");
        };
        let quiet = !options.has("-i -s") && text.is_exact();
        let scope = self.shell.scope.clone();
        self.shell.scope = scope.for_new_shell();
        let arguments: Vec<Word> = arguments.iter().copied().cloned().collect();
        self.shell.scope.positional = Positional::of(arguments.get(1..).unwrap_or_default());
        if let Some(name) = arguments.first() {
            self.shell.set("0", Value::of(std::slice::from_ref(name)));
        }
        let verdict = self.shell.run_text(text.text(), text.span()).or_stricter(self.shell.search_content(text));
        self.shell.scope = scope;
        if quiet {
            self.shell.invocations.note_run_text(text);
        }
        if quiet {
            verdict
        } else {
            Verdict::dangerous("a shell runs a text that is not written out").or_stricter(verdict)
        }
    }

    fn watch(&mut self, rest: &[Word]) -> Option<Verdict> {
        let flags =
            list!("-n: -d? -t -b -e -g -c -x --interval: --differences? --no-title --color --errexit --chgexit -p -w");
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
        let outer = std::mem::replace(&mut self.shell.dialect, Dialect::Posix);
        let verdict = self.shell.run_text(&words.join(" "), span).or_stricter(self.search_suffixes(rest));
        self.shell.dialect = outer;
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

    /// Searches every word as a text, and every suffix of the words as a command line.
    pub(super) fn search_words(&mut self, rest: &[Word]) -> Verdict {
        let mut found = self.search_suffixes(rest);
        self.record_texts(rest);
        if rest.iter().any(|word| word.has_unknown()) {
            self.record_anything();
        }
        for word in rest.iter().filter(|word| word.text().contains(char::is_whitespace)) {
            found = found.or_stricter(self.shell.search_text(word.text(), word.span()));
        }
        found
    }

    /// Searches the content of a file that `args` run, according to the program: a shell, an interpreter, a database
    /// client.
    pub(crate) fn search_file(&mut self, args: &[Word], text: &str, is_program: bool) -> Verdict {
        let name = args.first().map(|program| base_name(program.text())).unwrap_or_default().to_owned();
        let runs = is_program || is_shell(&name) || matches!(name.as_str(), "source" | "." | "make");
        let mut found = sql_client::destroys(&name, text);
        if runs || wrappers::is_wrapper(&name) {
            found = found.or_stricter(self.shell.search_text(text, self.shell.here));
        }
        if is_program || inline_code::is_interpreter(&name) {
            found = found.or_stricter(self.search_code(text, self.shell.here));
        }
        found
    }

    /// Searches the input of a program as a text that it runs.
    fn search_input(&mut self, input: &Input) -> Verdict {
        match input {
            Input::Text(text) => self.shell.search_text(text, self.shell.here),
            Input::Terminal | Input::Unknown => Verdict::safe(""),
        }
    }

    /// Evaluates `parallel 'command {}' ::: words`, with the words in the place of each mark.
    fn search_template(&mut self, rest: &[Word], input: &Input) -> Verdict {
        self.record_template(rest);
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
        self.shell.search_text(&text, self.shell.here)
    }

    /// Evaluates `… | parallel command {}`, with each line in the place of the mark.
    fn search_with_lines(&mut self, rest: &[Word], input: &Input) -> Verdict {
        let Input::Text(lines) = input else { return Verdict::safe("") };
        let mut found = Verdict::safe("");
        for line in lines.lines().filter(|line| !line.trim().is_empty()).take(MAX_LINES) {
            let marked = rest.iter().any(|arg| arg.text().contains("{}"));
            let filled = rest.iter().map(|arg| arg.with_text(arg.text().replace("{}", line)));
            let words: Vec<Word> = filled.chain((!marked).then(|| Word::literal(line, self.shell.here))).collect();
            found = found.or_stricter(self.search_words(&words));
        }
        found
    }

    fn search_values(&mut self, rest: &[Word]) -> Verdict {
        let mut found = Verdict::safe("");
        for word in rest {
            if let Some((_, value)) = word.text().split_once('=') {
                found = found.or_stricter(self.shell.search_text(value, word.span()));
                self.record_start_of(value, word.span());
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
                found = found.or_stricter(self.shell.search_text(value.text(), value.span()));
            }
            if let Some((_, value)) = word.text().split_once('=') {
                found = found.or_stricter(self.shell.search_text(value, word.span()));
            }
        }
        found
    }

    /// Searches the lines of a crontab: five time fields, then a command.
    fn search_lines(&mut self, text: &str) -> Verdict {
        let mut found = Verdict::safe("");
        for line in text.lines().take(64) {
            let words: Vec<&str> = line.split_whitespace().skip(if line.starts_with('@') { 1 } else { 5 }).collect();
            found = found.or_stricter(self.shell.search_text(&words.join(" "), self.shell.here));
        }
        found
    }
}

//! Interpreters with code on the command line. The classifier does not prove what the code does. It finds known ways to
//! destroy.

use std::sync::LazyLock;

use foldhash::HashMap;

use crate::{
    critical_paths,
    evaluator::{
        Evaluation, Use,
        code_patterns::{self, home_marked},
    },
    invocation::Input,
    lang::{awk, sed, sql, stream},
    place::Place,
    span::Span,
    tier::Tier,
    verdict::Verdict,
    word::Word,
};

/// Interpreters and the options that carry code.
const INTERPRETERS: &[(&str, &str)] = &[
    ("python", "-c"),
    ("python2", "-c"),
    ("python3", "-c"),
    ("pypy", "-c"),
    ("pypy3", "-c"),
    ("ipython", "-c"),
    ("perl", "-e -E -ne -pe -le -nle -lne -pie -i"),
    ("ruby", "-e -ne -pe"),
    ("node", "-e --eval -p --print -pe"),
    ("nodejs", "-e --eval -p --print -pe"),
    ("deno", "eval"),
    ("bun", "-e --eval -p --print"),
    ("tsx", "-e --eval"),
    ("php", "-r -B -R -E"),
    ("lua", "-e"),
    ("luajit", "-e"),
    ("Rscript", "-e"),
    ("R", "-e"),
    ("julia", "-e -E"),
    ("elixir", "-e --eval"),
    ("erl", "-eval"),
    ("ghc", "-e"),
    ("groovy", "-e"),
    ("scala", "-e"),
    ("swift", "-e"),
    ("osascript", "-e"),
    ("tclsh", ""),
    ("awk", ""),
    ("gawk", "-e --source"),
    ("mawk", ""),
    ("nawk", ""),
    ("sed", "-e"),
    ("gdb", "-ex --eval-command"),
    ("vim", "-c --cmd"),
    ("vi", "-c"),
    ("nvim", "-c --cmd"),
    ("emacs", "--eval"),
    ("ts-node", "-e --eval"),
    ("jshell", ""),
    ("sbcl", "--eval"),
    ("clisp", "-x"),
    ("guile", "-c"),
    ("racket", "-e"),
    ("raku", "-e"),
    ("crystal", "eval"),
    ("octave", "--eval"),
    ("kotlin", "-e"),
    ("ed", ""),
    ("ex", "-c"),
];

/// The cost of searching in addition to its length.
const COST_OF_CODE: usize = 96;

/// Programs that have a console or a code runner among other uses.
const CONSOLES: &[&str] =
    &["rails", "artisan", "manage.py", "django-admin", "wp", "drush", "flask", "mix", "iex", "tinker"];

static INDEX: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| INTERPRETERS.iter().copied().collect());

pub(super) fn options_with_code(name: &str) -> Option<&'static str> {
    INDEX.get(plain_name(name)).copied()
}

/// Returns all interpreters.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    INTERPRETERS.iter().map(|(name, _)| *name)
}

/// Returns true if `name` runs code from its arguments.
pub(super) fn is_interpreter(name: &str) -> bool {
    options_with_code(name).is_some()
}

/// Returns true for an interpreter whose first operand is and for an editor whose words are code.
pub(super) fn takes_code_as_words(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "awk", "gawk", "mawk", "nawk", "sed", "gsed", "ed", "ex", "vi", "vim", "nvim", "emacs", "gdb", "tclsh", "erl",
        "jq",
    ];
    NAMES.contains(&name)
}

/// Returns true if `name` has a console or a code runner among other uses.
pub(super) fn is_console(name: &str) -> bool {
    CONSOLES.contains(&name)
}

/// Returns true if `name` is an interpreter of a language that does more than edit texts.
pub(crate) fn runs_code(name: &str) -> bool {
    is_interpreter(name) && !takes_code_as_words(name)
}

/// Returns true if `name` runs the module that `-m` names.
pub(super) fn runs_modules(name: &str) -> bool {
    matches!(plain_name(name), "python" | "python2" | "python3" | "pypy" | "pypy3" | "py")
}

/// Returns true if `word` is an option of the interpreter `name` that carries code.
pub(super) fn gives_code(name: &str, word: &str) -> bool {
    let options = options_with_code(name).unwrap_or_default();
    let option =
        |option: &str| word == option || (option.len() == 2 && !word.starts_with("--") && word.starts_with(option));
    options.split(' ').any(|name| !name.is_empty() && option(name))
}

/// Removes the minor version of a program name: `python3.12` becomes `python3`.
pub(super) fn plain_name(name: &str) -> &str {
    let parts = name.bytes().position(|byte| byte == b'.').and_then(|dot| name.split_at_checked(dot));
    match parts {
        Some((plain, version)) if version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') => plain,
        _ => name,
    }
}

impl Evaluation<'_, '_> {
    /// Returns the verdict on an interpreter with if `name` is an interpreter or a console and the verdict is
    /// decided here.
    pub(super) fn evaluate_code(&mut self, usage: &Use<'_>, input: &Input) -> Option<Verdict> {
        let (name, rest) = (usage.name, usage.rest);
        if !is_interpreter(name) {
            return self.evaluate_console(name, rest, input);
        }
        let mut found = Verdict::safe("");
        let stream = matches!(name, "awk" | "gawk" | "mawk" | "nawk" | "sed");
        if stream {
            self.record_stream(name, rest);
        }
        let awk = if stream && name != "sed" { stream::scripts(name, rest) } else { Vec::new() };
        // The texts of a program that starts nothing are only data.
        let is_harmless = |word: &Word| {
            let is_it = word.is_exact() && awk.iter().any(|script| script.text() == word.text());
            is_it && awk::check(word.text()).is_ok()
        };
        let is_data = assigned_data(rest, &awk);
        for (_, word) in rest.iter().enumerate().filter(|(at, word)| !is_harmless(word) && !is_data.contains(at)) {
            found = found.or_stricter(self.search_program(word.text(), word.span(), stream));
            if name == "sed" {
                if sed::written(word.text()).is_some_and(|path| {
                    critical_paths::is_vital(path, &Place::Start) || critical_paths::is_device(path)
                }) {
                    return Some(Verdict::destructive("`sed` overwrites a device or a file of the system"));
                }
                for text in sed::executed(word.text()) {
                    found = found.or_stricter(self.shell.search_text(&text, word.span()));
                }
            }
        }
        if let Input::Text(text) = input
            && !stream
        {
            found =
                found.or_stricter(self.search_code(text, self.shell.here)).or_stricter(self.search_escapes(name, text));
            if rest.iter().any(|word| word.text() == "dbshell" || word.text() == "dbconsole") {
                let what = sql::destroys(text).map(|what| format!("a database client runs `{what}`"));
                found = found.or_stricter(what.map_or(Verdict::safe(""), Verdict::destructive));
            }
        }
        if found.tier == Tier::Destructive {
            return Some(found);
        }
        let runs = !stream && rest.iter().any(|word| gives_code(name, word.text()));
        runs.then(|| Verdict::dangerous("an interpreter runs code from the command line"))
    }

    /// Records the commands that a program of `sed` or `awk` runs. If the program builds a command from its input, any
    /// command may run.
    fn record_stream(&mut self, name: &str, rest: &[Word]) {
        if !self.shell.is_asked() {
            return;
        }
        for script in stream::scripts(name, rest) {
            let text = script.text();
            let runs = match name {
                "sed" => {
                    let run = |effect| match effect {
                        sed::Effect::Runs(line) => Some(Some(line.to_owned())),
                        sed::Effect::Makes(_) => Some(None),
                        sed::Effect::Writes(_) | sed::Effect::Reads(_) => None,
                    };
                    sed::effects(text).into_iter().filter_map(run).collect()
                }
                _ => awk::runs(text),
            };
            for line in runs {
                match line {
                    // The input of this command is unknown.
                    Some(line) => {
                        let outer = (std::mem::replace(&mut self.shell.is_fed, true), self.shell.feed.take());
                        self.shell.only_recording(|shell| shell.run_text(&line, script.span()));
                        (self.shell.is_fed, self.shell.feed) = outer;
                    }
                    None => self.record_anything(),
                }
            }
        }
    }

    /// Searches the words and the input of a console for destructive code: `rails runner code`,
    /// `manage.py shell -c code`.
    fn evaluate_console(&mut self, name: &str, rest: &[Word], input: &Input) -> Option<Verdict> {
        if !is_console(name) {
            return None;
        }
        let given = if let Input::Text(text) = input { Some((text.as_str(), self.shell.here)) } else { None };
        let texts = rest.iter().map(|word| (word.text(), word.span())).chain(given);
        let mut found = Verdict::safe("");
        for (text, span) in texts {
            found = found.or_stricter(self.search_code(text, span));
        }
        (found.tier == Tier::Destructive).then_some(found)
    }

    /// Searches the text that an interpreter reads line by line, where a sign introduces a shell command.
    fn search_escapes(&mut self, name: &str, text: &str) -> Verdict {
        let signs: &[&str] = match name {
            "ed" | "ex" | "vi" | "vim" => &["!", ":!"],
            "tclsh" | "wish" => &["exec ", "file delete -force "],
            _ => return Verdict::safe(""),
        };
        let mut found = Verdict::safe("");
        for line in text.lines().map(str::trim_start).take(64) {
            for (at, rest) in signs.iter().enumerate().filter_map(|(at, sign)| Some((at, line.strip_prefix(sign)?))) {
                let removed = at == 1 && name.ends_with("sh");
                let text = if removed { format!("rm -rf {rest}") } else { rest.to_owned() };
                found = found.or_stricter(self.shell.search_text(&text, self.shell.here));
            }
        }
        found
    }

    /// Searches code of any language for destruction: its texts as commands, and its calls with their texts.
    pub(super) fn search_code(&mut self, code: &str, span: Span) -> Verdict {
        self.search_program(code, span, false)
    }

    fn search_program(&mut self, code: &str, span: Span, stream: bool) -> Verdict {
        // A plain argument without a call or a text contains no command.
        if !code.contains(['"', '\'', '`', '(', '!', '.', '<', ' ']) {
            return Verdict::safe("");
        }
        let cost = code.len() + COST_OF_CODE;
        if !self.shell.budget.take_text(cost) {
            self.record_anything();
            return Verdict::destructive("hides what it runs in more code than is followed");
        }
        if !self.shell.can_evaluate(code.len() / 16) {
            return Verdict::dangerous("too much to follow");
        }
        let (texts, rest) = texts_and_rest(code);
        if only_prints(&texts, &rest) {
            return Verdict::safe("");
        }
        if let Some(why) = code_patterns::destroys(code, &texts, &rest, stream) {
            return Verdict::destructive(why);
        }
        let executes = ["execute", "query", "exec(", ".run(", ".raw("].iter().any(|call| code.contains(call));
        if executes && texts.iter().any(|text| sql::destroys(text).is_some()) {
            return Verdict::destructive("code destroys data in a database");
        }
        let mut found = Verdict::safe("");
        let mut words = Vec::new();
        let runs_code = ["exec(", "eval(", "exec ", "eval "].iter().any(|call| rest.contains(call));
        for text in commands_in(code) {
            found = found.or_stricter(self.shell.search_text(text, span));
        }
        for text in texts.iter().take(64) {
            if runs_code && text.contains('(') {
                found = found.or_stricter(
                    self.deeper(|evaluation| evaluation.search_code(text, span)).unwrap_or(Verdict::safe("")),
                );
            }
            if text.contains(char::is_whitespace) {
                found = found.or_stricter(self.shell.search_text(text, span));
            } else {
                words.push(Word::literal(home_marked(text), span));
            }
        }
        // `["rm", "-rf", "/"]` is a command line too.
        found.or_stricter(self.search_suffixes(&words))
    }
}

/// Returns the indices of the words with values of `-v`, if the programs of `awk` start nothing, so that the values are
/// data. With any other option, there may be another program.
fn assigned_data(rest: &[Word], scripts: &[Word]) -> Vec<usize> {
    let starts_nothing = |script: &Word| script.is_exact() && awk::check(script.text()).is_ok();
    if scripts.is_empty() || !scripts.iter().all(starts_nothing) {
        return Vec::new();
    }
    let mut data = Vec::new();
    let mut words = rest.iter().enumerate();
    while let Some((at, word)) = words.next() {
        match word.text() {
            "-v" | "--assign" => data.extend(words.next().map(|(at, _)| at)),
            "-F" | "--field-separator" => drop(words.next()),
            text if text.starts_with("-v") || text.starts_with("--assign=") => data.push(at),
            text if text.starts_with("-F") || text.starts_with("--field-separator=") => {}
            text if text.starts_with('-') => return Vec::new(),
            _ => break,
        }
    }
    data
}

/// Returns the command lines in the brackets of `%x(…)` and `qx(…)`.
fn commands_in(code: &str) -> impl Iterator<Item = &str> {
    let starts = ["%x", "qx"].into_iter().flat_map(|sign| code.match_indices(sign).take(8));
    starts.filter_map(|(at, sign)| {
        let rest = code.get(at + sign.len()..)?;
        let close = match rest.chars().next()? {
            '(' => ')',
            '{' => '}',
            '[' => ']',
            c if c.is_ascii_punctuation() => c,
            _ => return None,
        };
        rest.get(1..)?.split(close).next()
    })
}

/// Words of code that can only compute and print, in any language.
const PRINTING: &[&str] = &[
    "print", "println", "printf", "puts", "p", "pp", "echo", "say", "console", "log", "len", "str", "int", "repr",
    "sum", "sorted", "reversed", "upper", "lower", "strip", "split", "join", "length", "size", "inspect", "end", "sep",
];

/// Returns true if code only prints its texts. It contains no sign that any language uses to run, write or substitute.
fn only_prints(texts: &[String], rest: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let plain = |c: char| word(c) || " \t\n()[].,;:+*=\"'".contains(c);
    rest.chars().all(plain)
        && rest
            .split(|c: char| !word(c))
            .all(|word| word.is_empty() || word.bytes().all(|byte| byte.is_ascii_digit()) || PRINTING.contains(&word))
        && !texts.iter().any(|text| text.contains(['{', '`', '@', '$']))
}

/// Returns true if `word` is code that only prints. The caller knows that `name` runs code.
pub(super) fn is_printing(name: &str, before: Option<&Word>, word: &Word) -> bool {
    if !before.is_some_and(|option| gives_code(name, option.text())) {
        return false;
    }
    let (texts, around) = texts_and_rest(word.text());
    only_prints(&texts, &around)
}

/// Returns the output of an interpreter whose code only prints.
pub(crate) fn printed(name: &str, rest: &[Word]) -> Option<String> {
    if name == "which" || matches!(name, "command" | "type") && rest.iter().any(|word| word.text() == "-v") {
        // It prints a path of each program, whose last component is the name.
        let names = rest.iter().filter(|word| word.is_exact() && !word.text().starts_with('-'));
        return Some(names.map(|word| format!("{}\n", word.text())).collect());
    }
    if matches!(name, "awk" | "gawk" | "mawk" | "nawk") {
        // Each text in the program may be a line that it prints.
        let is_program = |word: &&Word| word.text().contains(['{', '"']) && !word.text().starts_with('-');
        let (texts, _) = texts_and_rest(rest.iter().find(is_program)?.text());
        return (!texts.is_empty()).then(|| texts.join("\n") + "\n");
    }
    if !is_interpreter(name) {
        return None;
    }
    let at = rest.iter().position(|word| gives_code(name, word.text()))?;
    let (texts, around) = texts_and_rest(rest.get(at + 1)?.text());
    only_prints(&texts, &around).then(|| texts.join("\n") + "\n")
}

/// Splits code of almost any language into the texts between its quotes and the remaining code with the quotes.
fn texts_and_rest(code: &str) -> (Vec<String>, String) {
    let (mut texts, mut rest) = (Vec::new(), String::new());
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        rest.push(c);
        if !matches!(c, '"' | '\'' | '`') {
            continue;
        }
        let quote = c;
        let mut text = String::new();
        while let Some(c) = chars.next() {
            match c {
                c if c == quote => break,
                '\\' => text.extend(chars.next()),
                c => text.push(c),
            }
        }
        texts.push(text);
    }
    (texts, rest)
}

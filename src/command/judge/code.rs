//! Interpreters with code on the command line. What the code does is not proven; known ways to destroy are found.

use std::sync::LazyLock;

use foldhash::HashMap;

use super::{Input, Verdict};
use crate::command::{
    answer::Span,
    destroy::target,
    lang::{sed, sql},
    tier::Tier,
    walk::{Arg, Place, Walker},
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
    ("ed", ""),
    ("ex", "-c"),
];

/// Calls that remove a whole tree; their argument decides.
const REMOVERS: &[&str] = &[
    "rmtree",
    "rm_rf",
    "rm_r",
    "remove_dir",
    "remove_entry_secure",
    "rmSync",
    "rmdirSync",
    "removeSync",
    "emptyDirSync",
    "rimraf",
    "remove_tree",
    "deltree",
    "deleteDirectory",
    "rm(",
    "rmdir(",
    "removeTree",
    "file delete -force",
    "unlink",
    "Deno.remove",
    "os.remove",
    "fs.remove",
    "del(",
];

static INDEX: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| INTERPRETERS.iter().copied().collect());

fn options_with_code(name: &str) -> Option<&'static str> {
    INDEX.get(plain_name(name)).copied()
}

/// All interpreters.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    INTERPRETERS.iter().map(|(name, _)| *name)
}

/// Whether `name` runs code from its arguments.
pub(super) fn is_interpreter(name: &str) -> bool {
    options_with_code(name).is_some()
}

/// Interpreters whose first operand is code, and editors whose words are.
pub(super) fn takes_code_as_words(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "awk", "gawk", "mawk", "nawk", "sed", "gsed", "ed", "ex", "vi", "vim", "nvim", "emacs", "gdb", "tclsh", "erl",
        "jq",
    ];
    NAMES.contains(&name)
}

/// Whether `word` is an option of the interpreter `name` that carries code.
pub(super) fn gives_code(name: &str, word: &str) -> bool {
    let options = options_with_code(name).unwrap_or_default();
    let option =
        |option: &str| word == option || (option.len() == 2 && !word.starts_with("--") && word.starts_with(option));
    options.split(' ').any(|name| !name.is_empty() && option(name))
}

/// `python3.12` is `python3`.
fn plain_name(name: &str) -> &str {
    match name.split_once('.') {
        Some((plain, version)) if version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') => plain,
        _ => name,
    }
}

impl Walker<'_> {
    /// The verdict on an interpreter that is given code, if `name` is one.
    pub(super) fn judge_code(&mut self, name: &str, args: &[Arg], input: &Input) -> Option<Verdict> {
        if !is_interpreter(name) {
            return None;
        }
        let rest = args.get(1..).unwrap_or_default();
        let mut found = Verdict::safe("");
        for word in rest {
            found = found.or_stricter(self.search_code(&word.text, word.span));
            if name == "sed" {
                for text in sed::executed(&word.text) {
                    found = found.or_stricter(self.search_text(&text, word.span));
                }
            }
        }
        if let Input::Text(text) = input
            && !matches!(name, "awk" | "gawk" | "mawk" | "nawk" | "sed")
        {
            found = found.or_stricter(self.search_code(text, self.here));
        }
        if found.tier == Tier::Destructive {
            return Some(found);
        }
        let streams = matches!(name, "awk" | "gawk" | "mawk" | "nawk" | "sed");
        let runs = !streams && rest.iter().any(|word| gives_code(name, &word.text));
        runs.then(|| Verdict::dangerous("an interpreter runs code from the command line"))
    }

    /// Looks for destruction in code of any language: its texts as commands, its calls with their texts.
    pub(super) fn search_code(&mut self, code: &str, span: Span) -> Verdict {
        // Without a call or a text there is nothing to find in a plain argument.
        if !code.contains(['"', '\'', '`', '(', '!']) {
            return Verdict::safe("");
        }
        if !self.can_judge(code.len() / 16) {
            return Verdict::dangerous("too much to follow");
        }
        let (texts, rest) = texts_and_rest(code);
        if only_prints(&texts, &rest) {
            return Verdict::safe("");
        }
        if REMOVERS.iter().any(|call| code.contains(call))
            && texts.iter().any(|text| target::is_doomed(&home_marked(text), &Place::Start))
        {
            return Verdict::destructive("code removes a root, home or system directory");
        }
        let home = ["expanduser", "homedir()", "Path.home", "Dir.home"].iter().any(|home| code.contains(home));
        if home && ["rmtree(", "rmSync(", "rm_rf("].iter().any(|call| code.contains(call)) && !code.contains("join") {
            return Verdict::destructive("code removes the home directory");
        }
        let executes = ["execute", "query", "exec(", ".run(", ".raw("].iter().any(|call| code.contains(call));
        if executes && texts.iter().any(|text| sql::destroys(text).is_some()) {
            return Verdict::destructive("code destroys data in a database");
        }
        let mut found = Verdict::safe("");
        let mut words = Vec::new();
        for text in texts.iter().take(64) {
            if text.contains(char::is_whitespace) {
                found = found.or_stricter(self.search_text(text, span));
            } else {
                words.push(Arg::literal(home_marked(text), span));
            }
        }
        // `["rm", "-rf", "/"]` is a command line as well.
        found.or_stricter(self.search_suffixes(&words))
    }
}

fn home_marked(text: &str) -> String {
    match text.strip_prefix('~') {
        Some(rest) => format!("{}{rest}", crate::command::walk::HOME),
        None => text.to_owned(),
    }
}

/// Words of code that can do nothing but compute and print, in any language.
const PRINTING: &[&str] = &[
    "print", "println", "printf", "puts", "p", "pp", "echo", "say", "console", "log", "len", "str", "int", "repr",
    "sum", "sorted", "reversed", "upper", "lower", "strip", "split", "join", "length", "size", "inspect", "end", "sep",
];

/// Whether code does nothing with its texts but print them. No sign of a language that runs, writes or fills in is in it.
fn only_prints(texts: &[String], rest: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let plain = |c: char| word(c) || " \t\n()[].,;:+*=\"'".contains(c);
    rest.chars().all(plain)
        && rest
            .split(|c: char| !word(c))
            .all(|word| word.is_empty() || word.bytes().all(|byte| byte.is_ascii_digit()) || PRINTING.contains(&word))
        && !texts.iter().any(|text| text.contains(['{', '`', '@', '$']))
}

/// Whether `word` is code of an interpreter that does nothing but print.
pub(super) fn is_printing(name: &str, rest: &[Arg], word: &Arg) -> bool {
    let code =
        |pair: &[Arg]| matches!(pair, [option, code] if gives_code(name, &option.text) && code.span == word.span);
    if !is_interpreter(name) || takes_code_as_words(name) || !rest.windows(2).any(code) {
        return false;
    }
    let (texts, around) = texts_and_rest(&word.text);
    only_prints(&texts, &around)
}

/// What an interpreter prints that is given nothing but that to do.
pub(in crate::command) fn printed(name: &str, rest: &[Arg]) -> Option<String> {
    if !is_interpreter(name) {
        return None;
    }
    let at = rest.iter().position(|word| gives_code(name, &word.text))?;
    let (texts, around) = texts_and_rest(&rest.get(at + 1)?.text);
    only_prints(&texts, &around).then(|| texts.join("\n") + "\n")
}

/// The texts between quotes in code of almost any language, and what is left of it with the quotes.
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

//! Programs that run the commands in their standard input. If the input is unknown, they may run any command.

use std::sync::LazyLock;

use foldhash::HashSet;

use crate::{
    evaluator::{Evaluation, inline_code, shell},
    invocation::Input,
    options::{List, Options, Reading},
    word::{Gaps, Word},
};

/// Editors, debuggers and other programs that always take commands from their input. Some of these commands run
/// programs.
const ALWAYS: &[&str] = &[
    "bpython", "dc", "ed", "ex", "ftp", "gdb", "gnuplot", "ipdb", "jdb", "lftp", "lldb", "m4", "nvim", "pdb", "pdb3",
    "ptpython", "rview", "rvim", "sftp", "vi", "view", "vim", "vimdiff",
];

/// Interpreters that read a program from the input if no file is named. Interpreters with an option for code are listed
/// elsewhere.
const WITHOUT_A_FILE: &[&str] = &[
    "bb",
    "clj",
    "clojure",
    "coffee",
    "csi",
    "d8",
    "elvish",
    "es",
    "expect",
    "fennel",
    "ghci",
    "gforth",
    "gjs",
    "gosh",
    "gprolog",
    "gst",
    "hy",
    "io",
    "irb",
    "janet",
    "kawa",
    "ksh93",
    "maxima",
    "mit-scheme",
    "newlisp",
    "nu",
    "ocaml",
    "osh",
    "pike",
    "pil",
    "poly",
    "pry",
    "qjs",
    "rc",
    "rhino",
    "scheme",
    "sml",
    "swipl",
    "utop",
    "wish",
    "xonsh",
    "yap",
    "yash",
];

/// Programs that run their input if a word such as `-` says so: `uv run -`.
const TOLD: &[&str] = &["bun", "clj", "clojure", "deno", "go", "julia", "pipx", "tsx", "uv", "uvx"];

/// Options of interpreters that name neither the code nor its file. A colon marks an option with a value.
const OPTIONS: &[(&str, &str)] = &[
    ("python", "-b -B -d -E -h -I -O -P -q -s -S -u -v -x -W: -X: --check-hash-based-pycs:"),
    ("perl", "-a -n -p -s -S -t -T -u -U -v -w -W -X -c -0? -C? -D? -F: -I: -l? -m: -M: -V?"),
    ("ruby", "-a -c -n -p -l -s -S -U -v -w -W? -C: -E: -I: -K: -r: --yjit --jit --verbose --disable? --enable?"),
    (
        "node",
        "-r: --require: --import: --loader: --experimental-loader: --watch --watch-path: --inspect? --inspect-brk? \
              --enable-source-maps --no-warnings --trace-warnings --trace-deprecation --preserve-symlinks --env-file: \
              --max-old-space-size: --stack-size: --conditions: -C: --test --use-strict --expose-gc \
              --experimental-strip-types --experimental-vm-modules --unhandled-rejections: --throw-deprecation",
    ),
    ("php", "-c: -d: -n -q -w -l -m -v -S: -t: -z: -C -H"),
    ("lua", "-v -E -W -l:"),
    ("Rscript", "--vanilla --slave --no-save --no-echo --no-environ --no-restore"),
    ("julia", "-q -p: -t: -J: -O? --project? --threads: --startup-file:"),
    ("tclsh", "-encoding:"),
    ("deno", ""),
];

/// Modules of Python that read a program.
const READING_MODULES: &[&str] = &["IPython", "asyncio", "code", "pdb"];

/// Database clients that can start a program, and the options that give them statements instead of the input.
const CLIENTS: &[(&str, &str)] = &[
    ("psql pgcli ysqlsh gsql vsql usql cockroach crdb", "-c --command -f --file -e --execute"),
    ("mysql mariadb mycli mysqlsh", "-e --execute -f --file"),
    ("sqlite3 sqlite litecli sqlcipher duckdb", "-c -s"),
    ("beeline hive spark-sql", "-e -f"),
    ("sqlcmd osql", "-Q -i"),
    ("mongo mongosh", "--eval --file -f"),
    ("sqlplus isql isql-fb db2 tarantool mclient", ""),
];

/// Words of frameworks and package managers that start a console or a shell.
const CONSOLES: &[&str] = &["c", "console", "dbconsole", "dbshell", "develop", "repl", "sandbox", "shell", "tinker"];

/// Programs that have such words.
const WITH_CONSOLES: &[&str] = &[
    "artisan",
    "bun",
    "bundle",
    "deno",
    "devbox",
    "django-admin",
    "drush",
    "flask",
    "guix",
    "hatch",
    "iex",
    "machinectl",
    "manage.py",
    "nix",
    "pipenv",
    "poetry",
    "rails",
    "wp",
];

/// Programs that decide by their words whether they run their input, and that no list here names.
const BY_WORDS: &[&str] = &[
    "R",
    "at",
    "awk",
    "batch",
    "bmake",
    "crontab",
    "erl",
    "gawk",
    "gmake",
    "gsed",
    "just",
    "make",
    "mawk",
    "nawk",
    "ninja",
    "nix-shell",
    "parallel",
    "sed",
    "task",
    "tmux",
];

/// Every program that may run its input. Most words of a line are in none of the lists.
static NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let lists = [ALWAYS, WITHOUT_A_FILE, TOLD, WITH_CONSOLES, BY_WORDS].into_iter().flatten().copied();
    lists.chain(CLIENTS.iter().flat_map(|(names, _)| names.split(' '))).chain(inline_code::names()).collect()
});

/// Returns true if the program runs its standard input in some use.
pub(super) fn may_run_what_it_reads(name: &str) -> bool {
    NAMES.contains(inline_code::plain_name(name))
}

/// Returns true if the program runs its standard input.
pub(crate) fn runs_what_it_reads(name: &str, rest: &[Word]) -> bool {
    let name = inline_code::plain_name(name);
    if !NAMES.contains(name) {
        return false;
    }
    let is_one_of = |names: &[&str]| rest.iter().any(|arg| names.contains(&arg.text()));
    if ALWAYS.contains(&name) {
        return true;
    }
    match name {
        "at" | "batch" => !is_one_of(&["-f", "-l", "-c", "-r", "-d", "--help"]),
        "crontab" => rest.is_empty() || rest.iter().any(|arg| shell::is_input(arg.text())),
        "parallel" => !rest.iter().any(|arg| !arg.text().starts_with('-')),
        "nix-shell" => !is_one_of(&["--run", "--command"]),
        "tmux" => is_one_of(&["-C", "-CC"]),
        "erl" | "R" => !rest.iter().any(|arg| inline_code::gives_code(name, arg.text()) || arg.text() == "-f"),
        _ if WITH_CONSOLES.contains(&name) && is_one_of(CONSOLES) => true,
        _ if TOLD.contains(&name) && rest.iter().any(|arg| shell::is_input(arg.text())) => true,
        _ if scripts(name).is_some() => reads_its_script(name, rest),
        _ => match CLIENTS.iter().find(|(names, _)| names.split(' ').any(|client| client == name)) {
            Some((_, options)) => reads_statements(name, options, rest),
            None => is_language(name) && reads_its_program(name, rest),
        },
    }
}

fn is_language(name: &str) -> bool {
    WITHOUT_A_FILE.contains(&name) || inline_code::is_interpreter(name)
}

/// Returns the options of a program that name its script.
fn scripts(name: &str) -> Option<&'static str> {
    Some(match name {
        "awk" | "gawk" | "mawk" | "nawk" => "-f --file -i --include",
        "sed" | "gsed" => "-f --file",
        "make" | "gmake" | "bmake" => "-f --file --makefile",
        "just" => "-f --justfile",
        "ninja" => "-f",
        "task" => "-t --taskfile",
        _ => return None,
    })
}

/// Returns true if the option for the script of the program names its input: `-f -`, `-sf-`, `--file=-`, `--fi -`.
pub(super) fn reads_its_script(name: &str, rest: &[Word]) -> bool {
    let Some(options) = scripts(name) else { return false };
    let mut is_next = false;
    rest.iter().any(|arg| {
        let (option, joined) = script_option(options, arg.text());
        let is_it = std::mem::replace(&mut is_next, option && joined.is_none());
        let may_be = |text: &str| shell::is_input(text) || text.starts_unknown();
        is_it && may_be(arg.text()) || option && joined.is_some_and(may_be)
    })
}

/// Returns true if `word` gives one of `options`, perhaps abbreviated or joined to others. The second value is the
/// value of the option, if it is part of the word.
fn script_option<'w>(options: &str, word: &'w str) -> (bool, Option<&'w str>) {
    if word.starts_with("--") {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        return (name.len() > 2 && options.split(' ').any(|option| option.starts_with(name)), value);
    }
    let letters = options.split(' ').filter(|option| option.len() == 2).filter_map(|option| option.chars().nth(1));
    let letters: Vec<char> = letters.collect();
    let at = word.strip_prefix('-').and_then(|rest| rest.find(letters.as_slice()));
    let value = at.and_then(|at| word.get(at + 2..)).filter(|value| !value.is_empty());
    (at.is_some(), value)
}

/// Returns true if a client is given no statement, or reads its statements from the input.
fn reads_statements(name: &str, options: &str, rest: &[Word]) -> bool {
    let gives = |arg: &Word| {
        let is_it = |option: &str| {
            let short = option.len() == 2 && !arg.text().starts_with("--") && arg.text().starts_with(option);
            arg.text() == option || short || arg.text().strip_prefix(option).is_some_and(|rest| rest.starts_with('='))
        };
        options.split(' ').any(|option| !option.is_empty() && is_it(option))
    };
    let operands = rest.iter().filter(|arg| !arg.text().starts_with('-')).count();
    let has_statement = matches!(name, "sqlite3" | "sqlite" | "litecli" | "sqlcipher" | "duckdb") && operands > 1;
    let is_input = |arg: &Word| {
        let value = arg.text().split_once('=').map(|(_, value)| value);
        shell::is_input(value.unwrap_or(arg.text()))
            || matches!(arg.text().get(..2), Some("-f")) && arg.text().ends_with("f-")
    };
    rest.iter().any(is_input) || !(has_statement || rest.iter().any(gives))
}

/// Returns true if an interpreter is given neither a file nor as far as its options show.
fn reads_its_program(name: &str, rest: &[Word]) -> bool {
    if rest.iter().any(|arg| matches!(arg.text(), "--version" | "--help" | "-V")) && rest.len() == 1 {
        return false;
    }
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let known = |name: &str| OPTIONS.iter().find(|(language, _)| *language == name).map(|(_, flags)| *flags);
    let flags = known(name).or_else(|| known(plain)).or_else(|| known(name.trim_end_matches("js")));
    let flags = format!(
        "{} -i --interactive -m: -f: {}",
        flags.unwrap_or_default(),
        inline_code::options_with_code(name).map(valued).unwrap_or_default()
    );
    let reading = Reading { flags: List::of(&flags), stop_at_operand: true, inert: true };
    let Ok(options) = Options::read(rest, reading) else {
        return !rest.iter().any(|arg| inline_code::gives_code(name, arg.text()));
    };
    if options.has("-i --interactive") {
        return true;
    }
    let module = options.value("-m");
    if let Some(module) = module.filter(|_| plain == "python" || plain == "pypy") {
        return READING_MODULES.contains(&module);
    }
    let gives = |(given, _): &(smol_str::SmolStr, _)| given == "-f" || inline_code::gives_code(name, given);
    if options.given.iter().any(gives) {
        return false;
    }
    options.operands.first().is_none_or(|file| file.is_open() || !file.is_exact() || shell::is_input(file.text()))
}

/// Returns the options that carry code in the form of an option list with values.
fn valued(options: &str) -> String {
    options.split(' ').filter(|option| !option.is_empty()).map(|option| format!("{option}: ")).collect()
}

impl Evaluation<'_, '_> {
    /// Returns true if the input of a command is unknown. A command without an input of its own reads the input of the
    /// surrounding compound command.
    pub(crate) fn reads_unknown(&self, input: &Input) -> bool {
        match input {
            Input::Unknown => true,
            Input::Terminal => self.shell.is_fed && self.shell.feed.is_none(),
            Input::Text(_) => false,
        }
    }
}

//! The output of commands whose text alone determines it.

use crate::{
    lang::find,
    parts::parts,
    syntax::tree::{Form, Piece, RawWord, Script, Simple},
    word::{UNKNOWN, Word, is_sign},
};

/// Programs whose output is a number, the name of a commit, a date, an absolute path or similar: it can neither be an
/// option nor code. Each row lists the options that keep it so.
const TAME: &[(&str, &[&str])] = &[
    ("arch", &[]),
    ("date", &["-u", "-I", "-R", "-Is", "--utc", "-Iseconds", "-Idate"]),
    ("git describe", &["--tags", "--always", "--dirty", "--long", "--all", "--exact-match", "--abbrev=0"]),
    ("git merge-base", &[]),
    ("git rev-list --count", &["--all", "--no-merges"]),
    (
        "git rev-parse",
        &[
            "--short",
            "--verify",
            "--quiet",
            "-q",
            "--abbrev-ref",
            "--show-toplevel",
            "--git-dir",
            "--absolute-git-dir",
            "--git-common-dir",
            "--is-inside-work-tree",
        ],
    ),
    ("git symbolic-ref", &["--short", "-q"]),
    ("git branch --show-current", &[]),
    ("grep -c", &["-i", "-v", "-E", "-F", "-w", "-x"]),
    ("hostname", &["-s", "-f"]),
    ("id", &["-u", "-g", "-un", "-gn", "-n"]),
    ("nproc", &["--all"]),
    ("pwd", &["-P", "-L"]),
    ("realpath", &[]),
    ("seq", &["-w"]),
    ("stat -c %Y", &[]),
    ("stat -c %s", &[]),
    ("stat -f %m", &[]),
    ("stat -f %z", &[]),
    ("tty", &[]),
    ("uname", &["-a", "-s", "-m", "-r", "-n", "-p", "-o", "-sm"]),
    ("wc", &["-l", "-c", "-w", "-m"]),
    ("whoami", &[]),
    ("which", &["-a"]),
];

/// Returns true if the output of the last command of `script` has a harmless form. A function of this name is another
/// command.
pub(super) fn is_tame(script: &Script, is_function: impl Fn(&str) -> bool) -> bool {
    let [statement] = script.statements.as_slice() else { return false };
    let [pipeline] = statement.pipelines.as_slice() else { return false };
    let Some(Form::Simple(simple)) = pipeline.commands.last().map(|command| &command.form) else { return false };
    if simple.words.first().and_then(bare).is_none_or(is_function) {
        return false;
    }
    let words: Vec<Option<&str>> = simple.words.iter().map(bare).collect();
    TAME.iter().any(|(start, options)| {
        let mut rest = words.as_slice();
        let begins = parts(start, b' ').all(|wanted| rest.split_off_first().is_some_and(|word| *word == Some(wanted)));
        begins && is_plain(parts(start, b' ').next().unwrap_or_default(), rest, options)
    })
}

/// Returns true if the harmless output of `script` is a path, which may contain blanks.
pub(super) fn prints_a_path(script: &Script) -> bool {
    has_word(script, &["pwd", "realpath", "--show-toplevel", "--git-dir", "--absolute-git-dir", "--git-common-dir"])
}

/// Returns true if the harmless output of `script` may be the name of a branch or a tag. A remote repository may have a
/// name that begins like an option.
pub(super) fn prints_a_name(script: &Script) -> bool {
    has_word(script, &["describe", "--show-current", "--abbrev-ref", "symbolic-ref"])
}

/// Returns true if the path may be the target of a link. The creator of the link has chosen this target.
pub(super) fn follows_links(script: &Script) -> bool {
    has_word(script, &["realpath", "cd", "pushd"])
}

fn has_word(script: &Script, wanted: &[&str]) -> bool {
    let of = |simple: &Simple| simple.words.iter().filter_map(bare).any(|word| wanted.contains(&word));
    let pipelines = script.statements.iter().flat_map(|statement| &statement.pipelines);
    let commands = pipelines.flat_map(|pipeline| &pipeline.commands);
    commands.filter_map(|command| if let Form::Simple(simple) = &command.form { Some(simple) } else { None }).any(of)
}

/// Returns the text of a word outside quotes, or of a quoted word that can only be an operand.
fn bare(word: &RawWord) -> Option<&str> {
    match word.pieces.as_slice() {
        [Piece::Bare(text)] => Some(text.as_str()),
        [Piece::Quoted(text)]
            if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_ :/.%@+".contains(&byte)) =>
        {
            Some(text.as_str())
        }
        _ => None,
    }
}

/// Returns true if the arguments of such a program keep its output harmless.
fn is_plain(program: &str, rest: &[Option<&str>], options: &[&str]) -> bool {
    let operands = rest.iter().filter(|word| !word.is_some_and(|word| options.contains(&word)));
    let operands: Vec<Option<&str>> = operands.copied().collect();
    match program {
        "date" => operands.iter().all(|word| word.is_some_and(is_tame_date)),
        // The program prints its operand. The operand must not begin like an option, and must be a single word.
        "seq" | "git" | "hostname" => {
            operands.iter().flatten().count() == operands.len()
                && operands.iter().flatten().all(|word| {
                    let shown = word.strip_prefix('+').unwrap_or(word);
                    !shown.starts_with('-') && !shown.contains(" -") && !shown.contains("{")
                })
        }
        // With two files, the program prints their names.
        "grep" => operands.len() <= 2 && operands.iter().all(|word| word.is_none_or(|word| !word.starts_with('-'))),
        "wc" => operands.is_empty(),
        // The program prints an absolute path.
        "realpath" | "which" => operands.iter().flatten().all(|word| !word.starts_with('-')),
        _ => operands.iter().flatten().all(|word| !word.starts_with('-')),
    }
}

/// Returns true if a format of `date` prints one line that begins with a letter or a digit. The line must not begin
/// with the sign of a time zone.
fn is_tame_date(word: &str) -> bool {
    let Some(format) = word.strip_prefix('+') else { return false };
    let starts = format.chars().next().is_some_and(|c| c.is_ascii_alphanumeric() || c == '%');
    let mut parts = format.split('%');
    let literal = parts.next().unwrap_or_default();
    let known = |part: &str| part.starts_with(|c: char| "AaBbCDdeFGgHhIjklMmRSsTUuVWwYyzZ".contains(c));
    let zone_first =
        literal.is_empty() && format.starts_with(['%']) && format.get(1..2).is_some_and(|c| "zZ".contains(c));
    starts && !zone_first && !format.contains(" -") && parts.all(known)
}

/// The output of a command.
#[derive(Clone, Debug)]
pub(super) struct Output {
    pub(super) text: String,
    /// True if the text is the exact output. Otherwise it is only the part that matters.
    pub(super) exact: bool,
}

impl Output {
    /// Returns the text. A text that is not exact ends in an unknown part.
    pub(super) fn at_least(self) -> String {
        if self.exact { self.text } else { format!("{}\n{UNKNOWN}", self.text) }
    }
}

/// Returns the output of a command such as `echo`, `printf` or `find`, if its arguments determine it.
pub(super) fn printed(by_code: impl Fn(&str, &[Word]) -> Option<String>, args: &[Word]) -> Option<Output> {
    let exact = args.iter().all(Word::is_exact) && is_exact(args);
    printed_text(by_code, args).map(|text| Output { text, exact })
}

/// Returns true if the output is exactly known in every shell.
fn is_exact(args: &[Word]) -> bool {
    let Some((program, rest)) = args.split_first() else { return false };
    let plain = |arg: &Word| !arg.text().contains('\\');
    match (program.text(), rest) {
        ("pwd" | "git", _) => true,
        ("echo", [first, ..]) if first.text().starts_with('-') && first.text() != "-n" => false,
        ("echo", rest) => rest.iter().all(plain),
        ("printf", [format, values @ ..]) => {
            let rest = format.text().replace("%s", "").replace("\\n", "");
            let used = format.text().matches("%s").count() == values.len();
            used && !format.text().starts_with('-') && !rest.contains(['%', '\\'])
        }
        _ => false,
    }
}

fn printed_text(by_code: impl Fn(&str, &[Word]) -> Option<String>, args: &[Word]) -> Option<String> {
    let (program, rest) = args.split_first()?;
    let texts = || rest.iter().map(|arg| arg.text());
    match program.text() {
        "pwd" if rest.is_empty() => Some(".\n".into()),
        "git" if texts().eq(["rev-parse", "--show-toplevel"]) => Some(".\n".into()),
        "git" if texts().eq(["rev-parse", "--git-dir"]) => Some(".git\n".into()),
        "ls" => Some(listed(rest)),
        "echo" => {
            let plain = |text: &&str| matches!(*text, "-n" | "-e" | "-E" | "-ne" | "-en");
            let words: Vec<&str> = texts().skip_while(plain).collect();
            let text = words.join(" ") + "\n";
            let escapes = texts().take_while(plain).any(|flag| flag.contains('e'));
            // Shells differ in the meaning of a backslash here. Both readings are kept.
            Some(match (escapes, text.contains('\\')) {
                (true, _) => unescape(&text),
                (false, true) => format!("{text}{}\n", unescape(&text)),
                (false, false) => text,
            })
        }
        "printf" => {
            let words: Vec<&str> = texts().filter(|text| *text != "--").collect();
            let (format, values) = words.split_first()?;
            formatted(format, values).map(|text| unescape(&text))
        }
        "find" | "gfind" => Some(lines(&find::found(rest))),
        "fd" | "fdfind" => Some(lines(&find::found_by_name(rest))),
        // The location of a program. Only its name matters.
        "which" if rest.len() == 1 => rest.first().map(|name| format!("/usr/local/bin/{}\n", name.text())),
        "command" | "type" => match rest {
            [option, name] if matches!(option.text(), "-v" | "-p" | "-P") => {
                Some(format!("/usr/local/bin/{}\n", name.text()))
            }
            _ => None,
        },
        // The parent directory of a path.
        "dirname" => match rest {
            [path] if !path.has_unknown() => Some(path.text().trim_end_matches('/').rsplit_once('/').map_or_else(
                || ".\n".into(),
                |(before, _)| format!("{}\n", if before.is_empty() { "/" } else { before }),
            )),
            _ => None,
        },
        name => by_code(name, rest),
    }
}

fn lines(args: &[Word]) -> String {
    args.iter().map(|arg| format!("{}\n", arg.text())).collect()
}

/// Returns the output of `ls` as paths: the operands themselves, or an unknown file in each of them.
fn listed(rest: &[Word]) -> String {
    let itself = rest.iter().any(|arg| arg.text().starts_with('-') && arg.text().contains('d'));
    let operands: Vec<&Word> = rest.iter().filter(|arg| !arg.text().starts_with('-')).collect();
    if operands.is_empty() {
        return format!("./{UNKNOWN}\n");
    }
    let line = |arg: &&Word| {
        if itself || arg.is_pattern() { format!("{}\n", arg.text()) } else { format!("{}/{UNKNOWN}\n", arg.text()) }
    };
    operands.iter().map(line).collect()
}

/// The limit of bytes of `printf` output that is followed.
const MAX_PRINTED: usize = 8 * 1024;

/// Fills `%s` and similar directives with the values. The format is repeated while there are values.
fn formatted(format: &str, values: &[&str]) -> Option<String> {
    let mut text = String::new();
    let mut values = values.iter();
    loop {
        let before = values.len();
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                text.push(c);
                continue;
            }
            match chars.by_ref().find(|c| !c.is_ascii_digit() && !matches!(c, '-' | '.' | '+' | '#' | '*')) {
                Some('%') => text.push('%'),
                Some(_) => text.push_str(values.next().copied().unwrap_or_default()),
                None => {}
            }
        }
        if values.len() == 0 || values.len() == before {
            return Some(text);
        }
        if text.len() > MAX_PRINTED {
            return None;
        }
    }
}

/// Decodes the escapes that `echo -e` and `printf` know.
fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let Some(kind) = chars.next() else {
            out.push('\\');
            break;
        };
        let mut number = |radix: u32, most: usize, start: u32| {
            let mut value = start;
            for _ in 0..most {
                let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
                value = value * radix + digit;
                chars.next();
            }
            // A NUL ends a name like a line break, for programs with such an option.
            char::from_u32(value)
                .filter(|c| !is_sign(*c) || *c == '\0')
                .map_or('\u{fffd}', |c| if c == '\0' { '\n' } else { c })
        };
        match kind {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'x' => out.push(number(16, 2, 0)),
            '0' => out.push(number(8, 3, 0)),
            '1'..='7' => out.push(number(8, 2, kind.to_digit(8).unwrap_or(0))),
            '\\' => out.push('\\'),
            'c' => break,
            other => out.extend(['\\', other]),
        }
    }
    out
}

/// A file name as it is written, and the written text.
#[derive(Clone, Debug)]
pub(crate) struct GeneratedFile {
    pub(super) name: String,
    pub(super) text: String,
}

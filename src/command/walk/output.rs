//! What a command prints, where its text alone tells.

use super::{Arg, UNKNOWN};
use crate::command::judge;
use crate::command::syntax::tree::{Form, Piece, Script};

/// Programs whose output is a number, a name of a commit, a date or the like: it can neither be an option nor code.
const TAME: [&str; 20] = [
    "arch",
    "date",
    "git describe",
    "git merge-base",
    "git rev-list --count",
    "git rev-parse",
    "git symbolic-ref",
    "git branch --show-current",
    "grep -c",
    "hostname",
    "id",
    "nproc",
    "pwd",
    "realpath",
    "seq",
    "tty",
    "uname",
    "wc",
    "whoami",
    "which",
];

/// Whether the last command of `script` is one whose output has a harmless form.
pub(super) fn is_tame(script: &Script) -> bool {
    let [statement] = script.statements.as_slice() else { return false };
    let [pipeline] = statement.pipelines.as_slice() else { return false };
    let Some(Form::Simple(simple)) = pipeline.commands.last().map(|command| &command.form) else { return false };
    let words: Option<Vec<&str>> = simple
        .words
        .iter()
        .take(3)
        .map(|word| match word.pieces.as_slice() {
            [Piece::Bare(text)] => Some(text.as_str()),
            _ => None,
        })
        .take_while(Option::is_some)
        .collect();
    let start = words.unwrap_or_default().join(" ");
    TAME.into_iter().any(|known| start == known || start.strip_prefix(known).is_some_and(|rest| rest.starts_with(' ')))
}

/// What a command prints.
#[derive(Clone, Debug)]
pub(super) struct Output {
    pub(super) text: String,
    /// That, to the last character; else only what matters of it.
    pub(super) exact: bool,
}

/// What `echo` or `printf` prints, or which directories `find` walks; nothing if the text does not tell.
pub(super) fn printed(args: &[Arg]) -> Option<Output> {
    let exact = args.iter().all(Arg::is_exact)
        && args.first().is_some_and(|program| matches!(program.text.as_str(), "pwd" | "git" | "echo" | "printf"));
    printed_text(args).map(|text| Output { text, exact })
}

fn printed_text(args: &[Arg]) -> Option<String> {
    let (program, rest) = args.split_first()?;
    let texts = || rest.iter().map(|arg| arg.text.as_str());
    match program.text.as_str() {
        "pwd" if rest.is_empty() => Some(".\n".into()),
        "git" if texts().eq(["rev-parse", "--show-toplevel"]) => Some(".\n".into()),
        "ls" => Some(listed(rest)),
        "echo" => {
            let plain = |text: &&str| matches!(*text, "-n" | "-e" | "-E" | "-ne" | "-en");
            let words: Vec<&str> = texts().skip_while(plain).collect();
            let text = words.join(" ") + "\n";
            let escapes = texts().take_while(plain).any(|flag| flag.contains('e'));
            Some(if escapes { unescape(&text) } else { text })
        }
        "printf" => {
            let words: Vec<&str> = texts().filter(|text| *text != "--").collect();
            let (format, values) = words.split_first()?;
            Some(unescape(&formatted(format, values)))
        }
        "find" => {
            let roots: Vec<&str> = texts().take_while(|text| !text.starts_with(['-', '(', '!'])).collect();
            Some(if roots.is_empty() { ".\n".into() } else { roots.join("\n") + "\n" })
        }
        name => judge::printed_by_code(name, rest),
    }
}

/// What `ls` prints, as paths: the operands themselves, or something in each.
fn listed(rest: &[Arg]) -> String {
    let itself = rest.iter().any(|arg| arg.text.starts_with('-') && arg.text.contains('d'));
    let operands: Vec<&Arg> = rest.iter().filter(|arg| !arg.text.starts_with('-')).collect();
    if operands.is_empty() {
        return format!("./{UNKNOWN}\n");
    }
    let line =
        |arg: &&Arg| if itself || arg.glob { format!("{}\n", arg.text) } else { format!("{}/{UNKNOWN}\n", arg.text) };
    operands.iter().map(line).collect()
}

/// `%s` and its kin filled with the values, the format being used again while there are values.
fn formatted(format: &str, values: &[&str]) -> String {
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
            return text;
        }
    }
}

/// The escapes that `echo -e` and `printf` know.
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
            // A NUL ends a name as a line does, for those who ask for that.
            char::from_u32(value).map_or('\u{fffd}', |c| if c == '\0' { '\n' } else { c })
        };
        match kind {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'x' => out.push(number(16, 2, 0)),
            '0' => out.push(number(8, 3, 0)),
            '1'..='7' => out.push(number(8, 2, kind.to_digit(8).unwrap_or(0))),
            '\\' => out.push('\\'),
            other => out.extend(['\\', other]),
        }
    }
    out
}

//! The shape of a command for a saved decision "always": one command with its fixed words, and places for other words.
//! A shape may also cover lines in which all other parts only read.

use std::{borrow::Cow, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    evaluator,
    safe::trusted_name,
    syntax::{
        parse,
        tree::{Flow, Form, Parsed, Piece, RawWord, Redirect, Simple},
    },
    tool::{is_guarded, is_sensitive},
};

/// A parsed command that a person may permit permanently: the program, its fixed words, and the role of each other
/// word.
///
/// A line with a shape has one command of written words that is not safe. Redirections to files, expansions, wrappers,
/// shells and interpreters with code have no shape. Two lines of one command have equal shapes exactly when they differ
/// only in words with a role. A line of several commands has a shape if all other commands only read and cannot change
/// what the unsafe command does. That shape also covers other commands that only read. Display a shape in full, or do
/// not offer it.
///
/// ```
/// use bestow_command::classify;
/// let shape = |text| classify(text).shape;
/// assert_eq!(shape("git add src/a.rs"), shape("git add docs/b.md"));
/// assert_ne!(shape("git add src/a.rs"), shape("git add -f src/a.rs"));
/// assert_eq!(shape("cargo test 2>&1 | tail -5"), shape("git status; cargo test | grep FAIL"));
/// assert_eq!(shape("npm test && ./deploy"), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shape {
    program: String,
    words: Vec<ShapeWord>,
    /// True if the shape covers the command among parts that only read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    beside: bool,
    /// The directory to which the line changes before the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    directory: Option<String>,
}

/// One word after the program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ShapeWord {
    /// Exactly this word.
    Fixed(String),
    /// Any relative path below the working directory that is not sensitive.
    PathInside,
    /// Any text: a message, a title.
    Text,
}

/// The roles of the words of a program or subcommand.
struct Roles {
    command: &'static [&'static str],
    /// Options whose value is prose.
    prose: &'static [&'static str],
    /// The options that take no value, if operands are paths. The word after any other option may be its value. `None`
    /// if operands are not paths.
    paths: Option<&'static [&'static str]>,
}

/// The displayed text for a word with a role.
const PATH_INSIDE: &str = "<any path in the working directory>";
const TEXT: &str = "<any text>";
/// The displayed text for the other parts of the line.
const BESIDE: &str = " <and any parts that only read>";

/// The longest shape in bytes. A person does not read a longer text to its end before a permanent approval.
const MAX_SHOWN_BYTES: usize = 500;

const ROLES: &[Roles] = &[
    Roles { command: &["mkdir"], prose: &[], paths: Some(&["-p", "-v", "-pv", "--parents", "--verbose"]) },
    Roles { command: &["touch"], prose: &[], paths: Some(&["-a", "-c", "-m", "--no-create"]) },
    Roles {
        command: &["git", "add"],
        prose: &[],
        paths: Some(&["-f", "-n", "-v", "-N", "--force", "--dry-run", "--verbose"]),
    },
    Roles {
        command: &["git", "restore"],
        prose: &[],
        paths: Some(&["-S", "-W", "-q", "--staged", "--worktree", "--quiet"]),
    },
    Roles { command: &["git", "commit"], prose: &["-m", "--message"], paths: None },
    Roles { command: &["gh", "pr", "comment"], prose: &["-b", "--body"], paths: None },
    Roles { command: &["gh", "issue", "comment"], prose: &["-b", "--body"], paths: None },
    Roles { command: &["rustfmt"], prose: &[], paths: Some(&["--check", "-q", "-v", "--quiet", "--verbose"]) },
    Roles { command: &["gofmt"], prose: &[], paths: Some(&["-d", "-e", "-l", "-s", "-w"]) },
];

impl Shape {
    /// Returns the program as it was written.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Returns the words after the program.
    pub fn words(&self) -> &[ShapeWord] {
        &self.words
    }

    /// Returns true if the shape covers its command among any parts that only read, and not alone only.
    pub fn is_beside(&self) -> bool {
        self.beside
    }

    /// Returns the directory to which the line changes before the command, as it is written there. It is part of the
    /// shape and not of the displayed text: display it beside.
    pub fn directory(&self) -> Option<&str> {
        self.directory.as_deref()
    }

    /// Returns the shape that covers the command alone, in the directory in which the line begins.
    pub fn alone(&self) -> Shape {
        Shape { beside: false, directory: None, ..self.clone() }
    }

    /// Returns the shape that covers the command among parts that only read. `directory` is the directory to which the
    /// line changes before the command.
    pub(super) fn among_others(self, directory: Option<String>) -> Shape {
        Shape { beside: true, directory, ..self }
    }

    /// Returns the shape of a parsed text, if it has one.
    pub(super) fn of_parsed(parsed: &Parsed) -> Option<Self> {
        let [statement] = parsed.script.statements.as_slice() else { return None };
        let [pipeline] = statement.pipelines.as_slice() else { return None };
        let [command] = pipeline.commands.as_slice() else { return None };
        let Form::Simple(simple) = &command.form else { return None };
        if statement.background || !command.redirects.iter().all(is_given) {
            return None;
        }
        Shape::of_command(simple)
    }

    /// Returns the shape of one command, without its redirections.
    pub(super) fn of_command(simple: &Simple) -> Option<Self> {
        if !simple.assignments.is_empty() {
            return None;
        }
        let (program, rest) = simple.words.split_first()?;
        let program = written(program)?;
        let name = trusted_name(&program).filter(|_| program.is_ascii())?;
        let mut words: Vec<String> = Vec::with_capacity(rest.len());
        for word in rest {
            words.push(written(word)?.into_owned());
        }
        if evaluator::runs_text(name, &words) {
            return None;
        }
        let words = roles(name, words);
        let shape = Shape { program: program.into_owned(), words, beside: false, directory: None };
        // A shape that cannot be displayed in full is not offered.
        shape.show(&mut Room(MAX_SHOWN_BYTES)).is_ok().then_some(shape)
    }
}

/// The number of bytes that can still be displayed.
struct Room(usize);

impl fmt::Write for Room {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = self.0.checked_sub(text.len()).ok_or(fmt::Error)?;
        Ok(())
    }
}

/// Returns true for the redirection `0<&0`, which changes nothing. It marks a command that is given an input.
fn is_given(redirect: &Redirect) -> bool {
    let from = matches!(redirect.target.pieces.as_slice(), [Piece::Bare(text)] if text == "0");
    redirect.flow == Flow::Duplicate && redirect.descriptor == Some(0) && from
}

/// Returns the text of a word without expansions.
pub(super) fn written(word: &RawWord) -> Option<Cow<'_, str>> {
    match word.pieces.as_slice() {
        [piece] => text(piece).map(Cow::Borrowed),
        pieces => pieces.iter().map(text).collect::<Option<String>>().map(Cow::Owned),
    }
}

/// Returns the text of a piece that is no expansion.
fn text(piece: &Piece) -> Option<&str> {
    match piece {
        Piece::Bare(text) if text.contains('{') => None,
        Piece::Bare(text) | Piece::Quoted(text) => Some(text.as_str()),
        Piece::Element | Piece::Glob(_) | Piece::Tilde(_) | Piece::Parameter(_) => None,
        Piece::Command { .. } | Piece::Process(_) | Piece::Arithmetic(_) => None,
    }
}

fn roles(name: &str, rest: Vec<String>) -> Vec<ShapeWord> {
    let row = ROLES.iter().find(|row| {
        let mut command = row.command.iter();
        command.next() == Some(&name)
            && command.len() <= rest.len()
            && command.zip(&rest).all(|(wanted, word)| wanted == word)
    });
    let Some(row) = row else { return rest.into_iter().map(ShapeWord::Fixed).collect() };
    let (mut prose, mut value) = (false, false);
    let subcommand = row.command.len() - 1;
    rest.into_iter()
        .enumerate()
        .map(|(index, word)| {
            let text = std::mem::replace(&mut prose, row.prose.contains(&word.as_str()));
            let alone = |flags: &[&str]| word == "--" || flags.contains(&word.as_str());
            let value = std::mem::replace(&mut value, word.starts_with('-') && !row.paths.is_some_and(alone));
            match word {
                word if index < subcommand => ShapeWord::Fixed(word),
                _ if text => ShapeWord::Text,
                word if row.paths.is_some() && !value && is_inside(&word) => ShapeWord::PathInside,
                word => ShapeWord::Fixed(word),
            }
        })
        .collect()
}

fn is_inside(word: &str) -> bool {
    // `./` is the whole directory, and not a path inside it.
    let itself = word.split('/').all(|part| matches!(part, "" | "."));
    let starts_elsewhere = word.starts_with(['-', '/', '~', ':', '+', '!', '@']) || itself;
    // Some programs expand patterns themselves: `'*'` matches all files, even if the shell does not expand it.
    let means_more = word.contains(['=', '*', '?', '[', '\\']) || word.contains("://");
    !starts_elsewhere && !means_more && !is_sensitive(word) && !is_guarded(word)
}

impl Shape {
    /// Writes the displayed text.
    fn show(&self, out: &mut impl fmt::Write) -> fmt::Result {
        fixed(out, &self.program)?;
        for word in &self.words {
            out.write_str(" ")?;
            match word {
                ShapeWord::Fixed(text) => fixed(out, text)?,
                ShapeWord::PathInside => out.write_str(PATH_INSIDE)?,
                ShapeWord::Text => out.write_str(TEXT)?,
            }
        }
        if self.beside { out.write_str(BESIDE) } else { Ok(()) }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show(f)
    }
}

/// Writes a fixed word. It is quoted if it may be mistaken for another word, several words, or shell syntax.
fn fixed(out: &mut impl fmt::Write, text: &str) -> fmt::Result {
    let is_sign = |byte: u8| {
        matches!(byte, b'\'' | b'"' | b'\\' | b'<' | b'>' | b'$' | b'`' | b';' | b'&' | b'|' | b'(' | b')' | b'*')
            || matches!(byte, b'?' | b'[' | b']' | b'{' | b'}' | b'~' | b'#' | b'!')
    };
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !is_sign(byte);
    if !text.is_empty() && text.bytes().all(is_plain) { out.write_str(text) } else { write!(out, "{text:?}") }
}

/// The error for a text that does not display a [`Shape`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidShape;

impl fmt::Display for InvalidShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "no command has this shape: write it as `bestow classify` shows what `always` would remember, with \
             `<and any parts that only read>` at its end for a line of several commands",
        )
    }
}

impl std::error::Error for InvalidShape {}

/// Parses exactly the text that [`Shape`] displays. Two shapes without a directory have equal texts only if they are
/// equal.
impl FromStr for Shape {
    type Err = InvalidShape;

    fn from_str(text: &str) -> Result<Shape, InvalidShape> {
        if let Some(text) = text.strip_suffix(BESIDE) {
            let alone: Shape = text.parse()?;
            return if alone.beside { Err(InvalidShape) } else { Ok(alone.among_others(None)) };
        }
        let (mut words, mut rest) = (Vec::new(), text);
        loop {
            let (word, after) = word(rest).ok_or(InvalidShape)?;
            words.push(word);
            match after.strip_prefix(' ') {
                Some(after) => rest = after,
                None if after.is_empty() => break,
                None => return Err(InvalidShape),
            }
        }
        let mut words = words.into_iter();
        let Some(ShapeWord::Fixed(program)) = words.next() else { return Err(InvalidShape) };
        let shape = Shape { program, words: words.collect(), beside: false, directory: None };
        // The shape is checked against its own example command. Thus a file cannot contain a shape that was never
        // offered.
        let command = parse(&shape.example());
        let is_one = shape.to_string() == text && Shape::of_parsed(&command).as_ref() == Some(&shape);
        is_one.then_some(shape).ok_or(InvalidShape)
    }
}

impl Shape {
    /// Returns a command line of this shape.
    pub fn example(&self) -> String {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
        let word = |word: &ShapeWord| match word {
            ShapeWord::Fixed(text) => quoted(text),
            ShapeWord::PathInside | ShapeWord::Text => "x".to_owned(),
        };
        let words = self.words.iter().map(word);
        let command = std::iter::once(quoted(&self.program)).chain(words).collect::<Vec<_>>().join(" ");
        let entered =
            self.directory.iter().map(|directory| format!("cd {} && ", quoted(directory))).collect::<String>();
        let read = if self.beside { " | cat" } else { "" };
        format!("{entered}{command}{read}")
    }
}

/// Parses the displayed word at the beginning of `text`. Returns the word and the remaining text.
fn word(text: &str) -> Option<(ShapeWord, &str)> {
    if let Some(rest) = text.strip_prefix(PATH_INSIDE) {
        return Some((ShapeWord::PathInside, rest));
    }
    if let Some(rest) = text.strip_prefix(TEXT) {
        return Some((ShapeWord::Text, rest));
    }
    match text.strip_prefix('"') {
        Some(inside) => unquoted(inside).map(|(text, rest)| (ShapeWord::Fixed(text), rest)),
        None => {
            let (word, rest) = text.split_at_checked(text.find(' ').unwrap_or(text.len()))?;
            Some((ShapeWord::Fixed(word.to_owned()), rest))
        }
    }
}

/// Parses a quoted text. Returns the text before the closing quotation mark, and the remaining text.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let (mut word, mut chars) = (String::new(), text.chars());
    loop {
        match chars.next()? {
            '"' => return Some((word, chars.as_str())),
            '\\' => word.push(match chars.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                '0' => '\0',
                'u' => {
                    let (code, rest) = chars.as_str().strip_prefix('{')?.split_once('}')?;
                    chars = rest.chars();
                    char::from_u32(u32::from_str_radix(code, 16).ok()?)?
                }
                other => other,
            }),
            other => word.push(other),
        }
    }
}

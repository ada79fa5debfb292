//! The shape of a command for a saved decision "always": one command with its fixed words, and places for other words,
//! or several such commands of which each must succeed before the next one runs. A shape may also cover lines in which
//! all other parts only read.

use std::{borrow::Cow, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    builtins::is_builtin,
    evaluator,
    needs::{end_of_form, own_words},
    programs,
    safe::trusted_name,
    span::Span,
    syntax::{
        parse,
        tree::{Assignment, Command, Flow, Form, Joint, Parsed, Piece, RawWord, Redirect, Simple},
    },
    tier::Tier,
    tool::{is_guarded, is_sensitive},
    values::base_name,
    variables,
    word::Word,
};

/// A parsed command that a person may permit permanently: the program, its fixed words, and the role of each other
/// word.
///
/// A line with a shape has one command of written words that is not safe. Expansions, and interpreters with code, have
/// no shape. Two lines of one command have equal shapes exactly when they differ only in words with a role. A line of
/// several commands has a shape if all other commands only read and cannot change what the unsafe command does. That
/// shape also covers other commands that only read. A list of commands that are joined with `&&` has the shape of all
/// of them, in this order. Display a shape in full, or do not offer it.
///
/// ```
/// use bestow_command::classify;
/// let shape = |text| classify(text).shape;
/// assert_eq!(shape("git add src/a.rs"), shape("git add docs/b.md"));
/// assert_ne!(shape("git add src/a.rs"), shape("git add -f src/a.rs"));
/// assert_eq!(shape("cargo test 2>&1 | tail -5"), shape("git status; cargo test | grep FAIL"));
/// assert_eq!(shape("npm ci && ./deploy").unwrap().to_string(), "npm ci && ./deploy");
/// assert_eq!(shape("npm test; ./deploy"), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shape {
    /// The commands that must have succeeded before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    before: Vec<Shape>,
    /// The variables that are set for the command, none of which steers a program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    variables: Vec<Variable>,
    program: String,
    words: Vec<ShapeWord>,
    /// The file that receives the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    /// True if the shape covers the command among parts that only read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    beside: bool,
    /// The directory to which the line changes before the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    directory: Option<String>,
}

/// A variable and its value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Variable {
    name: String,
    value: String,
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
/// The displayed texts between two commands, and before the file that receives the output.
const AND: &str = " && ";
const INTO: &str = " > ";

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

    /// Returns the shape of a parsed text that is one command, if it has one.
    pub(super) fn of_parsed(parsed: &Parsed) -> Option<Self> {
        let [statement] = parsed.script.statements.as_slice() else { return None };
        let [pipeline] = statement.pipelines.as_slice() else { return None };
        let [command] = pipeline.commands.as_slice() else { return None };
        if statement.background || pipeline.negated {
            return None;
        }
        Shape::of_one(command)
    }

    /// Returns the shape of a parsed text that is a list of commands which are joined with `&&`, if it has one. None of
    /// them changes the shell in which the others start.
    pub(super) fn of_list(parsed: &Parsed) -> Option<Self> {
        let [statement] = parsed.script.statements.as_slice() else { return None };
        let (last, before) = statement.pipelines.as_slice().split_last()?;
        if statement.background || before.is_empty() {
            return None;
        }
        let mut shapes = Vec::with_capacity(before.len());
        for pipeline in before.iter().chain([last]) {
            let [command] = pipeline.commands.as_slice() else { return None };
            if pipeline.joint == Joint::Or || pipeline.negated {
                return None;
            }
            shapes.push(Shape::of_one(command).filter(|shape| !is_builtin(&shape.program))?);
        }
        let last = shapes.pop()?;
        Shape { before: shapes, ..last }.if_shown_whole()
    }

    /// Returns the shape of a command with its redirections.
    fn of_one(command: &Command) -> Option<Self> {
        let Form::Simple(simple) = &command.form else { return None };
        let output = output_of(&command.redirects)?;
        Shape { output, ..Shape::of_command(simple)? }.if_shown_whole()
    }

    /// Returns the shape of one command, without its redirections.
    pub(super) fn of_command(simple: &Simple) -> Option<Self> {
        let variables = simple.assignments.iter().map(harmless).collect::<Option<Vec<_>>>()?;
        let (program, rest) = simple.words.split_first()?;
        let program = written(program)?;
        let name = name_of(&program)?;
        let mut words: Vec<String> = Vec::with_capacity(rest.len());
        for word in rest {
            words.push(written(word)?.into_owned());
        }
        if !starts_what_is_said(name, &words) {
            return None;
        }
        let words = roles(name, words);
        let program = program.into_owned();
        let (before, output, directory) = (Vec::new(), None, None);
        Shape { before, variables, program, words, output, beside: false, directory }.if_shown_whole()
    }

    /// Returns the shape, unless it is too long to be displayed in full. Such a shape is not offered.
    fn if_shown_whole(self) -> Option<Self> {
        self.show(&mut Room(MAX_SHOWN_BYTES)).is_ok().then_some(self)
    }
}

/// Returns the name of a program: of one that is trusted, or of one of the project (`./gradlew`).
fn name_of(program: &str) -> Option<&str> {
    let is_of_project = program.contains('/')
        && !program.starts_with(['/', '~', '-'])
        && program
            .split('/')
            .enumerate()
            .all(|(at, part)| !part.is_empty() && part != ".." && (part != "." || at == 0))
        && !is_sensitive(program)
        && !is_guarded(program);
    let name = if is_of_project { Some(base_name(program)) } else { trusted_name(program) };
    name.filter(|_| program.is_ascii())
}

/// Wrappers that start the command behind their own words, and change neither its words nor its files.
const HANDS_ON: &[&str] = &["bunx", "gtimeout", "ionice", "nice", "nohup", "npx", "pnpx", "stdbuf", "time", "timeout"];

/// The limit of programs that start each other in one command.
const MAX_STARTED: usize = 8;

/// Returns true if the words say what runs: a program that runs no text, or the same behind wrappers and runners.
fn starts_what_is_said(name: &str, rest: &[String]) -> bool {
    let (mut name, mut rest) = (name, rest);
    for _ in 0..MAX_STARTED {
        if let Some(text) = text_of_shell(name, rest) {
            let parsed = parse(text);
            return parsed.understood() && (Shape::of_parsed(&parsed).is_some() || Shape::of_list(&parsed).is_some());
        }
        if !evaluator::runs_text(name, rest) {
            return true;
        }
        let Some(at) = started_command(name, rest) else { return false };
        let Some((program, behind)) = rest.get(at..).and_then(<[String]>::split_first) else { return false };
        let Some(started) = name_of(program) else { return false };
        (name, rest) = (started, behind);
    }
    false
}

/// Returns the position of the command that a wrapper or a runner starts.
fn started_command(name: &str, rest: &[String]) -> Option<usize> {
    let known = programs::find(name)?;
    let words: Vec<Word> = rest.iter().map(|word| Word::literal(word.as_str(), Span::default())).collect();
    if HANDS_ON.contains(&name) {
        let own = own_words(name, known, &words);
        // The value of `npx -c` is code.
        let is_runner = matches!(name, "bunx" | "npx" | "pnpx");
        let has_code = |word: &String| is_runner && (word.starts_with("-c") || word.starts_with("--call"));
        return Some(own).filter(|own| !rest.iter().take(*own).any(has_code));
    }
    let mut forms = known.passes.iter().filter_map(|form| form.strip_suffix('>'));
    forms.find_map(|form| end_of_form(form, true, known, &words))
}

/// Returns the text that a shell runs as its only command: `bash -lc 'npm test'`.
fn text_of_shell<'w>(name: &str, rest: &'w [String]) -> Option<&'w str> {
    let [option, text] = rest else { return None };
    let is_shell = matches!(name, "bash" | "dash" | "sh" | "zsh");
    (is_shell && matches!(option.as_str(), "-c" | "-lc")).then_some(text)
}

/// Returns a variable that only changes how a program reports, with its value.
fn harmless(assignment: &Assignment) -> Option<Variable> {
    let value = written(&assignment.value).filter(|_| !assignment.partial && !assignment.appends)?.into_owned();
    let verdict = variables::evaluate(&assignment.name, &Word::literal(value.as_str(), Span::default()), false);
    (verdict.tier == Tier::Safe).then(|| Variable { name: assignment.name.to_string(), value })
}

/// Returns the file inside the working directory that receives the output, if there is one. Returns none for other
/// redirections.
fn output_of(redirects: &[Redirect]) -> Option<Option<String>> {
    let mut output = None;
    for redirect in redirects {
        let is_output = !redirect.unusual && !redirect.named && matches!(redirect.descriptor, None | Some(1));
        let joins_errors = redirect.flow == Flow::Duplicate
            && redirect.descriptor == Some(2)
            && output.is_some()
            && matches!(redirect.target.pieces.as_slice(), [Piece::Bare(text)] if text == "1");
        if is_given(redirect) || joins_errors {
            continue;
        }
        let target = written(&redirect.target)?;
        if redirect.flow != Flow::Write || !is_output || output.is_some() || !is_inside(&target) || !target.is_ascii() {
            return None;
        }
        output = Some(target.into_owned());
    }
    Some(output)
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
        for shape in &self.before {
            shape.show(out)?;
            out.write_str(AND)?;
        }
        for Variable { name, value } in &self.variables {
            write!(out, "{name}=")?;
            fixed(out, value)?;
            out.write_str(" ")?;
        }
        if self.program.contains('=') {
            write!(out, "{:?}", self.program)?
        } else {
            fixed(out, &self.program)?
        }
        for word in &self.words {
            out.write_str(" ")?;
            match word {
                ShapeWord::Fixed(text) => fixed(out, text)?,
                ShapeWord::PathInside => out.write_str(PATH_INSIDE)?,
                ShapeWord::Text => out.write_str(TEXT)?,
            }
        }
        if let Some(output) = &self.output {
            out.write_str(INTO)?;
            fixed(out, output)?;
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
            let is_one = !alone.beside && alone.before.is_empty() && alone.output.is_none();
            return if is_one { Ok(alone.among_others(None)) } else { Err(InvalidShape) };
        }
        let shape = Shape::read(text).ok_or(InvalidShape)?;
        // The shape is checked against its own example command. Thus a file cannot contain a shape that was never
        // offered.
        let command = parse(&shape.example());
        let offered = if shape.before.is_empty() { Shape::of_parsed(&command) } else { Shape::of_list(&command) };
        let is_offered = shape.to_string() == text && offered.as_ref() == Some(&shape);
        is_offered.then_some(shape).ok_or(InvalidShape)
    }
}

impl Shape {
    /// Parses a displayed text. The caller checks that a line may have the shape.
    fn read(text: &str) -> Option<Shape> {
        let (mut before, mut rest) = (Vec::new(), text);
        loop {
            let (shape, after) = Shape::read_one(rest)?;
            match after.strip_prefix(AND) {
                Some(after) => {
                    before.push(shape);
                    rest = after;
                }
                None => return after.is_empty().then_some(Shape { before, ..shape }),
            }
        }
    }

    /// Parses one command at the beginning of `text`. Returns the remaining text.
    fn read_one(text: &str) -> Option<(Shape, &str)> {
        let (mut variables, mut rest) = (Vec::new(), text);
        while let Some((name, behind)) = rest.split_once('=').filter(|(name, _)| is_variable(name)) {
            let (ShapeWord::Fixed(value), after) = word(behind)? else { return None };
            variables.push(Variable { name: name.to_owned(), value });
            rest = after.strip_prefix(' ')?;
        }
        let (ShapeWord::Fixed(program), after) = word(rest)? else { return None };
        let (mut words, mut output) = (Vec::new(), None);
        rest = after;
        while !rest.is_empty() && !rest.starts_with(AND) {
            if let Some(file) = rest.strip_prefix(INTO) {
                let (ShapeWord::Fixed(file), after) = word(file)? else { return None };
                (output, rest) = (Some(file), after);
                break;
            }
            let (next, after) = word(rest.strip_prefix(' ')?)?;
            words.push(next);
            rest = after;
        }
        let shape = Shape { before: Vec::new(), variables, program, words, output, beside: false, directory: None };
        Some((shape, rest))
    }
}

/// Returns true for the name of a variable of a shell.
fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
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
        let set = self.variables.iter().map(|Variable { name, value }| format!("{name}={}", quoted(value)));
        let command = set.chain([quoted(&self.program)]).chain(words).collect::<Vec<_>>().join(" ");
        let before = self.before.iter().map(|shape| shape.example() + AND).collect::<String>();
        let entered =
            self.directory.iter().map(|directory| format!("cd {} && ", quoted(directory))).collect::<String>();
        let into = self.output.iter().map(|output| format!("{INTO}{}", quoted(output))).collect::<String>();
        let read = if self.beside { " | cat" } else { "" };
        format!("{before}{entered}{command}{into}{read}")
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

//! The classifier, which combines a profile, custom rules and declared tools.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::{
    addition::Additions,
    addition_check::InvalidAddition,
    beside,
    classification::{Classification, Judged},
    evaluator::{self, Programs},
    interpreter::{Dialect, Interpreter},
    part::{Part, RecordedPart},
    rules::Rules,
    shape::Shape,
    span::Span,
    spelling::{GIVEN, quoted},
    surroundings::Surroundings,
    syntax::{self, tree::Parsed},
    tier::{Profile, Tier},
    tool::{sensitive, words_in},
    values::{CommandRules, SensitiveName, Shell, Spoken, Tools, base_name},
};

/// The longest text that can be proven safe, in characters.
const MAX_SAFE_CHARS: usize = 10_000;

/// Assigns tiers to commands and tool calls.
///
/// ```
/// use bestow_command::{Classifier, Profile, Tier};
/// let strict = Classifier::new(Profile::Strict);
/// assert_eq!(strict.classify("curl https://example.com").tier, Tier::Dangerous);
/// assert_eq!(strict.classify("ls -la | wc -l").tier, Tier::Safe);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Classifier {
    rules: Rules,
    /// The sensitive names in addition to the built-in ones.
    sensitive: Arc<[SensitiveName]>,
    tools: Arc<Tools>,
}

/// The limit of word lists in a tool input that are tried as extra arguments of a command line.
const MAX_BEHIND: usize = 64;

impl Classifier {
    /// Creates a classifier with the built-in rules.
    pub fn new(profile: Profile) -> Self {
        Classifier { rules: Rules { profile, ..Rules::default() }, ..Classifier::default() }
    }

    /// Returns this classifier with custom rules. These rules were checked when they were created.
    pub fn with_additions(self, additions: Additions) -> Self {
        Classifier { rules: Rules { additions, ..self.rules }, ..self }
    }

    /// Returns this classifier for a shell that is not fresh: earlier calls may have set any variable to any value.
    /// Then the name of a variable says nothing about its value.
    ///
    /// ```
    /// use bestow_command::{Classifier, Tier};
    /// assert_eq!(Classifier::default().classify("sort $TMPDIR/x").tier, Tier::Safe);
    /// assert_eq!(Classifier::default().in_used_shell().classify("sort $TMPDIR/x").tier, Tier::Dangerous);
    /// ```
    pub fn in_used_shell(self) -> Self {
        Classifier { rules: Rules { used_shell: true, ..self.rules }, ..self }
    }

    /// Returns this classifier for lines that this shell runs. Without one, a line is safe only if it is in bash, dash
    /// and zsh.
    ///
    /// ```
    /// use bestow_command::{Classifier, Tier, values::Shell};
    /// let line = "ls *(e:'touch x':)";
    /// assert_eq!(Classifier::default().classify(line).tier, Tier::Dangerous);
    /// assert_eq!(Classifier::default().in_shell(Shell::Other).classify("ls").tier, Tier::Dangerous);
    /// assert_eq!(Classifier::default().in_shell(Shell::Zsh).classify("ls -la | wc -l").tier, Tier::Safe);
    /// ```
    pub fn in_shell(&self, shell: Shell) -> Classifier {
        Classifier { rules: Rules { shell, ..self.rules.clone() }, ..self.clone() }
    }

    /// Returns this classifier for lines that this shell runs, unless a caller has named the shell.
    pub(super) fn run_by(&self, shell: Shell) -> Classifier {
        if self.rules.shell == Shell::Unknown { self.in_shell(shell) } else { self.clone() }
    }

    /// Creates a classifier from the profile and the custom rules of `rules`. It does not run the examples again:
    /// [`Additions::check`] does this when a person writes the rules.
    ///
    /// # Errors
    ///
    /// Returns the first addition that is malformed.
    pub fn with_rules(rules: &CommandRules) -> Result<Self, InvalidAddition> {
        Ok(Classifier::new(rules.profile).with_additions(Additions::of(rules)?))
    }

    /// Returns this classifier for lines that run with these directories.
    #[doc(hidden)]
    pub fn within(&self, surroundings: &Arc<Surroundings>) -> Classifier {
        let surroundings = Arc::clone(surroundings);
        Classifier { rules: Rules { surroundings, ..self.rules.clone() }, ..self.clone() }
    }

    /// Returns this classifier with sensitive names in addition to the built-in ones.
    #[doc(hidden)]
    pub fn guarding(self, sensitive: &Arc<[SensitiveName]>) -> Classifier {
        Classifier { sensitive: Arc::clone(sensitive), ..self }
    }

    /// Returns this classifier with declared tools in addition to the built-in ones.
    pub fn with_tools(self, tools: impl Into<Arc<Tools>>) -> Self {
        Classifier { tools: tools.into(), ..self }
    }

    #[doc(hidden)]
    pub fn tools(&self) -> &Tools {
        &self.tools
    }

    /// Returns this classifier with the strict profile.
    #[doc(hidden)]
    pub fn strictly(&self) -> Classifier {
        Classifier { rules: Rules { profile: Profile::Strict, ..self.rules.clone() }, ..self.clone() }
    }

    pub(super) fn profile(&self) -> Profile {
        self.rules.profile
    }

    /// Returns the tier of a command line: the tier of the strictest part that may run.
    pub fn classify(&self, text: &str) -> Classification {
        self.follow(text, false).classification
    }

    /// Returns the classification of a command line with the commands that it may start and the resources that it
    /// names.
    #[doc(hidden)]
    pub fn judge(&self, text: &str) -> Judged {
        self.follow(text, true)
    }

    /// Returns the tier of a command line that a tool runs with further inputs, such as a directory or an environment.
    pub(super) fn classify_with(&self, text: &str, besides: &Map<String, Value>) -> Classification {
        self.follow_with(text, besides, false).classification
    }

    /// Returns the classification of such a command line with the commands and the resources of the line and the
    /// inputs.
    #[doc(hidden)]
    pub fn judge_with(&self, text: &str, besides: &Map<String, Value>) -> Judged {
        self.follow_with(text, besides, true)
    }

    /// Follows a command line with further inputs. These inputs may change what the command does, so the result is at
    /// least dangerous if there are any.
    fn follow_with(&self, text: &str, besides: &Map<String, Value>, is_asked: bool) -> Judged {
        let starts = |value: &Value| -> Vec<Spoken> {
            let variables = value.as_object().filter(|_| is_asked).into_iter().flatten();
            variables.flat_map(|(name, value)| self.started_by(name, value)).collect()
        };
        let with = |judged: Judged, (key, value): (&String, &Value)| judged.with(key, starts(value));
        let mut judged = besides.iter().fold(self.follow(text, is_asked), with);
        let mut behind = besides.values().flat_map(words_in);
        for words in behind.by_ref().take(MAX_BEHIND) {
            judged = judged.and(self.follow(&format!("{text} {words}"), is_asked));
        }
        if behind.next().is_some() {
            judged.named.lose_words();
        }
        judged
    }

    /// Returns the tier of running the program file at `path` with unknown arguments and unknown input, with the
    /// resources. The arguments are only added for a program on some list. For any other program they make no
    /// difference.
    #[doc(hidden)]
    pub fn judge_program(&self, path: &str) -> Judged {
        let words = if evaluator::is_known(base_name(path)) { " $words" } else { "" };
        self.judge(&format!("{}{words} {GIVEN}", quoted(path)))
    }

    /// Returns the commands that an environment variable may start.
    fn started_by(&self, name: &str, value: &Value) -> Vec<Spoken> {
        let Value::String(value) = value else { return Vec::new() };
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_name || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Vec::new();
        }
        let line = format!("{name}='{}' :", value.replace('\'', "'\\''"));
        self.judge(&line).commands.into_iter().flat_map(|part| part.starts).collect()
    }

    /// Returns the tier of a command line that may not be valid UTF-8. If it is not, the result is at least dangerous,
    /// and spans refer to the text in which `U+FFFD` replaces each invalid sequence.
    pub fn classify_bytes(&self, bytes: &[u8]) -> Classification {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.classify(text),
            Err(_) => self.classify(&String::from_utf8_lossy(bytes)).at_least_dangerous("not UTF-8"),
        }
    }

    /// Returns the work that following a line takes, in units that do not depend on the machine.
    #[cfg(test)]
    pub(super) fn work(&self, text: &str) -> usize {
        let programs = Programs::new(&self.rules);
        let mut interpreter = Interpreter::new(&programs, text).asked();
        interpreter.run_script(&syntax::parse(text), None);
        interpreter.budget.work()
    }

    /// Follows a text. If nobody asks for its commands and its resources, they are not recorded.
    fn follow(&self, text: &str, is_asked: bool) -> Judged {
        let parsed = syntax::parse(text);
        let understood = parsed.understood();
        let programs = Programs::new(&self.rules);
        let mut interpreter = Interpreter::new(&programs, text);
        if is_asked {
            interpreter = interpreter.asked();
        }
        follow(&mut interpreter, &programs, &parsed);
        let named = interpreter.uses.settled(text);
        if understood && interpreter.parts.is_empty() && is_comment(text) {
            return Judged { named, ..Judged::plain(Tier::Safe, "nothing but comments") };
        }
        let mut parts = interpreter.parts;
        let shape = if understood { self.shape(text, &parsed, &parts, is_asked) } else { None };
        let mut shown = Vec::with_capacity(parts.len());
        for part in parts.iter_mut().filter(|part| !part.is_repeated) {
            shown.push(Part::new(part.tier, std::mem::take(&mut part.rule), text, part.span));
        }
        let classification = Classification { understood, shape, ..Classification::of_parts(shown) };
        let commands = if is_asked { parts.into_iter().map(RecordedPart::into_spoken).collect() } else { Vec::new() };
        Judged { classification, commands, named }
    }

    /// Returns the shape of a dangerous line, or that of its only unsafe part if no other part can change what it does.
    /// Custom rules do not count for the other parts: a person may have declared a function of the shell safe.
    fn shape(&self, text: &str, parsed: &Parsed, parts: &[RecordedPart], is_asked: bool) -> Option<Shape> {
        let tier = parts.iter().map(|part| part.tier).max().unwrap_or(Tier::Dangerous);
        if tier != Tier::Dangerous {
            return None;
        }
        if let Some(shape) = Shape::of_parsed(parsed) {
            return Some(shape);
        }
        let Some(only) = beside::only_unsafe(parts).map(|part| part.span) else { return Shape::of_list(parsed) };
        let shape = beside::shape(&parsed.script, only)?;
        let asked;
        let parts = if is_asked {
            parts
        } else {
            asked = asked_parts(text, parsed, &self.rules);
            &asked
        };
        if beside::may_fetch(parts, only) {
            return None;
        }
        if self.rules.additions.declare_nothing() {
            return Some(shape);
        }
        let rules = Rules { additions: Additions::default(), ..self.rules.clone() };
        (beside::only_unsafe(&asked_parts(text, parsed, &rules))?.span == only).then_some(shape)
    }

    /// Returns the tier of reading a file, and the reason.
    #[doc(hidden)]
    pub fn reading(&self, path: &str) -> (Tier, &'static str) {
        sensitive::reading(self.rules.profile, path)
    }

    /// Returns the tier of writing a file, and the reason.
    #[doc(hidden)]
    pub fn writing(&self, path: &str) -> (Tier, &'static str) {
        sensitive::writing(path, &self.sensitive)
    }
}

/// Returns the parts of a text with the commands that they may start.
fn asked_parts(text: &str, parsed: &Parsed, rules: &Rules) -> Vec<RecordedPart> {
    let programs = Programs::new(rules);
    let mut interpreter = Interpreter::new(&programs, text).asked();
    follow(&mut interpreter, &programs, parsed);
    interpreter.parts
}

/// Follows the parsed text of an interpreter, and everything in it that was not understood.
fn follow(interpreter: &mut Interpreter<'_>, programs: &Programs<'_>, parsed: &Parsed) {
    let text = interpreter.text;
    let whole = Span { start: 0, end: text.len() };
    if programs.in_used_shell() {
        interpreter.scope.forget();
    }
    interpreter.dialect = Dialect::of_shell(programs.shell());
    if !interpreter.dialect.reads(text, parsed) {
        interpreter.record_part(Tier::Dangerous, otherwise_read(programs.shell()), whole);
        interpreter.raw_search(text, whole);
    }
    let understood = parsed.understood();
    let fault = parsed.faults.first().map_or("not understood", |fault| fault.why);
    let at = parsed.faults.first().map_or(0, |fault| fault.at.min(text.len()));
    interpreter.run_script(parsed, None);
    interpreter.run_traps();
    if !understood {
        let rest = Span { start: at, end: text.len() };
        interpreter.record_part(Tier::Dangerous, format!("not understood: {fault}"), rest);
        interpreter.raw_search(text, whole);
    }
    if text.len() > MAX_SAFE_CHARS && text.chars().nth(MAX_SAFE_CHARS).is_some() {
        interpreter.record_part(Tier::Dangerous, "too long to be proven safe", whole);
    }
    search_statement(text, interpreter, whole);
}

/// Returns the reason why a line is not known to do the same in a shell as in bash.
fn otherwise_read(shell: Shell) -> String {
    match shell {
        Shell::Unknown => "dash or zsh would run it otherwise than bash does, and the shell is not known".to_owned(),
        Shell::Other => "the shell is none whose language is known: bash, dash and zsh are".to_owned(),
        Shell::Bash | Shell::Dash | Shell::Zsh => format!("{shell} may run it otherwise than bash does"),
    }
}

/// Also evaluates the whole text as one SQL statement, because a bare statement may contain shell operators.
fn search_statement(text: &str, interpreter: &mut Interpreter<'_>, whole: Span) {
    if let Some(verdict) = evaluator::statement(text.trim()) {
        interpreter.record_part(verdict.tier, verdict.rule, whole);
    }
}

/// Returns true if a text has comments and no other content.
fn is_comment(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start).filter(|line| !line.is_empty()).peekable();
    lines.peek().is_some() && lines.all(|line| line.starts_with('#'))
}

/// Returns the tier of a command line, with the built-in rules of the default profile.
///
/// ```
/// use bestow_command::{Tier, classify};
/// assert_eq!(classify("git log --oneline | head -5").tier, Tier::Safe);
/// assert_eq!(classify("git push origin main").tier, Tier::Dangerous);
/// assert_eq!(classify("ls && r''m -fr /").tier, Tier::Destructive);
/// ```
pub fn classify(text: &str) -> Classification {
    Classifier::default().classify(text)
}

//! The classifier: a profile, what a person added, and one function.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::model::{CommandRules, GIVEN, SensitiveName, Settings, Spoken, Tools};

use super::{
    addition::{Additions, InvalidAddition},
    answer::{Classification, Span},
    judge::{Input, basename, is_known},
    shape::Shape,
    spelling::quoted,
    syntax,
    tier::{Profile, Tier},
    tool,
    walk::Walker,
};

/// The longest text that can be proven safe, in characters.
const MAX_SAFE_CHARS: usize = 10_000;

/// Sorts commands and tool calls into tiers.
///
/// ```
/// use bestow::command::{Classifier, Profile, Tier};
/// let strict = Classifier::new(Profile::Strict);
/// assert_eq!(strict.classify("curl https://example.com").tier, Tier::Dangerous);
/// assert_eq!(strict.classify("ls -la | wc -l").tier, Tier::Safe);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Classifier {
    profile: Profile,
    additions: Additions,
    /// Names that are sensitive besides the built-in ones.
    sensitive: Arc<[SensitiveName]>,
    tools: Arc<Tools>,
}

/// The most lists of words that may be those of a command line and are told besides it.
const MAX_BEHIND: usize = 64;

impl Classifier {
    /// A classifier with the built-in rules.
    pub fn new(profile: Profile) -> Self {
        Classifier { profile, ..Classifier::default() }
    }

    /// The same with rules of a person's own. They have been checked when they were made.
    pub fn with_additions(self, additions: Additions) -> Self {
        Classifier { additions, ..self }
    }

    /// A classifier for `rules`: their profile, and what they add. Their examples are not run again; that is
    /// [`Additions::check`], and is done when they are written down.
    ///
    /// # Errors
    ///
    /// The first addition that is malformed.
    pub fn with_rules(rules: &CommandRules) -> Result<Self, InvalidAddition> {
        Ok(Classifier::new(rules.profile).with_additions(Additions::of(rules)?))
    }

    /// Adds names that are sensitive besides the built-in ones.
    pub(crate) fn guarding(self, sensitive: &Arc<[SensitiveName]>) -> Classifier {
        Classifier { sensitive: Arc::clone(sensitive), ..self }
    }

    /// The same, where these tools are declared besides the built-in ones.
    pub fn with_tools(self, tools: impl Into<Arc<Tools>>) -> Self {
        Classifier { tools: tools.into(), ..self }
    }

    /// A classifier for `settings`: their rules for commands and their tools.
    pub(crate) fn for_settings(settings: &Settings) -> Result<Self, InvalidAddition> {
        Ok(Classifier::with_rules(&settings.commands)?.with_tools(settings.tools.clone()).guarding(&settings.sensitive))
    }

    pub(crate) fn tools(&self) -> &Tools {
        &self.tools
    }

    /// The same, but drawing the stricter line.
    pub(crate) fn strictly(&self) -> Classifier {
        Classifier { profile: Profile::Strict, ..self.clone() }
    }

    pub(super) fn profile(&self) -> Profile {
        self.profile
    }

    pub(super) fn additions(&self) -> &Additions {
        &self.additions
    }

    /// The tier of a command line: that of the strictest part that may run.
    pub fn classify(&self, text: &str) -> Classification {
        self.classify_counting(text).0
    }

    /// The tier of a command line that runs with these things `besides`: a directory, an environment, whatever the tool
    /// that runs it knows. Nobody can say that they change nothing, so it is at least dangerous.
    pub(crate) fn classify_with(&self, text: &str, besides: &Map<String, Value>) -> Classification {
        let starts = |value: &Value| -> Vec<Spoken> {
            let variables = value.as_object().into_iter().flatten();
            variables.flat_map(|(name, value)| self.started_by(name, value)).collect()
        };
        let judged = besides.iter().fold(self.classify(text), |judged, (key, value)| judged.with(key, starts(value)));
        let mut behind = besides.values().flat_map(tool::words_in);
        let line = |words: String| self.classify(&format!("{text} {words}"));
        let mut judged = behind.by_ref().take(MAX_BEHIND).map(line).fold(judged, Classification::and);
        if behind.next().is_some() {
            judged.named.lose_words();
        }
        judged
    }

    /// The tier of running the program file at `path`, of which nobody has said with which words, nor what it is given to
    /// read. What a program on no list does with its words is not asked: it is what it is.
    pub(crate) fn classify_program(&self, path: &str) -> Classification {
        let words = if is_known(basename(path)) { " $words" } else { "" };
        self.classify(&format!("{}{words} {GIVEN}", quoted(path)))
    }

    /// What a variable of the environment may start.
    fn started_by(&self, name: &str, value: &Value) -> Vec<Spoken> {
        let Value::String(value) = value else { return Vec::new() };
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_name || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Vec::new();
        }
        let line = format!("{name}='{}' :", value.replace('\'', "'\\''"));
        self.classify(&line).parts.into_iter().flat_map(|part| part.starts).collect()
    }

    /// The tier of a command line that may not be text: if it is not UTF-8, it is at least dangerous, and places in it are
    /// those of the text with `U+FFFD` for what is not.
    pub fn classify_bytes(&self, bytes: &[u8]) -> Classification {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.classify(text),
            Err(_) => self.classify(&String::from_utf8_lossy(bytes)).at_least_dangerous("not UTF-8"),
        }
    }

    /// How much work following a line takes, in units that do not depend on the machine.
    #[cfg(test)]
    pub(super) fn work(&self, text: &str) -> usize {
        let mut walker = Walker::new(self, text);
        walker.walk(syntax::parse(text), None);
        walker.work()
    }

    /// The same, with the number of steps that the parser took.
    pub(super) fn classify_counting(&self, text: &str) -> (Classification, usize) {
        let parsed = syntax::parse(text);
        let whole = Span { start: 0, end: text.len() };
        let mut walker = Walker::new(self, text);
        let (understood, steps) = (parsed.understood(), parsed.steps);
        let fault = parsed.faults.first().map_or("not understood", |fault| fault.why);
        let at = parsed.faults.first().map_or(0, |fault| fault.at.min(text.len()));
        let shape = if understood { Shape::of_parsed(&parsed) } else { None };
        walker.walk(parsed, None);
        walker.run_traps();
        if !understood {
            walker.note(Tier::Dangerous, format!("not understood: {fault}"), Span { start: at, end: text.len() });
            walker.raw_search(text, whole);
        }
        if text.chars().nth(MAX_SAFE_CHARS).is_some() {
            walker.note(Tier::Dangerous, "too long to be proven safe", whole);
        }
        self.search_statement(text, &mut walker, whole);
        if understood && walker.parts.is_empty() && is_comment(text) {
            return (Classification::plain(Tier::Safe, "nothing but comments"), steps);
        }
        let named = walker.uses.settled();
        (Classification { understood, named, ..Classification::of_parts(walker.parts, shape) }, steps)
    }

    /// A bare statement of SQL may contain what is an operator to a shell: it is looked at as a whole too.
    fn search_statement(&self, text: &str, walker: &mut Walker<'_>, whole: Span) {
        let word = super::walk::Arg::literal(text.trim(), whole);
        let verdict = walker.judge_sql("", &[word], &Input::Terminal);
        if let Some(verdict) = verdict {
            walker.note(verdict.tier, verdict.rule, whole);
        }
    }

    /// The tier of reading a file, and why.
    pub(crate) fn reading(&self, path: &str) -> (Tier, &'static str) {
        tool::reading(self.profile, path)
    }

    /// The tier of writing a file, and why.
    pub(crate) fn writing(&self, path: &str) -> (Tier, &'static str) {
        tool::writing(path, &self.sensitive)
    }

    /// The tier of a tool call.
    ///
    /// A tool that is declared or built in is judged by what its input says it does (`docs/tools.md`); a tool nobody knows is
    /// at least dangerous, and so is an input that says two things. A command that destroys is found in any input.
    pub fn classify_tool(&self, name: &str, input: &serde_json::Value) -> Classification {
        tool::classify(self, name, input)
    }
}

/// A text that says something, and to people only.
fn is_comment(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start).filter(|line| !line.is_empty()).peekable();
    lines.peek().is_some() && lines.all(|line| line.starts_with('#'))
}

/// The tier of a command line, with the built-in rules of the default profile.
///
/// ```
/// use bestow::command::{Tier, classify};
/// assert_eq!(classify("git log --oneline | head -5").tier, Tier::Safe);
/// assert_eq!(classify("git push origin main").tier, Tier::Dangerous);
/// assert_eq!(classify("ls && r''m -fr /").tier, Tier::Destructive);
/// ```
pub fn classify(text: &str) -> Classification {
    Classifier::default().classify(text)
}

/// The tier of a tool call, with the built-in rules of the default profile.
///
/// ```
/// use bestow::command::{Tier, classify_tool};
/// let call = classify_tool("write", &serde_json::json!({ "file_path": "src/index.ts" }));
/// assert_eq!(call.tier, Tier::Safe);
/// ```
pub fn classify_tool(name: &str, input: &serde_json::Value) -> Classification {
    Classifier::default().classify_tool(name, input)
}

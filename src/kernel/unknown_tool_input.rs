//! The input text of an unknown tool, searched for commands that the tool might run.

use std::borrow::Cow;

use crate::model::{CommandFingerprint, CommandPattern, SpokenPart, base_name, command_lines};

use super::command_match::{Likelihood, meets};

/// The maximum number of bytes that are read as command lines.
const MAX_BYTES: usize = 64 * 1024;

/// The maximum length of a text that is read as one command line. A longer text is read line by line.
const MAX_LINE: usize = 8 * 1024;

/// The input text of a tool with unknown behaviour.
///
/// Such a tool may run a command, and the command is then part of its input. A rule about `git` therefore does not
/// apply to a tool whose input never contains `git`.
#[derive(Debug, Default)]
pub(crate) struct InputText {
    /// The tool name and all texts of its input, without quotes and backslashes.
    words: String,
    /// The texts with a shell expansion, read as command lines. `None` stands for a text that could not be parsed.
    lines: Vec<Option<Vec<SpokenPart>>>,
    /// The texts of one word, without a directory before it. Each may be the name of a program.
    names: Vec<String>,
    /// The commands of the texts that begin as command lines.
    commands: Vec<SpokenPart>,
    /// The fingerprint of each text, read as a command line.
    doings: Vec<CommandFingerprint>,
    /// True if the input exceeds the size limit. Then the tool may do anything.
    is_beyond: bool,
}

impl InputText {
    /// Collects the words of `texts` and the fingerprints of `lines`. The closure `line` parses one text as a command
    /// line.
    pub(crate) fn of<'t>(
        texts: impl IntoIterator<Item = &'t str>,
        lines: impl IntoIterator<Item = &'t str>,
        mut line: impl FnMut(&str) -> Option<Vec<SpokenPart>>,
    ) -> InputText {
        let mut mentions = InputText::default();
        for text in texts {
            mentions.words.extend(text.chars().filter(|c| !"'\"\\".contains(*c)));
            mentions.words.push('\n');
            if !text.contains(char::is_whitespace) {
                mentions.names.push(base_name(text).to_owned());
            }
            if InputText::looks_into(text) {
                mentions.lines.push(line(text));
            }
        }
        let mut bytes = 0;
        for text in lines {
            bytes += text.len();
            mentions.is_beyond |= bytes > MAX_BYTES;
            let read = if mentions.is_beyond {
                Vec::new()
            } else if text.len() <= MAX_LINE {
                vec![text]
            } else {
                text.lines().collect()
            };
            for read in read {
                let parts = line(read);
                mentions.doings.push(CommandFingerprint::of(read, parts.as_deref()));
                let commands = match command_lines(read) {
                    Cow::Borrowed(_) => parts,
                    Cow::Owned(lines) => line(&lines),
                };
                mentions.commands.extend(commands.into_iter().flatten());
            }
        }
        mentions
    }

    /// Returns true if the tool may do an action that a denial of `doing` covers.
    pub(crate) fn may_do(&self, doing: &CommandFingerprint) -> bool {
        self.is_beyond || self.doings.iter().any(|other| doing.is_in(other))
    }

    /// Returns true if a shell would expand a part of `text`.
    fn looks_into(text: &str) -> bool {
        let starts = |c: char| c.is_ascii_alphabetic() || "_({@*?".contains(c);
        text.contains('`')
            || text.match_indices('$').any(|(at, _)| text.get(at + 1..).is_some_and(|rest| rest.starts_with(starts)))
    }

    /// Returns how likely the tool runs a command that matches `pattern`. A text that is such a command is certain, and
    /// a text that is the program, beside the words of the pattern. A text that only names the program, or in which an
    /// expansion may produce it, may be prose.
    pub(crate) fn runs(&self, pattern: &CommandPattern) -> Likelihood {
        let Some(program) = pattern.program() else { return Likelihood::Certain };
        let has_words = || {
            let mut words = pattern.as_str().split_whitespace().filter(|word| !word.contains('*'));
            self.names.iter().any(|name| name == program) && words.all(|word| self.mentions(base_name(word)))
        };
        if meets(pattern, Some(&self.commands)) || has_words() {
            return Likelihood::Certain;
        }
        let is_possible = self.mentions(program) || self.lines.iter().any(|parts| meets(pattern, parts.as_deref()));
        if is_possible { Likelihood::Possible } else { Likelihood::None }
    }

    /// Returns all texts as one string, without quotes and backslashes.
    pub(crate) fn words(&self) -> &str {
        &self.words
    }

    fn mentions(&self, program: &str) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        self.words.match_indices(program).any(|(start, _)| {
            let (before, after) = (self.words.get(..start), self.words.get(start + program.len()..));
            let joins = |c: Option<char>| c.is_some_and(is_part);
            !joins(before.and_then(|text| text.chars().next_back()))
                && !joins(after.and_then(|text| text.chars().next()))
        })
    }
}

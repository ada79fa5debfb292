//! The input text of an unknown tool, searched for commands that the tool might run.

use crate::model::{CommandFingerprint, CommandPattern, SpokenPart};

use super::command_match::meets;

/// The maximum number of bytes that are read as command lines.
const MAX_BYTES: usize = 64 * 1024;

/// The maximum length of a text that is read as one command line. A longer text is read line by line.
const MAX_LINE: usize = 8 * 1024;

/// The input text of a tool with unknown behaviour.
///
/// Such a tool may run a command, and the command is then part of its input. A rule about `git` therefore does not
/// apply to a tool whose input never contains `git`.
#[derive(Debug)]
pub(crate) struct InputText {
    /// The tool name and all texts of its input, without quotes and backslashes.
    words: String,
    /// The texts with a shell expansion, read as command lines. `None` stands for a text that could not be parsed.
    lines: Vec<Option<Vec<SpokenPart>>>,
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
        let mut mentions = InputText { words: String::new(), lines: Vec::new(), doings: Vec::new(), is_beyond: false };
        for text in texts {
            mentions.words.extend(text.chars().filter(|c| !"'\"\\".contains(*c)));
            mentions.words.push('\n');
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
                mentions.doings.push(CommandFingerprint::of(read, line(read).as_deref()));
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

    /// Returns true if the tool may run a command that matches `pattern`. This is the case if the program name is among
    /// the words, or if an expansion may produce it.
    pub(crate) fn may_run(&self, pattern: &CommandPattern) -> bool {
        let is_named = pattern.program().is_none_or(|program| self.names(program));
        is_named || self.lines.iter().any(|parts| meets(pattern, parts.as_deref()))
    }

    /// Returns all texts as one string, without quotes and backslashes.
    pub(crate) fn words(&self) -> &str {
        &self.words
    }

    fn names(&self, program: &str) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        self.words.match_indices(program).any(|(start, _)| {
            let (before, after) = (self.words.get(..start), self.words.get(start + program.len()..));
            let joins = |c: Option<char>| c.is_some_and(is_part);
            !joins(before.and_then(|text| text.chars().next_back()))
                && !joins(after.and_then(|text| text.chars().next()))
        })
    }
}

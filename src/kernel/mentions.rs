//! What a tool that nobody has classified might run, as far as its input tells.

use crate::model::{CommandPattern, SpokenPart};

use super::rules::meets;

/// The words that were given to a tool of which nobody knows what it does with them.
///
/// Such a tool may run a command, and then the command is somewhere in its input: a rule about `git` has nothing to say about
/// a tool that never hears of `git`.
#[derive(Debug)]
pub(crate) struct Mentions {
    /// The name of the tool and every text of its input, without what a shell does not mind.
    words: String,
    /// Texts in which something stands for another text, read as command lines; none if not understood.
    lines: Vec<Option<Vec<SpokenPart>>>,
}

impl Mentions {
    /// What `texts` mention; `line` reads one of them as a command line.
    pub(crate) fn of<'t>(
        texts: impl IntoIterator<Item = &'t str>,
        mut line: impl FnMut(&str) -> Option<Vec<SpokenPart>>,
    ) -> Mentions {
        let mut mentions = Mentions { words: String::new(), lines: Vec::new() };
        for text in texts {
            mentions.words.extend(text.chars().filter(|c| !"'\"\\".contains(*c)));
            mentions.words.push('\n');
            if Mentions::looks_into(text) {
                mentions.lines.push(line(text));
            }
        }
        mentions
    }

    /// Whether a shell would put something in the place of a part of `text`.
    pub(crate) fn looks_into(text: &str) -> bool {
        let starts = |c: char| c.is_ascii_alphabetic() || "_({@*?".contains(c);
        text.contains('`')
            || text.match_indices('$').any(|(at, _)| text.get(at + 1..).is_some_and(|rest| rest.starts_with(starts)))
    }

    /// Whether it may run a command like `pattern`: the name of the program is among the words, or may be what a word stands
    /// for.
    pub(crate) fn may_run(&self, pattern: &CommandPattern) -> bool {
        let is_named = pattern.program().is_none_or(|program| self.names(program));
        is_named || self.lines.iter().any(|parts| meets(pattern, parts.as_deref()))
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

//! What a tool that nobody has classified might run, as far as its input tells.

use crate::model::{CommandPattern, Doing, SpokenPart};

use super::rules::meets;

/// The most bytes that are read as command lines.
const MAX_BYTES: usize = 64 * 1024;

/// A longer text is read line by line.
const MAX_LINE: usize = 8 * 1024;

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
    /// What each text does, read as a command line.
    doings: Vec<Doing>,
    /// There is more than anybody reads.
    is_beyond: bool,
}

impl Mentions {
    /// What `texts` mention, and what they do as `lines`; `line` reads one of them as a command line.
    pub(crate) fn of<'t>(
        texts: impl IntoIterator<Item = &'t str>,
        lines: impl IntoIterator<Item = &'t str>,
        mut line: impl FnMut(&str) -> Option<Vec<SpokenPart>>,
    ) -> Mentions {
        let mut mentions = Mentions { words: String::new(), lines: Vec::new(), doings: Vec::new(), is_beyond: false };
        for text in texts {
            mentions.words.extend(text.chars().filter(|c| !"'\"\\".contains(*c)));
            mentions.words.push('\n');
            if Mentions::looks_into(text) {
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
                mentions.doings.push(Doing::of(read, line(read).as_deref()));
            }
        }
        mentions
    }

    /// Whether it may do what a no to `doing` is about.
    pub(crate) fn may_do(&self, doing: &Doing) -> bool {
        self.is_beyond || self.doings.iter().any(|other| doing.is_in(other))
    }

    /// Returns true if a shell would put something in the place of a part of `text`.
    fn looks_into(text: &str) -> bool {
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

    /// Every text in one, without what a shell does not mind.
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

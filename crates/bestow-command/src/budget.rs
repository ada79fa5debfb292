//! The work that one classification may take.
//!
//! Commands multiply: functions call functions, texts contain texts, values double themselves. The budget counts what
//! is followed. A line that exceeds it is at least dangerous, and is still searched for destructive commands.

use crate::syntax;

/// The limit of commands that are followed in total.
const MAX_COMMANDS: usize = 20_000;
/// The limit of words that are evaluated in total. Each word counts as often as it may start a command.
const MAX_WORDS: usize = 1 << 17;
/// The limit of words after which even the search for destructive commands ends.
const MAX_SEARCHED: usize = 3 * MAX_WORDS;
/// The cost of a command in addition to its words.
const COST_OF_A_COMMAND: usize = 4;
/// The limit of bytes in expanded words in total. A value that doubles itself exceeds it long before it is large.
const MAX_EXPANDED: usize = 1 << 22;
/// The limit of bytes of texts inside texts, and of inline code.
const MAX_TEXT: usize = 16 * syntax::MAX_BYTES;
/// The deepest nesting of texts inside texts, wrappers inside wrappers and calls inside calls.
pub(crate) const MAX_DEPTH: usize = 24;
/// The limit of possible commands that are tried in argument vectors with an unknown command.
const MAX_CANDIDATES: usize = 512;
/// The limit of searches in the files that the text itself writes.
const MAX_FILES_SEARCHED: usize = 64;

/// The work that is left.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Budget {
    /// The work of the current kind: either that on which the tier depends, or that which only records commands.
    work: Work,
    /// The work of the other kind.
    other: Work,
    /// True while work is done that only records commands.
    is_recording: bool,
    depth: usize,
}

/// Work of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    commands: usize,
    words: usize,
    /// The cost of the uses that were recorded. They have a limit of their own, so that no tier depends on them.
    named: usize,
    expanded: usize,
    text: usize,
    candidates: usize,
    files_searched: usize,
    /// The variables that were compared where ways meet. They have no limit, because a scope has a limit.
    joined: usize,
    /// True after the line was marked as one that exceeds the budget.
    is_exceeded: bool,
    /// True after something was not followed because of a limit.
    is_cut: bool,
}

impl Work {
    /// Returns `fits`, and records that something is not followed if it does not fit.
    fn keep(&mut self, fits: bool) -> bool {
        self.is_cut |= !fits;
        fits
    }

    #[cfg(test)]
    fn sum(&self) -> usize {
        self.commands + self.expanded + self.words + self.joined
    }

    /// Returns this work with the work between two earlier moments once more. Returns `None` if some of it may not be
    /// done again.
    fn repeat(&self, before: &Work, after: &Work) -> Option<Work> {
        let repeated = Work {
            commands: self.commands + after.commands - before.commands,
            words: self.words + after.words - before.words,
            named: self.named + after.named - before.named,
            expanded: self.expanded + after.expanded - before.expanded,
            text: self.text + after.text - before.text,
            joined: self.joined + after.joined - before.joined,
            ..*self
        };
        let fits = repeated.commands <= MAX_COMMANDS
            && repeated.words <= MAX_WORDS
            && repeated.named <= MAX_WORDS
            && repeated.expanded <= MAX_EXPANDED
            && repeated.text <= MAX_TEXT
            && (after.candidates, after.files_searched) == (before.candidates, before.files_searched);
        fits.then_some(repeated)
    }
}

impl Budget {
    /// Returns the work so far, in units that do not depend on the machine.
    #[cfg(test)]
    pub(crate) fn work(&self) -> usize {
        self.work.sum() + self.other.sum()
    }

    /// Counts commands. Returns false if no further command is followed.
    pub(crate) fn follow_commands(&mut self, count: usize) -> bool {
        self.work.commands += count;
        self.follows_commands()
    }

    /// Returns true if further commands are followed.
    pub(crate) fn follows_commands(&self) -> bool {
        self.work.commands <= MAX_COMMANDS
    }

    /// Counts the variables of two ways that meet.
    pub(crate) fn join(&mut self, variables: usize) {
        self.work.joined += variables;
    }

    /// Counts words, or work of the same cost. Returns false if no further word is evaluated.
    pub(crate) fn evaluate_words(&mut self, count: usize) -> bool {
        self.work.words += count;
        self.work.words <= MAX_WORDS
    }

    /// Counts uses of this cost. Returns false if no further use is recorded.
    pub(crate) fn name(&mut self, cost: usize) -> bool {
        self.work.named += cost;
        self.work.named <= MAX_WORDS
    }

    /// Counts a command with its words. Returns false if no further command is evaluated.
    pub(crate) fn evaluate_command(&mut self, words: usize) -> bool {
        self.evaluate_words(words + COST_OF_A_COMMAND)
    }

    /// Returns true if even the search for destructive commands must end.
    pub(crate) fn is_spent(&self) -> bool {
        self.work.words > MAX_SEARCHED
    }

    /// Counts bytes of expanded words. Returns false if no further value is expanded.
    pub(crate) fn expand(&mut self, bytes: usize) -> bool {
        self.work.expanded += bytes;
        self.work.keep(self.work.expanded <= MAX_EXPANDED)
    }

    /// Counts bytes of expanded words. Returns false, and counts nothing, if they are too many.
    pub(crate) fn try_expand(&mut self, bytes: usize) -> bool {
        let fits = self.work.expanded + bytes <= MAX_EXPANDED;
        if fits {
            self.work.expanded += bytes;
        }
        self.work.keep(fits)
    }

    /// Returns true if further values are expanded.
    pub(crate) fn expands(&self) -> bool {
        self.work.expanded <= MAX_EXPANDED
    }

    /// Counts the bytes of a text inside the text. Returns false, and counts nothing, if they are too many.
    pub(crate) fn take_text(&mut self, bytes: usize) -> bool {
        let fits = self.work.text + bytes <= MAX_TEXT;
        if fits {
            self.work.text += bytes;
        }
        self.work.keep(fits)
    }

    /// Goes one level deeper. Returns false, and goes nowhere, at the limit.
    pub(crate) fn descend(&mut self) -> bool {
        let fits = self.depth < MAX_DEPTH;
        self.depth += usize::from(fits);
        self.work.keep(fits)
    }

    /// Leaves the current level.
    pub(crate) fn ascend(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Counts a possible command. Returns false if there are too many.
    pub(crate) fn try_candidate(&mut self) -> bool {
        self.work.candidates += 1;
        self.work.keep(self.work.candidates <= MAX_CANDIDATES)
    }

    /// Counts a search in a written file. Returns false if there were too many.
    pub(crate) fn search_file(&mut self) -> bool {
        self.work.files_searched += 1;
        self.work.keep(self.work.files_searched <= MAX_FILES_SEARCHED)
    }

    /// Counts the work between two earlier moments once more. Returns false, and counts nothing, if some of it may not
    /// be done again.
    pub(crate) fn repeat(&mut self, before: &Budget, after: &Budget) -> bool {
        let repeated = self.work.repeat(&before.work, &after.work);
        let Some((work, other)) = repeated.zip(self.other.repeat(&before.other, &after.other)) else { return false };
        (self.work, self.other) = (work, other);
        true
    }

    /// Begins work that only records commands. Returns false if such work is going on already. It has a limit of its
    /// own, so that no tier depends on it.
    pub(crate) fn begin_recording(&mut self) -> bool {
        let begins = !std::mem::replace(&mut self.is_recording, true);
        if begins {
            let candidates = self.work.candidates;
            std::mem::swap(&mut self.work, &mut self.other);
            self.work.candidates = candidates;
        }
        begins
    }

    /// Ends work that only records commands. Returns true if some of it exceeded the limit.
    pub(crate) fn end_recording(&mut self) -> bool {
        self.is_recording = false;
        std::mem::swap(&mut self.work, &mut self.other);
        self.other.is_cut
    }

    /// Marks the line as one that exceeds the budget. Returns true the first time.
    pub(crate) fn exceed(&mut self) -> bool {
        self.work.is_cut = true;
        !std::mem::replace(&mut self.work.is_exceeded, true)
    }
}

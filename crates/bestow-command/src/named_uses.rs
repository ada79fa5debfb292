//! The resources that a command line names.

use smol_str::SmolStr;

use crate::{
    needs::around_pattern,
    values::{Access, Below, Named},
};

/// The limit of uses that one line may name. The uses of a longer line are not followed.
const MAX_NAMED: usize = 500;

/// The limit of words that are searched for names which one part of a line may pass to another.
const MAX_WORDS: usize = 8 * MAX_NAMED;

/// The number of uses for which a list has room when it gets its first one.
const ROOM: usize = 12;

/// The uses that a line names, in the order in which they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedUses {
    /// The certain uses.
    certain: Vec<Named>,
    /// Words that may be paths, and other uncertain uses.
    words: Vec<Named>,
    /// True if there are more certain uses than are kept.
    too_many: bool,
    /// True if there are more uncertain uses than are kept.
    too_many_words: bool,
    /// True if the line reads a file whose path is unknown.
    unknown: bool,
    /// True if a program of the line takes words that are unknown, such as the output of another one.
    takes_unknown: bool,
    /// The texts that expansions produce for programs which print them.
    printed: Vec<SmolStr>,
    /// Files that one part of the line may pass to another: those that it lists or prints, and those that any word
    /// names.
    passed_files: Vec<Named>,
    /// True if there are more such files than are kept.
    passes_any_file: bool,
    /// The hosts that variables name to programs that reach the network.
    told: Vec<SmolStr>,
    /// True if the line may run any command, for example the content of a file that it reads.
    runs_anything: bool,
}

impl NamedUses {
    /// Returns the uses of a line that may use any resource. No use is recorded in them.
    pub(crate) fn unknown() -> Self {
        NamedUses { too_many: true, too_many_words: true, ..NamedUses::default() }
    }

    /// Returns all uses, certain ones first.
    pub fn iter(&self) -> impl Iterator<Item = &Named> {
        self.certain.iter().chain(&self.words)
    }

    /// Returns the certain uses: those that the line names to a known program.
    pub fn certain(&self) -> &[Named] {
        &self.certain
    }

    /// Returns true if the line names more uses than are kept.
    pub fn is_cut(&self) -> bool {
        self.too_many || self.too_many_words
    }

    /// Returns true if the line has more certain uses than are kept.
    pub fn uses_too_much(&self) -> bool {
        self.too_many
    }

    /// Returns true if the line reads a file whose path is unknown.
    pub fn reads_what_nobody_can_tell(&self) -> bool {
        self.unknown
    }

    /// Returns the files that the line may read by a name that one of its parts passes to another.
    pub fn passed_files(&self) -> &[Named] {
        &self.passed_files
    }

    /// Returns true if the line may read any file by a name that one of its parts passes to another.
    pub fn passes_any_file(&self) -> bool {
        self.passes_any_file
    }

    /// Records that the line was not followed to its end. It may use any resource.
    pub(crate) fn lose(&mut self) {
        (self.too_many, self.too_many_words) = (true, true);
    }

    /// Records that more words may be run than were searched.
    pub(crate) fn lose_words(&mut self) {
        self.too_many_words = true;
    }

    /// Adds the uses of another line that may be meant as well. They all become uncertain.
    pub(crate) fn join(&mut self, other: NamedUses) {
        self.too_many_words |= other.is_cut();
        self.passes_any_file |= other.passes_any_file;
        other.passed_files.into_iter().for_each(|file| self.pass(file));
        for mut named in other.certain.into_iter().chain(other.words) {
            if let Named::Path { certain, .. } | Named::Network { certain, .. } = &mut named {
                *certain = false;
            }
            self.push(named);
        }
    }

    /// Records a host that a variable names.
    pub(crate) fn told_host(&mut self, host: SmolStr) {
        if self.told.len() < MAX_NAMED {
            self.told.push(host);
        } else {
            self.lose_words();
        }
    }

    /// Returns the number of hosts that variables name.
    pub(crate) fn told_hosts(&self) -> usize {
        self.told.len()
    }

    /// Records that the line may run any command, including the content of a file that it reads.
    pub(crate) fn run_anything(&mut self) {
        self.runs_anything = true;
    }

    /// Returns the uses of the line `text` that was followed to its end. Hosts of variables become uses if the line
    /// reaches the network. Files that it reads become programs if it may run any command. Files that it only names may
    /// be read if a program takes unknown words.
    pub(crate) fn settled(mut self, text: &str) -> NamedUses {
        if self.unknown || self.takes_unknown {
            self.pass_names(text);
        }
        let reaches = |one: &&Named| matches!(one, Named::Network { .. });
        if self.iter().any(|one| reaches(&one)) {
            let told = std::mem::take(&mut self.told);
            told.into_iter().for_each(|host| self.push(Named::Network { host: Some(host), certain: false }));
        }
        if self.runs_anything {
            let read = |one: &Named| match one {
                Named::Path { access: Access::Read, text, pattern, below: Below::Nothing, certain: true, .. } => {
                    Some(Named::Program { text: text.clone(), pattern: pattern.clone() })
                }
                Named::Path { .. } | Named::Program { .. } | Named::Network { .. } => None,
            };
            let read: Vec<_> = self.certain.iter().filter_map(read).collect();
            read.into_iter().for_each(|program| self.push(program));
        }
        self
    }

    /// Returns true if no further uncertain use is kept.
    pub(crate) fn has_enough_words(&self) -> bool {
        self.too_many_words
    }

    /// Returns true if no further use is kept.
    pub(crate) fn is_full(&self) -> bool {
        self.too_many && self.too_many_words
    }

    pub(crate) fn reads_unknown(&mut self) {
        self.unknown = true;
    }

    /// Returns what is recorded about unknown files: if one is read, and if a program takes unknown words.
    pub(crate) fn unknown_files(&self) -> (bool, bool) {
        (self.unknown, self.takes_unknown)
    }

    /// Records this about unknown files again: those of the words since then are named as the files of a directory.
    pub(crate) fn restore_unknown_files(&mut self, (unknown, takes_unknown): (bool, bool)) {
        (self.unknown, self.takes_unknown) = (unknown, takes_unknown);
    }

    /// Records a text that a program prints.
    pub(crate) fn print(&mut self, text: SmolStr) {
        // One more than the limit is enough to give up.
        if self.printed.len() <= MAX_NAMED && !self.printed.contains(&text) {
            self.printed.push(text);
        }
    }

    /// Records that a program takes words that are unknown.
    pub(crate) fn take_unknown(&mut self) {
        self.takes_unknown = true;
    }

    /// Records the files that the line lists or prints, and those that any word of it names.
    fn pass_names(&mut self, text: &str) {
        let listed = self.iter().filter_map(|named| match named {
            Named::Path { text, pattern, below: Below::Names, .. } => Some((text.clone(), pattern.clone())),
            Named::Path { .. } | Named::Program { .. } | Named::Network { .. } => None,
        });
        let plain: String = text.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
        let divides = |c: char| c.is_whitespace() || "`=:;|&<>(),{}$".contains(c);
        let words = plain.split(divides).chain(self.printed.iter().flat_map(|text| text.split_whitespace()));
        // A program may pass on the directory of a path, or its last name.
        let parts = words.flat_map(|word| match word.rsplit_once('/') {
            Some((directory, name)) => [word, directory, name],
            None => [word, "", ""],
        });
        let parts = parts.filter(|word| !word.is_empty() && !word.starts_with('-'));
        let written = parts.map(|word| match around_pattern(word) {
            Some((above, pattern)) => (above, Some(pattern)),
            None => (SmolStr::from(word), None),
        });
        let all: Vec<_> = listed.chain(written).take(MAX_WORDS + 1).collect();
        self.passes_any_file |= MAX_WORDS < all.len();
        for (text, pattern) in all {
            let (access, below, selection, certain) = (Access::Read, Below::Nothing, None, false);
            self.pass(Named::Path { access, text, pattern, below, selection, certain });
        }
    }

    /// Records a file that one part of the line may pass to another. If there are too many, it may be any file.
    fn pass(&mut self, file: Named) {
        if self.passed_files.contains(&file) {
            return;
        }
        if self.passed_files.len() < MAX_NAMED {
            self.passed_files.push(file);
        } else {
            self.passes_any_file = true;
        }
    }

    pub(crate) fn push(&mut self, new: Named) {
        let is_word = match &new {
            Named::Path { certain, .. } | Named::Network { certain, .. } => !certain,
            Named::Program { .. } => true,
        };
        let (all, too_many) = match is_word {
            true => (&mut self.words, &mut self.too_many_words),
            false => (&mut self.certain, &mut self.too_many),
        };
        let length = length_of(&new);
        if *too_many || all.iter().any(|one| length_of(one) == length && is_same(one, &new)) {
            return;
        }
        if all.len() < MAX_NAMED {
            if all.is_empty() {
                *all = Vec::with_capacity(ROOM);
            }
            all.push(new);
        } else {
            *too_many = true;
        }
    }
}

/// Returns true for equal uses. The comparison is apart from the search, in which most uses differ in their length.
#[inline(never)]
fn is_same(one: &Named, other: &Named) -> bool {
    one == other
}

/// Returns the length of the text of a use. Most different uses differ in it.
fn length_of(named: &Named) -> usize {
    match named {
        Named::Path { text, .. } | Named::Program { text, .. } => text.len(),
        Named::Network { host, .. } => host.as_ref().map_or(0, SmolStr::len),
    }
}

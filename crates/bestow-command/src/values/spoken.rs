//! Parsed commands: the known facts about each word, and the commands that a command may start.

use std::sync::Arc;

use smol_str::SmolStr;

use super::{SanitizedPath, Tier};

/// One part of a command line, with everything that it may start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpokenPart {
    /// The tier of the part.
    pub tier: Tier,
    /// The literal program and its arguments. None for a redirection, an assignment, or a part that was not understood.
    pub runs: Option<Spoken>,
    /// Every command that may run because of this part, including the part itself.
    pub starts: Vec<Spoken>,
    /// The directories in which the part may run.
    pub dirs: Vec<StartDir>,
    /// The positions of words in `runs` that no wildcard of an allow pattern matches. These are options that are not
    /// known to be harmless, and other words that change the started program.
    pub by_name: Vec<usize>,
    /// The files that its programs obey, if the part is read-only.
    pub obeys: Vec<Obeys>,
}

/// A program that obeys files of the directory in which it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obeys {
    /// The name of the program.
    pub program: SmolStr,
    /// The files that it obeys.
    pub files: Obeyed,
    /// The directory to which its options lead, relative to its start directory. None if it is unknown.
    pub into: Option<SmolStr>,
    /// The directories in which the program starts.
    pub dirs: Vec<StartDir>,
}

/// The files that a program obeys, in a directory and in its parent directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obeyed {
    /// The files of the nearest git repository, in this directory or above it, and of its submodules.
    Repository,
    /// These files, and the directories of other version control that are there.
    Checkout,
    /// The files with these names. The name `.git` stands for [`Checkout`](Obeyed::Checkout).
    Files(&'static [&'static str]),
}

impl SpokenPart {
    /// Creates a part that runs in the start directory of its line, without words that a pattern must name.
    pub fn plain(tier: Tier, runs: Option<Spoken>) -> SpokenPart {
        SpokenPart { tier, runs, starts: Vec::new(), dirs: vec![StartDir::Own], by_name: Vec::new(), obeys: Vec::new() }
    }
}

/// The directory in which a command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartDir {
    /// The start directory of the line.
    Own,
    /// The directory that this text names there. The disk was not read.
    Said(SmolStr),
    /// This directory, with all links followed.
    Real(SanitizedPath),
    /// An unknown directory.
    Unknown,
}

impl StartDir {
    /// The directory of a command where the line does not change it.
    pub(crate) const ONLY_OWN: &'static [StartDir] = &[StartDir::Own];
    /// The directories of a command that may run anywhere.
    pub(crate) const ANY: &'static [StartDir] = &[StartDir::Unknown];
}

/// The words of one command: the program and its arguments. Copies share them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spoken {
    /// The words, beginning with the program.
    pub words: Arc<[Said]>,
    /// True if the first word of the command is unknown: the command may begin at any of the words.
    pub anywhere: bool,
}

/// The known facts about a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// A literal word.
    Is(SmolStr),
    /// This word or none, as one of several alternatives or as the value of a variable.
    Maybe(SmolStr),
    /// One word with this start and this end.
    One(Ends),
    /// Any number of words, each with this start and this end.
    Many(Ends),
}

/// The known start and end of a word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// The start of the word.
    pub start: SmolStr,
    /// The end of the word.
    pub end: SmolStr,
}

impl Said {
    /// Returns any number of arbitrary words.
    pub fn anything() -> Said {
        Said::Many(Ends::default())
    }

    /// Returns the text of a literal or possible word.
    pub fn known(&self) -> Option<&str> {
        match self {
            Said::Is(text) | Said::Maybe(text) => Some(text),
            Said::One(_) | Said::Many(_) => None,
        }
    }

    /// Returns the text of a literal word.
    pub fn written(&self) -> Option<&str> {
        match self {
            Said::Is(text) => Some(text),
            Said::Maybe(_) | Said::One(_) | Said::Many(_) => None,
        }
    }
}

impl Spoken {
    /// Creates a command with these words. The first one is the program.
    pub fn of(words: Arc<[Said]>) -> Spoken {
        Spoken { words, anywhere: false }
    }

    /// Creates a completely unknown command.
    pub fn anything() -> Spoken {
        Spoken::of([Said::anything()].into())
    }

    /// Returns the names of the programs that may run. Returns none if any program may run.
    pub fn programs(&self) -> Option<Vec<&str>> {
        let mut names = Vec::new();
        for word in self.words.iter() {
            match word {
                Said::One(_) | Said::Many(_) => return None,
                // The name may be joined to an option.
                Said::Is(text) | Said::Maybe(text) if self.anywhere && text.starts_with('-') => return None,
                Said::Is(text) | Said::Maybe(text) => names.push(base_name(text)),
            }
            if !self.anywhere && word.written().is_some() {
                break;
            }
        }
        Some(names)
    }
}

/// Returns the last component of a path.
pub fn base_name(program: &str) -> &str {
    behind_last(program, b'/')
}

/// Returns the text behind the last one of these bytes, or the whole text.
pub(crate) fn behind_last(text: &str, byte: u8) -> &str {
    let start = text.bytes().rposition(|one| one == byte).map_or(0, |at| at + 1);
    text.get(start..).unwrap_or(text)
}

//! Commands as they were parsed: what is known of each word, and of what a command may start.

use smol_str::SmolStr;

use super::{SanitizedPath, Tier};

/// One thing that a command line does, with everything it may start for that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpokenPart {
    /// How harmful it is.
    pub(crate) tier: Tier,
    /// The program as it stands there. None: a redirection, an assignment, something that was not understood.
    pub(crate) runs: Option<Spoken>,
    /// Every command that may run because of it, itself among them.
    pub(crate) starts: Vec<Spoken>,
    /// The directories in which it may run.
    pub(crate) dirs: Vec<StartDir>,
    /// The places of words in `runs` that no wildcard of an allow pattern stands for: options that are not known to be
    /// harmless, and what else changes what runs.
    pub(crate) by_name: Vec<usize>,
    /// The files that its programs obey, if it only reads.
    pub(crate) obeys: Vec<Obeys>,
}

/// A program that obeys files of the directory in which it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Obeys {
    pub(crate) program: SmolStr,
    pub(crate) files: Obeyed,
    /// The directory that its options lead to, from where it starts. None is one that nobody can tell.
    pub(crate) into: Option<SmolStr>,
    /// The directories in which it starts.
    pub(crate) dirs: Vec<StartDir>,
}

/// The files that a program obeys, in a directory and in those above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Obeyed {
    /// Those of the first repository of git on the way up.
    Repository,
    /// These.
    Files(&'static [&'static str]),
}

impl SpokenPart {
    /// A part that runs where its line begins, and has no word that must be named.
    pub(crate) fn plain(tier: Tier, runs: Option<Spoken>) -> SpokenPart {
        SpokenPart { tier, runs, starts: Vec::new(), dirs: vec![StartDir::Own], by_name: Vec::new(), obeys: Vec::new() }
    }
}

/// The directory in which a command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StartDir {
    /// The one in which its line begins.
    Own,
    /// The one that this text names there. Nobody has looked at the disk yet.
    Said(SmolStr),
    /// This one, with all links followed.
    Real(SanitizedPath),
    /// One that nobody can tell.
    Unknown,
}

/// The words of one command: the program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spoken {
    pub(crate) words: Vec<Said>,
    /// Nobody knows at which of the words the command begins: it may be any.
    pub(crate) anywhere: bool,
}

/// What is known of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// Written as it is.
    Is(SmolStr),
    /// One of several that may stand here, or what a variable holds: this word, or none.
    Maybe(SmolStr),
    /// One word that begins and ends so.
    One(Ends),
    /// Any number of words, each of which begins and ends so.
    Many(Ends),
}

/// What is known of the beginning and the end of a word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(crate) start: SmolStr,
    pub(crate) end: SmolStr,
}

impl Said {
    /// Any number of words that may be anything.
    pub(crate) fn anything() -> Said {
        Said::Many(Ends::default())
    }

    /// The word, written out or not.
    pub(crate) fn known(&self) -> Option<&str> {
        match self {
            Said::Is(text) | Said::Maybe(text) => Some(text),
            Said::One(_) | Said::Many(_) => None,
        }
    }

    /// The word, if it is written out.
    pub(crate) fn written(&self) -> Option<&str> {
        match self {
            Said::Is(text) => Some(text),
            Said::Maybe(_) | Said::One(_) | Said::Many(_) => None,
        }
    }
}

impl Spoken {
    /// These words, beginning with the program.
    pub(crate) fn of(words: Vec<Said>) -> Spoken {
        Spoken { words, anywhere: false }
    }

    /// A command that nobody knows.
    pub(crate) fn anything() -> Spoken {
        Spoken::of(vec![Said::anything()])
    }

    /// The programs that it may be, by their names; none if it may be any.
    pub(crate) fn programs(&self) -> Option<Vec<&str>> {
        let mut names = Vec::new();
        for word in &self.words {
            match word {
                Said::One(_) | Said::Many(_) => return None,
                // A name may be joined to an option.
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

/// The last component of a path.
pub(crate) fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

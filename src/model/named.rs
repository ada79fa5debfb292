//! What a command line names, as it is written there.

use smol_str::SmolStr;

use super::Access;

/// One thing that a command line names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// A path: absolute, below the home directory (`~/…`), or from where the line starts.
    Path {
        /// The way in which it is used.
        access: Access,
        /// The path as text; of a pattern, the directory in front of its first sign.
        text: SmolStr,
        /// How a shell goes on from that directory, where the word is a pattern.
        pattern: Option<SmolStr>,
        /// How much of what lies below it is used with it.
        below: Below,
        /// The program is known to use it so. Else it is a word that may be no path at all.
        certain: bool,
    },
    /// A file that may be run as a program.
    Program {
        /// The path, as that of another.
        text: SmolStr,
        /// How a shell goes on from there, where the word is a pattern.
        pattern: Option<SmolStr>,
    },
    /// The network.
    Network {
        /// The host, if a word says which.
        host: Option<SmolStr>,
        /// The program is known to reach it. Else something in the words may.
        certain: bool,
    },
}

/// How much of what lies below a path is used with the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Below {
    /// The path alone.
    Nothing,
    /// The names of what lies there, and not what it holds.
    Names,
    /// All of it.
    Everything,
    /// All of it, with what links there lead to.
    Followed,
    /// What has changed of all of it, or is kept of it elsewhere.
    Versions,
}

impl Below {
    /// Returns true if all that it holds is used.
    pub(crate) fn is_everything(self) -> bool {
        matches!(self, Below::Everything | Below::Followed)
    }

    /// The same; with what links lead to, if all of it is used.
    pub(crate) fn followed_if(self, follows: bool) -> Below {
        if follows && self == Below::Everything { Below::Followed } else { self }
    }
}

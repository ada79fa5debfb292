//! Resources that a command line names, as they are written there.

use std::sync::Arc;

use smol_str::SmolStr;

use super::{Access, Selection};

/// One resource that a command line names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// A path: absolute, below the home directory (`~/…`), or relative to the start directory of the line.
    Path {
        /// The kind of access.
        access: Access,
        /// The path as text. For a pattern, it is the directory before its first wildcard.
        text: SmolStr,
        /// The rest of the pattern after this directory, if the word is a pattern.
        pattern: Option<SmolStr>,
        /// The part of the content below the path that is used too.
        below: Below,
        /// The files below the path that are used, if the command leaves some out.
        selection: Option<Arc<Selection>>,
        /// True if the program is known to use the path so. Otherwise the word may be no path at all.
        certain: bool,
    },
    /// A file that may run as a program.
    Program {
        /// The path, written like [`Named::Path`].
        text: SmolStr,
        /// The rest of the pattern after this directory, if the word is a pattern.
        pattern: Option<SmolStr>,
    },
    /// The network.
    Network {
        /// The host, if a word names it.
        host: Option<SmolStr>,
        /// True if the program is known to reach the host. Otherwise something in the words may reach it.
        certain: bool,
    },
}

/// The part of the content below a path that is used with the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Below {
    /// The path alone.
    Nothing,
    /// The path alone, as a directory that the command makes there unless one exists.
    NewDirectory,
    /// The names of the entries, and not their content.
    Names,
    /// The whole content.
    Everything,
    /// The whole content, including the targets of links in it.
    Followed,
    /// The changed part of the content, or versions of it that are stored elsewhere.
    Versions,
}

impl Below {
    /// Returns true if anything below the path is used.
    pub fn is_tree(self) -> bool {
        !matches!(self, Below::Nothing | Below::NewDirectory)
    }

    /// Returns true if the whole content is used.
    pub fn is_everything(self) -> bool {
        matches!(self, Below::Everything | Below::Followed)
    }

    /// Adds the targets of links if `follows` is true and the whole content is used.
    pub fn followed_if(self, follows: bool) -> Below {
        if follows && self == Below::Everything { Below::Followed } else { self }
    }
}

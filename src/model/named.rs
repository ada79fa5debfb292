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
}

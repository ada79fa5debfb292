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
        /// The path as text.
        text: SmolStr,
        /// It is used with everything below it.
        tree: bool,
        /// The program is known to use it so. Else it is a word that may be no path at all.
        certain: bool,
    },
    /// The network, without a word about the host.
    Network,
    /// A host.
    Host(SmolStr),
}

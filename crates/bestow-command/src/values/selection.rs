//! The files that a search reads below a directory.

use smol_str::SmolStr;

/// The files that a command reads below a directory, as far as its program and its options restrict them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// True if it leaves out names that begin with a dot.
    pub skips_hidden: bool,
    /// True if it leaves out the names in `.gitignore` and similar files.
    pub skips_ignored: bool,
    /// True if it leaves out the files that git ignores, unless the index of the repository lists them.
    pub skips_ignored_by_git: bool,
    /// True if it reads only the files that the index of a repository lists.
    pub only_tracked: bool,
    /// True if it begins at the top of the repository around its directory.
    pub from_top: bool,
    /// Globs. If there is one, it reads only files that match one of them, hidden and ignored files included.
    pub only: Vec<SmolStr>,
    /// Globs of files that it leaves out.
    pub without: Vec<SmolStr>,
    /// Globs of directories that it leaves out with their content.
    pub without_directories: Vec<SmolStr>,
    /// True if it may leave out any file, by a condition that only the disk answers, such as an age or a size.
    pub is_conditional: bool,
    /// Words that restrict it to the paths of these names, if one of them exists.
    pub paths: Vec<SmolStr>,
}

impl Selection {
    /// Returns true if it leaves out nothing.
    pub fn is_everything(&self) -> bool {
        *self == Selection::default()
    }
}

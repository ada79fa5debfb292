//! Paths as texts. Nothing here reads the disk: what a path *means* is for `fs` to find out.

use std::{fmt, path::Path, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

/// The most characters a path may have (`sources/004`, pathSanitize).
const MAX_PATH_CHARS: usize = 4096;

/// Why a text is not a path that the engine takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidPath {
    /// U+0001 to U+001F, except tab and line feed.
    ControlCharacter,
    /// U+0000, which ends a text where C reads it.
    Nul,
    /// A `..`: what it leads to depends on the links before it, and a text cannot tell.
    ParentComponent,
    /// Does not begin at the root.
    Relative,
    /// More than 4096 characters.
    TooLong,
}

impl fmt::Display for InvalidPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InvalidPath::ControlCharacter => "the path contains a control character",
            InvalidPath::Nul => "the path contains a null byte",
            InvalidPath::ParentComponent => "the path contains `..`: name the directory itself",
            InvalidPath::Relative => "the path must be absolute",
            InvalidPath::TooLong => "the path has more than 4096 characters",
        })
    }
}

impl std::error::Error for InvalidPath {}

/// Refuses the characters and lengths that no path may have; says nothing else about it.
///
/// Behaviour: `sources/004`, "pathSanitize". Too long is reported before a null byte, that before other
/// control characters. Nothing is trimmed, decoded or folded.
///
/// # Errors
///
/// [`InvalidPath::TooLong`], [`InvalidPath::Nul`] or [`InvalidPath::ControlCharacter`].
pub fn sanitize(text: &str) -> Result<&str, InvalidPath> {
    // The cheap question first: 4096 bytes are never more than 4096 characters.
    if text.len() > MAX_PATH_CHARS && text.chars().nth(MAX_PATH_CHARS).is_some() {
        return Err(InvalidPath::TooLong);
    }
    // NUL first: it is also a control character, and the caller should hear the worse news.
    if text.contains('\0') {
        return Err(InvalidPath::Nul);
    }
    if text.bytes().any(|b| b < 0x20 && b != b'\t' && b != b'\n') {
        return Err(InvalidPath::ControlCharacter);
    }
    Ok(text)
}

/// An absolute path that passed every check a text alone can pass.
///
/// Says nothing about the disk: the path may not exist, and may be a link. Only [`FromStr`] builds one, so
/// code that takes a `SanitizedPath` never checks again. `//`, `/./` and a trailing `/` are folded.
///
/// ```
/// use bestow::SanitizedPath;
/// let path: SanitizedPath = "/work//notes/".parse()?;
/// assert_eq!(path.as_str(), "/work/notes");
/// assert!("/work/../etc".parse::<SanitizedPath>().is_err());
/// # Ok::<(), bestow::InvalidPath>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SanitizedPath(Arc<str>);

impl FromStr for SanitizedPath {
    type Err = InvalidPath;

    fn from_str(text: &str) -> Result<Self, InvalidPath> {
        let text = sanitize(text)?;
        if !text.starts_with('/') {
            return Err(InvalidPath::Relative);
        }
        // Collapsing `..` by text would give another file than the disk does when a link is involved.
        if text.split('/').any(|part| part == "..") {
            return Err(InvalidPath::ParentComponent);
        }
        if is_folded(text) {
            return Ok(SanitizedPath(text.into()));
        }
        let folded = text
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".")
            .fold(String::new(), |all, part| all + "/" + part);
        Ok(SanitizedPath(if folded.is_empty() { "/".into() } else { folded.into() }))
    }
}

/// Whether a text already is what folding would make of it, so that the common case copies once.
fn is_folded(text: &str) -> bool {
    text == "/"
        || text.strip_prefix('/').is_some_and(|rest| rest.split('/').all(|part| !part.is_empty() && part != "."))
}

impl SanitizedPath {
    /// The root of the file system.
    pub fn root() -> SanitizedPath {
        SanitizedPath("/".into())
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path as the standard library wants it.
    pub fn as_path(&self) -> &Path {
        Path::new(self.as_str())
    }

    /// How many directories it stands below.
    pub(crate) fn depth(&self) -> usize {
        self.as_str().split('/').filter(|name| !name.is_empty()).count()
    }

    /// By component, never by text: `/work` does not contain `/work-evil`. A path contains itself.
    pub fn contains(&self, other: &SanitizedPath) -> bool {
        contains(self.as_str(), other.as_str())
    }
}

/// Containment of two folded absolute paths; both come from a [`SanitizedPath`].
fn contains(root: &str, path: &str) -> bool {
    match path.strip_prefix(root) {
        Some(rest) => rest.is_empty() || rest.starts_with('/') || root == "/",
        None => false,
    }
}

impl TryFrom<String> for SanitizedPath {
    type Error = InvalidPath;

    fn try_from(text: String) -> Result<Self, InvalidPath> {
        text.parse()
    }
}

impl From<SanitizedPath> for String {
    fn from(path: SanitizedPath) -> String {
        path.0.as_ref().to_owned()
    }
}

impl AsRef<Path> for SanitizedPath {
    fn as_ref(&self) -> &Path {
        self.as_path()
    }
}

impl fmt::Display for SanitizedPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for SanitizedPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

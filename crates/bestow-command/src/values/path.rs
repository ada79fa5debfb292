//! Paths as texts. No code here reads the disk. The module `fs` resolves paths.

use std::{fmt, path::Path, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize, Serializer};

/// The most characters a path may have (`sources/004`, pathSanitize).
const MAX_PATH_CHARS: usize = 4096;

/// The reason why the engine does not accept a text as a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidPath {
    /// The text has a character from U+0001 to U+001F, except tab and line feed.
    ControlCharacter,
    /// The text has U+0000, which ends a text in C.
    Nul,
    /// The text has a `..`. Its target depends on the links before it, which a text does not show.
    ParentComponent,
    /// The text does not begin at the root.
    Relative,
    /// The text has more than 4096 characters.
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

/// Checks a text for the forbidden characters and the length limit of paths. It checks nothing else.
///
/// Behaviour: `sources/004`, "pathSanitize". Excess length is reported before a null byte, and a null byte before other
/// control characters. The text is not trimmed, decoded or normalized.
///
/// # Errors
///
/// [`InvalidPath::TooLong`], [`InvalidPath::Nul`] or [`InvalidPath::ControlCharacter`].
pub fn sanitize(text: &str) -> Result<&str, InvalidPath> {
    // The cheap check comes first: 4096 bytes are never more than 4096 characters.
    if text.len() > MAX_PATH_CHARS && text.chars().nth(MAX_PATH_CHARS).is_some() {
        return Err(InvalidPath::TooLong);
    }
    // NUL comes first. It is also a control character, and the caller should get the more serious error.
    if text.contains('\0') {
        return Err(InvalidPath::Nul);
    }
    if text.bytes().any(|b| b < 0x20 && b != b'\t' && b != b'\n') {
        return Err(InvalidPath::ControlCharacter);
    }
    Ok(text)
}

/// An absolute path that passed every check that is possible without the disk.
///
/// The path may not exist, and may be a link. Only [`FromStr`] creates a `SanitizedPath`, so code that takes one never
/// checks again. `//`, `/./` and a trailing `/` are normalized.
///
/// ```
/// use bestow_command::values::SanitizedPath;
/// let path: SanitizedPath = "/work//notes/".parse()?;
/// assert_eq!(path.as_str(), "/work/notes");
/// assert!("/work/../etc".parse::<SanitizedPath>().is_err());
/// # Ok::<(), bestow_command::values::InvalidPath>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct SanitizedPath(Arc<str>);

impl Serialize for SanitizedPath {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl FromStr for SanitizedPath {
    type Err = InvalidPath;

    fn from_str(text: &str) -> Result<Self, InvalidPath> {
        if is_plain(text) {
            return Ok(SanitizedPath(text.into()));
        }
        let text = sanitize(text)?;
        if !text.starts_with('/') {
            return Err(InvalidPath::Relative);
        }
        // Resolving `..` in the text would give another file than the disk does, if a link is involved.
        if text.split('/').any(|part| part == "..") {
            return Err(InvalidPath::ParentComponent);
        }
        let folded = text
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".")
            .fold(String::new(), |all, part| all + "/" + part);
        Ok(SanitizedPath(if folded.is_empty() { "/".into() } else { folded.into() }))
    }
}

/// Returns true for a valid and normalized path without tab and line feed. Nearly every path is one.
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() > MAX_PATH_CHARS || bytes.first() != Some(&b'/') {
        return false;
    }
    // Only a name that begins with a dot needs a closer look. These two passes have no branches.
    let is_odd = |odd: bool, byte: &u8| odd | (*byte < 0x20);
    let is_apart =
        |apart: bool, (one, next): (&u8, &u8)| apart | ((*one == b'/') & ((*next == b'/') | (*next == b'.')));
    if !bytes.iter().zip(bytes.iter().skip(1)).fold(false, is_apart) {
        return !bytes.iter().fold(false, is_odd) && (bytes.len() == 1 || bytes.last() != Some(&b'/'));
    }
    let (mut len, mut dots) = (0_usize, 0_usize);
    for byte in bytes.iter().skip(1) {
        match byte {
            b'/' if len == 0 || is_dots(len, dots) => return false,
            b'/' => (len, dots) = (0, 0),
            0..0x20 => return false,
            _ => {
                len += 1;
                dots += usize::from(*byte == b'.');
            }
        }
    }
    bytes.len() == 1 || (len > 0 && !is_dots(len, dots))
}

/// Returns true for `.` and `..`, by their length and their number of dots.
fn is_dots(len: usize, dots: usize) -> bool {
    len <= 2 && dots == len
}

impl SanitizedPath {
    /// Returns the root of the file system.
    pub fn root() -> SanitizedPath {
        SanitizedPath("/".into())
    }

    /// Returns the path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the path as a [`Path`] of the standard library.
    pub fn as_path(&self) -> &Path {
        Path::new(self.as_str())
    }

    /// Iterates over the names of the components, from the root on.
    #[doc(hidden)]
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let mut rest = self.as_str().strip_prefix('/').filter(|rest| !rest.is_empty());
        std::iter::from_fn(move || {
            let path = rest?;
            let end = memchr::memchr(b'/', path.as_bytes());
            let (name, behind) = end.map_or((path, None), |end| (path.get(..end).unwrap_or(path), path.get(end + 1..)));
            rest = behind;
            Some(name)
        })
    }

    /// Iterates over the ancestors of the path from the root on, and then the path itself. The root is the first.
    #[doc(hidden)]
    pub fn way(&self) -> impl Iterator<Item = &str> {
        let (path, mut end) = (self.as_str(), 0);
        let below = self.names().filter_map(move |name| {
            end += name.len() + 1;
            path.get(..end)
        });
        std::iter::once("/").chain(below)
    }

    /// Returns the number of components.
    #[doc(hidden)]
    pub fn depth(&self) -> usize {
        self.names().count()
    }

    /// Returns true if `other` is this path or lies below it. The comparison is by component, never by text: `/work`
    /// does not contain `/work-evil`.
    pub fn contains(&self, other: &SanitizedPath) -> bool {
        contains(self.as_str(), other.as_str())
    }
}

/// Returns true if `root` contains `path`. Both must be normalized absolute paths from a [`SanitizedPath`].
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: crate::property_cases::cases(4000), ..ProptestConfig::default() })]

        #[test]
        fn a_path_is_plain_exactly_if_parsing_it_piece_by_piece_changes_nothing(text in "[/.a\t\u{0}é-]{0,12}") {
            let folded = text.split('/').filter(|part| !part.is_empty() && *part != ".");
            let folded = folded.fold(String::new(), |all, part| all + "/" + part);
            let same = text == "/" || folded == text && !folded.is_empty();
            let valid = !text.contains(['\t', '\0']) && text.split('/').all(|part| part != "..");
            prop_assert_eq!(is_plain(&text), same && valid);
            prop_assert_eq!(
                is_plain(&text),
                text.parse::<SanitizedPath>().is_ok_and(|path| path.as_str() == text) && !text.contains('\t')
            );
        }

        #[test]
        fn the_names_and_the_way_of_a_path_are_its_pieces(text in "(/[a.é]{1,3}){0,6}") {
            let Ok(path) = text.parse::<SanitizedPath>() else { return Ok(()) };
            let names: Vec<_> = path.as_str().split('/').filter(|name| !name.is_empty()).collect();
            prop_assert_eq!(path.names().collect::<Vec<_>>(), names);
            let mut above: Vec<_> = path.as_path().ancestors().map(|above| above.to_str().unwrap()).collect();
            above.reverse();
            prop_assert_eq!(path.way().collect::<Vec<_>>(), above);
        }
    }

    #[test]
    fn a_path_may_have_as_many_bytes_as_characters_and_no_more_by_the_short_way() {
        let long = |count: usize| format!("/{}", "é".repeat(count));
        assert!(long(4095).parse::<SanitizedPath>().is_ok() && !is_plain(&long(4095)));
        assert_eq!(long(4096).parse::<SanitizedPath>(), Err(InvalidPath::TooLong));
        assert!(is_plain(&format!("/{}", "a".repeat(4095))) && !is_plain(&format!("/{}", "a".repeat(4096))));
    }
}

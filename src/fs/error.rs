//! Why a path was not resolved, and why what it names was not touched. Nothing happened when one of these is returned.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use rustix::io::Errno;

use crate::model::{InvalidPath, SanitizedPath, Shown};

/// Why a path does not name something below an allowed base, or nothing that can be known.
///
/// Each names the path at which it happened, which need not be the one that was asked for: links lead elsewhere.
#[derive(Debug)]
#[non_exhaustive]
pub enum ResolveError {
    /// The text is not a path that the engine takes, or a link leads to such a text.
    Invalid(InvalidPath),
    /// The real path lies below none of the allowed bases.
    Outside(SanitizedPath),
    /// More than 40 links.
    Loop(String),
    /// Something that is not a directory is used as one.
    NotADirectory(String),
    /// The operating system does not let this process look.
    Denied(String),
    /// A component, or the path after following links, is longer than the file system takes.
    TooLong(String),
    /// A link of procfs that leads to whatever a process has open.
    MagicLink(String),
    /// A `..` behind something that does not exist: nobody knows where it would lead.
    MissingParent(String),
    /// There is nothing at this path, where something must be held.
    Missing(String),
    /// A link leads to a name that is not UTF-8.
    NotText(String),
    /// The path kept changing while it was followed.
    Unsteady(String),
    /// The operating system failed in another way.
    Io(String, io::Error),
}

impl ResolveError {
    pub(super) fn at(path: &str, errno: Errno) -> ResolveError {
        let path = path.to_owned();
        match errno {
            Errno::LOOP => ResolveError::Loop(path),
            Errno::NOTDIR => ResolveError::NotADirectory(path),
            Errno::ACCESS | Errno::PERM => ResolveError::Denied(path),
            Errno::NAMETOOLONG => ResolveError::TooLong(path),
            Errno::NOENT => ResolveError::Missing(path),
            other => ResolveError::Io(path, other.into()),
        }
    }
}

impl From<InvalidPath> for ResolveError {
    fn from(invalid: InvalidPath) -> ResolveError {
        ResolveError::Invalid(invalid)
    }
}

impl fmt::Display for ResolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, what) = match self {
            ResolveError::Invalid(invalid) => return invalid.fmt(f),
            ResolveError::Io(path, error) => return write!(f, "`{}` cannot be followed: {error}", Shown(path)),
            ResolveError::Outside(path) => (path.as_str(), "lies outside every allowed directory"),
            ResolveError::Loop(path) => (path.as_str(), "leads through more than 40 links"),
            ResolveError::NotADirectory(path) => (path.as_str(), "is not a directory"),
            ResolveError::Denied(path) => (path.as_str(), "may not be looked at by this process"),
            ResolveError::TooLong(path) => (path.as_str(), "is longer than the file system takes"),
            ResolveError::MagicLink(path) => (path.as_str(), "leads to what some process has open"),
            ResolveError::MissingParent(path) => (path.as_str(), "goes up from something that does not exist"),
            ResolveError::Missing(path) => (path.as_str(), "does not exist"),
            ResolveError::NotText(path) => (path.as_str(), "leads to a name that is not UTF-8"),
            ResolveError::Unsteady(path) => (path.as_str(), "kept changing while it was followed"),
        };
        write!(f, "`{}` {what}", Shown(path))
    }
}

impl std::error::Error for ResolveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ResolveError::Invalid(invalid) => Some(invalid),
            ResolveError::Io(_, error) => Some(error),
            ResolveError::Outside(_)
            | ResolveError::Loop(_)
            | ResolveError::NotADirectory(_)
            | ResolveError::Denied(_)
            | ResolveError::TooLong(_)
            | ResolveError::MagicLink(_)
            | ResolveError::MissingParent(_)
            | ResolveError::Missing(_)
            | ResolveError::NotText(_)
            | ResolveError::Unsteady(_) => None,
        }
    }
}

/// Why something below a base was not opened, read, written, listed or removed.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileError {
    /// The text is not a path that the engine takes.
    Invalid(InvalidPath),
    /// Not a canonical path below a base: it is absolute, or has an empty component, a `.`, a `..` or a null byte.
    NotCanonical(PathBuf),
    /// A component is a link. On a resolved path, somebody has put it there since.
    Link(PathBuf),
    /// A directory, a pipe, a socket or a device, where only a regular file will do.
    NotAFile(PathBuf),
    /// The file has more than one name, so a write could reach a file elsewhere.
    HardLinked(PathBuf),
    /// The base is another object than the one it was when it was granted.
    BaseChanged(PathBuf),
    /// This is the base itself, which is not to be replaced or removed through a grant on it.
    IsBase(PathBuf),
    /// There is nothing here.
    NotFound(PathBuf),
    /// Something that is not a directory is used as one.
    NotADirectory(PathBuf),
    /// The directory is not empty.
    NotEmpty(PathBuf),
    /// The operating system does not let this process do it.
    Denied(PathBuf),
    /// A component, or all of it, is longer than the file system takes.
    TooLong(PathBuf),
    /// More bytes, or more entries, than the caller wanted.
    TooLarge(PathBuf, usize),
    /// The file kept changing while it was checked.
    Unsteady(PathBuf),
    /// The operating system failed in another way.
    Io(PathBuf, io::Error),
}

impl FileError {
    pub(super) fn at(path: PathBuf, errno: Errno) -> FileError {
        match errno {
            Errno::LOOP => FileError::Link(path),
            // ENXIO: a socket, or a pipe that nobody reads.
            Errno::ISDIR | Errno::NXIO => FileError::NotAFile(path),
            Errno::NOENT => FileError::NotFound(path),
            Errno::NOTDIR => FileError::NotADirectory(path),
            Errno::NOTEMPTY => FileError::NotEmpty(path),
            Errno::ACCESS | Errno::PERM | Errno::ROFS => FileError::Denied(path),
            Errno::NAMETOOLONG => FileError::TooLong(path),
            other => FileError::Io(path, other.into()),
        }
    }
}

impl From<InvalidPath> for FileError {
    fn from(invalid: InvalidPath) -> FileError {
        FileError::Invalid(invalid)
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, what) = match self {
            FileError::Invalid(invalid) => return invalid.fmt(f),
            FileError::TooLarge(path, limit) => return write!(f, "{} has more than {limit}", Escaped(path)),
            FileError::Io(path, error) => return write!(f, "{} failed: {error}", Escaped(path)),
            FileError::NotCanonical(path) => (path, "is not a plain path below a directory"),
            FileError::Link(path) => (path, "leads through a link where none may be"),
            FileError::NotAFile(path) => (path, "is not a regular file"),
            FileError::HardLinked(path) => (path, "has more than one name, so it is not written in place"),
            FileError::BaseChanged(path) => (path, "is not the object that it was when it was granted"),
            FileError::IsBase(path) => (path, "is the granted path itself"),
            FileError::NotFound(path) => (path, "does not exist"),
            FileError::NotADirectory(path) => (path, "is not a directory, or is not below one"),
            FileError::NotEmpty(path) => (path, "is not empty"),
            FileError::Denied(path) => (path, "may not be touched by this process"),
            FileError::TooLong(path) => (path, "is longer than the file system takes"),
            FileError::Unsteady(path) => (path, "kept changing while it was checked"),
        };
        write!(f, "{} {what}", Escaped(path))
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            FileError::Invalid(invalid) => Some(invalid),
            FileError::Io(_, error) => Some(error),
            FileError::NotCanonical(_)
            | FileError::Link(_)
            | FileError::NotAFile(_)
            | FileError::HardLinked(_)
            | FileError::BaseChanged(_)
            | FileError::IsBase(_)
            | FileError::NotFound(_)
            | FileError::NotADirectory(_)
            | FileError::NotEmpty(_)
            | FileError::Denied(_)
            | FileError::TooLong(_)
            | FileError::TooLarge(..)
            | FileError::Unsteady(_) => None,
        }
    }
}

/// A path in a message: bytes that are not UTF-8 become U+FFFD, which names nothing and is only read by people.
struct Escaped<'a>(&'a Path);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", Shown(&self.0.to_string_lossy()))
    }
}

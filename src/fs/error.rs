//! Errors of resolving a path and of file operations. An operation that returns one of them has changed no file.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use rustix::io::Errno;

use crate::model::{Escaped, InvalidPath, SanitizedPath};

/// The reason why a path could not be resolved to a known object below an allowed base.
///
/// Each error names the path at which it happened. Because of links, this need not be the requested path.
#[derive(Debug)]
#[non_exhaustive]
pub enum ResolveError {
    /// The text is not a valid path, or a link leads to such a text.
    Invalid(InvalidPath),
    /// The real path lies below none of the allowed bases.
    Outside(SanitizedPath),
    /// The path leads through more than 40 links.
    Loop(String),
    /// A path that is not a directory is used as one.
    NotADirectory(String),
    /// The operating system does not permit this process to look.
    Denied(String),
    /// A component, or the path after following links, is longer than the file system takes.
    TooLong(String),
    /// The path leads through a link of procfs to a file that a process has open.
    MagicLink(String),
    /// The path has a `..` after a component that does not exist, so its target is unknown.
    MissingParent(String),
    /// The path does not exist, but an object must be held.
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
            ResolveError::Io(path, error) => return write!(f, "`{}` cannot be followed: {error}", Escaped(path)),
            ResolveError::Outside(path) => (path.as_str(), "lies outside every allowed directory"),
            ResolveError::Loop(path) => (path.as_str(), "leads through more than 40 links"),
            ResolveError::NotADirectory(path) => (path.as_str(), "is not a directory"),
            ResolveError::Denied(path) => (path.as_str(), "may not be looked at by this process"),
            ResolveError::TooLong(path) => (path.as_str(), "is longer than the file system takes"),
            ResolveError::MagicLink(path) => (path.as_str(), "leads to a file that a process has open"),
            ResolveError::MissingParent(path) => (path.as_str(), "goes up from something that does not exist"),
            ResolveError::Missing(path) => (path.as_str(), "does not exist"),
            ResolveError::NotText(path) => (path.as_str(), "leads to a name that is not UTF-8"),
            ResolveError::Unsteady(path) => (path.as_str(), "kept changing while it was followed"),
        };
        write!(f, "`{}` {what}", Escaped(path))
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

/// The reason why a path below a base was not opened, read, written, listed or removed.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileError {
    /// The text is not a valid path.
    Invalid(InvalidPath),
    /// The path is not canonical below a base: it is absolute, or has an empty component, a `.`, a `..` or a null byte.
    NotCanonical(PathBuf),
    /// A component is a link. On a resolved path, the link was put there after the resolution.
    Link(PathBuf),
    /// The path names a directory, a pipe, a socket or a device, where a regular file is required.
    NotAFile(PathBuf),
    /// The file has more than one name, so a write could reach a file elsewhere.
    HardLinked(PathBuf),
    /// The base is not the object that it was when it was granted.
    BaseChanged(PathBuf),
    /// The path is the base itself, which must not be replaced or removed through a grant on it.
    IsBase(PathBuf),
    /// The path does not exist.
    NotFound(PathBuf),
    /// A path that is not a directory is used as one.
    NotADirectory(PathBuf),
    /// The directory is not empty.
    NotEmpty(PathBuf),
    /// The operating system does not permit this process to do it.
    Denied(PathBuf),
    /// A component, or the whole path, is longer than the file system takes.
    TooLong(PathBuf),
    /// The content has more bytes, or more entries, than the caller wanted.
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
            // ENXIO means a socket, or a pipe without a reader.
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
            FileError::TooLarge(path, limit) => return write!(f, "{} has more than {limit}", EscapedPath(path)),
            FileError::Io(path, error) => return write!(f, "{} failed: {error}", EscapedPath(path)),
            FileError::NotCanonical(path) => (path, "is not a plain path below a directory"),
            FileError::Link(path) => (path, "leads through a link where none may be"),
            FileError::NotAFile(path) => (path, "is not a regular file"),
            FileError::HardLinked(path) => (path, "has more than one name, so it cannot be written in place"),
            FileError::BaseChanged(path) => (path, "is not the object that it was when it was granted"),
            FileError::IsBase(path) => (path, "is the granted path itself"),
            FileError::NotFound(path) => (path, "does not exist"),
            FileError::NotADirectory(path) => (path, "is not a directory, or is not below one"),
            FileError::NotEmpty(path) => (path, "is not empty"),
            FileError::Denied(path) => (path, "may not be changed by this process"),
            FileError::TooLong(path) => (path, "is longer than the file system takes"),
            FileError::Unsteady(path) => (path, "kept changing while it was checked"),
        };
        write!(f, "{} {what}", EscapedPath(path))
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

/// A path in a message. Bytes that are not UTF-8 become U+FFFD, which is only for people to read.
struct EscapedPath<'a>(&'a Path);

impl fmt::Display for EscapedPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", Escaped(&self.0.to_string_lossy()))
    }
}

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
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// The text is not a valid path, or a link leads to such a text.
    #[error("{0}")]
    Invalid(#[from] InvalidPath),
    /// The real path lies below none of the allowed bases.
    #[error("`{}` lies outside every allowed directory", Escaped(.0.as_str()))]
    Outside(SanitizedPath),
    /// The path leads through more than 40 links.
    #[error("`{}` leads through more than 40 links", Escaped(.0))]
    Loop(String),
    /// A path that is not a directory is used as one.
    #[error("`{}` is not a directory", Escaped(.0))]
    NotADirectory(String),
    /// The operating system does not permit this process to look.
    #[error("`{}` may not be looked at by this process", Escaped(.0))]
    Denied(String),
    /// A component, or the path after following links, is longer than the file system takes.
    #[error("`{}` is longer than the file system takes", Escaped(.0))]
    TooLong(String),
    /// The path leads through a link of procfs to a file that a process has open.
    #[error("`{}` leads to a file that a process has open", Escaped(.0))]
    MagicLink(String),
    /// The path has a `..` after a component that does not exist, so its target is unknown.
    #[error("`{}` goes up from something that does not exist", Escaped(.0))]
    MissingParent(String),
    /// The path does not exist, but an object must be held.
    #[error("`{}` does not exist", Escaped(.0))]
    Missing(String),
    /// A link leads to a name that is not UTF-8.
    #[error("`{}` leads to a name that is not UTF-8", Escaped(.0))]
    NotText(String),
    /// The path kept changing while it was followed.
    #[error("`{}` kept changing while it was followed", Escaped(.0))]
    Unsteady(String),
    /// The operating system failed in another way.
    #[error("`{}` cannot be followed: {}", Escaped(.0), .1)]
    Io(String, #[source] io::Error),
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

/// The reason why a path below a base was not opened, read, written, listed or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The text is not a valid path.
    #[error("{0}")]
    Invalid(#[from] InvalidPath),
    /// The path is not canonical below a base: it is absolute, or has an empty component, a `.`, a `..` or a null byte.
    #[error("{} is not a plain path below a directory", EscapedPath(.0))]
    NotCanonical(PathBuf),
    /// A component is a link. On a resolved path, the link was put there after the resolution.
    #[error("{} leads through a link where none may be", EscapedPath(.0))]
    Link(PathBuf),
    /// The path names a directory, a pipe, a socket or a device, where a regular file is required.
    #[error("{} is not a regular file", EscapedPath(.0))]
    NotAFile(PathBuf),
    /// The file has more than one name, so a write could reach a file elsewhere.
    #[error("{} has more than one name, so it cannot be written in place", EscapedPath(.0))]
    HardLinked(PathBuf),
    /// The base is not the object that it was when it was granted.
    #[error("{} is not the object that it was when it was granted", EscapedPath(.0))]
    BaseChanged(PathBuf),
    /// The path is the base itself, which must not be replaced or removed through a grant on it.
    #[error("{} is the granted path itself", EscapedPath(.0))]
    IsBase(PathBuf),
    /// The path does not exist.
    #[error("{} does not exist", EscapedPath(.0))]
    NotFound(PathBuf),
    /// A path that is not a directory is used as one.
    #[error("{} is not a directory, or is not below one", EscapedPath(.0))]
    NotADirectory(PathBuf),
    /// The directory is not empty.
    #[error("{} is not empty", EscapedPath(.0))]
    NotEmpty(PathBuf),
    /// The operating system does not permit this process to do it.
    #[error("{} may not be changed by this process", EscapedPath(.0))]
    Denied(PathBuf),
    /// A component, or the whole path, is longer than the file system takes.
    #[error("{} is longer than the file system takes", EscapedPath(.0))]
    TooLong(PathBuf),
    /// The content has more bytes, or more entries, than the caller wanted.
    #[error("{} has more than {}", EscapedPath(.0), .1)]
    TooLarge(PathBuf, usize),
    /// The file kept changing while it was checked.
    #[error("{} kept changing while it was checked", EscapedPath(.0))]
    Unsteady(PathBuf),
    /// The operating system failed in another way.
    #[error("{} failed: {}", EscapedPath(.0), .1)]
    Io(PathBuf, #[source] io::Error),
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

/// A path in a message. Bytes that are not UTF-8 become U+FFFD, which is only for people to read.
struct EscapedPath<'a>(&'a Path);

impl fmt::Display for EscapedPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", Escaped(&self.0.to_string_lossy()))
    }
}

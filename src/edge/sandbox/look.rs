//! What lies below a write root and is obeyed by programs, or is a secret: every sensitive name that is there.
//!
//! What cannot be looked into is told, never passed over: only what is not there is nothing.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat},
    io::Errno,
};

use super::Profile;
use crate::model::{SanitizedPath, makes_a_repository};

/// How many entries below one root are looked at.
const MOST_ENTRIES: usize = 1_000_000;

/// What lies below one write root.
#[derive(Debug, Default)]
pub(super) struct Looked {
    /// Each sensitive name, and what it is.
    pub(super) sensitive: Vec<(PathBuf, FileType)>,
    /// Directories that git takes for repositories although they have another name, below the root.
    pub(super) repositories: Vec<PathBuf>,
    /// True if the root itself is such a directory.
    pub(super) is_repository: bool,
    /// Directories that could not be looked into.
    pub(super) closed: Vec<(PathBuf, Errno)>,
    /// True if there is more than is looked at.
    pub(super) is_too_much: bool,
}

/// Looks below `root`, links not followed. What lies in something sensitive is not looked at.
pub(super) fn look(root: &SanitizedPath, profile: &Profile) -> Looked {
    let mut looked = Looked::default();
    let mut seen = 0;
    let mut open = vec![root.as_path().to_owned()];
    while let Some(directory) = open.pop() {
        let below = open.len();
        match entries(&directory, profile, &mut looked.sensitive, &mut open) {
            Ok((count, is_repository)) => {
                seen += count;
                if is_repository && directory == root.as_path() {
                    looked.is_repository = true;
                } else if is_repository {
                    open.truncate(below);
                    looked.sensitive.retain(|(path, _)| !path.starts_with(&directory));
                    looked.repositories.push(directory);
                }
            }
            // It was removed, or is something else by now, whose name says nothing.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) if directory != root.as_path() => {}
            Err(why) => looked.closed.push((directory, why)),
        }
        if seen > MOST_ENTRIES {
            looked.is_too_much = true;
            break;
        }
    }
    looked
}

/// Looks at the entries of one directory; says how many there are, and whether together they make a repository.
fn entries(
    directory: &Path,
    profile: &Profile,
    sensitive: &mut Vec<(PathBuf, FileType)>,
    open: &mut Vec<PathBuf>,
) -> Result<(usize, bool), Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let held = openat(CWD, directory, flags, Mode::empty())?;
    let above = directory.file_name().unwrap_or_default().to_string_lossy();
    let depth = directory.components().count().saturating_sub(1);
    let (mut count, mut of_repository) = (0, Vec::new());
    for entry in Dir::read_from(&held)? {
        let entry = entry?;
        let bytes = entry.file_name().to_bytes();
        if matches!(bytes, b"." | b"..") {
            continue;
        }
        count += 1;
        let name = String::from_utf8_lossy(bytes);
        let is_sensitive = profile.is_sensitive_name(&name, &above, depth);
        let kind = match entry.file_type() {
            FileType::Unknown => match statat(&held, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                Err(Errno::NOENT) => continue,
                Err(why) => return Err(why),
            },
            known => known,
        };
        if makes_a_repository(&name) {
            of_repository.push(name.into_owned());
        }
        let path = || directory.join(OsStr::from_bytes(bytes));
        if is_sensitive {
            sensitive.push((path(), kind));
        } else if kind == FileType::Directory {
            open.push(path());
        }
    }
    let has = |wanted: &str| of_repository.iter().any(|name| name == wanted);
    Ok((count, has("HEAD") && (has("commondir") || (has("objects") && has("refs")))))
}

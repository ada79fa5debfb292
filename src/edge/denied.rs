//! Which paths denied globs mean on the disk, for a command that is about to start.

use std::{fs, io, path::PathBuf};

use globset::{GlobSet, GlobSetBuilder};

use crate::model::{PathGlob, SanitizedPath};

/// The most entries that are looked at. Where there are more, the command does not run: nobody could say what it is kept from.
const MOST_ENTRIES: usize = 200_000;

/// The most paths that are kept from one command.
const MOST_FOUND: usize = 4096;

/// Everything below `roots` that one of `globs` means, links not followed. What lies in a directory that is found is not
/// looked for.
pub(super) fn found(globs: &[PathGlob], roots: &[SanitizedPath]) -> io::Result<Vec<SanitizedPath>> {
    if globs.is_empty() {
        return Ok(Vec::new());
    }
    let denied = compiled(globs).map_err(io::Error::other)?;
    let (mut found, mut looked_at) = (Vec::new(), 0);
    let mut open: Vec<PathBuf> = outermost(roots).map(|root| PathBuf::from(root.as_str())).collect();
    while let Some(directory) = open.pop() {
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            // The command runs as this user, and finds no more there.
            Err(why) if matches!(why.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound) => continue,
            Err(why) if why.kind() == io::ErrorKind::NotADirectory => continue,
            Err(why) => return Err(why),
        };
        for entry in entries {
            let entry = entry?;
            looked_at += 1;
            if looked_at > MOST_ENTRIES || found.len() > MOST_FOUND {
                return Err(io::Error::other(format!(
                    "a glob is denied, and there is too much below the working directory and the write roots to find out what \
                     it means there (more than {MOST_ENTRIES} entries or {MOST_FOUND} paths): give the command less, or \
                     deny a path by name"
                )));
            }
            let path = entry.path();
            if denied.is_match(&path) {
                // A name that is no path of ours, no command line can be told to leave alone either.
                let text = path.to_str().and_then(|text| text.parse().ok());
                found.push(
                    text.ok_or_else(|| io::Error::other("a glob is denied, and what it means has no valid name"))?,
                );
            } else if entry.file_type()?.is_dir() {
                open.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// A no to a directory is one to all in it, and one to all in it is one to the directory.
fn compiled(globs: &[PathGlob]) -> Result<GlobSet, globset::Error> {
    let mut builder = GlobSetBuilder::new();
    for glob in globs {
        for form in glob.compiled_as_no()? {
            builder.add(form);
        }
    }
    builder.build()
}

/// Those of `roots` that lie below no other.
fn outermost(roots: &[SanitizedPath]) -> impl Iterator<Item = &SanitizedPath> {
    roots
        .iter()
        .enumerate()
        .filter(|(place, root)| {
            let above = |(other_place, other): (usize, &SanitizedPath)| {
                other.contains(root) && (other != *root || other_place < *place)
            };
            !roots.iter().enumerate().any(above)
        })
        .map(|(_, root)| root)
}

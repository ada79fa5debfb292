//! Searches below directories: for paths that match globs, and for links.

use std::{cell::LazyCell, fs, io, ops::ControlFlow, path::PathBuf};

use globset::{Candidate, GlobSet, GlobSetBuilder};

use super::ResolveError;
#[cfg(feature = "sandbox")]
use super::for_shell;
use crate::model::{PathGlob, SanitizedPath};

/// The maximum number of entries that are examined. If there are more, the matches of a glob cannot be determined.
const MOST_ENTRIES: usize = 200_000;

/// The maximum number of paths that are found.
const MOST_FOUND: usize = 4096;

/// Returns every path below `roots` that one of `globs` matches, as a denial matches; links are not followed. The
/// content of a matching directory is not searched. A directory that this user may not read counts as a match, because
/// a process that runs as its owner could open it.
///
/// # Errors
///
/// A root that this user may not read, a directory that cannot be read for another reason, more entries than the limit,
/// and a name that is no valid path.
#[cfg(feature = "sandbox")]
pub(crate) fn all_found(globs: &[PathGlob], roots: &[SanitizedPath]) -> io::Result<Vec<SanitizedPath>> {
    let mut found = Vec::new();
    let closed = look(globs, roots, |path, _| {
        found.push(path);
        if found.len() > MOST_FOUND { Err(too_much()) } else { Ok(ControlFlow::Continue(())) }
    })?;
    for directory in closed {
        let root = roots.iter().find(|root| root.as_path() == directory);
        if let Some(root) = root {
            let way_out = format!("run `chmod u+rwx {}`", for_shell(root.as_path()));
            return Err(io::Error::other(format!("a glob is denied, and `{root}` cannot be read: {way_out}")));
        }
        let nameless = || io::Error::other("a glob is denied, and a directory that cannot be read has no valid name");
        found.push(directory.to_str().and_then(|text| text.parse().ok()).ok_or_else(nameless)?);
    }
    found.sort();
    Ok(found)
}

/// Returns for each of `globs` the first path below `roots` that it matches and that `counts` accepts.
///
/// # Errors
///
/// The errors of [`all_found`], except for a root that this user may not read: it is skipped here.
pub(crate) fn first_found(
    globs: &[PathGlob],
    roots: &[SanitizedPath],
    counts: impl Fn(&SanitizedPath) -> bool,
) -> io::Result<Vec<SanitizedPath>> {
    let mut first: Vec<Option<SanitizedPath>> = vec![None; globs.len()];
    look(globs, roots, |path, of| {
        if counts(&path) {
            for place in of {
                if let Some(slot @ None) = first.get_mut(place) {
                    *slot = Some(path.clone());
                }
            }
        }
        let is_done = first.iter().all(Option::is_some);
        Ok(if is_done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    Ok(first.into_iter().flatten().collect())
}

/// Returns the targets of the links below `root`, and of the links below those targets. Returns none if they cannot all
/// be determined, or if there are more entries than the limit.
pub(crate) fn linked(root: &SanitizedPath) -> Option<Vec<SanitizedPath>> {
    let mut found: Vec<SanitizedPath> = Vec::new();
    // A directory that cannot be read has no link that can be followed.
    let _closed = each_below(vec![PathBuf::from(root.as_str())], |entry, open| {
        let kind = entry.file_type()?;
        if kind.is_dir() {
            open.push(entry.path());
        } else if kind.is_symlink() {
            let path = entry.path();
            let nameless = || io::Error::other("a link has no valid name, so its target is unknown");
            let real = match super::real(path.to_str().ok_or_else(nameless)?) {
                Ok(real) => real,
                Err(why @ (ResolveError::Io(..) | ResolveError::Unsteady(_) | ResolveError::NotText(_))) => {
                    return Err(io::Error::other(why.to_string()));
                }
                // This link cannot be followed.
                Err(_) => return Ok(ControlFlow::Continue(())),
            };
            let path = real.path();
            if !root.contains(path) && !found.iter().any(|known| known.contains(path)) {
                open.push(PathBuf::from(path.as_str()));
                found.push(path.clone());
            }
        }
        if found.len() > MOST_FOUND { Err(too_much()) } else { Ok(ControlFlow::Continue(())) }
    })
    .ok()?;
    Some(found)
}

fn too_much() -> io::Error {
    io::Error::other(format!(
        "a glob is denied, and the directories contain too much to find its matches (more than {MOST_ENTRIES} \
         entries or {MOST_FOUND} paths): name smaller directories, or deny a path by name"
    ))
}

/// Passes every matching path to `take`, with the indexes of its globs, until `take` stops. Returns the directories
/// that this user may not read.
fn look(
    globs: &[PathGlob],
    roots: &[SanitizedPath],
    mut take: impl FnMut(SanitizedPath, Vec<usize>) -> io::Result<ControlFlow<()>>,
) -> io::Result<Vec<PathBuf>> {
    if globs.is_empty() {
        return Ok(Vec::new());
    }
    // The globs are compiled only if there is an entry to compare.
    let forms = LazyCell::new(|| compiled(globs));
    let open = outermost(roots).map(|root| PathBuf::from(root.as_str())).collect();
    each_below(open, |entry, open| {
        let path = entry.path();
        let (denied, places) = forms.as_ref().map_err(|why| io::Error::other(why.clone()))?;
        let candidate = Candidate::new(&path);
        if denied.is_match_candidate(&candidate) {
            let of = denied.matches_candidate(&candidate);
            let of = of.into_iter().filter_map(|form| places.get(form).copied()).collect();
            // A name that is no valid path cannot be hidden from a command line either.
            let text = path.to_str().and_then(|text| text.parse().ok());
            let nameless = || io::Error::other("a glob is denied, and a path that it matches has no valid name");
            return take(text.ok_or_else(nameless)?, of);
        }
        if entry.file_type()?.is_dir() {
            open.push(path);
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// Passes every entry of the directories in `open` to `visit`, until `visit` stops. `visit` may add directories to
/// search. Returns the directories that this user may not read.
fn each_below(
    mut open: Vec<PathBuf>,
    mut visit: impl FnMut(&fs::DirEntry, &mut Vec<PathBuf>) -> io::Result<ControlFlow<()>>,
) -> io::Result<Vec<PathBuf>> {
    let (mut closed, mut looked_at) = (Vec::new(), 0);
    while let Some(directory) = open.pop() {
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(why) if why.kind() == io::ErrorKind::PermissionDenied => {
                closed.push(directory);
                continue;
            }
            Err(why) if matches!(why.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => continue,
            Err(why) => return Err(why),
        };
        for entry in entries {
            looked_at += 1;
            if looked_at > MOST_ENTRIES {
                return Err(too_much());
            }
            if visit(&entry?, &mut open)?.is_break() {
                return Ok(closed);
            }
        }
    }
    Ok(closed)
}

/// Compiles the globs as denials, with the index of the glob of each form. A denial of a directory covers its content,
/// and a denial of its whole content covers the directory.
fn compiled(globs: &[PathGlob]) -> Result<(GlobSet, Vec<usize>), globset::Error> {
    let (mut builder, mut places) = (GlobSetBuilder::new(), Vec::new());
    for (place, glob) in globs.iter().enumerate() {
        for form in glob.compiled_as_no()? {
            builder.add(form);
            places.push(place);
        }
    }
    Ok((builder.build()?, places))
}

/// Returns those of `roots` that lie below no other.
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

#[cfg(test)]
mod tests {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt, os::unix::fs::symlink};

    use super::*;

    fn root(directory: &tempfile::TempDir) -> SanitizedPath {
        super::super::real(directory.path().to_str().unwrap()).unwrap().path().clone()
    }

    #[test]
    fn a_link_leads_out_of_a_tree_and_out_of_what_it_leads_to() {
        let (tree, other, last) =
            (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(tree.path().join("a")).unwrap();
        symlink(other.path(), tree.path().join("a/link")).unwrap();
        symlink(last.path(), other.path().join("on")).unwrap();
        symlink("a", tree.path().join("inside")).unwrap();
        symlink("nowhere/at/all/..", tree.path().join("dangling")).unwrap();
        assert_eq!(linked(&root(&tree)).unwrap(), [root(&other), root(&last)]);
    }

    #[test]
    fn where_a_link_leads_that_has_no_valid_name_nobody_can_tell() {
        let tree = tempfile::tempdir().unwrap();
        symlink("/etc", tree.path().join(OsStr::from_bytes(b"\xff"))).unwrap();
        assert_eq!(linked(&root(&tree)), None);
    }
}

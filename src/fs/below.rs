//! Searches below directories: for paths that match globs, and for links.

use std::{
    cell::LazyCell,
    fs, io,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use globset::{Candidate, GlobSet, GlobSetBuilder};

use super::ResolveError;
use crate::model::{PathGlob, SanitizedPath};

/// The maximum number of entries that are examined. If there are more, the matches of a glob cannot be determined.
const MOST_ENTRIES: usize = 200_000;

/// The maximum number of paths that are found.
const MOST_FOUND: usize = 4096;

/// The errors of a directory that is skipped.
const SKIPPED: [io::ErrorKind; 3] =
    [io::ErrorKind::PermissionDenied, io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];

/// Returns for each of `globs` the first path below `roots` that it matches and that `counts` accepts.
///
/// # Errors
///
/// A directory that cannot be read, except for lack of permission, and more entries than the limit.
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
    each_below(vec![PathBuf::from(root.as_str())], |entry, open| {
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

/// Passes every matching path to `take`, with the indexes of its globs, until `take` stops. Links are not followed, and
/// the content of a matching directory is not searched.
fn look(
    globs: &[PathGlob],
    roots: &[SanitizedPath],
    mut take: impl FnMut(SanitizedPath, Vec<usize>) -> io::Result<ControlFlow<()>>,
) -> io::Result<()> {
    if globs.is_empty() {
        return Ok(());
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
            return take(nearest(&path), of);
        }
        if entry.file_type()?.is_dir() {
            open.push(path);
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// Passes every entry of the directories in `open` to `visit`, until `visit` stops. `visit` may add directories to
/// search. Directories that this user may not read are skipped.
fn each_below(
    mut open: Vec<PathBuf>,
    mut visit: impl FnMut(&fs::DirEntry, &mut Vec<PathBuf>) -> io::Result<ControlFlow<()>>,
) -> io::Result<()> {
    let mut looked_at = 0;
    while let Some(directory) = open.pop() {
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(why) if SKIPPED.contains(&why.kind()) => continue,
            Err(why) => return Err(why),
        };
        for entry in entries {
            looked_at += 1;
            if looked_at > MOST_ENTRIES {
                return Err(too_much());
            }
            if visit(&entry?, &mut open)?.is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
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

/// Returns the path, or a valid path like it. A file with an odd name must not keep commands from being decided.
fn nearest(path: &Path) -> SanitizedPath {
    let text: String = path.to_string_lossy().chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    let above = || path.ancestors().skip(1).find_map(|above| above.to_str()?.parse().ok());
    text.parse().ok().or_else(above).unwrap_or_else(SanitizedPath::root)
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

//! What lies below directories: which paths globs mean there, and what a shell makes of a pattern.

use std::{cell::LazyCell, fs, io, ops::ControlFlow, path::PathBuf};

use globset::{Candidate, GlobSet, GlobSetBuilder};

use super::ResolveError;
#[cfg(feature = "sandbox")]
use super::for_shell;
use crate::model::{PathGlob, SanitizedPath};

/// The most entries that are looked at. Where there are more, nobody can say what a glob means there.
const MOST_ENTRIES: usize = 200_000;

/// The most paths that are found.
const MOST_FOUND: usize = 4096;

/// Returns everything below `roots` that one of `globs` means, as a no means it; links are not followed. What lies in a
/// directory that is found is not looked for. A directory that this user may not look into counts as found: what runs as
/// its owner could open it.
///
/// # Errors
///
/// A root that this user may not look into, a directory that cannot be read for another reason, more than can be looked at,
/// and a name that is no path.
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
            return Err(io::Error::other(format!("a glob is denied, and `{root}` cannot be looked into: {way_out}")));
        }
        let nameless =
            || io::Error::other("a glob is denied, and a directory that cannot be looked into has no valid name");
        found.push(directory.to_str().and_then(|text| text.parse().ok()).ok_or_else(nameless)?);
    }
    found.sort();
    Ok(found)
}

/// Returns the first path below `roots` that each of `globs` means, of those that `counts` says yes to.
///
/// # Errors
///
/// As [`all_found`].
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

/// Returns what the links below `root` lead to, and the links there; none where nobody can tell all of that, or there is
/// more than can be looked at.
pub(crate) fn linked(root: &SanitizedPath) -> Option<Vec<SanitizedPath>> {
    let mut found: Vec<SanitizedPath> = Vec::new();
    // What cannot be looked into has no link that anybody follows.
    let _closed = each_below(vec![PathBuf::from(root.as_str())], |entry, open| {
        let kind = entry.file_type()?;
        if kind.is_dir() {
            open.push(entry.path());
        } else if kind.is_symlink() {
            let path = entry.path();
            let nameless = || io::Error::other("a link has no valid name, and nobody can tell where it leads");
            let real = match super::real(path.to_str().ok_or_else(nameless)?) {
                Ok(real) => real,
                Err(why @ (ResolveError::Io(..) | ResolveError::Unsteady(_) | ResolveError::NotText(_))) => {
                    return Err(io::Error::other(why.to_string()));
                }
                // Nobody can follow it.
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
        "a glob is denied, and there is too much below the directories to find out what it means there (more than \
         {MOST_ENTRIES} entries or {MOST_FOUND} paths): name less, or deny a path by name"
    ))
}

/// Hands every path that is found to `take`, with the places of the globs that mean it, until that has enough. Returns the
/// directories that this user may not look into.
fn look(
    globs: &[PathGlob],
    roots: &[SanitizedPath],
    mut take: impl FnMut(SanitizedPath, Vec<usize>) -> io::Result<ControlFlow<()>>,
) -> io::Result<Vec<PathBuf>> {
    if globs.is_empty() {
        return Ok(Vec::new());
    }
    // Worked out where there is something to look at.
    let forms = LazyCell::new(|| compiled(globs));
    let open = outermost(roots).map(|root| PathBuf::from(root.as_str())).collect();
    each_below(open, |entry, open| {
        let path = entry.path();
        let (denied, places) = forms.as_ref().map_err(|why| io::Error::other(why.clone()))?;
        let candidate = Candidate::new(&path);
        if denied.is_match_candidate(&candidate) {
            let of = denied.matches_candidate(&candidate);
            let of = of.into_iter().filter_map(|form| places.get(form).copied()).collect();
            // A name that is no path of ours, no command line can be told to leave alone either.
            let text = path.to_str().and_then(|text| text.parse().ok());
            let nameless = || io::Error::other("a glob is denied, and what it means has no valid name");
            return take(text.ok_or_else(nameless)?, of);
        }
        if entry.file_type()?.is_dir() {
            open.push(path);
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// Hands every entry of the directories in `open` to `visit`, until that has enough; it adds the directories that are looked
/// into as well. Returns the directories that this user may not look into.
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

/// The globs as noes, and of which glob each form is: a no to a directory is one to all in it, and one to all in it is one to
/// the directory.
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

//! Searches below directories: for paths that match globs, and for links.

use std::{
    cell::LazyCell,
    fs, io,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use globset::{GlobSet, GlobSetBuilder};

use super::ResolveError;
use crate::model::{PathGlob, SanitizedPath};

/// The maximum number of entries that are examined. If there are more, the matches of a glob cannot be determined.
const MOST_ENTRIES: usize = 200_000;

/// The maximum number of paths that are found.
const MOST_FOUND: usize = 4096;

/// The errors of a directory that is skipped.
const SKIPPED: [io::ErrorKind; 3] =
    [io::ErrorKind::PermissionDenied, io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];

/// Returns the paths below `roots` that one of `globs` denies and that `counts` accepts. The content of such a path is
/// not searched. Only the directories that may contain a match are read.
///
/// # Errors
///
/// A directory that cannot be read, except for lack of permission, more entries than the limit, and more than `most`
/// paths.
pub(crate) fn denied_below(
    globs: &[PathGlob],
    roots: &[SanitizedPath],
    most: usize,
    counts: impl Fn(&SanitizedPath) -> bool,
) -> io::Result<Vec<SanitizedPath>> {
    let roots: Vec<_> = outermost(roots).cloned().collect();
    let mut found: Vec<SanitizedPath> = Vec::new();
    let mut take = |path: SanitizedPath| {
        if counts(&path) && !found.contains(&path) {
            found.push(path);
        }
        if found.len() > most { Err(too_many(most)) } else { Ok(()) }
    };
    let (mut searched, mut starts) = (Vec::new(), Vec::new());
    for glob in globs {
        for root in &roots {
            match glob.named_as_no() {
                Some(named) if named.contains(root) => take(root.clone())?,
                Some(named) if root.contains(&named) && fs::symlink_metadata(named.as_path()).is_ok() => take(named)?,
                Some(_) => {}
                None if glob.denies(root).map_err(io::Error::other)? => take(root.clone())?,
                None => {
                    let start: SanitizedPath = glob.start().parse().map_err(io::Error::other)?;
                    // Every match is below both.
                    let start = if root.contains(&start) {
                        start
                    } else if start.contains(root) {
                        root.clone()
                    } else {
                        continue;
                    };
                    starts.push(start);
                    searched.push(glob.clone());
                }
            }
        }
    }
    look(&searched, &starts, take)?;
    Ok(found)
}

fn too_many(most: usize) -> io::Error {
    io::Error::other(format!("rules deny, or ask about, more than {most} paths in these directories"))
}

/// Returns the links below `root`, and those below their targets, each with its target. Returns none if they cannot all
/// be determined, or if there are more than the limit.
pub(crate) fn linked(root: &SanitizedPath) -> Option<Vec<(SanitizedPath, SanitizedPath)>> {
    let mut found: Vec<(SanitizedPath, SanitizedPath)> = Vec::new();
    let mut searched = vec![root.clone()];
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
            let target = real.path();
            if !searched.iter().any(|known| known.contains(target)) {
                open.push(PathBuf::from(target.as_str()));
                searched.push(target.clone());
            }
            found.push((nearest(&path), target.clone()));
        }
        if searched.len() > MOST_FOUND { Err(too_much()) } else { Ok(ControlFlow::Continue(())) }
    })
    .ok()?;
    Some(found)
}

fn too_much() -> io::Error {
    io::Error::other(format!(
        "the directories contain too much to search for what rules deny (more than {MOST_ENTRIES} entries): name \
         smaller directories"
    ))
}

/// Passes every matching path to `take`. Links are not followed, and the content of a matching directory is not
/// searched.
fn look(
    globs: &[PathGlob],
    starts: &[SanitizedPath],
    mut take: impl FnMut(SanitizedPath) -> io::Result<()>,
) -> io::Result<()> {
    if globs.is_empty() {
        return Ok(());
    }
    // The globs are compiled only if there is an entry to compare. Most end with a plain name, so most entries differ.
    let forms = LazyCell::new(|| compiled(globs));
    let names: Option<Vec<&str>> = globs.iter().map(PathGlob::last_name).collect();
    let may_match =
        |entry: &fs::DirEntry| names.as_ref().is_none_or(|names| names.iter().any(|name| entry.file_name() == *name));
    let open = outermost(starts).map(|start| PathBuf::from(start.as_str())).collect();
    each_below(open, |entry, open| {
        if may_match(entry) {
            let denied = forms.as_ref().map_err(|why| io::Error::other(why.clone()))?;
            if denied.is_match(entry.path()) {
                take(nearest(&entry.path()))?;
                return Ok(ControlFlow::Continue(()));
            }
        }
        if entry.file_type()?.is_dir() {
            open.push(entry.path());
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
        #[cfg(test)]
        tests::READ.with(|read| read.set(read.get() + 1));
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

/// Compiles the globs as denials. A denial of a directory covers its content, and a denial of its whole content covers
/// the directory.
fn compiled(globs: &[PathGlob]) -> Result<GlobSet, globset::Error> {
    let mut builder = GlobSetBuilder::new();
    for glob in globs {
        for form in glob.compiled_as_no()? {
            builder.add(form);
        }
    }
    builder.build()
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
    use std::{cell::Cell, ffi::OsStr, os::unix::ffi::OsStrExt, os::unix::fs::symlink};

    use super::*;

    thread_local! {
        /// The number of directories that this thread read.
        pub(super) static READ: Cell<usize> = const { Cell::new(0) };
    }

    /// Returns the number of directories that a search for these globs reads.
    fn reads(globs: &[&str], roots: &[&SanitizedPath]) -> (usize, Vec<SanitizedPath>) {
        let globs: Vec<PathGlob> = globs.iter().map(|glob| (*glob).to_owned().try_into().unwrap()).collect();
        let roots: Vec<_> = roots.iter().copied().cloned().collect();
        let before = READ.get();
        let found = denied_below(&globs, &roots, 32, |_| true).unwrap();
        (READ.get() - before, found)
    }

    #[test]
    fn a_rule_about_another_directory_reads_no_directory() {
        let (tree, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for at in 0..20 {
            fs::create_dir_all(tree.path().join(format!("d{at}/x"))).unwrap();
        }
        fs::create_dir_all(tree.path().join("d7/secret")).unwrap();
        fs::write(tree.path().join("d7/secret/.env"), "").unwrap();
        let (tree, other) = (root(&tree), root(&other));
        let (at, elsewhere) = (tree.as_str(), other.as_str());
        assert_eq!(reads(&[&format!("{elsewhere}/.env"), &format!("{elsewhere}/**/.env")], &[&tree]), (0, vec![]));
        assert_eq!(reads(&[&format!("{at}/d7/.env")], &[&tree]), (0, vec![]));
        let env: SanitizedPath = format!("{at}/d7/secret/.env").parse().unwrap();
        assert_eq!(reads(&[env.as_str()], &[&tree]), (0, vec![env.clone()]));
        let below = reads(&[&format!("{at}/d7/**/.env")], &[&tree]);
        assert_eq!(below, (3, vec![env.clone()]), "only the directories of the rule are read");
        assert_eq!(reads(&["/**/.env"], &[&tree]).1, [env]);
    }

    #[test]
    fn a_search_that_finds_more_than_its_limit_fails() {
        let tree = tempfile::tempdir().unwrap();
        for at in 0..4 {
            fs::write(tree.path().join(format!("{at}.key")), "").unwrap();
        }
        let globs: Vec<PathGlob> = vec!["/**/*.key".to_owned().try_into().unwrap()];
        let found = |most| denied_below(&globs, &[root(&tree)], most, |_| true);
        assert_eq!(found(4).unwrap().len(), 4);
        assert!(found(3).unwrap_err().to_string().contains("more than 3 paths"));
    }

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
        let top = root(&tree);
        let mut links: Vec<_> = linked(&top).unwrap().into_iter().map(|(_, target)| target).collect();
        links.retain(|target| !top.contains(target));
        assert_eq!(links, [root(&other), root(&last)]);
    }

    #[test]
    fn where_a_link_leads_that_has_no_valid_name_nobody_can_tell() {
        let tree = tempfile::tempdir().unwrap();
        symlink("/etc", tree.path().join(OsStr::from_bytes(b"\xff"))).unwrap();
        assert_eq!(linked(&root(&tree)), None);
    }
}

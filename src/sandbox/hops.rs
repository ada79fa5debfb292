//! The links on the way to the object of a path. A process that can replace one of them decides about the object.

use std::{
    collections::VecDeque,
    ffi::OsString,
    io,
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{CWD, Mode, OFlags, ResolveFlags, openat2},
    io::Errno,
};

/// The most links that the kernel follows.
const MOST_LINKS: usize = 40;

/// The way to the object of a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hops {
    /// The links on the way, in order. Each path is free of links above its last name.
    pub(super) links: Vec<PathBuf>,
    /// The path without links, which may be missing. There is none if the links form a circle.
    pub(super) end: Option<PathBuf>,
}

/// Returns the way to the object of an absolute path. If a part cannot be examined, the directory above it is the end:
/// its owner could open it again.
///
/// # Errors
///
/// Fails if a link cannot be read.
pub(super) fn hops(path: &Path) -> io::Result<Hops> {
    if has_no_links(path) {
        let end = parts(path).fold(PathBuf::from("/"), |at, name| at.join(name));
        return Ok(Hops { links: Vec::new(), end: Some(end) });
    }
    by_parts(path)
}

/// Returns true if the kernel met no link on the way to an object, or to the first part that is missing. One call tells
/// this for nearly all paths.
fn has_no_links(path: &Path) -> bool {
    // What follows a missing part and `..` is unknown to the kernel.
    if path.components().any(|part| part == Component::ParentDir) {
        return false;
    }
    let opened = openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS);
    matches!(opened, Ok(_) | Err(Errno::NOENT | Errno::NOTDIR))
}

/// Returns the way to the object of an absolute path, part by part.
fn by_parts(path: &Path) -> io::Result<Hops> {
    let (mut at, mut links) = (PathBuf::from("/"), Vec::new());
    let mut rest: VecDeque<OsString> = parts(path).collect();
    while let Some(name) = rest.pop_front() {
        if name == ".." {
            at.pop();
            continue;
        }
        let next = at.join(&name);
        match std::fs::symlink_metadata(&next) {
            Ok(found) if found.is_symlink() => {
                links.push(next.clone());
                if links.len() > MOST_LINKS {
                    links.sort();
                    links.dedup();
                    return Ok(Hops { links, end: None });
                }
                let target = std::fs::read_link(&next)?;
                if target.is_absolute() {
                    at = PathBuf::from("/");
                }
                parts(&target).rev().for_each(|part| rest.push_front(part));
            }
            Ok(_) => at = next,
            // Something missing can be created later, and the rest of the path then has its meaning.
            Err(why) if matches!(why.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => at = next,
            // No object can have this path.
            Err(why) if why.kind() == io::ErrorKind::InvalidFilename => return Ok(Hops { links, end: None }),
            Err(_) => break,
        }
    }
    Ok(Hops { links, end: Some(at) })
}

/// Returns the names of a path, and `..`.
fn parts(path: &Path) -> impl DoubleEndedIterator<Item = OsString> + '_ {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn every_link_on_the_way_is_told() {
        let ground = tempfile::tempdir().unwrap();
        let ground = crate::fs::real(ground.path().to_str().unwrap()).unwrap();
        let ground = ground.path().as_path();
        let at = |path: &str| ground.join(path);
        fs::create_dir_all(at("d/e")).unwrap();
        fs::write(at("d/e/f"), "").unwrap();
        symlink("b", at("a")).unwrap();
        symlink(at("d"), at("b")).unwrap();
        symlink("e/../e/f", at("d/g")).unwrap();
        symlink("gone/../b/new", at("away")).unwrap();
        symlink("one", at("other")).unwrap();
        symlink("other", at("one")).unwrap();
        let told = |path: &str| {
            let told = hops(&at(path)).unwrap();
            assert_eq!(told, by_parts(&at(path)).unwrap());
            told
        };
        let expected =
            |links: &[&str], end: &str| Hops { links: links.iter().map(|link| at(link)).collect(), end: Some(at(end)) };
        assert_eq!(told("a/g"), expected(&["a", "b", "d/g"], "d/e/f"));
        assert_eq!(told("a/../x"), expected(&["a", "b"], "x"));
        assert_eq!(told("away"), expected(&["away", "b"], "d/new"));
        assert_eq!(told("d/e/f/below"), expected(&[], "d/e/f/below"));
        assert_eq!(told("gone/../a"), expected(&["a", "b"], "d"));
        assert_eq!(told("gone/x"), expected(&[], "gone/x"));
        assert_eq!(told("one"), Hops { links: vec![at("one"), at("other")], end: None });
    }

    #[test]
    fn a_name_that_no_object_can_have_leads_nowhere() {
        let long = "n".repeat(300);
        assert_eq!(hops(&Path::new("/").join(long)).unwrap(), Hops::default());
    }
}

//! The protection of paths from a command: hidden paths, and read-only paths below a write root.
//!
//! A profile promises to protect paths. A mount keeps each promise, or the command does not run. An existing path gets
//! a read-only bind mount or an empty mount over it. At a missing path, a placeholder keeps the name free
//! ([`places`](super::places)). A directory that cannot be read becomes read-only as a whole, and the facts say so.
//! Only `ENOENT` counts as a missing path.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, CWD, FileType, statat},
    io::Errno,
};

use super::{
    Profile, ProfileError, SandboxError,
    git::Git,
    hops::{Hops, hops},
    look::{Looked, look, look_again},
    mounts::{Mount, Mounts, said},
    places::{self, Node, Places, Put, Taking},
    profile::Guard,
};
use crate::model::{OBEYED_IN_REPOSITORY, REPOSITORY, SanitizedPath, SensitiveName, held_in_place};

/// The most mounts of a sandbox. A kernel may not have room for more, because each mount exists several times.
const MOST_MOUNTS: usize = 10_000;

/// The protected paths of a command. The protection lasts as long as this value.
#[derive(Debug, Default)]
pub(super) struct ReadOnlyPaths {
    pub(super) mounts: Mounts,
    /// The paths that the command can read but not write.
    pub(super) read_only: Vec<SanitizedPath>,
    /// The paths that the command cannot read.
    pub(super) hidden: Vec<SanitizedPath>,
    /// The restrictions beyond the profile, each with its reason.
    pub(super) stricter: Vec<String>,
    /// The paths outside the write roots that are to be protected and do not exist now. Another process could create
    /// them meanwhile.
    pub(super) not_there: Vec<SanitizedPath>,
    /// The placeholders. Dropping them removes them.
    _places: Option<Places>,
}

/// The protection that a profile promises for a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kept {
    Unwritten,
    Unread,
}

impl ReadOnlyPaths {
    /// Creates the protection that `profile` promises.
    ///
    /// # Errors
    ///
    /// Fails if a path cannot be protected. The error names the path and a remedy.
    pub(super) fn of(profile: &Profile) -> Result<ReadOnlyPaths, SandboxError> {
        // The search comes before the lock, because the disk may be slow and other runs wait for the lock.
        let looked: Vec<_> = match profile.guard {
            Guard::Sensitive => directories(profile)?.map(|root| (root, look_again(root, profile))).collect(),
            Guard::Nothing => Vec::new(),
        };
        let mut holding = HeldPlaceholders::new(profile, Some(Taking::begin()?));
        holding.by_name()?;
        for (root, looked) in looked {
            holding.sensitive(root, looked)?;
        }
        holding.done()
    }

    /// Lists the existing paths that are read-only now, without placeholders.
    /// [`missing`](ReadOnlyPaths::missing) lists the missing ones.
    pub(super) fn existing(profile: &Profile) -> Result<Vec<SanitizedPath>, SandboxError> {
        let mut holding = HeldPlaceholders::new(profile, None);
        for root in directories(profile)? {
            let looked = look(root, profile);
            if let Some((link, _)) = looked.sensitive.iter().find(|(_, kind)| *kind == FileType::Symlink) {
                return Err(ProfileError::SensitiveLink(said(link)).into());
            }
            holding.sensitive(root, looked)?;
        }
        Ok(holding.mounts.named(|mount| matches!(mount, Mount::ReadOnly | Mount::Link)))
    }

    /// Lists the names directly below each write root that programs obey and that do not exist now.
    pub(super) fn missing(profile: &Profile) -> Vec<SanitizedPath> {
        let roots = profile.write.keys().filter(|_| profile.guard == Guard::Sensitive);
        let roots = roots.filter(|root| root.as_path().is_dir());
        let paths = roots.flat_map(|root| obeyed_in(root, profile)).map(|(path, _)| path);
        let is_missing = |path: &PathBuf| lstat(path).is_err_and(|why| why == Errno::NOENT);
        paths.filter(is_missing).map(|path| said(&path)).filter(|path| !profile.write.contains_key(path)).collect()
    }
}

/// Returns the write roots that are directories, or none if the profile has no guard.
fn directories(profile: &Profile) -> Result<impl Iterator<Item = &SanitizedPath>, ProfileError> {
    let mut all = Vec::new();
    for root in profile.write.keys() {
        let found = std::fs::metadata(root).map(|found| found.is_dir());
        if found.map_err(|why| ProfileError::NotThere(root.clone(), why.to_string()))? {
            all.push(root);
        }
    }
    Ok(all.into_iter().filter(|_| profile.guard == Guard::Sensitive))
}

/// Returns the names directly below a root that programs obey, existing or not, each with the kind of its placeholder.
fn obeyed_in(root: &SanitizedPath, profile: &Profile) -> Vec<(PathBuf, Node)> {
    // Such names mean nothing in a root that a permission names because it is sensitive, or in a git repository.
    if profile.sensitive_part(root) == Some(root.as_str()) || root.names().any(|name| name == ".git") {
        return Vec::new();
    }
    let node = |is_file| if is_file { Node::Socket } else { Node::Directory };
    let added = profile.sensitive.iter().filter_map(SensitiveName::whole).map(|name| (name.to_owned(), true));
    let all = held_in_place().chain(added);
    all.map(|(name, is_file)| (root.as_path().join(name), node(is_file))).collect()
}

fn lstat(path: &Path) -> Result<rustix::fs::Stat, Errno> {
    statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW)
}

fn is_link(found: &rustix::fs::Stat) -> bool {
    FileType::from_raw_mode(found.st_mode) == FileType::Symlink
}

/// The protection of one profile, under construction.
struct HeldPlaceholders<'p> {
    profile: &'p Profile,
    /// The placeholders, or `None` if the paths are only listed.
    taking: Option<Taking>,
    mounts: Mounts,
    promised: BTreeMap<PathBuf, Kept>,
    stricter: Vec<String>,
    not_there: Vec<SanitizedPath>,
    git: Git,
}

impl HeldPlaceholders<'_> {
    fn new(profile: &Profile, taking: Option<Taking>) -> HeldPlaceholders<'_> {
        let mounts = Mounts::of(profile);
        HeldPlaceholders {
            profile,
            taking,
            mounts,
            promised: BTreeMap::new(),
            stricter: Vec::new(),
            not_there: Vec::new(),
            git: Git::default(),
        }
    }

    /// Protects the hidden paths and the paths that a rule denies by name.
    fn by_name(&mut self) -> Result<(), ProfileError> {
        let profile = self.profile;
        for path in profile.hidden.iter().chain(&profile.absent) {
            self.keep(path.as_path(), Kept::Unread, Node::Socket)?;
        }
        for path in &profile.unwritten {
            self.keep(path.as_path(), Kept::Unwritten, Node::Socket)?;
        }
        // If the leases lie below a write root, they are hidden too.
        let leases = places::directory();
        if profile.write.keys().any(|root| leases.starts_with(root)) {
            self.keep(&leases, Kept::Unread, Node::Directory)?;
        }
        Ok(())
    }

    /// Protects the sensitive names below one root.
    fn sensitive(&mut self, root: &SanitizedPath, looked: Looked) -> Result<(), ProfileError> {
        let profile = self.profile;
        let is_named = |path: &Path| profile.write.keys().any(|root| root.as_path() == path);
        let Looked { sensitive, repositories, is_repository, closed, is_too_much } = looked;
        let (sensitive, repositories): (Vec<_>, Vec<_>) = (
            sensitive.into_iter().filter(|(path, _)| !is_named(path)).collect(),
            repositories.into_iter().filter(|path| !is_named(path)).collect(),
        );
        for (path, why) in closed {
            self.closed(root, &path, why);
        }
        if is_too_much {
            self.all_of(root.as_path(), "contains too much to be searched: name a smaller directory");
        }
        for (path, kind) in sensitive {
            self.there(&path, kind)?;
        }
        for path in repositories {
            self.there(&path, FileType::Directory)?;
            let through = self.git.obeyed_in(&path);
            self.further(&path, through)?;
        }
        if self.taking.is_none() {
            return Ok(());
        }
        let obeyed = obeyed_in(root, self.profile);
        if obeyed.is_empty() {
            return Ok(());
        }
        for (path, node) in obeyed.into_iter().filter(|(path, _)| !is_named(path)) {
            self.keep(&path, Kept::Unwritten, node)?;
        }
        if is_repository {
            for (name, is_file) in OBEYED_IN_REPOSITORY {
                let node = if is_file { Node::Socket } else { Node::Directory };
                self.keep(&root.as_path().join(name), Kept::Unwritten, node)?;
            }
            let through = self.git.obeyed_in(root.as_path());
            self.further(root.as_path(), through)?;
        } else {
            self.no_repository(root)?;
        }
        Ok(())
    }

    /// Keeps git from recognizing a root as a repository: one of the required entries stays missing.
    fn no_repository(&mut self, root: &SanitizedPath) -> Result<(), ProfileError> {
        for name in REPOSITORY {
            let path = root.as_path().join(name);
            let is_free = match lstat(&path) {
                Ok(stat) => places::is_ours(&stat),
                Err(why) => why == Errno::NOENT,
            };
            if is_free {
                return self.keep(&path, Kept::Unwritten, Node::Socket);
            }
        }
        Ok(())
    }

    /// Protects an existing sensitive name of this kind.
    fn there(&mut self, path: &Path, kind: FileType) -> Result<(), ProfileError> {
        self.promise(path, Kept::Unwritten);
        self.keep_node(path)?;
        self.mounts.insert(path.to_owned(), mount(kind, Kept::Unwritten));
        let through = self.git.obeyed_through(path, kind);
        self.further(path, through)
    }

    /// Protects the further places that programs obey through `path`.
    fn further(&mut self, path: &Path, through: io::Result<Vec<PathBuf>>) -> Result<(), ProfileError> {
        let through = match through {
            Ok(through) => through,
            // The file could name any place, and its owner can make it readable again.
            Err(why) => {
                let why = format!("holds `{}`, which cannot be read: {why}", said(path));
                self.all_of(path.parent().unwrap_or(path), &why);
                return Ok(());
            }
        };
        for further in through {
            if self.profile.write.keys().any(|root| further.starts_with(root) && further != root.as_path()) {
                self.keep(&further, Kept::Unwritten, Node::Directory)?;
            }
        }
        Ok(())
    }

    /// Keeps the placeholder at the path, also one of another run, if there is one.
    fn keep_node(&mut self, path: &Path) -> Result<(), ProfileError> {
        let kept = self.taking.as_mut().map(|taking| taking.keep(path));
        kept.transpose().map(|_| ()).map_err(|why| not_held(path, &why.into()))
    }

    fn promise(&mut self, path: &Path, kept: Kept) {
        let there = self.promised.entry(path.to_owned()).or_insert(kept);
        *there = kept.max(*there);
    }

    /// Protects one path, existing or not. `node` is the kind of the placeholder for a missing path.
    fn keep(&mut self, path: &Path, kept: Kept, node: Node) -> Result<(), ProfileError> {
        let root = self.profile.write.keys().filter(|root| path.starts_with(root) && path != root.as_path());
        let Some(root) = root.max_by_key(|root| root.as_str().len()) else { return self.keep_outside(path, kept) };
        let parts: Vec<_> = path.ancestors().take_while(|part| *part != root.as_path()).collect();
        for part in parts.into_iter().rev() {
            let is_last = part == path;
            let found = match lstat(part) {
                Ok(found) => found,
                Err(Errno::NOENT) => {
                    let node = if is_last { node } else { Node::Directory };
                    return self.put(part, path, kept, node);
                }
                Err(why) => {
                    let above = part.parent().unwrap_or(part);
                    self.unfollowed(above, path, kept, why);
                    return Ok(());
                }
            };
            let kind = FileType::from_raw_mode(found.st_mode);
            if places::is_ours(&found) {
                return self.put(part, path, kept, if is_last { node } else { Node::Directory });
            }
            if kind == FileType::Symlink && kept == Kept::Unread {
                return self.hide_through(part, path);
            }
            if is_last || kind != FileType::Directory {
                self.promise(path, kept);
                self.mounts.insert(part.to_owned(), mount(kind, kept));
                return Ok(());
            }
        }
        Ok(())
    }

    /// Hides the object of a path that leads over a link in a write root. The links stay as they are.
    fn hide_through(&mut self, link: &Path, path: &Path) -> Result<(), ProfileError> {
        let Hops { links, end } = hops(path).map_err(|why| not_held(path, &why))?;
        for link in links.iter().map(PathBuf::as_path).chain([link]) {
            self.keep(link, Kept::Unwritten, Node::Socket)?;
        }
        match end {
            // The end is free of links, unless another process changes it meanwhile.
            Some(end) if end != path && lstat(&end).is_ok_and(|found| is_link(&found)) => {
                Err(not_held(path, &io::ErrorKind::ResourceBusy.into()))
            }
            Some(end) if end != path => self.keep(&end, Kept::Unread, Node::Socket),
            _ => Ok(()),
        }
    }

    /// Puts a placeholder at `part`, so that `path` cannot be created.
    fn put(&mut self, part: &Path, path: &Path, kept: Kept, node: Node) -> Result<(), ProfileError> {
        let above = part.parent().unwrap_or(part);
        // A missing path has no content to read. It is enough that the command cannot create it.
        self.promise(path, Kept::Unwritten);
        // Programs may obey every file in the directory above. Then a read-only mount over that directory also keeps
        // the path missing.
        let is_root = self.profile.write.keys().any(|root| root.as_path() == above);
        if part == path && !is_root && kept == Kept::Unwritten && is_obeyed_inside(above) {
            self.mounts.insert(above.to_owned(), Mount::ReadOnly);
            return Ok(());
        }
        let Some(taking) = &mut self.taking else {
            self.mounts.insert(part.to_owned(), Mount::Absent);
            return Ok(());
        };
        match taking.put(part, node) {
            Ok(Put::Held) => self.mounts.insert(part.to_owned(), Mount::Place),
            // Another process created the path at this moment.
            Ok(Put::There) => {
                let kind = lstat(part).map(|found| FileType::from_raw_mode(found.st_mode));
                self.promise(path, kept);
                self.mounts.insert(part.to_owned(), mount(kind.map_err(|why| not_held(part, &why.into()))?, kept));
            }
            // The owner of the directory could make it writable and then create the missing path.
            Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => {
                self.all_of(above, "may not be written by this user: run `chmod u+rwx` on it");
            }
            Err(why) => return Err(not_held(part, &why.into())),
        }
        Ok(())
    }

    /// Protects a path outside the write roots. The command cannot write or create anything there, so a mount is needed
    /// only for a hidden path, or for a path that is a write root itself.
    fn keep_outside(&mut self, path: &Path, kept: Kept) -> Result<(), ProfileError> {
        if kept == Kept::Unwritten && !self.profile.write.keys().any(|root| root.as_path() == path) {
            return Ok(());
        }
        match lstat(path) {
            Ok(found) => {
                self.promise(path, kept);
                self.keep_node(path)?;
                self.mounts.insert(path.to_owned(), mount(FileType::from_raw_mode(found.st_mode), kept));
                Ok(())
            }
            Err(Errno::NOENT) => {
                self.not_there.push(said(path));
                Ok(())
            }
            Err(why) => Err(not_held(path, &why.into())),
        }
    }

    /// Protects all of `above`, because its content cannot be examined.
    fn unfollowed(&mut self, above: &Path, path: &Path, kept: Kept, why: Errno) {
        self.promise(path, kept);
        match kept {
            Kept::Unwritten => self.all_of(above, &closed_because(why)),
            Kept::Unread => {
                self.stricter.push(format!("`{}` is hidden: it {}", said(above), closed_because(why)));
                self.mounts.insert(above.to_owned(), Mount::HiddenDirectory);
            }
        }
    }

    /// Protects a directory that cannot be read, because it could contain anything.
    fn closed(&mut self, root: &SanitizedPath, directory: &Path, why: Errno) {
        let first = || {
            let below = directory.strip_prefix(root).ok()?.components().next()?;
            Some(root.as_path().join(below))
        };
        // If the path is too long, it is also too long for a mount. A directory above it gets the mount.
        let at =
            if why == Errno::ACCESS { directory.to_owned() } else { first().unwrap_or_else(|| directory.to_owned()) };
        self.all_of(&at, &closed_because(why));
    }

    /// Makes everything in a directory read-only.
    fn all_of(&mut self, directory: &Path, why: &str) {
        self.stricter.push(format!("nothing in `{}` can be written: it {why}", said(directory)));
        self.mounts.insert(directory.to_owned(), Mount::ReadOnly);
    }

    /// Reduces the number of mounts if there are too many. Directories with the most mounts become read-only as a
    /// whole.
    fn fold(&mut self) {
        while self.mounts.len() > MOST_MOUNTS {
            let Some(at) = self.fullest() else { return };
            self.mounts.fold(&at);
            let what = "it contains more sensitive names than the sandbox can protect one by one";
            self.stricter.push(format!("nothing in `{}` can be written: {what}", said(&at)));
        }
    }

    /// Returns the directory in a write root with the most mounts that one mount could replace. If there is none, the
    /// result is a root.
    fn fullest(&self) -> Option<PathBuf> {
        let (mut below, mut of_roots) = (BTreeMap::<PathBuf, usize>::new(), BTreeMap::<PathBuf, usize>::new());
        for (path, _) in self.mounts.iter().filter(|(_, mount)| mount.is_foldable()) {
            let Some(root) = self.profile.write.keys().find(|root| path.starts_with(root)) else { continue };
            let first = path.strip_prefix(root).ok().and_then(|below| below.components().next());
            *of_roots.entry(root.as_path().to_owned()).or_default() += 1;
            *below.entry(first.map_or_else(PathBuf::new, |name| root.as_path().join(name))).or_default() += 1;
        }
        let most = |counts: BTreeMap<PathBuf, usize>| {
            let more_than_one = counts.into_iter().filter(|(path, count)| *count > 1 && path != Path::new(""));
            more_than_one.max_by_key(|(_, count)| *count).map(|(path, _)| path)
        };
        most(below).or_else(|| most(of_roots))
    }

    fn done(mut self) -> Result<ReadOnlyPaths, SandboxError> {
        self.mounts.pin(self.profile);
        self.fold();
        let HeldPlaceholders { taking, mounts, promised, stricter, not_there, .. } = self;
        let is_held = |path: &Path, kept: Kept| {
            mounts.over(path).is_some_and(|(_, mount)| match kept {
                Kept::Unread => mount.is_unread(),
                Kept::Unwritten => mount.is_unwritten(),
            })
        };
        let missing = promised.iter().filter(|(path, kept)| !is_held(path, **kept));
        let missing: Vec<_> = missing.map(|(path, _)| format!("`{}` could not be blocked", said(path))).collect();
        if !missing.is_empty() {
            return Err(SandboxError::Unavailable(missing));
        }
        Ok(ReadOnlyPaths {
            read_only: mounts.named(|mount| matches!(mount, Mount::ReadOnly | Mount::Link | Mount::Place)),
            hidden: mounts.named(|mount| matches!(mount, Mount::HiddenFile | Mount::HiddenDirectory)),
            mounts,
            stricter,
            not_there,
            _places: taking.map(Taking::done),
        })
    }
}

/// Returns true if the table of sensitive names has an entry for something in `directory`, which exists.
fn is_obeyed_inside(directory: &Path) -> bool {
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    held_in_place().any(|(path, _)| path.split_once('/').is_some_and(|(above, _)| above == name))
}

fn mount(kind: FileType, kept: Kept) -> Mount {
    match (kept, kind) {
        (Kept::Unwritten, FileType::Symlink) => Mount::Link,
        (Kept::Unwritten, _) => Mount::ReadOnly,
        (Kept::Unread, FileType::Directory) => Mount::HiddenDirectory,
        (Kept::Unread, _) => Mount::HiddenFile,
    }
}

fn closed_because(why: Errno) -> String {
    match why {
        Errno::ACCESS | Errno::PERM => "cannot be read: run `chmod u+rwx` on it".to_owned(),
        other => format!("cannot be read: {}", io::Error::from(other)),
    }
}

fn not_held(path: &Path, why: &io::Error) -> ProfileError {
    ProfileError::NotHeld(said(path), why.to_string())
}

/// Returns the first part of `path` that does not exist, if any.
pub(super) fn first_missing(path: &SanitizedPath) -> Option<SanitizedPath> {
    let ancestors: Vec<&Path> = path.as_path().ancestors().collect();
    let missing = ancestors.iter().rev().find(|part| lstat(part).is_err_and(|why| why == Errno::NOENT))?;
    missing.to_str()?.parse().ok()
}

/// Returns true if this user cannot read a directory and cannot change that, because the user owns neither the
/// directory nor its parent.
pub(super) fn is_beyond_reach(path: &SanitizedPath) -> bool {
    let own = rustix::process::geteuid().as_raw();
    let is_owned = |path: &Path| lstat(path).map_or(true, |found| found.st_uid == own);
    let above = path.as_path().parent().unwrap_or(path.as_path());
    let is_closed = lstat(&path.as_path().join(".")).is_err_and(|why| why == Errno::ACCESS);
    is_closed && !is_owned(path.as_path()) && !is_owned(above)
}

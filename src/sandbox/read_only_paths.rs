//! The protection of paths from a command: hidden paths, and read-only paths below a write root.
//!
//! A profile promises to protect paths. A mount keeps each promise, or the command does not run. An existing path gets
//! a read-only bind mount or an empty mount over it. At a missing path, a placeholder keeps the name free
//! ([`places`](super::places)). A directory that cannot be searched becomes read-only or hidden as a whole, and the
//! facts say so. Only `ENOENT` counts as a missing path.
//!
//! Names that a command leaves behind never stop another command: they are guarded one by one, or together with their
//! directory.

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
    Guard, Profile, ProfileError, SandboxError,
    by_path::ByPath,
    folding,
    git::Git,
    hops::{Hops, hops},
    look::{Looked, Names, Unsearched, look, look_again},
    mounts::{Mount, Mounts, said},
    places::{self, Places, Put, Taking},
};
use crate::model::{FileIdentity, OBEYED_IN_REPOSITORY, REPOSITORY, SanitizedPath, SensitiveName, held_in_place};

/// The most sentences about stricter restrictions in the facts.
const MOST_TOLD: usize = 32;

/// The length of a path above which a directory above it gets the mount, in bytes.
const LONGEST: usize = 3_000;

/// The protected paths of a command. The protection lasts as long as this value.
#[derive(Debug, Default)]
pub(super) struct ReadOnlyPaths {
    pub(super) mounts: Mounts,
    /// The paths that the command can read but not write.
    pub(super) read_only: Vec<SanitizedPath>,
    /// The paths that the command cannot read.
    pub(super) hidden: Vec<SanitizedPath>,
    /// The matches of a denied glob that the command cannot write.
    pub(super) unwritten: Vec<SanitizedPath>,
    /// The write roots that are hidden, each with the directories in it that the command can still write.
    pub(super) hidden_roots: BTreeMap<SanitizedPath, BTreeMap<SanitizedPath, FileIdentity>>,
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
        let looked = searched(profile)?;
        let mut holding = HeldPlaceholders::new(profile, Some(Taking::begin()?));
        holding.by_name()?;
        for looked in looked {
            holding.looked(looked)?;
        }
        holding.done()
    }

    /// Lists some of the existing paths that match a denied glob.
    pub(super) fn denied_by_globs(profile: &Profile) -> Result<Vec<SanitizedPath>, SandboxError> {
        if profile.hidden_globs.is_empty() && profile.unwritten_globs.is_empty() {
            return Ok(Vec::new());
        }
        let profile = profile.clone().without_guard();
        let all = searched(&profile)?;
        let of = |Searched { looked, .. }: Searched| {
            let closed = looked.closed.into_iter().map(|(path, _)| path);
            looked.hidden.into_iter().chain(looked.unwritten).map(|(path, _)| path).chain(closed)
        };
        Ok(all.into_iter().flat_map(of).take(MOST_TOLD).map(|path| said(&path)).collect())
    }

    /// Lists the existing paths that are read-only now, without placeholders.
    /// [`missing`](ReadOnlyPaths::missing) lists the missing ones.
    pub(super) fn existing(profile: &Profile) -> Result<Vec<SanitizedPath>, SandboxError> {
        let mut holding = HeldPlaceholders::new(profile, None);
        let names = Names::of_written(profile)?;
        for root in directories(profile)? {
            let looked = look(root, &names);
            if let Some((link, _)) = looked.sensitive.iter().find(|(_, kind)| *kind == FileType::Symlink) {
                return Err(ProfileError::SensitiveLink(said(link)).into());
            }
            holding.looked(Searched { root, looked, is_written: true, hides: false })?;
        }
        Ok(holding.mounts.named(|mount| matches!(mount, Mount::ReadOnly | Mount::Link)))
    }

    /// Lists the names directly below each write root that programs obey and that do not exist now.
    pub(super) fn missing(profile: &Profile) -> Vec<SanitizedPath> {
        let roots = profile.write.keys().filter(|_| profile.guard == Guard::Sensitive);
        let roots = roots.filter(|root| root.as_path().is_dir());
        let paths = roots.flat_map(|root| obeyed_in(root, profile));
        let is_missing = |path: &PathBuf| lstat(path).is_err_and(|why| why == Errno::NOENT);
        paths.filter(is_missing).map(|path| said(&path)).filter(|path| !profile.write.contains_key(path)).collect()
    }
}

/// A directory that was searched.
struct Searched<'p> {
    root: &'p SanitizedPath,
    looked: Looked,
    /// True if the command writes below the directory.
    is_written: bool,
    /// True if some names below the directory must not be read.
    hides: bool,
}

/// Searches the write roots, and the working directory for paths that must not be read.
fn searched(profile: &Profile) -> Result<Vec<Searched<'_>>, ProfileError> {
    let (written, read) = (Names::of_written(profile)?, Names::of_read(profile)?);
    let roots = directories(profile)?.into_iter().filter(|_| !written.is_empty()).map(|root| (root, &written, true));
    let cwd = Some(&profile.cwd).filter(|cwd| !read.is_empty() && profile.root_of(cwd).is_none());
    let all = roots.chain(cwd.map(|cwd| (cwd, &read, false)));
    let search = |(root, names, is_written): (_, &Names<'_>, _)| {
        let looked = look_again(root, names);
        Searched { root, looked, is_written, hides: names.hides() }
    };
    Ok(all.map(search).collect())
}

/// Returns the write roots that are directories.
fn directories(profile: &Profile) -> Result<Vec<&SanitizedPath>, ProfileError> {
    let mut all = Vec::new();
    for root in profile.write.keys() {
        let found = std::fs::metadata(root).map(|found| found.is_dir());
        if found.map_err(|why| ProfileError::NotThere(root.clone(), why.to_string()))? {
            all.push(root);
        }
    }
    Ok(all)
}

/// Returns the names directly below a root that programs obey, existing or not.
fn obeyed_in(root: &SanitizedPath, profile: &Profile) -> Vec<PathBuf> {
    // Such names mean nothing in a root that a permission names because it is sensitive, or in a git repository.
    if profile.sensitive_part(root) == Some(root.as_str()) || root.names().any(|name| name == ".git") {
        return Vec::new();
    }
    let added = profile.sensitive.iter().filter_map(SensitiveName::whole).map(str::to_owned);
    held_in_place().map(|(name, _)| name).chain(added).map(|name| root.as_path().join(name)).collect()
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
    promised: ByPath<Kept>,
    stricter: Vec<String>,
    not_there: Vec<SanitizedPath>,
    unwritten: Vec<SanitizedPath>,
    git: Git,
}

impl HeldPlaceholders<'_> {
    fn new(profile: &Profile, taking: Option<Taking>) -> HeldPlaceholders<'_> {
        let mounts = Mounts::of(profile);
        HeldPlaceholders {
            profile,
            taking,
            mounts,
            promised: ByPath::default(),
            stricter: Vec::new(),
            not_there: Vec::new(),
            unwritten: Vec::new(),
            git: Git::default(),
        }
    }

    /// Protects the hidden paths and the paths that a rule denies by name.
    fn by_name(&mut self) -> Result<(), ProfileError> {
        let profile = self.profile;
        for path in profile.hidden.iter().chain(&profile.absent) {
            self.keep(path.as_path(), Kept::Unread)?;
        }
        for path in &profile.unwritten {
            self.keep(path.as_path(), Kept::Unwritten)?;
        }
        // If the leases lie below a write root, they are hidden too.
        let leases = places::directory();
        if profile.write.keys().any(|root| leases.starts_with(root)) {
            self.keep(&leases, Kept::Unread)?;
        }
        Ok(())
    }

    /// Protects everything that was found below one directory.
    fn looked(&mut self, searched: Searched<'_>) -> Result<(), ProfileError> {
        let Searched { root, looked, is_written, hides } = searched;
        for (directory, why) in &looked.closed {
            self.closed(root, directory, *why, hides);
        }
        for (path, kind) in &looked.hidden {
            self.hidden(root, path, *kind);
        }
        for (path, kind) in &looked.unwritten {
            self.unwritten.push(said(path));
            self.there(path, *kind)?;
        }
        if is_written && self.profile.guard == Guard::Sensitive { self.sensitive(root, looked) } else { Ok(()) }
    }

    /// Hides a match of a denied glob. The target of a link is hidden too, if the creator of the link could have
    /// changed the target itself. Otherwise a link could hide anything from other commands.
    fn hidden(&mut self, root: &SanitizedPath, path: &Path, kind: FileType) {
        self.promise(path, Kept::Unread);
        self.keep_node(path, kind);
        self.mounts.insert(path.to_owned(), mount(kind, Kept::Unread));
        let target = Some(path).filter(|_| kind == FileType::Symlink).and_then(Path::to_str);
        let Some(target) = target.and_then(|path| crate::fs::real(path).ok()).map(|real| real.path().clone()) else {
            return;
        };
        let is_free = self.profile.sensitive_part(&target) == self.profile.sensitive_part(root);
        if let Ok(found) = lstat(target.as_path())
            && root.contains(&target)
            && target != *root
            && is_free
        {
            self.promise(target.as_path(), Kept::Unread);
            self.mounts
                .insert(target.as_path().to_owned(), mount(FileType::from_raw_mode(found.st_mode), Kept::Unread));
        }
    }

    /// Protects the sensitive names below one root.
    fn sensitive(&mut self, root: &SanitizedPath, looked: Looked) -> Result<(), ProfileError> {
        let profile = self.profile;
        let is_named = |path: &Path| profile.write.keys().any(|root| root.as_path() == path);
        let Looked { sensitive, repositories, is_repository, .. } = looked;
        let (sensitive, repositories): (Vec<_>, Vec<_>) = (
            sensitive.into_iter().filter(|(path, _)| !is_named(path)).collect(),
            repositories.into_iter().filter(|path| !is_named(path)).collect(),
        );
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
        for path in obeyed.into_iter().filter(|path| !is_named(path)) {
            self.keep(&path, Kept::Unwritten)?;
        }
        if is_repository {
            for (name, _) in OBEYED_IN_REPOSITORY {
                self.keep(&root.as_path().join(name), Kept::Unwritten)?;
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
                return self.keep(&path, Kept::Unwritten);
            }
        }
        Ok(())
    }

    /// Protects an existing sensitive name of this kind.
    fn there(&mut self, path: &Path, kind: FileType) -> Result<(), ProfileError> {
        self.promise(path, Kept::Unwritten);
        self.keep_node(path, kind);
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
                self.keep(&further, Kept::Unwritten)?;
            }
        }
        Ok(())
    }

    /// Keeps the placeholder at the path, also one of another run, if there is one.
    fn keep_node(&mut self, path: &Path, kind: FileType) {
        if !matches!(kind, FileType::Directory | FileType::Socket) {
            return;
        }
        let is_place = lstat(path).map(|found| places::is_ours(&found));
        let kept = match (is_place, &mut self.taking) {
            (Ok(true), Some(taking)) => taking.keep(path).map(drop),
            (Ok(_) | Err(Errno::NOENT), _) => Ok(()),
            (Err(why), _) => Err(why),
        };
        // The owner of a directory that cannot be searched could open it again, and then replace the path.
        if let Err(why) = kept {
            self.all_of(path.parent().unwrap_or(path), &closed_because(why));
        }
    }

    fn promise(&mut self, path: &Path, kept: Kept) {
        let there = self.promised.or_insert(path.to_owned(), kept);
        *there = kept.max(*there);
    }

    /// Protects one path, existing or not.
    fn keep(&mut self, path: &Path, kept: Kept) -> Result<(), ProfileError> {
        let root = self.profile.write.keys().filter(|root| path.starts_with(root) && path != root.as_path());
        let Some(root) = root.max_by_key(|root| root.as_str().len()) else { return self.keep_outside(path, kept) };
        let parts: Vec<_> = path.ancestors().take_while(|part| *part != root.as_path()).collect();
        for part in parts.into_iter().rev() {
            let is_last = part == path;
            let found = match lstat(part) {
                Ok(found) => found,
                Err(Errno::NOENT) => return self.put(part, path, kept),
                Err(why) => {
                    let above = part.parent().unwrap_or(part);
                    self.unfollowed(above, path, kept, why);
                    return Ok(());
                }
            };
            let kind = FileType::from_raw_mode(found.st_mode);
            if places::is_ours(&found) {
                return self.put(part, path, kept);
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
            self.keep(link, Kept::Unwritten)?;
        }
        match end {
            // The end is free of links, unless another process changes it meanwhile.
            Some(end) if end != path && lstat(&end).is_ok_and(|found| is_link(&found)) => {
                Err(not_held(path, &io::ErrorKind::ResourceBusy.into()))
            }
            Some(end) if end != path => self.keep(&end, Kept::Unread),
            _ => Ok(()),
        }
    }

    /// Puts a placeholder at `part`, so that `path` cannot be created.
    fn put(&mut self, part: &Path, path: &Path, kept: Kept) -> Result<(), ProfileError> {
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
        match taking.put(part) {
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
                let kind = FileType::from_raw_mode(found.st_mode);
                self.promise(path, kept);
                self.keep_node(path, kind);
                self.mounts.insert(path.to_owned(), mount(kind, kept));
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
            Kept::Unread => self.hide_all_of(above, &closed_because(why)),
        }
    }

    /// Protects a directory that was not searched to its end, because it could contain anything.
    fn closed(&mut self, root: &SanitizedPath, directory: &Path, why: Unsearched, hides: bool) {
        let is_short = |path: &&Path| path.as_os_str().len() <= LONGEST;
        let at = directory.ancestors().take_while(|path| path.starts_with(root)).find(is_short);
        let at = at.unwrap_or(root.as_path()).to_owned();
        let why = match why {
            Unsearched::Unreadable(Errno::NAMETOOLONG) | Unsearched::TooDeep => {
                "contains too many directories within each other: remove them".to_owned()
            }
            Unsearched::Unreadable(why) => closed_because(why),
            Unsearched::TooMuch => "contains too much to be searched: remove what is not needed".to_owned(),
        };
        if hides {
            self.hide_all_of(&at, &why);
        } else {
            self.all_of(&at, &why);
        }
    }

    /// Hides everything in a directory.
    fn hide_all_of(&mut self, directory: &Path, why: &str) {
        self.stricter.push(format!("`{}` is hidden: it {why}", said(directory)));
        self.promise(directory, Kept::Unread);
        self.mounts.insert(directory.to_owned(), Mount::HiddenDirectory);
    }

    /// Makes everything in a directory read-only.
    fn all_of(&mut self, directory: &Path, why: &str) {
        self.stricter.push(format!("nothing in `{}` can be written: it {why}", said(directory)));
        self.mounts.insert(directory.to_owned(), Mount::ReadOnly);
    }

    fn done(mut self) -> Result<ReadOnlyPaths, SandboxError> {
        self.mounts.pin(self.profile);
        self.stricter.extend(folding::fold(&mut self.mounts, self.profile));
        let HeldPlaceholders { profile, taking, mounts, promised, stricter, not_there, unwritten, .. } = self;
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
            hidden_roots: hidden_roots(profile, &mounts),
            mounts,
            stricter: told(stricter),
            not_there,
            unwritten,
            _places: taking.map(Taking::done),
        })
    }
}

/// Returns the write roots that are hidden, each with the directories in it that the command can still write.
fn hidden_roots(profile: &Profile, mounts: &Mounts) -> BTreeMap<SanitizedPath, BTreeMap<SanitizedPath, FileIdentity>> {
    let is_hidden = |root: &&SanitizedPath| mounts.over(root.as_path()).is_some_and(|(_, mount)| mount.is_hidden());
    let open_in = |root: &SanitizedPath| {
        let open = mounts.below(root.as_path()).filter(|(_, mount)| *mount == Mount::Open);
        open.filter_map(|(path, _)| {
            let found = lstat(path).ok()?;
            Some((path.to_str()?.parse().ok()?, FileIdentity::new(found.st_dev, found.st_ino)))
        })
        .collect()
    };
    profile.write.keys().filter(is_hidden).map(|root| (root.clone(), open_in(root))).collect()
}

/// Returns the first sentences, without repetitions, and the number of the others.
fn told(mut all: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|one| seen.insert(one.clone()));
    let more = all.len().saturating_sub(MOST_TOLD);
    all.truncate(MOST_TOLD);
    all.extend((more > 0).then(|| format!("{more} more directories are restricted for such reasons")));
    all
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

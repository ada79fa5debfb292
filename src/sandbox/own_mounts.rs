//! The mounts that the helper makes itself, in the namespace that bubblewrap has created around it.
//!
//! bubblewrap reads the list of all mounts again for each mount that it makes, it cannot mount over a link, and it
//! takes at most 9,000 arguments. It therefore makes only the mounts of the roots. The helper makes the others, with a
//! few calls each. The helper has the capabilities for this only until then. Afterwards it enters a user namespace that
//! has no capabilities over these mounts.

use std::{
    ffi::OsString,
    io,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::ffi::{OsStrExt, OsStringExt},
    },
    path::{Path, PathBuf},
};

use nix::sched::{CloneFlags, unshare};
use rustix::{
    fs::{CWD, Mode, OFlags, StatVfsMountFlags, fstatvfs, mkdirat, openat},
    io::Errno,
    mount::{
        FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags,
        fsconfig_create, fsconfig_set_string, fsmount, fsopen, mount, mount_bind_recursive, mount_remount, move_mount,
        open_tree, unmount,
    },
    process::{chdir, fchdir, getegid, geteuid},
};
use serde::{Deserialize, Serialize};

use super::{
    Profile,
    by_path::ByPath,
    mounts::{HIDDEN_DIRECTORY, HIDDEN_FILE, Mount, Mounts, STOCK},
    status::{mountinfo, mounts_in},
};

/// The arguments that give the helper its capabilities while it mounts. It must mount, also in a closed directory. It
/// must limit namespaces and processes. It must take the user's own id again. If the helper had another id than the
/// superuser's, bubblewrap would leave the namespace in which it can have these capabilities.
pub(super) const CAPABILITIES: [&str; 12] = [
    "--uid",
    "0",
    "--gid",
    "0",
    "--cap-add",
    "CAP_SYS_ADMIN",
    "--cap-add",
    "CAP_SYS_RESOURCE",
    "--cap-add",
    "CAP_SETFCAP",
    "--cap-add",
    "CAP_DAC_READ_SEARCH",
];

/// The directory of kernel settings.
const SETTINGS: &str = "/proc/sys";

/// The file with the limit of user namespaces below the namespace of the process that writes it.
const USER_NAMESPACES: &str = "/proc/sys/user/max_user_namespaces";

/// The user and the group with which this process began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Own {
    user: u32,
    group: u32,
}

impl Own {
    pub(super) fn here() -> Own {
        Own { user: geteuid().as_raw(), group: getegid().as_raw() }
    }

    /// Enters a new user namespace, which is the last one below the current one. The process takes the outside user and
    /// group ids again. It loses all capabilities over the objects of the previous namespace, above all over its
    /// mounts.
    pub(super) fn enter_the_last_user_namespace(self) -> Result<(), String> {
        let said = |what: &'static str| move |why: io::Error| format!("the last user namespace: {what}: {why}");
        let (user, group) = (geteuid().as_raw(), getegid().as_raw());
        unshare(CloneFlags::CLONE_NEWUSER).map_err(|why| said("its own")(why.into()))?;
        for (file, text) in [
            ("uid_map", format!("{} {user} 1", self.user)),
            ("setgroups", "deny".to_owned()),
            ("gid_map", format!("{} {group} 1", self.group)),
        ] {
            std::fs::write(format!("/proc/self/{file}"), text).map_err(said(file))?;
        }
        Ok(())
    }
}

/// The kind of a mount that the helper makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum How {
    /// The path over itself, unchanged.
    Pinned,
    /// The path over itself, read-only.
    ReadOnly,
    /// A file that cannot be read.
    HiddenFile,
    /// A directory that cannot be read.
    HiddenDirectory,
}

/// A mount that the helper makes.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OwnMount {
    #[serde(with = "bytes_as_text")]
    path: Vec<u8>,
    how: How,
    /// The names of directories in the path that stay as they are.
    open: Vec<Vec<u8>>,
}

/// Bytes as a text with one character for each byte. A list of numbers would take four times as long to read.
mod bytes_as_text {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&bytes.iter().map(|byte| char::from(*byte)).collect::<String>())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(from)?;
        let bytes = text.chars().map(|character| u8::try_from(character).map_err(D::Error::custom));
        bytes.collect()
    }
}

/// The mounts of a profile, divided by the program that makes them, parents first.
#[derive(Debug, Default)]
pub(super) struct Split<'m> {
    pub(super) of_helper: Vec<OwnMount>,
    pub(super) of_bubblewrap: Vec<(&'m Path, Mount)>,
}

/// Returns the mounts that bubblewrap makes for a profile in which no guarded path contains a root. They are known
/// before the search for guarded paths. Returns `None` if a guard that is known by name may contain a root.
pub(super) fn roots(profile: &Profile) -> Option<Vec<(&Path, Mount)>> {
    let roots = || profile.write.keys().map(|root| root.as_path());
    let named = profile.hidden.iter().chain(&profile.absent).chain(&profile.unwritten).map(|path| path.as_path());
    let is_inside = |root: &Path, path: &Path| root.starts_with(path);
    let is_nested = roots().any(|root| {
        roots().any(|other| other != root && is_inside(root, other)) || named.clone().any(|path| is_inside(root, path))
    });
    (!is_nested).then(|| roots().map(|root| (root, Mount::Write)).collect())
}

/// Divides the mounts of a profile between the helper and bubblewrap.
pub(super) fn split<'m>(mounts: &'m Mounts, profile: &Profile) -> io::Result<Split<'m>> {
    let text = mountinfo("self")?;
    let there: ByPath<()> =
        mounts_in(&text).into_keys().map(|path| (OsString::from_vec(path.into_owned()).into(), ())).collect();
    let roots: ByPath<()> = profile.write.keys().map(|root| (root.as_path().to_owned(), ())).collect();
    let mut split = Split::default();
    for (path, mount) in mounts.iter() {
        // bubblewrap handles paths that contain write roots. It also makes the mounts in a path read-only.
        let has_inside = |paths: &ByPath<()>| paths.below(path).next().is_some();
        let is_plain = || !has_inside(&roots) && (mount.is_hidden() || !has_inside(&there));
        let how = match mount {
            Mount::Pinned => Some(How::Pinned),
            Mount::Write | Mount::Absent => None,
            // The directory above makes this mount.
            Mount::Open => continue,
            _ if !is_plain() => None,
            Mount::ReadOnly | Mount::Link | Mount::Place => Some(How::ReadOnly),
            Mount::HiddenFile => Some(How::HiddenFile),
            Mount::HiddenDirectory => Some(How::HiddenDirectory),
        };
        let Some(how) = how else {
            split.of_bubblewrap.push((path, mount));
            continue;
        };
        // What stays open in a root must be writable when the helper begins.
        if roots.get(path).is_some() {
            split.of_bubblewrap.push((path, Mount::Write));
        }
        let is_open = |(below, inner): &(&Path, Mount)| {
            below.parent() == Some(path) && (*inner == Mount::Open || how == How::HiddenDirectory)
        };
        let stays = matches!(how, How::ReadOnly | How::HiddenDirectory);
        let open = mounts.below(path).filter(|_| stays).filter(is_open);
        let open = open.filter_map(|(below, _)| Some(below.file_name()?.as_bytes().to_vec())).collect();
        split.of_helper.push(OwnMount { path: path.as_os_str().as_bytes().to_vec(), how, open });
    }
    Ok(split)
}

/// Makes the mounts in this order. The root becomes the working directory.
pub(super) fn make(all: &[OwnMount]) -> Result<(), String> {
    let hides = all.iter().any(|own| matches!(own.how, How::HiddenFile | How::HiddenDirectory));
    let stock = hides.then(Stock::new).transpose();
    let stock = stock.map_err(|why| format!("what hides a path cannot be made: {why}"))?;
    all.iter().try_for_each(|own| {
        let path = PathBuf::from(OsString::from_vec(own.path.clone()));
        let made = own.make_in_place(&path).and_then(|is_made| match is_made {
            true => Ok(()),
            false => own.make(&path, stock.as_ref()),
        });
        made.map_err(|why| format!("`{}` cannot be kept as it is: {why}", path.display()))
    })?;
    chdir("/").map_err(|why| format!("the root cannot be entered: {why}"))?;
    stock.map_or(Ok(()), Stock::put_away)
}

/// Limits the kernel settings that a process of the sandbox could change. Only one more user namespace is allowed. The
/// settings that the superuser can write without any capability become read-only.
pub(super) fn settle() -> Result<(), String> {
    std::fs::write(USER_NAMESPACES, "1").map_err(|why| format!("user namespaces cannot be bounded: {why}"))?;
    let settings = OwnMount::read_only(SETTINGS);
    settings.make(Path::new(SETTINGS), None).map_err(|why| format!("`{SETTINGS}` cannot be kept as it is: {why}"))
}

/// The flags for a mount of its own.
const CLONE: OpenTreeFlags = OpenTreeFlags::OPEN_TREE_CLONE.union(OpenTreeFlags::OPEN_TREE_CLOEXEC);

/// A file and a directory that cannot be read, to be mounted over hidden paths. They exist until the mounts are made.
struct Stock;

impl Stock {
    fn new() -> rustix::io::Result<Stock> {
        let quiet = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        mount("tmpfs", STOCK, "tmpfs", quiet, c"mode=0700,size=64k")?;
        let stock = Stock;
        let file = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        drop(openat(CWD, stock.path(HIDDEN_FILE), file, Mode::empty())?);
        mkdirat(CWD, stock.path(HIDDEN_DIRECTORY), Mode::empty())?;
        mount_remount(STOCK, quiet | MountFlags::BIND | MountFlags::RDONLY, "")?;
        Ok(stock)
    }

    /// Removes both. The host checks that they are gone.
    fn put_away(self) -> Result<(), String> {
        unmount(STOCK, UnmountFlags::DETACH).map_err(|why| format!("`{STOCK}` cannot be cleaned up: {why}"))
    }

    fn path(&self, name: &str) -> PathBuf {
        Path::new(STOCK).join(name)
    }

    /// Returns a mount of its own of the file or the directory.
    fn clone_of(&self, name: &str) -> rustix::io::Result<OwnedFd> {
        open_tree(CWD, self.path(name), CLONE)
    }
}

/// Returns an empty directory as a mount of its own. It can be read, so that its directories can be reached.
fn empty() -> rustix::io::Result<OwnedFd> {
    let file_system = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&file_system, "mode", "0755")?;
    fsconfig_create(&file_system)?;
    let quiet = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    fsmount(&file_system, FsMountFlags::FSMOUNT_CLOEXEC, quiet | MountAttrFlags::MOUNT_ATTR_NOEXEC)
}

impl OwnMount {
    /// Creates a read-only mount of `path` over itself.
    pub(super) fn read_only(path: &str) -> OwnMount {
        OwnMount { path: path.into(), how: How::ReadOnly, open: Vec::new() }
    }

    /// Mounts a directory over itself, if there is one at `path` and if it stays as it is or becomes read-only as a
    /// whole. Returns false if another way is needed. The directory becomes the working directory, whose name `.` can
    /// be no link: so the mount covers the object that was opened. This costs less than a mount of its own that is
    /// moved there.
    fn make_in_place(&self, path: &Path) -> rustix::io::Result<bool> {
        if !matches!(self.how, How::Pinned | How::ReadOnly) || !self.open.is_empty() {
            return Ok(false);
        }
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let there = match openat(CWD, path, flags, Mode::empty()) {
            Err(Errno::NOTDIR) => return Ok(false),
            answer => answer?,
        };
        match fchdir(&there) {
            // A mount over a directory that this user may not enter needs no entry.
            Err(Errno::ACCESS) => return Ok(false),
            answer => answer?,
        }
        mount_bind_recursive(".", ".")?;
        if let (How::ReadOnly, Some(name)) = (self.how, path.file_name()) {
            // The name leads from the directory above to the new mount. Another process could replace the directory by
            // a link at this moment. Then no mount or a wrong one becomes read-only, and the host misses this one.
            mount_remount(Path::new("..").join(name), read_only_like(&there)?, "")?;
        }
        Ok(true)
    }

    /// Mounts over the object at `path`, also if it is a link.
    fn make(&self, path: &Path, stock: Option<&Stock>) -> rustix::io::Result<()> {
        let there = openat(CWD, path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
        let open = self.opened(&there)?;
        let here = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        let tree = match (self.how, stock) {
            (How::Pinned | How::ReadOnly, _) => cloned(&there)?,
            (How::HiddenFile | How::HiddenDirectory, None) => return Err(Errno::INVAL),
            (How::HiddenFile, Some(stock)) => stock.clone_of(HIDDEN_FILE)?,
            (How::HiddenDirectory, Some(stock)) if open.is_empty() => stock.clone_of(HIDDEN_DIRECTORY)?,
            (How::HiddenDirectory, Some(_)) => {
                let empty = empty()?;
                open.iter().try_for_each(|(name, _)| mkdirat(&empty, name, Mode::RWXU))?;
                empty
            }
        };
        move_mount(&tree, "", &there, "", here)?;
        if self.how == How::ReadOnly || !open.is_empty() {
            read_only(&tree)?;
        }
        let inside = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        open.iter().try_for_each(|(name, below)| move_mount(below, "", &tree, name, inside))
    }

    /// Opens the directories that stay as they are. A missing one is left out.
    fn opened(&self, there: &OwnedFd) -> rustix::io::Result<Vec<(OsString, OwnedFd)>> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut all = Vec::new();
        for name in &self.open {
            let name = OsString::from_vec(name.clone());
            match openat(there, &name, flags, Mode::empty()) {
                Ok(below) => all.push((name, cloned(&below)?)),
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
                Err(why) => return Err(why),
            }
        }
        Ok(all)
    }
}

/// Returns a mount of its own of an object, with the mounts in it.
fn cloned(object: &OwnedFd) -> rustix::io::Result<OwnedFd> {
    open_tree(object, "", CLONE | OpenTreeFlags::AT_RECURSIVE | OpenTreeFlags::AT_EMPTY_PATH)
}

/// Makes a mount read-only.
fn read_only(tree: &OwnedFd) -> rustix::io::Result<()> {
    // The path goes through the descriptor, because a link would be followed by its name.
    mount_remount(format!("/proc/self/fd/{}", tree.as_raw_fd()), read_only_like(tree)?, "")
}

/// Returns the flags of a read-only mount of an object.
fn read_only_like(object: &OwnedFd) -> rustix::io::Result<MountFlags> {
    let mut flags = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    if fstatvfs(object)?.f_flag.contains(StatVfsMountFlags::NOEXEC) {
        flags |= MountFlags::NOEXEC;
    }
    Ok(flags)
}

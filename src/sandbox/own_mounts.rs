//! The mounts that the helper makes itself, in the namespace that bubblewrap has created around it.
//!
//! bubblewrap reads the list of all mounts again for each mount that it makes, and it cannot mount over a link. It
//! therefore makes only the mounts of the roots and of hidden paths. The helper makes the bind mounts of paths that
//! stay as they are, with three calls each. The helper has the capabilities for this only until then. Afterwards it
//! enters a user namespace that has no capabilities over these mounts.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    ops::Bound,
    os::{
        fd::AsRawFd,
        unix::ffi::{OsStrExt, OsStringExt},
    },
    path::{Path, PathBuf},
};

use nix::sched::{CloneFlags, unshare};
use rustix::{
    fs::{CWD, Mode, OFlags, StatVfsMountFlags, fstatvfs, openat},
    mount::{MountFlags, MoveMountFlags, OpenTreeFlags, mount_remount, move_mount, open_tree},
    process::{getegid, geteuid},
};
use serde::{Deserialize, Serialize};

use super::{
    mounts::{Mount, Mounts},
    status::mount_points,
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

/// A bind mount of a path over itself.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OwnMount {
    path: Vec<u8>,
    is_read_only: bool,
}

/// The mounts of a profile, divided by the program that makes them, parents first.
#[derive(Debug, Default)]
pub(super) struct Split<'m> {
    pub(super) of_helper: Vec<OwnMount>,
    pub(super) of_bubblewrap: Vec<(&'m Path, Mount)>,
}

/// Divides the mounts of a profile between the helper and bubblewrap.
pub(super) fn split(mounts: &Mounts) -> io::Result<Split<'_>> {
    let there = mount_points("self")?;
    let roots: BTreeMap<_, _> = mounts.iter().filter(|(_, mount)| *mount == Mount::Write).collect();
    let mut split = Split::default();
    for (path, mount) in mounts.iter() {
        // bubblewrap handles paths that contain other mounts or write roots.
        let is_plain = || !has_inside(&there, path) && !has_inside(&roots, path);
        if mount == Mount::Pinned || (mount.is_foldable() && is_plain()) {
            let path = path.as_os_str().as_bytes().to_vec();
            split.of_helper.push(OwnMount { path, is_read_only: mount != Mount::Pinned });
        } else {
            split.of_bubblewrap.push((path, mount));
        }
    }
    Ok(split)
}

/// Returns true if one of these paths lies below `path`. Such a path is the first one that sorts after it.
fn has_inside<P: AsRef<Path> + Ord + std::borrow::Borrow<Path>, T>(places: &BTreeMap<P, T>, path: &Path) -> bool {
    let mut after = places.range::<Path, _>((Bound::Excluded(path), Bound::Unbounded));
    after.next().is_some_and(|(next, _)| next.as_ref().starts_with(path))
}

/// Makes the mounts in this order.
pub(super) fn make(all: &[OwnMount]) -> Result<(), String> {
    all.iter().try_for_each(|own| {
        let path = PathBuf::from(OsString::from_vec(own.path.clone()));
        own.make(&path).map_err(|why| format!("`{}` cannot be kept as it is: {why}", path.display()))
    })
}

/// Limits the kernel settings that a process of the sandbox could change. Only one more user namespace is allowed. The
/// settings that the superuser can write without any capability become read-only.
pub(super) fn settle() -> Result<(), String> {
    std::fs::write(USER_NAMESPACES, "1").map_err(|why| format!("user namespaces cannot be bounded: {why}"))?;
    make(&[OwnMount { path: SETTINGS.into(), is_read_only: true }])
}

impl OwnMount {
    /// Creates a read-only mount of `path` over itself.
    #[cfg(test)]
    pub(super) fn read_only(path: &str) -> OwnMount {
        OwnMount { path: path.into(), is_read_only: true }
    }

    /// Mounts the object at `path` over itself, also if it is a link.
    fn make(&self, path: &Path) -> rustix::io::Result<()> {
        let there = openat(CWD, path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
        let clone = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        let tree = open_tree(&there, "", clone | OpenTreeFlags::AT_RECURSIVE | OpenTreeFlags::AT_EMPTY_PATH)?;
        let here = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        move_mount(&tree, "", &there, "", here)?;
        if !self.is_read_only {
            return Ok(());
        }
        let mut flags = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
        if fstatvfs(&tree)?.f_flag.contains(StatVfsMountFlags::NOEXEC) {
            flags |= MountFlags::NOEXEC;
        }
        // The path goes through the descriptor, because a link would be followed by its name.
        mount_remount(format!("/proc/self/fd/{}", tree.as_raw_fd()), flags, "")
    }
}

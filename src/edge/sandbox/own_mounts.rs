//! Mounts that the helper makes itself, in the namespace that bubblewrap has made around it.
//!
//! bubblewrap reads the list of all mounts again for each that it makes, and mounts nothing over a link. So it makes those
//! of the roots and what hides something; what stays as it is, the helper mounts over itself, three calls each. It has the
//! right to for as long as that takes, and then leaves for a user namespace that has none to these mounts.

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

/// What the helper needs while it mounts: to mount, also in a directory that is closed, to bound what there may be of namespaces
/// and processes, and to take on its user's name again. Under another name than the superuser's, bubblewrap would leave the namespace in which that can be had.
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

/// The settings of the kernel.
const SETTINGS: &str = "/proc/sys";

/// How many user namespaces there may be below that of whoever writes it.
const USER_NAMESPACES: &str = "/proc/sys/user/max_user_namespaces";

/// The user and the group as whom this process began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Own {
    user: u32,
    group: u32,
}

impl Own {
    pub(super) fn here() -> Own {
        Own { user: geteuid().as_raw(), group: getegid().as_raw() }
    }

    /// Leaves the user namespace for the last one below it: with the names that these have outside, and without any right to
    /// what belongs to the other one, its mounts before all.
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

/// One mount over the very thing that is there.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OwnMount {
    path: Vec<u8>,
    is_read_only: bool,
}

/// The mounts of a profile by who makes them, parents before what is below them.
#[derive(Debug, Default)]
pub(super) struct Split<'m> {
    pub(super) of_helper: Vec<OwnMount>,
    pub(super) of_bubblewrap: Vec<(&'m Path, Mount)>,
}

/// Divides the mounts of a profile.
pub(super) fn split(mounts: &Mounts) -> io::Result<Split<'_>> {
    let there = mount_points("self")?;
    let roots: BTreeMap<_, _> = mounts.iter().filter(|(_, mount)| *mount == Mount::Write).collect();
    let mut split = Split::default();
    for (path, mount) in mounts.iter() {
        // What is mounted below by others, or may be written, is for bubblewrap to see to.
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

/// True if one of these lies below `path`: the first that sorts after it, if any.
fn has_inside<P: AsRef<Path> + Ord + std::borrow::Borrow<Path>, T>(places: &BTreeMap<P, T>, path: &Path) -> bool {
    let mut after = places.range::<Path, _>((Bound::Excluded(path), Bound::Unbounded));
    after.next().is_some_and(|(next, _)| next.as_ref().starts_with(path))
}

/// Makes them, in this order.
pub(super) fn make(all: &[OwnMount]) -> Result<(), String> {
    all.iter().try_for_each(|own| {
        let path = PathBuf::from(OsString::from_vec(own.path.clone()));
        own.make(&path).map_err(|why| format!("`{}` cannot be kept as it is: {why}", path.display()))
    })
}

/// Bounds the settings of the kernel that a process here could change: there will be one user namespace more, and what the
/// superuser may write without any capability is read-only.
pub(super) fn settle() -> Result<(), String> {
    std::fs::write(USER_NAMESPACES, "1").map_err(|why| format!("user namespaces cannot be bounded: {why}"))?;
    make(&[OwnMount { path: SETTINGS.into(), is_read_only: true }])
}

impl OwnMount {
    /// What is at `path`, as it is.
    #[cfg(test)]
    pub(super) fn read_only(path: &str) -> OwnMount {
        OwnMount { path: path.into(), is_read_only: true }
    }

    /// Mounts what is at `path`, a link too, over itself.
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
        // By its descriptor: by name it would be followed, if it is a link.
        mount_remount(format!("/proc/self/fd/{}", tree.as_raw_fd()), flags, "")
    }
}

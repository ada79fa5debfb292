//! Mounts that are made before bubblewrap: where there are many of them, and where a link is to stay as it is.
//!
//! bubblewrap looks at every mount again for each that it makes, and mounts nothing over a link. So a first bubblewrap makes
//! a namespace in which the helper makes these, one call each; the second takes them over with everything else.

use std::{
    ffi::OsString,
    io,
    os::{
        fd::AsRawFd,
        unix::{
            ffi::{OsStrExt, OsStringExt},
            net::UnixStream,
            process::CommandExt,
        },
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, Mode, OFlags, StatVfsMountFlags, fstatvfs, openat},
    io::fcntl_dupfd_cloexec,
    mount::{MountFlags, MoveMountFlags, OpenTreeFlags, mount_remount, move_mount, open_tree},
    process::geteuid,
    stdio::stdin,
    thread::{CapabilitySet, CapabilitySets, clear_ambient_capability_set, set_capabilities},
};
use serde::{Deserialize, Serialize};

use super::{
    control::{Told, receive, send},
    mounts::{Mount, Mounts},
    status::mount_points,
};

/// The word with which a program is started to make them.
pub(super) const EARLY_WORD: &str = "sandbox-mounts";

/// So many are made by one bubblewrap in less time than a second one takes to stand.
const FEW: usize = 40;

/// What the first bubblewrap is told: everything as it is, and the right to mount.
pub(super) const FIRST: [&str; 8] =
    ["--unshare-user", "--die-with-parent", "--cap-add", "CAP_SYS_ADMIN", "--dev-bind", "/", "/", "--"];

/// One mount over the very thing that is there.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Early {
    path: Vec<u8>,
    is_read_only: bool,
}

/// What is mounted early, and what bubblewrap mounts.
#[derive(Debug, Default)]
pub(super) struct Split<'m> {
    pub(super) early: Vec<Early>,
    pub(super) late: Vec<(&'m Path, Mount)>,
}

/// Divides the mounts of a profile.
pub(super) fn split(mounts: &Mounts) -> io::Result<Split<'_>> {
    let has_links = mounts.iter().any(|(_, mount)| mount == Mount::Link);
    if !has_links && mounts.iter().filter(|(_, mount)| mount.is_foldable()).count() <= FEW {
        return Ok(Split { early: Vec::new(), late: mounts.iter().collect() });
    }
    let others = mount_points("self")?;
    let roots: Vec<_> = mounts.iter().filter(|(_, mount)| *mount == Mount::Write).map(|(path, _)| path).collect();
    let mut split = Split::default();
    for (path, mount) in mounts.iter() {
        let is_inside = |other: &Path| other != path && other.starts_with(path);
        // What is mounted below by others, or may be written, is for bubblewrap to see to.
        let is_plain = || !others.keys().any(|other| is_inside(other)) && !roots.iter().any(|root| is_inside(root));
        if mount == Mount::Pinned || (mount.is_foldable() && is_plain()) {
            let path = path.as_os_str().as_bytes().to_vec();
            split.early.push(Early { path, is_read_only: mount != Mount::Pinned });
        } else {
            split.late.push((path, mount));
        }
    }
    Ok(split)
}

/// Makes the mounts that it is told, and becomes the program that `words` name. Comes back only if that did not work.
pub(super) fn mount_and_go_on(words: impl Iterator<Item = OsString>) -> io::Result<()> {
    let control = UnixStream::from(fcntl_dupfd_cloexec(stdin(), 3)?);
    let Some(received) = receive::<Vec<Early>>(&control)? else { return Ok(()) };
    let why = match mount_all(&received.message) {
        Ok(()) => become_next(words).to_string(),
        Err(why) => why,
    };
    send(&control, &Told::Unavailable(why), &[])
}

fn mount_all(all: &[Early]) -> Result<(), String> {
    all.iter().try_for_each(|early| {
        let path = PathBuf::from(OsString::from_vec(early.path.clone()));
        early.mount(&path).map_err(|why| format!("`{}` cannot be kept as it is: {why}", path.display()))
    })?;
    if geteuid().is_root() {
        // The next bubblewrap drops them; without, it could not map the superuser to itself.
        return Ok(());
    }
    // It takes none from anybody else.
    let none = CapabilitySet::empty();
    clear_ambient_capability_set()
        .and_then(|()| set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none }))
        .map_err(|why| format!("dropping capabilities: {why}"))
}

impl Early {
    /// Mounts what is at `path`, a link too, over itself.
    fn mount(&self, path: &Path) -> rustix::io::Result<()> {
        let clone = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        let clone = clone | OpenTreeFlags::AT_RECURSIVE | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
        let tree = open_tree(CWD, path, clone)?;
        let there = openat(CWD, path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
        let here = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        move_mount(&tree, "", &there, "", here)?;
        // All that bubblewrap would set, so that it finds nothing to do: by name it would follow a link.
        let mut flags = MountFlags::BIND | MountFlags::NOSUID | MountFlags::NODEV;
        if fstatvfs(&tree)?.f_flag.contains(StatVfsMountFlags::NOEXEC) {
            flags |= MountFlags::NOEXEC;
        }
        if self.is_read_only {
            flags |= MountFlags::RDONLY;
        }
        mount_remount(format!("/proc/self/fd/{}", tree.as_raw_fd()), flags, "")
    }
}

fn become_next(mut words: impl Iterator<Item = OsString>) -> io::Error {
    let Some(program) = words.next() else { return io::Error::other("there is nothing to go on with") };
    std::process::Command::new(program).args(words).exec()
}

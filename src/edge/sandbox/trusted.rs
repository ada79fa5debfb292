//! Programs that confine commands, from where nobody can put another one in their place.

use std::{
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use rustix::process::geteuid;

use super::Profile;
use crate::{fs, fs::Trail, model::Shown};

const STICKY: u32 = 0o1000;
const OTHERS: u32 = 0o022;

/// True if nobody but the superuser can put another program in the place of `path`: no agent of this user either.
pub(super) fn is_the_systems(path: &Path) -> bool {
    is_put_by(path, |user| user == 0)
}

/// True if nobody but this user and the superuser can put another program in the place of `path`.
pub(super) fn is_our_own(path: &Path) -> bool {
    is_put_by(path, |user| user == 0 || user == geteuid().as_raw())
}

fn is_put_by(path: &Path, is_trusted: impl Fn(u32) -> bool) -> bool {
    let Ok(trail) = Trail::of(path) else { return false };
    let is_kept = |directory: &PathBuf| {
        std::fs::symlink_metadata(directory)
            .is_ok_and(|found| is_trusted(found.uid()) && (found.mode() & OTHERS == 0 || found.mode() & STICKY != 0))
    };
    let is_own = |entry: &PathBuf| std::fs::symlink_metadata(entry).is_ok_and(|found| is_trusted(found.uid()));
    let is_program = std::fs::metadata(&trail.real).is_ok_and(|found| found.is_file() && found.mode() & OTHERS == 0);
    is_program && trail.directories.iter().all(is_kept) && trail.names.iter().all(is_own)
}

/// That a program which confines the command is one that the command could replace, if it is.
pub(super) fn is_written(program: &Path, profile: &Profile) -> Option<String> {
    let real = fs::real(program.to_str()?).ok()?;
    let root = profile.root_of(real.path())?;
    Some(format!(
        "`{}` confines commands and lies below `{}`, which this one may write: install it elsewhere",
        Shown(real.path().as_str()),
        Shown(root.as_str())
    ))
}

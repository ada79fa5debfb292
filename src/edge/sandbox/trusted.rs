//! Programs that confine commands, from where nobody can put another one in their place.

use std::{os::unix::fs::MetadataExt, path::Path};

use super::Profile;
use crate::{
    fs,
    fs::{Trail, is_us_or_root, others_write},
    model::Shown,
};

/// True if nobody but the superuser can put another program in the place of `path`: no agent of this user either.
pub(super) fn is_the_systems(path: &Path) -> bool {
    is_put_by(path, |user| user == 0)
}

/// True if nobody but this user and the superuser can put another program in the place of `path`.
pub(super) fn is_our_own(path: &Path) -> bool {
    is_put_by(path, is_us_or_root)
}

/// Who replaces the program, or writes it, is trusted.
fn is_put_by(path: &Path, is_trusted: impl Fn(u32) -> bool) -> bool {
    let Ok(trail) = Trail::of(path) else { return false };
    let is_program = std::fs::symlink_metadata(&trail.real)
        .is_ok_and(|found| found.is_file() && !others_write(found.mode()) && is_trusted(found.uid()));
    is_program && trail.replacers(is_trusted).is_ok_and(|replacers| replacers.is_empty())
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

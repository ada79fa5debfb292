//! The check that no one else can replace the programs that confine commands.

use std::{os::unix::fs::MetadataExt, path::Path};

use super::Profile;
use crate::{
    fs,
    fs::{Trail, is_us_or_root, others_write},
    model::Escaped,
};

/// Returns true if only the superuser can replace the program at `path`. Agents of this user cannot replace it either.
pub(super) fn is_the_systems(path: &Path) -> bool {
    is_put_by(path, |user| user == 0)
}

/// Returns true if only this user and the superuser can replace the program at `path`.
pub(super) fn is_our_own(path: &Path) -> bool {
    is_put_by(path, is_us_or_root)
}

/// Returns true if every user who can replace or write the program is trusted.
fn is_put_by(path: &Path, is_trusted: impl Fn(u32) -> bool) -> bool {
    let Ok(trail) = Trail::of(path) else { return false };
    let is_program = std::fs::symlink_metadata(&trail.real)
        .is_ok_and(|found| found.is_file() && !others_write(found.mode()) && is_trusted(found.uid()));
    is_program && trail.replacers(is_trusted).is_ok_and(|replacers| replacers.is_empty())
}

/// Returns an error text if the command could replace `program`, which confines it.
pub(super) fn is_written(program: &Path, profile: &Profile) -> Option<String> {
    let real = fs::real(program.to_str()?).ok()?;
    let root = profile.root_of(real.path())?;
    Some(format!(
        "`{}` confines commands, and this command may write its directory `{}`: install it in another directory",
        Escaped(real.path().as_str()),
        Escaped(root.as_str())
    ))
}

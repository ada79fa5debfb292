//! The tier of reading and writing a file by its name, according to the table of sensitive names.

use crate::{
    tier::{Profile, Tier},
    values::{Columns, SensitiveName, columns_of_text},
};

/// Returns the tier of reading a file, and the reason.
pub(crate) fn reading(profile: Profile, path: &str) -> (Tier, &'static str) {
    if profile == Profile::Strict && is_sensitive(path) {
        (Tier::Dangerous, "reads something that is usually secret")
    } else {
        (Tier::Safe, "reads only")
    }
}

/// Returns the tier of writing a file, and the reason. `added` lists sensitive names in addition to the built-in ones.
pub(crate) fn writing(path: &str, added: &[SensitiveName]) -> (Tier, &'static str) {
    // A file with secrets is guarded too.
    if is_guarded(path) || added.iter().any(|name| name.is_in(path)) {
        (Tier::Dangerous, "writes to a sensitive path")
    } else {
        (Tier::Safe, "writes to a path that is not sensitive")
    }
}

/// Returns true for files that usually hold secrets. It compares every component of the path and ignores case.
pub(crate) fn is_sensitive(path: &str) -> bool {
    columns_of_text(path).any(Columns::is_secret)
}

/// Returns true for files that programs run or obey. Also returns true for a path that contains `..` or a control
/// character or starts with `~`.
pub(crate) fn is_guarded(path: &str) -> bool {
    // The passes over the bytes have no branches. Most paths are plain ASCII without two dots in a row.
    let bytes = path.as_bytes();
    let has_dots =
        bytes.iter().zip(bytes.iter().skip(1)).fold(false, |is, (one, next)| is | (*one == b'.') & (*next == b'.'));
    let is_odd = bytes.iter().fold(false, |is, byte| is | !(0x20..0x7f).contains(byte));
    let climbs = has_dots && path.split(['/', '\\']).any(|part| part == "..") || path.starts_with('~');
    climbs || is_odd && path.chars().any(char::is_control) || columns_of_text(path).any(Columns::is_sensitive)
}

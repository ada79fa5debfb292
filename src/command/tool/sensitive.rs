//! The tier of reading and of writing a file by its name, as the one table of sensitive names says.

use super::super::tier::{Profile, Tier};
use crate::model::{Columns, SensitiveName, columns_of_text};

/// The tier of reading a file, and why.
pub(in super::super) fn reading(profile: Profile, path: &str) -> (Tier, &'static str) {
    if profile == Profile::Strict && is_sensitive(path) {
        (Tier::Dangerous, "reads something that is usually secret")
    } else {
        (Tier::Safe, "reads only")
    }
}

/// The tier of writing a file, and why. `added` are names that are sensitive besides the built-in ones.
pub(in super::super) fn writing(path: &str, added: &[SensitiveName]) -> (Tier, &'static str) {
    // What holds secrets is guarded, too.
    if is_guarded(path) || added.iter().any(|name| name.is_in(path)) {
        (Tier::Dangerous, "writes to a sensitive path")
    } else {
        (Tier::Safe, "writes to a path that is not sensitive")
    }
}

/// Files that usually hold secrets: by any component of the path, whatever the case.
pub(in super::super) fn is_sensitive(path: &str) -> bool {
    columns_of_text(path).any(Columns::is_secret)
}

/// Files that programs run or obey, and what is not plainly a path: one that climbs, or hides a control character.
pub(in super::super) fn is_guarded(path: &str) -> bool {
    let climbs = path.contains("..") && path.split(['/', '\\']).any(|part| part == "..") || path.starts_with('~');
    climbs || path.chars().any(char::is_control) || columns_of_text(path).any(Columns::is_sensitive)
}

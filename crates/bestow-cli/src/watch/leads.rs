//! The place to which the path of a permission leads now, and its content.

use std::{fs, io};

use bestow::{Permission, fs::real, text::Escaped};

/// The names of a directory that are shown.
const SHOWN: usize = 6;

/// The names of a directory that are read.
const READ: usize = 1_000;

/// Returns where a permission leads, for people. `None` for a permission without a path.
pub(super) fn of(permission: &Permission) -> Option<String> {
    let path = permission.path()?;
    let Ok(real) = real(path.as_str()) else { return Some("cannot be read".to_owned()) };
    let link =
        if real.path() == path { String::new() } else { format!("a link to {}: ", Escaped(real.path().as_str())) };
    let what = match fs::symlink_metadata(real.path().as_path()) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => "nothing is there yet".to_owned(),
        Err(_) => "cannot be read".to_owned(),
        Ok(object) if object.is_dir() => directory(real.path().as_path()),
        Ok(_) => "one file".to_owned(),
    };
    Some(format!("{link}{what}"))
}

fn directory(path: &std::path::Path) -> String {
    let Ok(entries) = fs::read_dir(path) else { return "a directory that cannot be read".to_owned() };
    let names = entries.flatten().take(READ).map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<_> = names.collect();
    names.sort();
    let more = if names.len() > SHOWN { " and more" } else { "" };
    let names: Vec<_> = names.iter().take(SHOWN).map(|name| Escaped(name).to_string()).collect();
    if names.is_empty() {
        return "an empty directory, with everything that will be in it".to_owned();
    }
    format!("a directory with everything in it, now: {}{more}", names.join(", "))
}

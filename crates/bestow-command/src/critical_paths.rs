//! Paths that must not be removed as a whole: roots, homes, system trees, devices, the working directory itself.

use std::borrow::Cow;

use crate::{
    parts::parts,
    place::Place,
    values::{Columns, columns_of_text, is_device_name},
    word::{Gaps, is_unknown, may_be_empty},
};

/// Top-level directories that a system or its users cannot lose.
const TOP: &[&str] = &[
    "bin",
    "boot",
    "dev",
    "etc",
    "home",
    "lib",
    "lib32",
    "lib64",
    "libx32",
    "media",
    "mnt",
    "nix",
    "opt",
    "private",
    "proc",
    "root",
    "run",
    "sbin",
    "snap",
    "srv",
    "sys",
    "usr",
    "var",
    "Applications",
    "Library",
    "Network",
    "System",
    "Users",
    "Volumes",
    "cores",
    "data",
    "backup",
    "backups",
    "workspace",
    "workspaces",
    "Windows",
    "Program Files",
    "ProgramData",
];

/// Top-level trees in which every file belongs to the system.
const SYSTEM: &[&str] =
    &["bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "proc", "sbin", "sys", "System", "Windows"];

/// Second-level trees in which every file belongs to the system.
const SYSTEM_BELOW: &[(&str, &str)] = &[
    ("usr", "bin"),
    ("usr", "sbin"),
    ("usr", "lib"),
    ("usr", "lib64"),
    ("usr", "libexec"),
    ("usr", "share"),
    ("usr", "include"),
    ("var", "lib"),
    ("var", "spool"),
    ("var", "mail"),
    ("Library", "LaunchDaemons"),
    ("Library", "Keychains"),
    ("private", "etc"),
    ("private", "var"),
    ("nix", "store"),
];

/// Directories at the second level that hold the data of a machine.
const SECOND_ONLY: &[(&str, &str)] =
    &[("var", "log"), ("var", "www"), ("srv", "www"), ("var", "backups"), ("var", "db"), ("var", "opt")];

/// Directories whose second level is critical too: `/usr/local`, `/home/ann`, `/mnt/disk`.
const SECOND_LEVEL: &[&str] = &["home", "Users", "usr", "root", "Volumes", "mnt", "media"];

/// Names directly below a home that hold important data of a person.
const IN_HOME: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".kube",
    ".config",
    ".local",
    ".password-store",
    ".mozilla",
    ".docker",
    "Library",
    "Documents",
    "Desktop",
    "Pictures",
    "Music",
    "Movies",
    "Videos",
];

/// Returns true if removing `path` with everything below it cannot be undone and destroys more than ordinary work.
pub(crate) fn is_doomed(path: &str, place: &Place) -> bool {
    if path.is_empty() {
        return false;
    }
    if let Some(drive) = windows_drive(path) {
        return drive;
    }
    if let Some(rest) = path.after_home() {
        return is_doomed_in_home(rest);
    }
    let rest = path.without_optional_start();
    match rest.starts_with('/') {
        // `"$X/"` and `"$X"/*` are the root if the variable is empty.
        true => is_doomed_absolute(rest),
        false => rest.len() == path.len() && is_doomed_here(path, place),
    }
}

/// Returns true for a whole Windows drive or one of its main directories: `C:\`, `C:\*`, `C:\Windows`. Returns `None`
/// for a path without a drive.
fn windows_drive(path: &str) -> Option<bool> {
    let [letter, b':', rest @ ..] = path.as_bytes() else { return None };
    let rest = std::str::from_utf8(rest).ok()?.trim_matches(['/', '\\', '*', '.']);
    letter
        .is_ascii_alphabetic()
        .then(|| rest.is_empty() || rest.eq_ignore_ascii_case("windows") || rest.eq_ignore_ascii_case("users"))
}

/// Splits a path into components and resolves `.` and `..`. A glob at the end that matches nearly everything is
/// dropped.
fn components(path: &str) -> Vec<&str> {
    let mut named: Vec<&str> = Vec::new();
    for part in parts(path, b'/') {
        match part {
            "" | "." => {}
            ".." => drop(named.pop()),
            part => named.push(part),
        }
    }
    while named.last().is_some_and(|part| matches_everything(part)) {
        named.pop();
    }
    named
}

/// Returns true for a component that matches nearly every name: `*`, `.*`, `??*`, or an expansion that may be empty.
fn matches_everything(part: &str) -> bool {
    let open = |c: char| matches!(c, '*' | '?' | '.' | '[') || may_be_empty(c);
    !part.is_empty()
        && (part.chars().all(open) || part == "[a-z]*" || part == ".[!.]*" || part == ".[^.]*" || part == "..?*")
}

/// Returns true if an absolute path, perhaps with patterns, is `directory`, an ancestor of it, or everything in one of
/// them.
pub(crate) fn is_whole_directory(path: &str, directory: &str) -> bool {
    let (path, directory) = (components(path), components(directory));
    path.len() <= directory.len() && path.iter().zip(&directory).all(|(part, name)| matches_pattern(part, name))
}

fn is_doomed_absolute(path: &str) -> bool {
    let parts = components(path);
    let is_top = |part: &str| TOP.iter().any(|top| matches_pattern(part, top));
    match parts.as_slice() {
        [] => true,
        [top] => is_top(top),
        // Windows directories, as other systems mount them.
        [drive, of_windows] | ["mnt", drive, of_windows] if drive.len() == 1 => {
            matches!(*of_windows, "Users" | "Windows" | "Program Files" | "ProgramData")
        }
        [top, second, rest @ ..] => {
            let system = SYSTEM.iter().any(|known| known == top);
            let below = SYSTEM_BELOW.contains(&(*top, *second)) && rest.len() <= 1;
            let home = matches!(*top, "home" | "Users") && matches!(rest, [kept] if IN_HOME.contains(kept));
            let data = rest.is_empty() && SECOND_ONLY.contains(&(*top, *second));
            system || below || home || data || (rest.is_empty() && SECOND_LEVEL.contains(top))
        }
    }
}

/// Returns true if a component that is written as a pattern (`et?`, `[e]tc`, `us*`) may match the name.
fn matches_pattern(pattern: &str, name: &str) -> bool {
    if !pattern.contains(['*', '?', '[']) {
        return pattern == name;
    }
    glob(pattern.as_bytes(), name.as_bytes())
}

/// Returns true if a text may match a shell pattern.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    glob(pattern.as_bytes(), text.as_bytes())
}

/// Returns true if a name may match a pattern, in which brackets stand for any byte. The steps are at most the product
/// of both lengths: if a later part does not match, only the last `*` takes one byte more.
fn glob(mut pattern: &[u8], mut name: &[u8]) -> bool {
    let mut last: Option<(&[u8], &[u8])> = None;
    loop {
        if let [b'*', rest @ ..] = pattern {
            pattern = rest;
            last = Some((pattern, name));
        } else if pattern.is_empty() && name.is_empty() {
            return true;
        } else if let Some(behind) = behind_first(pattern, name) {
            (pattern, name) = behind;
        } else {
            let Some((rest, [_, behind @ ..])) = last else { return false };
            (pattern, name) = (rest, behind);
            last = Some((pattern, name));
        }
    }
}

/// Returns the pattern and the name behind their first byte, if it matches.
fn behind_first<'p, 'n>(pattern: &'p [u8], name: &'n [u8]) -> Option<(&'p [u8], &'n [u8])> {
    let (sign, rest) = pattern.split_first()?;
    let (first, name) = name.split_first()?;
    match sign {
        b'?' => Some((rest, name)),
        b'[' => {
            let end = rest.iter().skip(1).position(|byte| *byte == b']').map(|at| at + 2)?;
            Some((rest.get(end..)?, name))
        }
        byte => (byte == first).then_some((rest, name)),
    }
}

/// Returns true if a path below the home is critical. `rest` is the text directly after the home marker.
fn is_doomed_in_home(rest: &str) -> bool {
    // `${HOME%/*}` is the parent of all homes, and `$HOME$x` is a home if `x` is empty.
    let rest = rest.without_optional_start();
    if !rest.is_empty() && !rest.starts_with('/') {
        // `${HOME}x` is another directory.
        return false;
    }
    let mut depth = 0_i32;
    for part in rest.split('/') {
        depth += match part {
            "" | "." => 0,
            ".." => -1,
            _ => 1,
        };
        if depth < 0 {
            // The siblings of a home are other homes, and its ancestors contain everything.
            return components(rest).len() <= 1;
        }
    }
    match components(rest).as_slice() {
        [] => true,
        [kept] => IN_HOME.iter().any(|known| matches_pattern(kept, known)),
        _ => false,
    }
}

/// Returns true for a relative path that is the directory itself, an ancestor, or everything in the directory.
fn is_doomed_here(path: &str, place: &Place) -> bool {
    match place {
        Place::At(base) if base.is_rooted() => return is_doomed(&format!("{base}/{path}"), &Place::Start),
        Place::At(base) if !climbs(&format!("{base}/{path}")) => return false,
        Place::At(_) | Place::Start | Place::Somewhere => {}
    }
    let parts = components(path);
    let in_git = matches!(parts.as_slice(), [".git", "objects" | "refs" | "HEAD"] | [".git", "refs", "heads"]);
    climbs(path)
        || parts.is_empty()
        || parts == [".git"]
        || in_git
        || (parts.last() == Some(&".git") && path.starts_with("./"))
}

/// Returns true if a relative path ends at its starting directory or at an ancestor.
fn climbs(path: &str) -> bool {
    let mut depth = 0_i32;
    for part in path.split('/') {
        depth += match part {
            "" | "." => 0,
            ".." => -1,
            part if matches_everything(part) => 0,
            _ => 1,
        };
        if depth < 0 {
            return true;
        }
    }
    depth == 0
}

/// Resolves a relative path against a known directory.
fn resolved<'a>(path: &'a str, place: &Place) -> Cow<'a, str> {
    match place {
        Place::At(base)
            if base.starts_with('/') && path.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.') =>
        {
            format!("{base}/{path}").into()
        }
        Place::At(_) | Place::Start | Place::Somewhere => path.into(),
    }
}

/// Returns true for a program or library that the system needs to start. Only an installation writes such files.
pub(crate) fn is_program_of_the_system(path: &str) -> bool {
    path.starts_with('/')
        && matches!(
            components(path).as_slice(),
            ["bin" | "sbin" | "lib" | "lib32" | "lib64", _, ..] | ["usr", "lib" | "lib64", _, ..]
        )
}

/// Returns true for a program without which no script starts, or which only the system installs.
pub(crate) fn is_needed_program(path: &str) -> bool {
    const NEEDED: &[&str] =
        &["/usr/bin/sh", "/usr/bin/bash", "/usr/bin/dash", "/usr/bin/zsh", "/usr/bin/env", "/usr/bin/sudo"];
    let is_in_root = || matches!(components(path).as_slice(), ["bin" | "sbin", _]);
    NEEDED.contains(&path) || path.starts_with('/') && is_in_root()
}

/// Returns true for a file of the system. The loss of a single such file is destructive.
pub(crate) fn is_system_file(path: &str, place: &Place) -> bool {
    let path = &*resolved(path, place);
    let parts = components(path);
    path.starts_with('/')
        && match parts.as_slice() {
            [top] if path.ends_with("/**") => SYSTEM.iter().any(|known| known == top),
            [top, _, ..] if matches!(*top, "dev") => is_device(path),
            [top, _, ..] => {
                SYSTEM.iter().any(|known| known == top)
                    || matches!(
                        parts.as_slice(),
                        ["usr", "bin" | "sbin" | "lib", _, ..]
                            | [
                                "var",
                                "lib",
                                "dpkg" | "rpm" | "mysql" | "postgresql" | "mongodb" | "etcd" | "docker" | "kubelet",
                                _,
                                ..
                            ]
                    )
            }
            _ => false,
        }
}

/// Returns true for every file below a root, a home or a system directory, as `find` names them: `/**`, `~/**`.
pub(crate) fn is_tree(path: &str, place: &Place) -> bool {
    path.is_rooted() && path.ends_with("/**") && is_doomed(path, place)
}

/// Returns true for a file that the system needs to boot or to authenticate its users. Overwriting one loses the
/// machine.
pub(crate) fn is_vital(path: &str, place: &Place) -> bool {
    let path = resolved(path, place);
    let parts = components(&path);
    // On systems where `/etc` itself is a link to `/private/etc`.
    let parts = if let ["private", rest @ ..] = parts.as_slice() { rest } else { parts.as_slice() };
    let is_whole = parts.len() < 2;
    path.starts_with('/') && !is_whole && columns_of_text(&format!("/{}", parts.join("/"))).any(Columns::is_critical)
}

/// Returns true if a path outside the working directory is critical: an absolute path, a path in the home, or a drive.
/// A relative path is the usual operand and never counts here.
pub(crate) fn is_critical_outside(path: &str, place: &Place) -> bool {
    let absolute = path.is_rooted() || path.as_bytes().get(1) == Some(&b':');
    absolute && is_doomed(path, place)
}

/// Returns true for a disk, a partition, a tape or memory. Writing to such a device destroys its content.
pub(crate) fn is_device(path: &str) -> bool {
    let parts = components(path);
    let ["dev", rest @ ..] = parts.as_slice() else { return path == "/proc/sysrq-trigger" };
    let open = |c: char| matches!(c, '*' | '?' | '[') || is_unknown(c);
    path.starts_with('/') && is_device_name(&rest.join("/"), open)
}

/// Returns true for a device, or for a word such as `of=/dev/sda` that has a device after its `=`.
pub(crate) fn names_device(word: &str) -> bool {
    is_device(word.split_once('=').map_or(word, |(_, value)| value))
}

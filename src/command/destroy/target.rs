//! Which paths must not be removed as a whole: roots, homes, system trees, devices, the working directory itself.

use std::borrow::Cow;

use crate::{
    command::walk::{HOME, Place, SOMETHING, UNKNOWN},
    model::{Columns, columns_of_text, is_device_name},
};

/// Directories at the top of a disk that a system or its users cannot lose.
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

/// Trees in which everything belongs to the system.
const SYSTEM: &[&str] =
    &["bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "proc", "sbin", "sys", "System", "Windows"];

/// The same, two levels down.
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

/// Directories at the second level that hold what a machine is there for.
const SECOND_ONLY: &[(&str, &str)] =
    &[("var", "log"), ("var", "www"), ("srv", "www"), ("var", "backups"), ("var", "db"), ("var", "opt")];

/// Directories whose loss takes a second level with it: `/usr/local`, `/home/ann`, `/mnt/disk`.
const SECOND_LEVEL: &[&str] = &["home", "Users", "usr", "root", "Volumes", "mnt", "media"];

/// What a person keeps directly below a home.
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

/// Whether removing `path` with everything below it cannot be undone and hits more than somebody's work.
pub(in crate::command) fn is_doomed(path: &str, place: &Place) -> bool {
    if path.is_empty() {
        return false;
    }
    if let Some(drive) = windows_drive(path) {
        return drive;
    }
    match path.chars().next() {
        Some('/') => is_doomed_absolute(path),
        Some(HOME) => is_doomed_in_home(path.get(HOME.len_utf8()..).unwrap_or_default()),
        // `"$X/"` and `"$X"/*` are the root when the variable is empty.
        Some(UNKNOWN) => {
            let rest = path.trim_start_matches(UNKNOWN);
            rest.starts_with('/') && is_doomed_absolute(rest)
        }
        _ => is_doomed_here(path, place),
    }
}

/// `C:\`, `C:\*`, `C:\Windows`.
fn windows_drive(path: &str) -> Option<bool> {
    let [letter, b':', rest @ ..] = path.as_bytes() else { return None };
    let rest = std::str::from_utf8(rest).ok()?.trim_matches(['/', '\\', '*', '.']);
    letter
        .is_ascii_alphabetic()
        .then(|| rest.is_empty() || rest.eq_ignore_ascii_case("windows") || rest.eq_ignore_ascii_case("users"))
}

/// The components of a path after `.` and `..` are gone; a glob that may be anything at the end is gone too.
fn components(path: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    while parts.last().is_some_and(|part| matches_everything(part)) {
        parts.pop();
    }
    parts
}

/// `*`, `.*`, `??*`, an expansion that may be empty: a component that leaves hardly anything out.
fn matches_everything(part: &str) -> bool {
    let open = |c: char| matches!(c, '*' | '?' | '.' | UNKNOWN) || (c == '[');
    !part.is_empty()
        && (part.chars().all(open) || part == "[a-z]*" || part == ".[!.]*" || part == ".[^.]*" || part == "..?*")
}

fn is_doomed_absolute(path: &str) -> bool {
    let parts = components(path);
    let is_top = |part: &str| TOP.iter().any(|top| matches_pattern(part, top));
    match parts.as_slice() {
        [] => true,
        [top] => is_top(top),
        // Windows, as it is mounted.
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

/// A component written as a pattern (`et?`, `[e]tc`, `us*`) may be the name it fits.
fn matches_pattern(pattern: &str, name: &str) -> bool {
    if !pattern.contains(['*', '?', '[']) {
        return pattern == name;
    }
    glob(pattern.as_bytes(), name.as_bytes(), 0)
}

/// Whether a text fits a pattern of the shell.
pub(in crate::command) fn fits(pattern: &str, text: &str) -> bool {
    glob(pattern.as_bytes(), text.as_bytes(), 0)
}

fn glob(pattern: &[u8], name: &[u8], depth: usize) -> bool {
    if depth > 32 {
        return true;
    }
    match (pattern, name) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => {
            (0..=name.len()).any(|skip| name.get(skip..).is_some_and(|name| glob(rest, name, depth + 1)))
        }
        ([b'?', rest @ ..], [_, name @ ..]) => glob(rest, name, depth + 1),
        ([b'[', rest @ ..], [_, name @ ..]) => {
            let end = rest.iter().skip(1).position(|byte| *byte == b']').map(|at| at + 2);
            end.and_then(|end| rest.get(end..)).is_some_and(|rest| glob(rest, name, depth + 1))
        }
        ([byte, rest @ ..], [first, name @ ..]) if byte == first => glob(rest, name, depth + 1),
        _ => false,
    }
}

/// A path below the home, which `rest` begins right behind.
fn is_doomed_in_home(rest: &str) -> bool {
    // `${HOME%/*}` is what homes lie in, and `$HOME$x` a home if there is nothing in `x`.
    let rest = rest.trim_start_matches(UNKNOWN);
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
            // Beside the home lie the other homes, and above it everything.
            return components(rest).len() <= 1;
        }
    }
    match components(rest).as_slice() {
        [] => true,
        [kept] => IN_HOME.iter().any(|known| matches_pattern(kept, known)),
        _ => false,
    }
}

/// A relative path: the directory itself, what is above it, or all that is in it.
fn is_doomed_here(path: &str, place: &Place) -> bool {
    match place {
        Place::At(base) if base.starts_with(['/', HOME]) => return is_doomed(&format!("{base}/{path}"), &Place::Start),
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

/// Whether a relative path ends at or above where it begins.
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

/// A relative path as it is meant in a directory that is known.
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

/// What only an installation writes: the programs and libraries that the system starts with.
pub(in crate::command) fn is_program_of_the_system(path: &str) -> bool {
    path.starts_with('/')
        && matches!(
            components(path).as_slice(),
            ["bin" | "sbin" | "lib" | "lib32" | "lib64", _, ..] | ["usr", "lib" | "lib64", _, ..]
        )
}

/// A file of the system itself: losing one of them is enough.
pub(in crate::command) fn is_system_file(path: &str, place: &Place) -> bool {
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

/// Every file below a root, a home or a system directory, as `find` names them: `/**`, `~/**`.
pub(in crate::command) fn is_tree(path: &str, place: &Place) -> bool {
    path.starts_with(['/', HOME]) && path.ends_with("/**") && is_doomed(path, place)
}

/// What a system starts from, or knows its users by: to overwrite one of these is to lose the machine.
pub(in crate::command) fn is_vital(path: &str, place: &Place) -> bool {
    let path = resolved(path, place);
    let parts = components(&path);
    // Where `/etc` itself is a link.
    let parts = if let ["private", rest @ ..] = parts.as_slice() { rest } else { parts.as_slice() };
    let is_whole = parts.len() < 2;
    path.starts_with('/') && !is_whole && columns_of_text(&format!("/{}", parts.join("/"))).any(Columns::is_critical)
}

/// A disk, a partition, a tape, memory: writing to it destroys what is on it.
pub(in crate::command) fn is_device(path: &str) -> bool {
    let parts = components(path);
    let ["dev", rest @ ..] = parts.as_slice() else { return path == "/proc/sysrq-trigger" };
    let open = |c: char| matches!(c, '*' | '?' | '[' | UNKNOWN | SOMETHING);
    path.starts_with('/') && is_device_name(&rest.join("/"), open)
}

/// The same for a word that may carry its target behind a sign: `of=/dev/sda`.
pub(in crate::command) fn names_device(word: &str, _: &Place) -> bool {
    is_device(word.split_once('=').map_or(word, |(_, value)| value))
}

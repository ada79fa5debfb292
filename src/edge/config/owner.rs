//! Whose a policy file is: whoever may write it, or put another in its place, gives agents their rights.
//!
//! That may be whoever runs this process, and root, who may do anything. Access lists beyond the mode count through the
//! mode: on Linux, the bits of the group are the widest that such a list gives.

use std::{
    collections::BTreeSet,
    fs::{self, Metadata},
    io,
    os::unix::fs::MetadataExt,
    path::Path,
};

use super::{Problem, finding::quoted};
use crate::fs::{Trail, for_shell};

const STICKY: u32 = 0o1000;
const GROUP: u32 = 0o020;
const EVERYBODY: u32 = 0o002;

/// Everything that is wrong with `file` itself, found at `path`.
pub(super) fn check_file(path: &Path, file: &Metadata) -> Vec<Problem> {
    let mut problems = Vec::new();
    let name = for_shell(path);
    if file.mode() & (GROUP | EVERYBODY) != 0 {
        let others = format!("others than its owner may write it (mode {:o})", file.mode() & 0o777);
        problems.push(Problem::new(others).help(format!("run `chmod go-w {name}`")));
    }
    if !is_trusted(file.uid()) {
        let message = format!("user {} owns it, and neither whoever runs this ({}) nor root does", file.uid(), us());
        problems.push(Problem::new(message).help(format!("run `chown {} {name}`, or run this as its owner", us())));
    }
    if file.nlink() > 1 {
        let message = format!("it has {} names (hard links): whoever may write one of them writes it", file.nlink());
        problems.push(Problem::new(message).help(format!("run `cp {name} {name}.new && mv {name}.new {name}`")));
    }
    problems
}

/// Everything that lets others replace something on the way.
///
/// # Errors
///
/// When a directory cannot be looked at, or is gone by now.
pub(super) fn check_way(trail: &Trail) -> io::Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for directory in &trail.directories {
        let found = fs::symlink_metadata(directory)?;
        let (shown, name) = (quoted(&directory.to_string_lossy()), for_shell(directory));
        if !is_trusted(found.uid()) {
            let message = format!(
                "user {} may replace it, who owns the directory {shown}; whoever runs this is {}",
                found.uid(),
                us()
            );
            problems.push(Problem::new(message).help(format!("run `chown {} {name}`, or run this as its owner", us())));
        }
        let (who, letters) = match (found.mode() & GROUP != 0, found.mode() & EVERYBODY != 0) {
            (false, false) => continue,
            (true, false) => ("its group", "g"),
            (false, true) => ("everybody", "o"),
            (true, true) => ("everybody", "go"),
        };
        if found.mode() & STICKY == 0 {
            let message = format!("others may replace it: {who} may write the directory {shown}");
            problems.push(Problem::new(message).help(format!("run `chmod {letters}-w {name}`")));
        } else {
            problems.extend(check_sticky(directory, &trail.names)?);
        }
    }
    Ok(problems)
}

/// In a sticky directory, who owns an entry may replace it.
fn check_sticky(directory: &Path, names: &BTreeSet<std::path::PathBuf>) -> io::Result<Option<Problem>> {
    for name in names.iter().filter(|name| name.parent() == Some(directory)) {
        let owner = fs::symlink_metadata(name)?.uid();
        if !is_trusted(owner) {
            let shown = quoted(&name.to_string_lossy());
            let message = format!("user {owner} may replace it, who owns {shown}; whoever runs this is {}", us());
            let help = format!("run `chown -h {} {}`, or run this as its owner", us(), for_shell(name));
            return Ok(Some(Problem::new(message).help(help)));
        }
    }
    Ok(None)
}

fn is_trusted(owner: u32) -> bool {
    owner == us() || owner == 0
}

fn us() -> u32 {
    rustix::process::geteuid().as_raw()
}

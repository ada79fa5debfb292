//! Checks of the owner of a policy file: a user who may write or replace the file controls the permissions of agents.
//!
//! Only the user of this process may do so, and root, who may do anything.

use std::{
    fs::Metadata,
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use super::{Problem, diagnostics::quoted};
use crate::fs::{Replacer, Trail, for_shell, is_us_or_root, others_write, us};

/// Returns the problems of the owner, mode and links of `file`, found at `path`.
pub(super) fn check_file(path: &Path, file: &Metadata) -> Vec<Problem> {
    let mut problems = Vec::new();
    let name = for_shell(path);
    if others_write(file.mode()) {
        let others = format!("users other than its owner may write it (mode {:o})", file.mode() & 0o777);
        problems.push(Problem::new(others).help(format!("run `chmod go-w {name}`")));
    }
    if !is_us_or_root(file.uid()) {
        let message = format!("its owner is user {}, and not the user of this program ({}) or root", file.uid(), us());
        problems
            .push(Problem::new(message).help(format!("run `chown {} {name}`, or run this program as its owner", us())));
    }
    if file.nlink() > 1 {
        let message = format!("it has {} names (hard links), and it can be changed through each of them", file.nlink());
        problems.push(Problem::new(message).help(format!("run `cp {name} {name}.new && mv {name}.new {name}`")));
    }
    problems
}

/// Returns a problem for each way in which another user can replace an object on the way.
///
/// # Errors
///
/// An I/O error when a directory cannot be read, or is gone by now.
pub(super) fn check_way(trail: &Trail) -> io::Result<Vec<Problem>> {
    Ok(trail.replacers(is_us_or_root)?.into_iter().map(problem).collect())
}

fn problem(replacer: Replacer) -> Problem {
    let shown = |path: &PathBuf| (quoted(&path.to_string_lossy()).to_string(), for_shell(path));
    match replacer {
        Replacer::OwnerOf { directory, user } => {
            let (shown, name) = shown(&directory);
            let message = format!(
                "user {user} owns the directory {shown} and may replace it; the user of this program is {}",
                us()
            );
            Problem::new(message).help(format!("run `chown {} {name}`, or run this program as its owner", us()))
        }
        Replacer::WriterOf { directory, group, everybody } => {
            let (shown, name) = shown(&directory);
            let (who, letters) = match (group, everybody) {
                (true, false) => ("its group", "g"),
                (false, _) => ("everybody", "o"),
                (true, true) => ("everybody", "go"),
            };
            let message = format!("other users may replace it: {who} may write the directory {shown}");
            Problem::new(message).help(format!("run `chmod {letters}-w {name}`"))
        }
        Replacer::OwnerOfName { name, user } => {
            let (shown, name) = shown(&name);
            let message = format!("user {user} owns {shown} and may replace it; the user of this program is {}", us());
            Problem::new(message).help(format!("run `chown -h {} {name}`, or run this program as its owner", us()))
        }
    }
}

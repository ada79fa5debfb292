//! Tags in the file: made absolute, parsed, and pinned to the object that the path leads to now.

use std::path::PathBuf;

use super::{
    Problem,
    absolute::Base,
    finding::{Findings, did_you_mean, quoted, system},
    table::{At, Table},
};
use crate::{
    fs::{self, RealPath, Trail},
    model::{Hold, InvalidPermission, Permission, Right, SanitizedPath},
};

/// A right as the file gives it.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub(super) right: Right,
    pub(super) hold: Hold,
    /// Where the tag stands.
    pub(super) offset: usize,
    /// The links that its path led through.
    pub(super) links: Vec<PathBuf>,
}

/// The rights under both keys of one table.
pub(super) fn read(table: &mut Table<'_>, base: Base<'_>, found: &mut Findings<'_>) -> Vec<Written> {
    let mut rights = Vec::new();
    for (key, hold) in [("permissions", Hold::Use), ("grant_only", Hold::PassOn)] {
        for At { offset, value } in table.texts(key, found) {
            let pinned = parse(value, base).and_then(pin);
            let written = pinned.map(|(right, links)| Written { right, hold, offset, links });
            rights.extend(found.ok(offset, written));
        }
    }
    rights
}

fn parse(tag: &str, base: Base<'_>) -> Result<Permission, Problem> {
    let tag = tag.trim_start();
    let absolute = match tag.split_once(':') {
        Some((access @ ("@read" | "@write"), path)) if !path.trim().is_empty() => {
            format!("{access}:{}", base.absolute(path)?)
        }
        _ => tag.to_owned(),
    };
    absolute.parse().map_err(|why| invalid(tag, why))
}

fn invalid(tag: &str, why: InvalidPermission) -> Problem {
    let problem = Problem::new(format!("{} is not a permission: {why}", quoted(tag)));
    let form = tag.split(':').next().unwrap_or(tag);
    let help = did_you_mean(form, ["@events", "@network", "@read", "@write"]);
    Problem { help: help.filter(|_| why == InvalidPermission::UnknownForm), ..problem }
}

fn pin(permission: Permission) -> Result<(Right, Vec<PathBuf>), Problem> {
    let Permission::Path(access, path) = permission else {
        return Ok((permission.into(), Vec::new()));
    };
    let (real, links) = real(&path)?;
    let permission = Permission::Path(access, real.path().clone());
    Ok((Right { permission, identity: real.identity() }, links))
}

/// What `path` really names, and the links on the way there.
pub(super) fn real(path: &SanitizedPath) -> Result<(RealPath, Vec<PathBuf>), Problem> {
    let unknown = |why: String| Problem::new(format!("cannot tell where {} leads: {why}", quoted(path.as_str())));
    let real = fs::real(path.as_str()).map_err(|why| unknown(why.to_string()))?;
    let trail = Trail::of(path.as_path()).map_err(|error| unknown(system(&error)))?;
    // INVARIANT: the links are those that led to what was pinned, not those of a moment later.
    if trail.real != real.path().as_path() || trail.identity != real.identity() {
        return Err(unknown("it keeps changing".to_owned()));
    }
    Ok((real, trail.links))
}

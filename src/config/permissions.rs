//! Permission tags of the file, made absolute and parsed. This module does not read the disk.

use super::{
    Problem,
    absolute::Base,
    diagnostics::{Diagnostics, did_you_mean, quoted},
    table::{At, Table},
};
use crate::model::{Hold, InvalidPermission, Permission};

/// The hint about paths in tags.
const PATHS: &str = "a path is absolute, or relative to this file, or starts with `~/`";

/// A permission as written in the file.
#[derive(Clone, Debug)]
pub(super) struct Written {
    /// The permission. Its path is absolute, and may lead through links.
    pub(super) permission: Permission,
    pub(super) hold: Hold,
    /// The position of the tag.
    pub(super) offset: usize,
}

impl Written {
    /// Returns the permission without its position, to find duplicates.
    pub(super) fn key(&self) -> (&Permission, bool) {
        (&self.permission, self.hold == Hold::Use)
    }
}

/// Reads the permissions under both keys of one table.
pub(super) fn read(table: &mut Table<'_>, base: Base<'_>, found: &mut Diagnostics<'_>) -> Vec<Written> {
    let mut permissions = Vec::new();
    for (key, hold) in [("permissions", Hold::Use), ("grant_only", Hold::PassOn)] {
        for At { place: offset, value } in table.texts(key, found) {
            let written = parse(value, base).map(|permission| Written { permission, hold, offset });
            permissions.extend(found.ok(offset, written));
        }
    }
    permissions
}

/// Parses one tag.
pub(super) fn parse(tag: &str, base: Base<'_>) -> Result<Permission, Problem> {
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
    // The file accepts shorter tags than the rest of the library, so the messages differ.
    let why_here = match why {
        InvalidPermission::UnknownForm => {
            format!("a permission is `@network`, `@events`, `@read:<path>`, `@write:<path>` or `@tool:<name>`; {PATHS}")
        }
        InvalidPermission::ReadWithoutPath => format!("`@read:` needs a path after the colon; {PATHS}"),
        InvalidPermission::WriteWithoutPath => format!("`@write:` needs a path after the colon; {PATHS}"),
        InvalidPermission::Path(why) => why.to_string(),
        InvalidPermission::Tool(why) => why.to_string(),
    };
    let problem = Problem::new(format!("{} is not a permission: {why_here}", quoted(tag)));
    let form = tag.split(':').next().unwrap_or(tag);
    let help = did_you_mean(form, ["@events", "@network", "@read", "@write", "@tool"]);
    Problem { help: help.filter(|_| why == InvalidPermission::UnknownForm), ..problem }
}

//! The objects that a permission covers now, for people.

use std::{collections::BTreeSet, fs, io, path::Path};

use bestow::{Permission, fs::real, path::SanitizedPath};
use serde::Serialize;
use utoipa::ToSchema;

/// The names that are shown of a directory.
const SHOWN: usize = 20;

/// The names that are read of a directory. Of a larger one, the first of these are shown.
const READ: usize = 10_000;

/// The objects that one permission covers.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Covered {
    #[schema(value_type = String)]
    permission: Permission,
    /// The path of the permission. It is missing for a permission without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The real path, if links lead somewhere else now.
    #[serde(skip_serializing_if = "Option::is_none")]
    leads_to: Option<String>,
    kind: ObjectKind,
    /// The first names in the directory. A name that ends with `/` is a directory.
    pub(super) covers: Vec<String>,
    /// True if the directory has more.
    pub(super) more: bool,
}

/// The object at the path of a permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ObjectKind {
    File,
    /// A directory. The permission covers everything below it, at any depth.
    Directory,
    /// A path without an object. The permission covers what will be there.
    Missing,
    /// The path cannot be read, or it is protected.
    Hidden,
    /// The permission has no path.
    None,
}

impl Covered {
    pub(super) fn of(permission: &Permission, protected: &[SanitizedPath]) -> Covered {
        let none = Covered {
            permission: permission.clone(),
            path: None,
            leads_to: None,
            kind: ObjectKind::None,
            covers: Vec::new(),
            more: false,
        };
        let Permission::Path(_, path) = permission else { return none };
        let found = Covered { path: Some(path.to_string()), kind: ObjectKind::Hidden, ..none };
        let Ok(real) = real(path.as_str()) else { return found };
        let leads_to = (real.path() != path).then(|| real.path().to_string());
        let found = Covered { leads_to, ..found };
        if is_protected(real.path(), protected) {
            return found;
        }
        match fs::symlink_metadata(real.path().as_path()) {
            Err(why) if why.kind() == io::ErrorKind::NotFound => Covered { kind: ObjectKind::Missing, ..found },
            Err(_) => found,
            Ok(object) if !object.is_dir() => Covered { kind: ObjectKind::File, ..found },
            Ok(_) => match names(real.path(), protected) {
                Err(_) => found,
                Ok((covers, more)) => Covered { kind: ObjectKind::Directory, covers, more, ..found },
            },
        }
    }
}

fn is_protected(path: &SanitizedPath, protected: &[SanitizedPath]) -> bool {
    protected.iter().any(|root| root.contains(path))
}

/// Returns the first names in a directory, without protected ones, and true if there are more.
fn names(directory: &SanitizedPath, protected: &[SanitizedPath]) -> io::Result<(Vec<String>, bool)> {
    let hidden: BTreeSet<&Path> = protected.iter().map(SanitizedPath::as_path).collect();
    let (mut names, mut read) = (BTreeSet::new(), 0);
    for entry in fs::read_dir(directory.as_path())?.take(READ + 1) {
        let entry = entry?;
        read += 1;
        if hidden.contains(entry.path().as_path()) {
            continue;
        }
        let mark = if entry.file_type()?.is_dir() { "/" } else { "" };
        names.insert(format!("{}{mark}", entry.file_name().to_string_lossy()));
    }
    let more = names.len() > SHOWN || read > READ;
    Ok((names.into_iter().take(SHOWN).collect(), more))
}

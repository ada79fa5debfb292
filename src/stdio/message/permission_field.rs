//! The permissions of a message: `permission` or `permissions`, as tags.

use serde::{Deserialize, Serialize};

use crate::model::Permissions;

/// The permissions that a message names: one under `permission`, or a list under `permissions`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Named")]
#[allow(clippy::exhaustive_structs, reason = "it stands for one field")]
pub struct About {
    /// All of the permissions.
    pub permissions: Permissions,
}

#[derive(Deserialize)]
pub(super) struct Named {
    pub(super) permission: Option<String>,
    pub(super) permissions: Option<Vec<String>>,
}

impl Named {
    pub(super) fn is_nothing(&self) -> bool {
        self.permission.is_none() && self.permissions.is_none()
    }
}

impl<P: Into<Permissions>> From<P> for About {
    fn from(permissions: P) -> About {
        About { permissions: permissions.into() }
    }
}

impl TryFrom<Named> for About {
    type Error = String;

    fn try_from(named: Named) -> Result<About, String> {
        let tags = match (named.permission, named.permissions) {
            (Some(one), None) => vec![one],
            (None, Some(list)) => list,
            (None, None) => return Err("missing field `permission` (one tag) or `permissions` (a list)".to_owned()),
            (Some(_), Some(_)) => return Err("give `permission` or `permissions`, not both".to_owned()),
        };
        let permissions = Permissions::from_tags(tags).map_err(|why| why.to_string())?;
        Ok(About { permissions })
    }
}

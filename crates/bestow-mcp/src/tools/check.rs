//! `check_permission`: the permissions that the agent holds now.

use bestow::{Agent, Permission, decision::Check};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// The most permissions of one check.
const MOST: usize = 1_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckPermission {
    /// The permissions: `@read:PATH`, `@write:PATH`, `@network`, `@events` or `@tool:NAME`. At most 1,000.
    #[schemars(with = "Vec<String>", length(min = 1, max = 1_000))]
    permissions: Vec<Permission>,
}

/// The result of a check, in the order of the permissions.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Checked {
    results: Vec<CheckedOne>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct CheckedOne {
    #[schemars(with = "String")]
    permission: Permission,
    /// `held_once` is a permission for one use, which a check does not consume.
    held: Holds,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Holds {
    Held,
    HeldOnce,
    NotHeld,
}

/// Checks permissions of the agent.
pub(crate) fn check(agent: &Agent, asked: CheckPermission) -> Result<Checked, Failure> {
    if asked.permissions.is_empty() || asked.permissions.len() > MOST {
        return Err(Failure::new(format!("`permissions`: a check has from 1 to {MOST} permissions")));
    }
    let checked = asked.permissions.into_iter().map(|permission| {
        let held = match agent.check(&permission) {
            Check::Held => Holds::Held,
            Check::HeldOnce => Holds::HeldOnce,
            Check::NotHeld => Holds::NotHeld,
        };
        CheckedOne { permission, held }
    });
    Ok(Checked { results: checked.collect() })
}

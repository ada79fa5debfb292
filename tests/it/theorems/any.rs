//! Generators of the values in the theorems.

use bestow::{Permission, grant::PermissionSet};
use proptest::prelude::*;

/// Generates paths over few names, so that they often contain one another.
pub(super) fn path() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", "ab", "a.b", "..a"]), 0..4).prop_map(|parts| {
        if parts.is_empty() { "/".to_owned() } else { parts.iter().fold(String::new(), |all, part| all + "/" + part) }
    })
}

/// Generates names of capabilities with few levels, so that they often contain one another.
pub(super) fn tool() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", "ab", "a.b", "..a"]), 1..4)
        .prop_map(|levels| levels.join("/"))
}

pub(super) fn permission() -> impl Strategy<Value = Permission> {
    prop_oneof![
        1 => Just(Permission::Events),
        1 => Just(Permission::Network),
        2 => tool().prop_map(|name| Permission::Tool(name.parse().unwrap())),
        4 => path().prop_map(|path| Permission::read(path.parse().unwrap())),
        4 => path().prop_map(|path| Permission::write(path.parse().unwrap())),
    ]
}

pub(super) fn permissions() -> impl Strategy<Value = Vec<Permission>> {
    prop::collection::vec(permission(), 0..6)
}

pub(super) fn set(permissions: &[Permission]) -> PermissionSet {
    let mut set = PermissionSet::empty("/wd".parse().unwrap());
    permissions.iter().cloned().for_each(|permission| set.insert(permission));
    set
}

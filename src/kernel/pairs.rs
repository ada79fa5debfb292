//! Serializes a map with keys that are not strings as a list of pairs.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(super) fn serialize<K: Serialize, V: Serialize, S: Serializer>(
    map: &BTreeMap<K, V>,
    to: S,
) -> Result<S::Ok, S::Error> {
    to.collect_seq(map)
}

pub(super) fn deserialize<'d, K: Deserialize<'d> + Ord, V: Deserialize<'d>, D: Deserializer<'d>>(
    from: D,
) -> Result<BTreeMap<K, V>, D::Error> {
    Vec::<(K, V)>::deserialize(from).map(|pairs| pairs.into_iter().collect())
}

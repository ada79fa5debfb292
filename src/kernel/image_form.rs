//! The form of two parts of an image: maps in the order of their keys, and grants that share their texts.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt,
    hash::{BuildHasher, Hash},
    sync::Arc,
};

use foldhash::fast::RandomState;
use serde::{
    Deserializer, Serialize, Serializer,
    de::{MapAccess, Visitor},
};

use super::compact_grant::CompactGrant;
use crate::model::{AgentId, ApproverId, Grant, GrantId, Means, Origin, Reason};

/// All grants by their ids.
pub(super) type Grants = BTreeMap<GrantId, Arc<CompactGrant>>;

/// Writes a map in the order of its keys, so that equal states have equal images.
pub(super) fn in_order<K: Ord + Serialize, V: Serialize, S: BuildHasher, T: Serializer>(
    map: &HashMap<K, V, S>,
    to: T,
) -> Result<T::Ok, T::Error> {
    let mut all: Vec<_> = map.iter().collect();
    all.sort_unstable_by_key(|(key, _)| *key);
    to.collect_map(all)
}

/// Grants in an image have the form in which events have them.
pub(super) mod grants {
    use super::{Deserializer, Grants, GrantsVisitor, Serializer};

    pub(in super::super) fn serialize<S: Serializer>(grants: &Grants, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(grants.iter().map(|(id, grant)| (id, grant.to_grant())))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Grants, D::Error> {
        from.deserialize_map(GrantsVisitor)
    }
}

struct GrantsVisitor;

impl<'de> Visitor<'de> for GrantsVisitor {
    type Value = Grants;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("grants by their ids")
    }

    /// Reads grants. Many of them have the same agent, person and reason: each of these texts is kept once.
    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Grants, M::Error> {
        let (mut grants, mut texts) = (Vec::new(), Texts::default());
        let mut newest: HashMap<AgentId, Arc<CompactGrant>, RandomState> = HashMap::default();
        while let Some((id, grant)) = map.next_entry::<GrantId, Grant>()? {
            let grant = texts.shared(grant);
            let before = newest.get(&grant.to).map(|before| &**before);
            let compact = Arc::new(CompactGrant::new(&grant, before));
            newest.insert(grant.to, Arc::clone(&compact));
            grants.push((id, compact));
        }
        // A map that is collected is more compact than one that grew.
        Ok(grants.into_iter().collect())
    }
}

/// The texts that several grants have.
#[derive(Default)]
struct Texts {
    agents: HashSet<AgentId, RandomState>,
    approvers: HashSet<ApproverId, RandomState>,
    means: HashSet<Means, RandomState>,
    reasons: HashSet<Reason, RandomState>,
}

impl Texts {
    fn shared(&mut self, mut grant: Grant) -> Grant {
        once(&mut self.agents, &mut grant.to);
        match &mut grant.origin {
            Origin::Agent { from } => once(&mut self.agents, from),
            Origin::Person { by, means, .. } => {
                once(&mut self.approvers, by);
                once(&mut self.means, means);
            }
            Origin::Config(_) | Origin::Operator => {}
        }
        grant.reason.iter_mut().for_each(|reason| once(&mut self.reasons, reason));
        grant
    }
}

/// Replaces `text` by an equal one that is known already.
fn once<T: Clone + Eq + Hash>(known: &mut HashSet<T, RandomState>, text: &mut T) {
    match known.get(text) {
        Some(there) => *text = there.clone(),
        None => drop(known.insert(text.clone())),
    }
}

//! Serialization of a complete state. Values that can be derived from other values are not written.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    hash::{BuildHasher, Hash},
    sync::Arc,
};

use foldhash::fast::RandomState;
use serde::{
    Deserializer, Serialize, Serializer,
    de::{MapAccess, Visitor},
};

use super::{
    State,
    state::{Grants, giver},
};
use crate::model::{AgentId, ApproverId, Grant, GrantId, Means, Origin, Reason};

impl State {
    /// Returns the complete state as JSON. Equal states have equal images.
    #[cfg(any(feature = "journal", all(test, feature = "property-tests")))]
    pub(crate) fn to_image(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(self)
    }

    /// Reads the output of [`State::to_image`]. The result is equal to the original state.
    pub(crate) fn from_image(image: &[u8]) -> Result<State, serde_json::Error> {
        let mut state: State = serde_json::from_slice(image)?;
        state.link();
        Ok(state)
    }

    /// Rebuilds the indexes from the stored values.
    fn link(&mut self) {
        self.protect();
        for grant in self.grants.values() {
            self.ending.extend(grant.until.map(|until| (until, grant.id)));
            self.write_roots.insert(grant);
            if let Some(holder) = self.agents.get_mut(&grant.to) {
                // Grants arrive in id order, which is the order of this list.
                holder.held.push(Arc::clone(grant));
            }
            if let Some(giver) = giver(grant).and_then(|giver| self.agents.get_mut(giver)) {
                giver.given.insert(grant.id);
            }
        }
        let ends = self.rulings.values().filter_map(|ruling| Some((ruling.until?, ruling.id)));
        self.rulings_ending.extend(ends);
        for (id, waiting) in &self.pending {
            self.deadlines.insert((waiting.request.deadline, *id));
            if let Some(asker) = self.agents.get_mut(&waiting.request.from) {
                asker.pending.insert(*id);
            }
        }
    }
}

/// Writes a map in the order of its keys, so that equal states have equal images.
pub(super) fn in_order<K: Ord + Serialize, V: Serialize, S: BuildHasher, T: Serializer>(
    map: &HashMap<K, V, S>,
    to: T,
) -> Result<T::Ok, T::Error> {
    let mut all: Vec<_> = map.iter().collect();
    all.sort_unstable_by_key(|(key, _)| *key);
    to.collect_map(all)
}

/// Reads grants. Many of them have the same agent, person and reason: each of these texts is kept once.
pub(super) fn grants<'de, D: Deserializer<'de>>(from: D) -> Result<Grants, D::Error> {
    from.deserialize_map(GrantsVisitor)
}

struct GrantsVisitor;

impl<'de> Visitor<'de> for GrantsVisitor {
    type Value = Grants;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("grants by their ids")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Grants, M::Error> {
        let (mut grants, mut texts) = (Grants::new(), Texts::default());
        while let Some((id, grant)) = map.next_entry::<GrantId, Grant>()? {
            grants.insert(id, Arc::new(texts.shared(grant)));
        }
        Ok(grants)
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

//! Serialization of a complete state. Values that can be derived from other values are not written.

use super::{State, held_grants::giver, write_roots::WriteRoots};

impl State {
    /// Returns the complete state as JSON. Equal states have equal images.
    #[cfg(any(feature = "journal", all(test, feature = "property-tests")))]
    pub(crate) fn to_image(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(self)
    }

    /// Reads the output of [`State::to_image`]. The result is equal to the original state.
    pub(crate) fn from_image(image: Vec<u8>) -> Result<State, serde_json::Error> {
        let mut state: State = serde_json::from_slice(&image)?;
        // The image is as large as what was read from it, and the indexes need room, too.
        drop(image);
        state.link();
        Ok(state)
    }

    /// Rebuilds the indexes from the stored values.
    fn link(&mut self) {
        self.protect();
        self.gone.recount();
        for agent in self.agents.values() {
            self.kin.add(agent);
            self.gone.count(&agent.bound_by);
        }
        self.write_roots = WriteRoots::of(self.grants.values().map(|grant| &**grant));
        for grant in self.grants.values() {
            self.ending.extend(grant.until.map(|until| (until, grant.id)));
            if let Some(holder) = self.agents.get_mut(&grant.to) {
                // Grants arrive in id order, which is the order of this list.
                holder.held.add(grant);
            }
            if let Some(giver) = giver(&grant.origin).and_then(|giver| self.agents.get_mut(giver)) {
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

//! The tools that people declared for the agents of an owner. Such a declaration adds to what is seen of any call.

use std::{collections::BTreeMap, sync::Arc};

#[cfg(feature = "journal")]
use crate::model::{Actor, Event};
use crate::model::{ApproverId, OwnerId, Tool, Tools};

use super::State;

/// The most tools that people declare for the agents of one owner.
pub(super) const MAX_DECLARED: usize = 256;

/// The most bytes that their declarations have together, written as JSON.
pub(super) const MAX_BYTES: usize = 64 * 1024;

/// The declarations for each owner, by who declared them.
pub(super) type Declared = BTreeMap<OwnerId, BTreeMap<ApproverId, Arc<Tools>>>;

impl State {
    /// The declarations of the tool `name` for agents of `owner`: at most one of each person.
    pub(crate) fn declared_by_people(&self, owner: &OwnerId, name: &str) -> Vec<Arc<Tool>> {
        let all = self.declared.get(owner).into_iter().flat_map(BTreeMap::values);
        all.filter_map(|tools| tools.shared(name).cloned()).collect()
    }

    /// Every declaration for agents of `owner`.
    pub(crate) fn declared_for(&self, owner: &OwnerId) -> BTreeMap<ApproverId, Arc<Tools>> {
        self.declared.get(owner).cloned().unwrap_or_default()
    }

    /// What `declarer` had declared at the end, with what is declared now and was not then: each adds to what is seen.
    #[cfg(feature = "journal")]
    pub(super) fn declared_again(&self, owner: &OwnerId, declarer: &ApproverId, tools: &Tools) -> Option<Event> {
        let now = self.declared.get(owner).and_then(|of_owner| of_owner.get(declarer)).cloned().unwrap_or_default();
        let all = Arc::new(now.and(tools));
        (all != now).then(|| Event::DeclarationsChanged {
            owner: owner.clone(),
            declarer: declarer.clone(),
            tools: all,
            by: Actor::Operator,
        })
    }

    /// These take the place of what `declarer` declared before.
    pub(super) fn redeclare(&mut self, owner: &OwnerId, declarer: &ApproverId, tools: &Arc<Tools>) {
        let of_owner = self.declared.entry(owner.clone()).or_default();
        if tools.is_empty() {
            of_owner.remove(declarer);
        } else {
            of_owner.insert(declarer.clone(), Arc::clone(tools));
        }
        if of_owner.is_empty() {
            self.declared.remove(owner);
        }
    }
}

//! The tools that people declared for the agents of an owner. Such a declaration adds uses to every call of the tool.

use std::{collections::BTreeMap, sync::Arc};

#[cfg(feature = "journal")]
use crate::model::{Actor, Event};
use crate::model::{ApproverId, OwnerId, Tool, Tools};

use super::State;

/// The maximum number of tools that people may declare for the agents of one owner.
pub(super) const MAX_DECLARED: usize = 256;

/// The maximum total size of these declarations in bytes, written as JSON.
pub(super) const MAX_BYTES: usize = 64 * 1024;

impl State {
    /// Returns the declarations of the tool `name` for agents of `owner`, at most one per person.
    pub(crate) fn declared_by_people(&self, owner: &OwnerId, name: &str) -> Vec<Arc<Tool>> {
        let all = self.declared.get(owner).into_iter().flat_map(BTreeMap::values);
        all.filter_map(|tools| tools.shared(name).cloned()).collect()
    }

    /// Returns all declarations for agents of `owner`.
    pub(crate) fn declared_for(&self, owner: &OwnerId) -> BTreeMap<ApproverId, Arc<Tools>> {
        self.declared.get(owner).cloned().unwrap_or_default()
    }

    /// Returns the event that adds the earlier declarations `tools` of `declarer` to the current ones, if this changes
    /// them. Declarations only add uses to calls.
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

    /// Replaces the declarations of `declarer`.
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

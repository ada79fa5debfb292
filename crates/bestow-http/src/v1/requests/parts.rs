//! The parts of the command lines that wait for a person. Each line is classified once.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use bestow::{
    action::{ActionFacts, Operation},
    command::{Part, Tier},
    control::Admin,
    request::RequestId,
};
use serde::Serialize;
use utoipa::ToSchema;

/// The parts that are shown of one command line.
const SHOWN: usize = 64;

/// The command lines whose parts are kept.
const KEPT: usize = 1_024;

/// One thing that a command line does.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::v1) struct PartView {
    text: String,
    #[schema(value_type = String)]
    tier: Tier,
    /// The rule that decided the tier.
    reason: String,
}

/// The shown parts of a command line, and the number of the others.
type Shown = (Arc<[PartView]>, usize);

/// The parts of the command lines that wait for a person.
#[derive(Debug, Default)]
pub(crate) struct Parts(Mutex<HashMap<RequestId, Shown>>);

impl Parts {
    /// Returns the parts of the command line of a request.
    pub(super) fn of(&self, id: RequestId, action: &ActionFacts, admin: &Admin) -> Shown {
        if action.operation != Operation::Command {
            return (Arc::new([]), 0);
        }
        if let Some(kept) = self.lock().get(&id) {
            return kept.clone();
        }
        // The classification of a long line takes time, so the lock is not held.
        let all = admin.classify(&action.resource).parts;
        let left_out = all.len().saturating_sub(SHOWN);
        let view = |Part { command, tier, rule, .. }: Part| PartView { text: command, tier, reason: rule.into_owned() };
        let shown: Shown = (all.into_iter().take(SHOWN).map(view).collect(), left_out);
        let mut kept = self.lock();
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(id, shown.clone());
        shown
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RequestId, Shown>> {
        // Each change is one insertion or removal, so a panic elsewhere leaves the map whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! The duration of an allow result. It ends with the first permission or saved decision that it depends on.

use crate::model::{Effect, SavedDecision, Scope, Timestamp};

use super::Evaluation;

/// The end and the scope of an allow result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Carried {
    pub(super) until: Option<Timestamp>,
    pub(super) scope: Option<Scope>,
}

impl Evaluation<'_> {
    /// Returns the end and the scope of the decision. For each permission, the grant that lasts longest counts. Of
    /// these grants and the saved decision, the earliest end counts. The saved decision determines the scope. Without
    /// one, it is the narrowest scope of a grant that is not permanent.
    pub(super) fn carried(&self) -> Carried {
        if self.conclusion.ruled.verdict() > Effect::Confined {
            return Carried::default();
        }
        let said = self.said.as_deref();
        let used_up = self.uses_grants.iter().map(|grant| &**grant);
        let grants: Vec<_> = self.lasting.iter().copied().chain(used_up).collect();
        let ends = grants.iter().filter_map(|grant| grant.until).chain(said.and_then(|ruling| ruling.until));
        let narrowest = grants.iter().map(|grant| grant.scope).min_by_key(|scope| width(*scope));
        let scope = narrowest.filter(|scope| *scope != Scope::Always);
        Carried { until: ends.min(), scope: said.map(of_ruling).or(scope) }
    }
}

fn of_ruling(ruling: &SavedDecision) -> Scope {
    ruling.scope
}

/// Returns the order of scopes, the narrowest first.
fn width(scope: Scope) -> (u8, Option<Timestamp>) {
    match scope {
        Scope::Once => (0, None),
        Scope::Session => (1, None),
        Scope::Until(until) => (2, Some(until)),
        Scope::Always => (3, None),
    }
}

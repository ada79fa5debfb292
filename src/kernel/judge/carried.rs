//! For how long a yes counts: until the first right or word that carries it ends.

use std::cmp::Reverse;

use crate::model::{Effect, Grant, Permission, Ruling, Scope, Timestamp};

use super::{Case, Judgement};

/// The end and the scope of what carries a yes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Carried {
    pub(super) until: Option<Timestamp>,
    pub(super) scope: Option<Scope>,
}

impl Judgement<'_> {
    /// Of each right the grant that lasts longest counts, of all of them the one that ends first; a person's word as well.
    /// The word of a person says the scope, else the narrowest scope of a right that was given for less than always.
    pub(super) fn carried(&self, case: &Case<'_>) -> Carried {
        if self.conclusion.ruled.verdict() > Effect::Confined {
            return Carried::default();
        }
        let said = self.said.as_deref();
        let lasting = case.action.permissions().filter_map(|permission| longest(case, permission));
        let grants: Vec<_> = lasting.chain(self.uses_grants.iter().map(|grant| &**grant)).collect();
        let ends = grants.iter().filter_map(|grant| grant.until).chain(said.and_then(|ruling| ruling.until));
        let narrowest = grants.iter().map(|grant| grant.scope).min_by_key(|scope| width(*scope));
        let scope = narrowest.filter(|scope| *scope != Scope::Always);
        Carried { until: ends.min(), scope: said.map(of_ruling).or(scope) }
    }
}

fn of_ruling(ruling: &Ruling) -> Scope {
    ruling.scope
}

/// The grant by which the agent may use `permission` longest; none if everybody may, or it takes one for one use.
fn longest<'s>(case: &Case<'s>, permission: &'s Permission) -> Option<&'s Grant> {
    if case.state.readable_by_all(permission) {
        return None;
    }
    let usable = case.state.usable(case.agent, permission, case.now).filter(|grant| !case.broken.contains(&grant.id));
    let lasts = |grant: &&std::sync::Arc<Grant>| (grant.until.is_none(), grant.until, Reverse(grant.id));
    usable.max_by_key(lasts).map(|grant| &**grant)
}

/// Narrow scopes first.
fn width(scope: Scope) -> (u8, Option<Timestamp>) {
    match scope {
        Scope::Once => (0, None),
        Scope::Session => (1, None),
        Scope::Until(until) => (2, Some(until)),
        Scope::Always => (3, None),
    }
}

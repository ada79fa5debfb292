//! The counts of events on which suggestions are based.

use std::collections::{BTreeMap, BTreeSet};

use bestow::{
    AgentId, Event, Outcome, Permission,
    action::{ActionFacts, Operation},
    decision::{Decider, Decision, Effect},
    grant::Scope,
    path::SanitizedPath,
};

/// The permissions that people gave, and the resources that agents used.
#[derive(Debug, Default)]
pub(super) struct Tally {
    given: BTreeMap<(AgentId, Permission), u32>,
    used: BTreeMap<AgentId, BTreeSet<Permission>>,
}

impl Tally {
    /// Counts an event.
    pub(super) fn take(&mut self, event: &Event) {
        if let Event::Resolved { resolution, .. } = event {
            let is_by_person = matches!(resolution.decider, Decider::Person { .. });
            let is_for_good = resolution.scope == Some(Scope::Always);
            if resolution.outcome == Outcome::Granted && is_by_person && !is_for_good {
                for permission in &resolution.granted {
                    let times = self.given.entry((resolution.from.clone(), permission.clone())).or_default();
                    *times = times.saturating_add(1);
                }
            }
        }
        if let Event::Evaluated { decision } = event
            && matches!(decision.verdict(), Effect::Allow | Effect::Confined)
        {
            self.used.entry(decision.agent.clone()).or_default().extend(needs(decision));
        }
    }

    /// Returns the permissions that people gave at least `times` times, with the number.
    pub(super) fn given_often(&self, times: u32) -> impl Iterator<Item = (&AgentId, &Permission, u32)> {
        let all = self.given.iter().map(|((agent, permission), count)| (agent, permission, *count));
        all.filter(move |(_, _, count)| *count >= times)
    }

    /// Returns true if a decision let the agent use a part of the permission.
    pub(super) fn uses(&self, agent: &AgentId, permission: &Permission) -> bool {
        self.used.get(agent).is_some_and(|used| used.iter().any(|used| permission.covers(used)))
    }
}

/// Returns the permissions that cover the uses of a decided action.
fn needs(decision: &Decision) -> impl Iterator<Item = Permission> + '_ {
    let ActionFacts { operation, resource, uses, .. } = &*decision.action;
    let further = uses.iter().map(|used| (used.operation, &*used.resource));
    std::iter::once((*operation, &**resource))
        .chain(further)
        .filter_map(|(operation, resource)| need(operation, resource))
}

fn need(operation: Operation, resource: &str) -> Option<Permission> {
    let path = || resource.parse::<SanitizedPath>().ok();
    match operation {
        Operation::Read | Operation::Exec => path().map(Permission::read),
        Operation::Write => path().map(Permission::write),
        Operation::Network => Some(Permission::Network),
        Operation::Events => Some(Permission::Events),
        Operation::Tool | Operation::Command => resource.parse().ok(),
    }
}

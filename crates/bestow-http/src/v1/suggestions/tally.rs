//! The counts of events on which suggestions are based.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::Arc,
};

use bestow::{
    AgentId, Event, Outcome, Permission,
    action::{ActionFacts, Operation},
    decision::{Decider, Decision, Effect},
    grant::Scope,
    path::SanitizedPath,
    request::{RequestId, Resolution},
};

/// The approvals of people, and the resources that agents used.
#[derive(Debug, Default)]
pub(super) struct Tally {
    given: BTreeMap<(AgentId, Permission), u32>,
    allowed: BTreeMap<(AgentId, String), Allowed>,
    /// The requests in which a person decides about an action, and not only about missing permissions.
    about_actions: HashSet<RequestId>,
    used: BTreeMap<AgentId, BTreeSet<Permission>>,
}

/// Actions of one form that people allowed.
#[derive(Debug)]
pub(super) struct Allowed {
    pub(super) times: u32,
    /// The last of them.
    pub(super) action: Arc<ActionFacts>,
}

impl Allowed {
    /// Returns the form of the actions, for people.
    pub(super) fn shown(&self) -> String {
        let form = self.action.shape.as_ref().map(|shape| shape.phrase().to_string());
        form.unwrap_or_else(|| format!("{} of `{}`", self.action.operation, self.action.resource))
    }
}

impl Tally {
    /// Counts an event.
    pub(super) fn take(&mut self, event: &Event) {
        if let Event::Requested { request } = event
            && request.asks_about_action()
        {
            self.about_actions.insert(request.id);
        }
        if let Event::Resolved { resolution, .. } = event {
            self.resolved(resolution);
        }
        if let Event::Evaluated { decision } = event
            && matches!(decision.verdict(), Effect::Allow | Effect::Confined)
        {
            self.used.entry(decision.agent.clone()).or_default().extend(needs(decision));
        }
    }

    /// Counts what a person allowed for less than always.
    fn resolved(&mut self, resolution: &Resolution) {
        let is_by_person = matches!(resolution.decider, Decider::Person { .. });
        let is_for_good = resolution.scope == Some(Scope::Always);
        let is_about_action = self.about_actions.remove(&resolution.request);
        if resolution.outcome != Outcome::Granted || !is_by_person || is_for_good {
            return;
        }
        for permission in &resolution.granted {
            let times = self.given.entry((resolution.from.clone(), permission.clone())).or_default();
            *times = times.saturating_add(1);
        }
        let action = resolution.action.as_ref().filter(|_| is_about_action && resolution.updated_input.is_none());
        if let Some(action) = action {
            let key = (resolution.from.clone(), form(action));
            let allowed = self.allowed.entry(key).or_insert_with(|| Allowed { times: 0, action: Arc::clone(action) });
            allowed.times = allowed.times.saturating_add(1);
            allowed.action = Arc::clone(action);
        }
    }

    /// Returns the permissions that people gave at least `times` times, with the number.
    pub(super) fn given_often(&self, times: u32) -> impl Iterator<Item = (&AgentId, &Permission, u32)> {
        let all = self.given.iter().map(|((agent, permission), count)| (agent, permission, *count));
        all.filter(move |(_, _, count)| *count >= times)
    }

    /// Returns the actions of one form that people allowed at least `times` times.
    pub(super) fn allowed_often(&self, times: u32) -> impl Iterator<Item = (&AgentId, &Allowed)> {
        let all = self.allowed.iter().map(|((agent, _), allowed)| (agent, allowed));
        all.filter(move |(_, allowed)| allowed.times >= times)
    }

    /// Returns true if a decision let the agent use a part of the permission.
    pub(super) fn uses(&self, agent: &AgentId, permission: &Permission) -> bool {
        self.used.get(agent).is_some_and(|used| used.iter().any(|used| permission.covers(used)))
    }
}

/// Returns a text that is equal for the actions that one rule would allow.
fn form(action: &ActionFacts) -> String {
    let shape = action.shape.as_ref().map(|shape| format!("{} {} {:?}", action.tool, shape.key, shape.cwd));
    shape.unwrap_or_else(|| action.access.to_string())
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

//! Publishes the permissions of agents from the state to the snapshots that checks read.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    command::{Classifier, Profile},
    kernel::{Protected, SharedLimits, compile},
    model::{AgentId, Event, Permission, Reads, Settings},
};

use super::{
    agent_slot::AgentSlot,
    classifier::classifier_for,
    commit_queue::is_settings,
    lines::Reader,
    shared::{Shared, Writer},
};

/// The number of changed grants of an agent up to which their roots are replaced one by one.
const FEW: usize = 4;

impl Shared {
    /// Publishes the changes of `events`, as a complete snapshot for each affected agent.
    pub(super) fn publish(&self, writer: &mut Writer, events: &[Event]) {
        self.tell_outside(events);
        self.publish_credentials(writer, events);
        // A later step may have narrowed or ended the grant already, so the state says what it is.
        if let [Event::GrantIssued { grant }] = events
            && let Some(grant) = writer.queue.published().grants.get(&grant.id)
            && self.cell(&grant.to).is_some_and(|cell| cell.publish_more(grant, &mut writer.scratch))
        {
            return;
        }
        if events.iter().any(is_settings) {
            self.publish_settings(writer);
        }
        self.publish_departures(events);
        self.publish_changes(writer, events.iter());
    }

    /// Publishes the changes that `events` made to the permissions of each agent.
    fn publish_changes<'e>(&self, writer: &mut Writer, events: impl Iterator<Item = &'e Event>) {
        for (agent, changes) in touched(events) {
            let Writer { queue, scratch, .. } = &mut *writer;
            let held = queue.published().agents.get(agent).map(|agent| &agent.held);
            let is_done = match (changes, held, self.cell(agent)) {
                (Changes::Few(permissions), Some(held), Some(cell)) => {
                    cell.publish_changes(held, &permissions, scratch)
                }
                _ => false,
            };
            if !is_done {
                self.publish_agent(writer, agent);
            }
        }
    }

    /// Publishes the settings that all agents share, and a new snapshot of each agent. Settings that are decided and
    /// not stored yet are in force as far as they are stricter.
    pub(super) fn publish_settings(&self, writer: &mut Writer) {
        let settings = writer.queue.settings_in_force();
        self.publish_classifier(&settings);
        let protected = writer.queue.published().protected_under(&settings);
        writer.ground = Arc::new(SharedLimits::new(settings.reads, &protected, self.seed));
        let all: Vec<_> = self.cells.iter().map(|entry| entry.key().clone()).collect();
        all.iter().for_each(|agent| self.publish_agent(writer, agent));
    }

    /// Publishes the classifier. Tools that the settings declare take precedence over those of the host program.
    pub(super) fn publish_classifier(&self, settings: &Settings) {
        // The settings were checked when they came in. If they do not build now, the strict profile applies.
        let strict = || {
            let strict = Classifier::new(Profile::Strict).with_tools(settings.tools.clone());
            strict.guarding(&settings.sensitive)
        };
        let classifier = classifier_for(settings).unwrap_or_else(|_| strict());
        let tools = self.host_tools.load().and(classifier.tools());
        self.classifier.store(Arc::new(Reader::new(classifier.with_tools(tools))));
    }

    /// Closes retired agents first, because a new agent with the same id in the same step needs a cell of its own.
    fn publish_departures(&self, events: &[Event]) {
        for agent in events.iter().filter_map(Event::retired) {
            if let Some((_, cell)) = self.cells.remove(agent) {
                // The retired agent also loses the permissions that every agent has.
                cell.publish(compile(
                    &[],
                    &Arc::new(SharedLimits::new(Reads::Granted, &Protected::default(), self.seed)),
                ));
                cell.close_mail();
            }
        }
    }

    /// Publishes the permissions that `events` take away before they are stored. The published state has lost them
    /// already.
    pub(super) fn publish_losses(&self, writer: &mut Writer, events: &[Event]) {
        self.tell_outside_losses(events);
        self.publish_credentials(writer, events);
        if events.iter().any(is_settings) {
            self.publish_settings(writer);
        }
        self.publish_departures(events);
        let lost =
            events.iter().filter(|event| !matches!(event, Event::GrantIssued { .. } | Event::GrantRepeated { .. }));
        // An agent without a cell is registered by a step that is not stored yet.
        let is_known = |event: &&Event| event.grant().is_some_and(|grant| self.cells.contains_key(&grant.to));
        self.publish_changes(writer, lost.filter(is_known));
    }

    /// Publishes the credentials, if one of them changed. Those that are revoked and not stored as revoked are not live
    /// any more.
    fn publish_credentials(&self, writer: &Writer, events: &[Event]) {
        if events.iter().any(|event| matches!(event, Event::CredentialChanged { .. })) {
            self.credentials.store(Arc::new(writer.queue.published().credentials.clone()));
        }
    }

    /// Publishes the permissions of every agent, and the credentials, when an engine is restored.
    pub(super) fn publish_all(&self, writer: &Writer) {
        self.credentials.store(Arc::new(writer.queue.published().credentials.clone()));
        writer.queue.published().agents.keys().for_each(|agent| self.publish_agent(writer, agent));
    }

    fn publish_agent(&self, writer: &Writer, agent: &AgentId) {
        if writer.queue.is_leaving(agent) {
            return;
        }
        let Some(held) = writer.queue.published().agents.get(agent).map(|agent| compile(&agent.held, &writer.ground))
        else {
            return;
        };
        match self.cell(agent) {
            Some(cell) => cell.publish(held),
            None => {
                self.cells.insert(agent.clone(), Arc::new(AgentSlot::new(held)));
            }
        }
    }
}

/// The changes of the permissions of one agent.
enum Changes<'e> {
    /// The agent is new, or so many grants changed that compiling all of them is cheaper.
    Many,
    Few(Vec<&'e Permission>),
}

impl<'e> Changes<'e> {
    fn add(&mut self, permission: &'e Permission) {
        match self {
            Changes::Few(permissions) if permissions.len() < FEW => permissions.push(permission),
            Changes::Few(_) | Changes::Many => *self = Changes::Many,
        }
    }
}

/// Returns the agents whose published permissions may change by `events`, with the changes.
fn touched<'e>(events: impl Iterator<Item = &'e Event>) -> BTreeMap<&'e AgentId, Changes<'e>> {
    let mut touched: BTreeMap<_, Changes<'e>> = BTreeMap::new();
    for event in events {
        if let Event::AgentRegistered { profile, .. } = event {
            touched.insert(&profile.id, Changes::Many);
        }
        if let Some(grant) = event.grant() {
            let changes = touched.entry(&grant.to).or_insert_with(|| Changes::Few(Vec::new()));
            changes.add(&grant.pinned.permission);
        }
    }
    touched
}

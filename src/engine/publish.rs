//! What agents hold, from the state to where checks read it.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    command::{Classifier, Profile},
    kernel::{Ground, compile},
    model::{AgentId, Event, Reads},
};

use super::{
    cell::Cell,
    shared::{Shared, Writer},
};

impl Shared {
    /// Publishes what `events` changed, whole for each agent they concern.
    pub(super) fn publish(&self, writer: &mut Writer, events: &[Event]) {
        if let [Event::GrantIssued { grant }] = events
            && self.cell(&grant.to).is_some_and(|cell| cell.publish_more(grant, &mut writer.scratch))
        {
            return;
        }
        if events.iter().any(|event| matches!(event, Event::SettingsChanged { .. })) {
            let settings = &writer.state.settings;
            // Checked when they came in; if they are not what they were, nothing of theirs is safe.
            let classifier = Classifier::with_rules(&settings.commands);
            self.classifier.store(Arc::new(classifier.unwrap_or_else(|_| Classifier::new(Profile::Strict))));
            writer.ground = Arc::new(Ground::new(settings.reads, &settings.protected, self.seed));
            let all: Vec<_> = self.cells.iter().map(|entry| entry.key().clone()).collect();
            all.iter().for_each(|agent| self.publish_agent(writer, agent));
        }
        // First who is gone: an agent that takes the id in the same step gets a cell of its own.
        for agent in events.iter().filter_map(Event::retired) {
            if let Some((_, cell)) = self.cells.remove(agent) {
                // Not even what everybody has.
                cell.publish(compile(&[], &Arc::new(Ground::new(Reads::Granted, &[], self.seed))));
                cell.close_mail();
            }
        }
        for agent in touched(events) {
            self.publish_agent(writer, agent);
        }
    }

    fn publish_agent(&self, writer: &Writer, agent: &AgentId) {
        let Some(held) = writer.state.agents.get(agent).map(|agent| compile(&agent.held, &writer.ground)) else {
            return;
        };
        match self.cell(agent) {
            Some(cell) => cell.publish(held),
            None => {
                self.cells.insert(agent.clone(), Arc::new(Cell::new(held)));
            }
        }
    }
}

/// The agents whose rights may read differently after `events`.
fn touched(events: &[Event]) -> BTreeSet<&AgentId> {
    let touched = events.iter().filter_map(|event| {
        if let Event::AgentRegistered { profile, .. } = event {
            return Some(&profile.id);
        }
        event.grant().map(|grant| &grant.to)
    });
    touched.collect()
}

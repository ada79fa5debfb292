//! Delivery of events to agents, waiting callers, people and subscribers.

use std::sync::Arc;

use crate::{
    model::{AgentId, Event, OwnerId, Recorded, Route},
    ports::Batch,
};

use super::{
    batch_facts::BatchFacts,
    inbox,
    shared::{Shared, StalledChannels, Writer},
    surface::{Prompt, show},
};

impl Shared {
    /// Delivers events under the lock, so that each recipient gets them in order. No send here can block.
    pub(super) fn tell(&self, writer: &mut Writer, step: &Batch, stuck: &mut StalledChannels) {
        let events = &step.events;
        let batch = BatchFacts::of(events);
        for (place, event) in events.iter().enumerate() {
            for (agent, mail) in inbox::addressed(event, &batch) {
                if let Some(cell) = self.cell(&agent).filter(|_| !batch.is_about_retired(&agent, place)) {
                    cell.mail().post(mail);
                }
            }
            if let Event::Resolved { resolution, .. } = event
                && let Some((_, answer)) = self.answers.remove(&resolution.request)
            {
                answer.send_replace(Some(Arc::clone(resolution)));
            }
            writer.show(event, &batch, stuck);
            writer.sequence += 1;
            let sequence = writer.sequence;
            let via = step.via_of(event);
            writer.events.send(event, |event| Recorded { sequence, at: step.at, via: via.cloned(), event });
        }
        writer.events.ring();
    }
}

impl Writer {
    /// Shows an event to the people it concerns. `batch` has the facts about the batch of the event.
    fn show(&mut self, event: &Event, batch: &BatchFacts<'_>, stuck: &mut StalledChannels) {
        if let Event::CarrierDisconnected { agent } = event {
            self.carriers.remove(agent);
        }
        if let Event::Requested { request } = event
            && request.is_open()
        {
            self.show_approvers(&request.owner, &Prompt::Ask(Arc::clone(request)), stuck);
        }
        if let Event::Routed { request, route: Route::Carrier(carrier) } = event {
            self.show_carrier(carrier, Prompt::Ask(Arc::clone(request)), stuck);
        }
        if let Event::Resolved { resolution, carrier } = event
            && !batch.was_never_asked(resolution.request)
        {
            let settled = Prompt::Settled(Arc::clone(resolution));
            if let Some(carrier) = carrier {
                self.show_carrier(carrier, settled.clone(), stuck);
            }
            self.show_approvers(&resolution.owner, &settled, stuck);
        }
    }

    fn show_carrier(&self, carrier: &AgentId, what: Prompt, stuck: &mut StalledChannels) {
        if let Some(open) = self.carriers.get(carrier).filter(|open| open.filled)
            && show(open, what).is_err()
        {
            stuck.carriers.push((carrier.clone(), open.generation));
        }
    }

    fn show_approvers(&mut self, owner: &OwnerId, what: &Prompt, stuck: &mut StalledChannels) {
        for open in self.approvers.get_mut(owner).into_iter().flatten().filter(|open| open.filled) {
            if open.shows(what) && show(open, what.clone()).is_err() {
                stuck.approvers.push((owner.clone(), open.generation));
            }
        }
    }
}

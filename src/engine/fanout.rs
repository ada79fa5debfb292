//! Delivery of events to agents, waiting callers, people and subscribers.

use std::{collections::HashMap, sync::Arc};

use tokio::sync::watch;

use crate::model::{AgentId, Event, OwnerId, Recorded, RequestId, Route, Timestamp};

use super::{
    inbox,
    shared::{Shared, StalledChannels, Writer},
    surface::{Prompt, show},
};

impl Shared {
    /// Delivers events under the lock, so that each recipient gets them in order. No send here can block.
    pub(super) fn tell(&self, writer: &mut Writer, events: &[Event], now: Timestamp, stuck: &mut StalledChannels) {
        let went: HashMap<_, _> =
            events.iter().enumerate().filter_map(|(place, event)| Some((event.retired()?, place))).collect();
        for (place, event) in events.iter().enumerate() {
            for (agent, mail) in inbox::addressed(event, events) {
                // An event about a retired agent is no news for a later agent of that name.
                let is_for_another = went.get(&agent).is_some_and(|went| place <= *went);
                if let Some(cell) = self.cell(&agent).filter(|_| !is_for_another) {
                    cell.mail().post(mail);
                }
            }
            if let Event::Requested { request } = event {
                self.answers.insert(request.id, watch::Sender::new(None));
            }
            if let Event::Resolved { resolution, .. } = event
                && let Some((_, answer)) = self.answers.remove(&resolution.request)
            {
                answer.send_replace(Some(Arc::clone(resolution)));
            }
            writer.show(event, events, stuck);
            writer.sequence += 1;
            if let Some(subscribers) = &writer.events {
                // It is no error if there is no subscriber.
                let _ = subscribers.send(Recorded { sequence: writer.sequence, at: now, event: event.clone() });
            }
        }
    }
}

impl Writer {
    /// Shows an event to the people it concerns. `events` is the batch of the event.
    fn show(&mut self, event: &Event, events: &[Event], stuck: &mut StalledChannels) {
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
            && !events.iter().any(|event| never_asked(event, resolution.request))
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

    fn show_approvers(&self, owner: &OwnerId, what: &Prompt, stuck: &mut StalledChannels) {
        for open in self.approvers.get(owner).into_iter().flatten().filter(|open| open.filled) {
            if show(open, what.clone()).is_err() {
                stuck.approvers.push((owner.clone(), open.generation));
            }
        }
    }
}

/// Returns true for a request that no person was shown, because no permission was missing.
fn never_asked(event: &Event, id: RequestId) -> bool {
    matches!(event, Event::Requested { request } if request.id == id && !request.is_open())
}

//! The changes of the resources of an agent.

use std::{sync::Arc, time::Duration};

use bestow::{
    AgentId, Engine,
    event::{NoEvent, Subscription},
    grant::{GrantId, Origin},
    request::RequestId,
};
use tokio::time;

use crate::{gate::Gate, resources::Shelf};

/// The longest time for which a client that may not receive answers any more is kept.
const LOOK: Duration = Duration::from_secs(1);

/// The time in which further events are one change. A look reads every grant.
const PAUSE: Duration = Duration::from_millis(100);

/// The changes of the resources of an agent, as long as the client is admitted.
pub(crate) struct Changes {
    engine: Engine,
    agent: AgentId,
    gate: Arc<dyn Gate>,
    events: Subscription,
    grants: Vec<GrantId>,
    requests: Vec<RequestId>,
    /// The changes that were not told yet.
    untold: Vec<Shelf>,
}

impl Changes {
    /// Watches from now on.
    pub(crate) fn of(engine: &Engine, agent: &AgentId, gate: &Arc<dyn Gate>) -> Changes {
        let mut changes = Changes {
            engine: engine.clone(),
            agent: agent.clone(),
            gate: Arc::clone(gate),
            events: engine.subscribe(),
            grants: Vec::new(),
            requests: Vec::new(),
            untold: Vec::new(),
        };
        changes.look();
        changes.untold.clear();
        changes
    }

    /// Waits for the next change. Returns none if the engine ended, or if the client is not admitted any more.
    pub(crate) async fn next(&mut self) -> Option<Shelf> {
        loop {
            if let Some(shelf) = self.untold.pop() {
                return Some(shelf);
            }
            match time::timeout(LOOK, self.events.next()).await {
                Ok(Err(NoEvent::Ended)) => return None,
                Ok(Ok(_) | Err(NoEvent::Missed(_))) => {
                    time::sleep(PAUSE).await;
                    while matches!(self.events.try_next(), Ok(Some(_)) | Err(NoEvent::Missed(_))) {}
                    self.look();
                }
                Err(_) => {}
            }
            self.gate.admits().ok()?;
        }
    }

    /// Compares the resources with those of the last look.
    fn look(&mut self) {
        let (Ok(grants), Ok(pending)) = (self.engine.grants(), self.engine.pending()) else { return };
        let own = |grant: &bestow::grant::Grant| {
            grant.to == self.agent || matches!(&grant.origin, Origin::Agent { from } if *from == self.agent)
        };
        let grants: Vec<_> = grants.iter().filter(|grant| own(grant)).map(|grant| grant.id).collect();
        let requests = pending.iter().filter(|pending| pending.request.from == self.agent);
        let requests: Vec<_> = requests.map(|pending| pending.request.id).collect();
        if grants != self.grants {
            self.untold.push(Shelf::Permissions);
        }
        if requests != self.requests {
            self.untold.push(Shelf::Requests);
        }
        self.untold.dedup();
        (self.grants, self.requests) = (grants, requests);
    }
}

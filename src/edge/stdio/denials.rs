//! What a user does not want to be asked again during a run (`deny-session`, `sources/001`).

use std::collections::BTreeSet;

use crate::model::{AgentId, Permission, Request, RunId};

/// How many are remembered; then the user is asked again, which is no harm.
const CAPACITY: usize = 1024;

/// Kept in memory as long as the connection lives, and never written.
#[derive(Debug, Default)]
pub(super) struct Denials(BTreeSet<(AgentId, RunId, Permission)>);

impl Denials {
    pub(super) fn remember(&mut self, request: &Request) {
        if self.0.len() >= CAPACITY {
            self.0.clear();
        }
        let denied = request.permissions().map(|denied| (request.from.clone(), request.run.clone(), denied.clone()));
        self.0.extend(denied);
    }

    /// Whether everything that is asked was denied for this run. Then asking again would change nothing.
    pub(super) fn answer(&self, request: &Request) -> bool {
        let denied = |wanted: &Permission| {
            let same = |(from, run, denied): &(AgentId, RunId, Permission)| {
                *from == request.from && *run == request.run && denied.covers(wanted) && wanted.covers(denied)
            };
            self.0.iter().any(same)
        };
        // About actions the engine remembers itself.
        !request.asks_about_action() && request.permissions().all(denied)
    }
}

//! The permissions that a user does not want to be asked about again during a run (`deny-session`, `sources/001`).

use std::collections::BTreeSet;

use crate::model::{AgentId, Permission, Request, RunId};

/// The maximum number of remembered denials. Beyond it the list is cleared and the user is asked again, which does no
/// harm.
const CAPACITY: usize = 1024;

/// The remembered denials. They stay in memory for the lifetime of the connection, and are never stored.
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

    /// Returns true if every requested permission was denied for this run. Asking again would then change nothing.
    pub(super) fn answer(&self, request: &Request) -> bool {
        let denied = |wanted: &Permission| {
            let same = |(from, run, denied): &(AgentId, RunId, Permission)| {
                *from == request.from && *run == request.run && denied.covers(wanted) && wanted.covers(denied)
            };
            self.0.iter().any(same)
        };
        // The engine itself remembers denials of actions.
        !request.asks_about_action() && request.permissions().all(denied)
    }
}

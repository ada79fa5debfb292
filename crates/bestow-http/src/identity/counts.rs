//! The counts that a client with a credential learns about a server.

use bestow::user::OwnerId;
use serde_json::{Value, json};

use super::{Caller, Entrance};
use crate::problem::Problem;

impl Entrance {
    /// Returns the time since the begin of the server and what it holds for the owner of a caller, or for all owners if
    /// the caller is an operator. Neither names nor texts are part of it.
    pub(crate) fn counts(&self, caller: &Caller) -> Result<Value, Problem> {
        let owner = caller.owner();
        let is_own = |whose: &OwnerId| owner.as_ref().is_none_or(|owner| owner == whose);
        let agents = self.engine.agents()?.iter().filter(|profile| is_own(&profile.owner)).count();
        let waiting = self.engine.pending()?.iter().filter(|pending| is_own(&pending.request.owner)).count();
        let processes = self.engine.processes()?.iter().filter(|process| is_own(&process.owner)).count();
        let now = self.engine.now()?;
        let uptime = self.began.map(|began| began.until(now).as_secs());
        Ok(json!({
            "uptimeSeconds": uptime,
            "agents": agents,
            "pendingRequests": waiting,
            "processes": processes,
            "runningRuns": self.runs.running(owner.as_ref()),
        }))
    }
}

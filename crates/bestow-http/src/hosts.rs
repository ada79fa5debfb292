//! The sessions of coding agents: one register for each host.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use axum::http::StatusCode;
use bestow::{Agent, AgentId, Engine};
use bestow_hosts::OwnSessions;

use crate::problem::Problem;

/// The sessions of each host that has asked.
#[derive(Debug, Default)]
pub(crate) struct Hosts(Mutex<HashMap<AgentId, Arc<OwnSessions>>>);

impl Hosts {
    /// Returns the sessions of a host. If the agent of the host was retired and another one has its id, they begin
    /// anew.
    pub(crate) fn of(&self, engine: &Engine, host: &Agent) -> Result<Arc<OwnSessions>, Problem> {
        let broken = |_| Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "the server is not able to work");
        let mut all = self.0.lock().map_err(broken)?;
        all.retain(|_, sessions| sessions.host().profile().is_ok());
        let id = host.id().clone();
        // Several credentials may share the sessions, so their agents are created by none of them.
        let plain = engine.agent(&id)?;
        let sessions = all.entry(id).or_insert_with(|| Arc::new(OwnSessions::new(engine.clone(), plain)));
        Ok(Arc::clone(sessions))
    }
}

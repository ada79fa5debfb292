//! What is ordered of processes that go on, on any wire, and what comes of it.
#![cfg_attr(not(feature = "sandbox"), allow(dead_code, reason = "only a sandbox runs processes"))]

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;

use crate::{
    engine::{Agent, Error},
    model::{Action, OutputStream, Permission, Process, ProcessExit, ProcessId},
};

/// What is ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProcessOrder {
    Start { command: Vec<String>, named: Vec<Permission> },
    List,
    Read { process: ProcessId, stream: OutputStream, from: u64, most: usize },
    Write { process: ProcessId, bytes: Vec<u8>, close: bool },
    Stop { process: ProcessId, grace: Duration },
    Restart { process: ProcessId },
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Processed {
    Started(ProcessId),
    List(Vec<(Arc<Process>, Option<ProcessExit>)>),
    Output { from: u64, bytes: Vec<u8>, dropped: u64, next: u64, is_end: bool },
    Written(usize),
    Stopping,
}

/// Why nothing came of it.
#[derive(Debug)]
pub(crate) enum Unprocessed {
    Engine(Error),
    Other(String),
}

impl fmt::Display for Unprocessed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unprocessed::Engine(why) => why.fmt(f),
            Unprocessed::Other(why) => f.write_str(why),
        }
    }
}

impl From<Error> for Unprocessed {
    fn from(why: Error) -> Unprocessed {
        Unprocessed::Engine(why)
    }
}

/// Runs processes for whoever acts as an agent, if the host program lets it.
#[async_trait]
pub(crate) trait Runner: Send + Sync {
    /// The action that an order comes to, if it comes to one.
    async fn action(&self, agent: &Agent, order: &ProcessOrder) -> Result<Option<Action>, Unprocessed>;

    /// Does it, as `agent`.
    async fn carry_out(&self, agent: &Agent, order: ProcessOrder) -> Result<Processed, Unprocessed>;
}

//! The orders for long-running processes, for every protocol, and their results.
#![cfg_attr(not(feature = "sandbox"), allow(dead_code, reason = "only a sandbox runs processes"))]

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;

use crate::{
    engine::{Agent, Error},
    model::{Action, OutputStream, Permission, Process, ProcessExit, ProcessId},
};

/// An order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProcessOrder {
    Start { command: Vec<String>, named: Vec<Permission> },
    List,
    Read { process: ProcessId, stream: OutputStream, from: u64, most: usize },
    Write { process: ProcessId, bytes: Vec<u8>, close: bool },
    Stop { process: ProcessId, grace: Duration },
    Restart { process: ProcessId },
}

/// The result of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Processed {
    Started(ProcessId),
    List(Vec<(Arc<Process>, Option<ProcessExit>)>),
    Output { from: u64, bytes: Vec<u8>, dropped: u64, next: u64, is_end: bool },
    Written(usize),
    Stopping,
}

/// The reason why an order had no result.
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

/// Runs processes for an agent's bot, if the host program allows it.
#[async_trait]
pub(crate) trait Runner: Send + Sync {
    /// Returns the action of an order; `None` if the order is no action.
    async fn action(&self, agent: &Agent, order: &ProcessOrder) -> Result<Option<Action>, Unprocessed>;

    /// Carries out the order as `agent`.
    async fn carry_out(&self, agent: &Agent, order: ProcessOrder) -> Result<Processed, Unprocessed>;
}

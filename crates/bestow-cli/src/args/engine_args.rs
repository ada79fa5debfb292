//! The engine that a command of one agent asks.

use std::path::PathBuf;

use bestow::AgentId;
use clap::Args;

use super::{POLICY_FILE, RemoteArgs};

/// The options of a running server. They exclude those of an engine of its own.
const REMOTE: [&str; 4] = ["url", "ready_file", "token_file", "allow_plain_http"];

/// The options that name a running server, or an engine of its own.
#[derive(Debug, Args)]
pub(crate) struct EngineArgs {
    /// Runs an engine of its own, as this agent; without it, a running server is asked
    #[arg(long, value_name = "ID", conflicts_with_all = REMOTE)]
    pub(crate) agent: Option<AgentId>,
    /// The policy file of an engine of its own
    #[arg(long, value_name = "FILE", default_value = POLICY_FILE, conflicts_with_all = REMOTE)]
    pub(crate) config: PathBuf,
    /// The state directory of an engine of its own
    #[arg(long, value_name = "DIRECTORY", default_value = "state", conflicts_with_all = REMOTE)]
    pub(crate) state: PathBuf,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

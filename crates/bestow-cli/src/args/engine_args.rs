//! The engine that a command of one agent asks.

use std::path::{Path, PathBuf};

use bestow::AgentId;
use clap::Args;

use super::RemoteArgs;

/// The options of a running server. They exclude those of an engine of its own.
const REMOTE: [&str; 4] = ["url", "ready_file", "token_file", "allow_plain_http"];

/// The reason to refuse an engine without a policy file.
const NO_CONFIG: &str = "`--agent` runs an engine of its own and needs `--config FILE`: a policy file is never looked \
                         for, because agents may write in the directory in which this command runs";

/// The options that name a running server, or an engine of its own.
#[derive(Debug, Args)]
pub(crate) struct EngineArgs {
    /// Runs an engine of its own, as this agent; without it, a running server is asked
    #[arg(long, value_name = "ID", conflicts_with_all = REMOTE)]
    pub(crate) agent: Option<AgentId>,
    /// The policy file of an engine of its own; `--agent` needs it
    #[arg(long, value_name = "FILE", conflicts_with_all = REMOTE)]
    config: Option<PathBuf>,
    /// The state directory of an engine of its own [default: `state` beside the policy file]
    #[arg(long, value_name = "DIRECTORY", conflicts_with_all = REMOTE)]
    state: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

/// An engine of its own.
#[derive(Clone, Debug)]
pub(crate) struct OwnEngine {
    pub(crate) agent: AgentId,
    /// The policy file.
    pub(crate) config: PathBuf,
    /// The state directory.
    pub(crate) state: PathBuf,
}

impl EngineArgs {
    /// Returns the engine of its own that the options name, or none if a running server is asked. Nothing is taken
    /// from the directory in which the command runs: a hook runs where the agent works.
    ///
    /// # Errors
    ///
    /// The policy file is not named.
    pub(crate) fn own_engine(&self) -> Result<Option<OwnEngine>, String> {
        let Some(agent) = self.agent.clone() else { return Ok(None) };
        let config = self.config.clone().ok_or(NO_CONFIG)?;
        let state = match &self.state {
            Some(state) => state.clone(),
            None => config.parent().unwrap_or(Path::new("")).join("state"),
        };
        Ok(Some(OwnEngine { agent, config, state }))
    }
}

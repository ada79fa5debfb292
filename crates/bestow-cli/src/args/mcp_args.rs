//! The arguments of `mcp`.

use std::path::PathBuf;

use bestow::{AgentId, user::ApproverId};
use clap::Args;

use super::{POLICY_FILE, RemoteArgs};

/// The options of a running server. They exclude those of an engine of its own.
const REMOTE: [&str; 4] = ["url", "ready_file", "token_file", "allow_plain_http"];

/// The arguments of `mcp`.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// Runs an engine of its own, as this agent; without it, a running server is asked
    #[arg(long, value_name = "ID", conflicts_with_all = REMOTE)]
    pub(crate) agent: Option<AgentId>,
    /// The policy file of an engine of its own
    #[arg(long, value_name = "FILE", default_value = POLICY_FILE, conflicts_with_all = REMOTE)]
    pub(crate) config: PathBuf,
    /// The state directory of an engine of its own
    #[arg(long, value_name = "DIRECTORY", default_value = "state", conflicts_with_all = REMOTE)]
    pub(crate) state: PathBuf,
    /// Asks the user of the coding agent about the requests that reach this foreground agent (MCP elicitation)
    ///
    /// The answer counts as one of the person. Use it only with a program that shows such questions to its user.
    #[arg(long, requires = "agent", conflicts_with_all = REMOTE)]
    pub(crate) elicit: bool,
    /// The person who answers with `--elicit`, as records name them [default: USER, LOGNAME or `operator`]
    #[arg(long, value_name = "PERSON", requires = "elicit")]
    pub(crate) by: Option<ApproverId>,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

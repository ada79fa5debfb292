//! The arguments of `mcp`.

use bestow::user::ApproverId;
use clap::Args;

use super::{EngineArgs, engine_args::REMOTE};

/// The arguments of `mcp`.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    /// Asks the user of the coding agent about the requests that reach this foreground agent (MCP elicitation)
    ///
    /// The answer counts as one of the person. Use it only with a program that shows such questions to its user.
    #[arg(long, requires = "agent", conflicts_with_all = REMOTE)]
    pub(crate) elicit: bool,
    /// The person who answers with `--elicit`, as records name them [default: USER, LOGNAME or `operator`]
    #[arg(long, value_name = "PERSON", requires = "elicit")]
    pub(crate) by: Option<ApproverId>,
}

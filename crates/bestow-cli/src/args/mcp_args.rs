//! The arguments of `mcp`.

use std::path::PathBuf;

use bestow::user::ApproverId;
use clap::Args;

use super::EngineArgs;

/// The arguments of `mcp`.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    /// Asks the user of the coding agent about the requests that reach this foreground agent (MCP elicitation)
    ///
    /// The answer counts as one of the person. Use it only with a program that shows such questions to its user.
    #[arg(long)]
    pub(crate) elicit: bool,
    /// The person who answers with `--elicit`, as records name them [default: USER, LOGNAME or `operator`]
    #[arg(long, value_name = "PERSON", requires_all = ["elicit", "agent"])]
    pub(crate) by: Option<ApproverId>,
    /// The file whose first line is the token of the approver who answers with `--elicit`
    ///
    /// The client then shows the requests of all agents of the owner of this token. With `--agent`, where no server
    /// runs, it is the file `approver-token` of the state directory, and only needed where there is no terminal.
    #[arg(long, value_name = "FILE", requires = "elicit")]
    pub(crate) approver_token_file: Option<PathBuf>,
}

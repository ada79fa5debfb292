//! Commands for agents: they speak to the engine from within a sandboxed command.

use std::time::Duration;

use bestow::{AgentId, Permission};
use clap::{Args, Subcommand};

use super::values;

/// Commands for agents.
#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// Requests permissions for the agent, and waits for the answer
    ///
    /// It works only inside a command that holds @events, and speaks for the agent of that command. The answer of the
    /// engine is printed as one JSON object.
    #[command(after_long_help = "\
Examples:
  bestow request @network --reason 'to fetch the dependencies'
  bestow request @write:/work/site @network --reason 'to publish the page' --wait 60")]
    Request(RequestArgs),

    /// Grants permissions of the agent to another agent
    ///
    /// It works only inside a command that holds @events. The agent must hold each permission itself. The answer of the
    /// engine is printed as one JSON object.
    #[command(after_long_help = "\
Examples:
  bestow grant @write:/work/site --to writer --reason 'the page is yours'")]
    Grant(PassOnArgs),

    /// Connects standard input and output to the engine
    ///
    /// It works only inside a command that holds @events. Lines of JSON go in both directions: docs/protocol.md, the
    /// role of an agent.
    #[command(after_long_help = "\
Examples:
  echo '{\"type\":\"check_permission\",\"permission\":\"@network\"}' | bestow events")]
    Events,
}

/// The arguments of `request`.
#[derive(Debug, Args)]
pub(crate) struct RequestArgs {
    /// The permissions, such as @network or @write:/work/site
    #[arg(value_name = "PERMISSION", required = true, value_parser = values::permission)]
    pub(crate) permissions: Vec<Permission>,
    /// The reason that the person reads
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) reason: String,
    /// The longest time before exit code 2, as in 90s or 5m; a number alone is in seconds [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = values::duration, allow_hyphen_values = true)]
    pub(crate) wait: Option<Duration>,
}

/// The arguments of `grant`.
#[derive(Debug, Args)]
pub(crate) struct PassOnArgs {
    /// The permissions, such as @network or @write:/work/site
    #[arg(value_name = "PERMISSION", required = true, value_parser = values::permission)]
    pub(crate) permissions: Vec<Permission>,
    /// The agent that gets the permissions
    #[arg(long, value_name = "ID")]
    pub(crate) to: AgentId,
    /// The reason that the trail keeps
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) reason: String,
}

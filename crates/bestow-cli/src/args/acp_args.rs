//! Commands about the Agent Client Protocol.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use bestow::AgentId;
use clap::{Args, Subcommand, ValueEnum};

use super::{EngineArgs, RemoteArgs, values};

/// Commands below `acp`.
#[derive(Debug, Subcommand)]
pub(crate) enum AcpPart {
    /// Stands between an editor and a coding agent, and answers the agent's requests for permission
    ///
    /// It starts the agent, and copies every line between the editor and the agent byte for byte, except the agent's
    /// requests for permission (`session/request_permission`). The engine answers those. Each session of the agent is
    /// an agent in the engine.
    ///
    /// It asks a running server with the token of the agent, in BESTOW_TOKEN or in a file. With `--agent`, it runs an
    /// engine of its own. The exit code is that of the agent.
    #[command(after_long_help = "\
Examples:
  bestow acp wrap --ready-file state/server.json --token-file claude-token -- npx @agentclientprotocol/claude-agent-acp
  bestow acp wrap --agent gemini --config /work/agents.toml --state /work/state -- gemini --acp")]
    Wrap(WrapArgs),

    /// Shows the questions of agents in an editor, as an agent of that editor
    ///
    /// It is no model. A request that waits appears as a permission card, and the answer of the person at the editor
    /// counts as an answer of the approver of the token.
    ///
    /// It speaks with a running server, and has no engine of its own: the agents whose questions it shows are those of
    /// the server. The token of the approver is in BESTOW_TOKEN or in a file.
    #[command(after_long_help = "\
Examples:
  bestow acp agent --ready-file state/server.json --token-file my-token
  bestow acp agent --agent lead --url http://127.0.0.1:7422 --token-file my-token")]
    Agent(AcpAgentArgs),
}

/// The arguments of `acp agent`.
#[derive(Debug, Args)]
pub(crate) struct AcpAgentArgs {
    /// The agent whose permissions are reported
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<AgentId>,
    /// An engine of its own, which this command does not have
    #[arg(long, hide = true, value_name = "DIRECTORY")]
    pub(crate) state: Option<PathBuf>,
    /// An engine of its own, which this command does not have
    #[arg(long, hide = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

/// The arguments of `acp wrap`.
#[derive(Debug, Args)]
pub(crate) struct WrapArgs {
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    /// The fate of a request that no person answers through the engine
    #[arg(long, value_enum, default_value = "editor")]
    pub(crate) unanswered: UnansweredBy,
    /// The longest time that a request waits for a person who attends the engine; a number alone is in seconds
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = values::duration)]
    pub(crate) hold: Duration,
    /// Chooses the option of the agent that allows a call always, where none allows it once
    ///
    /// The agent then asks no more about such calls, and the engine decides about none of them.
    #[arg(long)]
    pub(crate) allow_always: bool,
    /// The program of the agent, and its arguments
    #[arg(value_name = "AGENT", last = true, required = true)]
    pub(crate) words: Vec<OsString>,
}

/// The fate of a request that no person answers through the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnansweredBy {
    /// The editor asks the person in front of it, and the question to the engine is withdrawn
    Editor,
    /// The request is refused, and the question goes on waiting in the engine for the next try
    Deny,
}

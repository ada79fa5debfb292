//! Commands about the server, and about the credentials of its clients.

use std::{net::SocketAddr, num::NonZero, path::PathBuf, time::Duration};

use bestow::{
    AgentId,
    user::{ApproverId, OwnerId},
};
use bestow_http::credentials::CredentialId;
use clap::{Args, Subcommand, ValueEnum};

use super::{
    Form, McpArgs, PolicyFileArgs,
    acp_args::AcpPart,
    admin_request::PersonArgs,
    hook_args::HookPart,
    install_args::{InstallPart, UninstallPart},
    values,
};

/// Commands about the server.
#[derive(Debug, Subcommand)]
pub(crate) enum ServerCommand {
    /// Serves an engine over HTTP and WebSocket
    ///
    /// It runs an engine on the policy file and the state directory, and answers the clients that have a credential
    /// (`bestow token`). It ends at SIGINT and SIGTERM: everything that waits stays stored. It starts no scheduled
    /// task: a program with a scheduler does.
    #[command(after_long_help = "\
Examples:
  bestow serve --config agents.toml --state state
  bestow serve --config agents.toml --state state --listen 127.0.0.1:0 --ready-file ready.json")]
    Serve(ServeArgs),

    /// Opens the dashboard of a running server in the browser
    ///
    /// It makes a link that works once, within five minutes. The browser exchanges it for a session of twelve hours.
    #[command(after_long_help = "\
Examples:
  bestow dashboard --state state
  bestow dashboard --state state --owner you --by ann
  bestow dashboard --state state --print-link")]
    Dashboard(DashboardArgs),

    /// Starts agents that play a story, and opens the dashboard
    ///
    /// It shows what bestow does: a server with three agents in a temporary directory. The agents do nothing outside of
    /// it. Everything is removed at the end.
    #[command(after_long_help = "\
Examples:
  bestow demo
  bestow demo --print-link --listen 127.0.0.1:7423")]
    Demo(DemoArgs),

    /// Manages the credentials of clients
    ///
    /// It works with and without a running server. A running server refuses a revoked credential at once.
    #[command(after_long_help = "\
Examples:
  bestow token create --state state --role agent --agent writer
  bestow token create --state state --role approver --owner you --by ann --expires 30d
  bestow token list --state state")]
    Token(TokenArgs),

    /// Asks a server about the calls of tools, as a hook of the program that runs an agent
    #[command(subcommand)]
    Hook(HookPart),

    /// Connects editors and coding agents over the Agent Client Protocol (ACP)
    #[command(subcommand)]
    Acp(AcpPart),

    /// Puts the hooks of bestow into the settings of a host
    #[command(subcommand)]
    Install(InstallPart),

    /// Takes the hooks of bestow out of the settings of a host
    #[command(subcommand)]
    Uninstall(UninstallPart),

    /// Serves one agent over the Model Context Protocol, on standard input and output
    ///
    /// A coding agent starts it as an MCP server. It asks a running `bestow serve`, with the token of the agent in
    /// BESTOW_TOKEN or in a file. With `--agent`, it runs an engine of its own on the policy file and the state
    /// directory instead. The tools advise the model: hooks and the sandbox stop one that does not ask.
    #[command(after_long_help = "\
Examples:
  bestow mcp --ready-file state/server.json --token-file agent-token
  bestow mcp --agent writer --config agents.toml --state state")]
    Mcp(McpArgs),
}

/// The arguments of `serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) policy: PolicyFileArgs,
    /// The state directory
    #[arg(long, value_name = "DIRECTORY", default_value = "state")]
    pub(crate) state: PathBuf,
    /// The address to listen on; port 0 is a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7422")]
    pub(crate) listen: SocketAddr,
    /// A file to write once the server listens: `{"url":…,"pid":…}`
    #[arg(long, value_name = "FILE")]
    pub(crate) ready_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) notes: NoteArgs,
    /// A further name under which the server answers, without a port
    #[arg(long, value_name = "NAME", value_parser = values::host_name)]
    pub(crate) allow_host: Vec<String>,
    /// The origin of a web page that may speak to the server, as in `https://dashboard.example.org`
    #[arg(long, value_name = "ORIGIN", value_parser = values::origin)]
    pub(crate) allow_origin: Vec<String>,
    /// Listens on an address that other machines reach: only a proxy with TLS may reach it
    #[arg(long)]
    pub(crate) behind_tls_proxy: bool,
    #[command(flatten)]
    pub(crate) shares: ShareArgs,
}

/// The share of a server that one credential may use.
#[derive(Debug, Default, Args)]
pub(crate) struct ShareArgs {
    /// The requests and frames of one credential in a second [default: 5000]
    ///
    /// A credential may send those of two seconds at once. Further requests are refused with status 429, and further
    /// frames of a WebSocket wait.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) requests_per_second: Option<NonZero<u32>>,
    /// The open connections of one credential [default: 256]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) connections_per_credential: Option<NonZero<u16>>,
}

/// The places where `serve` notes the head of its audit trail.
#[derive(Debug, Default, Args)]
pub(crate) struct NoteArgs {
    /// A file outside of the state directory for the head of the audit trail
    ///
    /// It is written at the start, on a timer and at the end. A server whose state directory does not contain the noted
    /// head does not start: the directory is an older copy.
    #[arg(long, value_name = "FILE")]
    pub(crate) note_head: Option<PathBuf>,
    /// A command for the shell that reads the head from its standard input, at the same times
    #[arg(long, value_name = "COMMAND")]
    pub(crate) note_head_command: Option<String>,
    /// The time between two notes; a number alone is in seconds
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = values::time_limit)]
    pub(crate) note_head_every: Duration,
}

/// The arguments of `dashboard`.
#[derive(Debug, Args)]
pub(crate) struct DashboardArgs {
    #[command(flatten)]
    pub(crate) policy: PolicyFileArgs,
    /// The state directory of the server
    #[arg(long, value_name = "DIRECTORY", default_value = "state")]
    pub(crate) state: PathBuf,
    /// The owner whose agents are shown; without it, the owner of all agents in the policy file
    #[arg(long, value_name = "OWNER")]
    pub(crate) owner: Option<OwnerId>,
    /// The person, as records name them [default: USER, LOGNAME or `operator`]
    #[arg(long, value_name = "PERSON")]
    pub(crate) by: Option<ApproverId>,
    /// The address of the server as the browser sees it, if a proxy is before it
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Prints the link, and opens no browser
    #[arg(long)]
    pub(crate) print_link: bool,
    /// The file with the secret of the engine, where there is no terminal
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
}

/// The arguments of `demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// The address to listen on; port 0 is a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// A directory for the files of the demo, which stays; without it, a temporary one
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) dir: Option<PathBuf>,
    /// Prints the link, and opens no browser
    #[arg(long)]
    pub(crate) print_link: bool,
}

/// The arguments of `token`.
#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    pub(crate) part: TokenPart,
    /// The state directory
    #[arg(long, value_name = "DIRECTORY", global = true, default_value = "state")]
    pub(crate) state: PathBuf,
    /// Prints JSON for programs instead of text for people
    #[arg(long, global = true)]
    json: bool,
}

impl TokenArgs {
    pub(crate) fn form(&self) -> Form {
        if self.json { Form::Json } else { Form::Text }
    }
}

/// Commands below `token`.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenPart {
    /// Creates a credential and prints its token once
    #[command(after_long_help = "\
Examples:
  bestow token create --state state --role agent --agent writer --json
  bestow token create --state state --role approver --owner you --by ann --name phone --expires 30d
  bestow token create --state state --role operator --name orchestrator")]
    Create(CreateArgs),

    /// Lists the credentials, without their secrets
    #[command(after_long_help = "\
Examples:
  bestow token list --state state")]
    List,

    /// Gives a credential a new secret, and prints its token once
    ///
    /// It lasts as long again as it did before. A credential of an earlier version, whose end and owner are not
    /// recorded, gets both like a new one.
    #[command(after_long_help = "\
Examples:
  bestow token rotate --state state 0a1b2c3d4e5f
  bestow token rotate --state state 0a1b2c3d4e5f --expires 30d
  bestow token rotate --state state 0a1b2c3d4e5f --owner you")]
    Rotate(RotateArgs),

    /// Revokes a credential
    #[command(after_long_help = "\
Examples:
  bestow token revoke --state state 0a1b2c3d4e5f")]
    Revoke {
        /// The id of the credential; `bestow token list` shows it
        #[arg(value_name = "ID")]
        id: CredentialId,
        #[command(flatten)]
        person: PersonArgs,
    },
}

/// The role of a new credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NewRole {
    /// One agent: it requests, and can never decide
    Agent,
    /// A person who answers the requests of one owner's agents
    Approver,
    /// The program that runs the agents, for every owner
    Operator,
}

/// The lifetime of a credential if nobody chooses one.
pub(crate) const USUAL_LIFETIME: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// The arguments of `token rotate`.
#[derive(Debug, Args)]
pub(crate) struct RotateArgs {
    /// The id of the credential; `bestow token list` shows it
    #[arg(value_name = "ID")]
    pub(crate) id: CredentialId,
    #[command(flatten)]
    pub(crate) policy: PolicyFileArgs,
    /// The owner of an agent that is not registered yet, if the credential does not name it
    #[arg(long, value_name = "OWNER")]
    pub(crate) owner: Option<OwnerId>,
    /// The time after which it is refused, as in `30d` or `8h`; without it, as long again as before
    #[arg(long, value_name = "TIME", value_parser = values::time_limit)]
    pub(crate) expires: Option<Duration>,
    #[command(flatten)]
    pub(crate) person: PersonArgs,
}

/// The arguments of `token create`.
#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    #[command(flatten)]
    pub(crate) policy: PolicyFileArgs,
    /// The role
    #[arg(long, value_enum)]
    pub(crate) role: NewRole,
    /// The agent of an agent's credential
    #[arg(long, value_name = "ID", required_if_eq("role", "agent"))]
    pub(crate) agent: Option<AgentId>,
    /// The owner for whom an approver decides, or the owner of an agent that is not registered yet
    #[arg(long, value_name = "OWNER", required_if_eq("role", "approver"))]
    pub(crate) owner: Option<OwnerId>,
    /// The person, as records name them; without it, the owner
    #[arg(long, value_name = "PERSON")]
    pub(crate) by: Option<ApproverId>,
    /// A remark: the program or device that uses the credential
    #[arg(long, value_name = "TEXT")]
    pub(crate) name: Option<String>,
    /// The time after which it is refused, as in `30d` or `8h`, or `never`; a number alone is in seconds
    #[arg(long, value_name = "TIME", value_parser = values::lifetime, default_value = "90d")]
    pub(crate) expires: Duration,
    #[command(flatten)]
    pub(crate) person: PersonArgs,
}

//! Commands that the host of an agent runs as hooks.

use std::time::Duration;

use clap::{Args, Subcommand};

use super::{EngineArgs, RemoteArgs, values};

/// Commands below `hook`.
#[derive(Debug, Subcommand)]
pub(crate) enum HookPart {
    /// Asks a server if a tool may be called now
    ///
    /// It reads the call as one JSON object from standard input, asks the server, and prints one JSON object:
    /// {"allow":true}, or {"allow":false,"reason":…}. Without a valid answer of the server, the answer is
    /// "allow":false. The exit code is 0 if the call may happen, and 2 otherwise.
    ///
    /// The token of the agent is in the variable BESTOW_TOKEN or in a file. It is never an argument.
    #[command(after_long_help = "\
Examples:
  echo '{\"toolName\":\"bash\",\"toolInput\":{\"command\":\"ls\"}}' | bestow hook pre-tool-use
  bestow hook pre-tool-use --ready-file ready.json --token-file agent-token --wait 8s < call.json")]
    PreToolUse(PreToolUseArgs),

    /// Answers the hooks of Claude Code
    ///
    /// It answers PreToolUse and PermissionRequest from the engine, and begins and ends the agents of sessions and
    /// subagents (SessionStart, SessionEnd, SubagentStart, SubagentStop). Without an answer of the engine, a call does
    /// not happen.
    ///
    /// It asks a running server with the token of the agent for Claude Code, in BESTOW_TOKEN or in a file. With
    /// `--agent`, it opens an engine of its own for the time of the hook, and waits for nobody.
    #[command(after_long_help = "\
Examples:
  bestow hook claude --ready-file state/server.json --token-file claude-token
  bestow hook claude --agent claude --config /work/agents.toml --state /work/state")]
    Claude(HostHookArgs),

    /// Answers the hooks of Codex
    ///
    /// It answers PreToolUse and PermissionRequest from the engine, and begins and ends the agents of sessions and
    /// subagents (SessionStart, SessionEnd, SubagentStart, SubagentStop). Codex cannot ask at the terminal before a
    /// call: a call that needs a person is denied, with the id of the request that waits.
    ///
    /// Codex runs no new or changed hook until a person trusts it with `/hooks`, and goes on without it.
    #[command(after_long_help = "\
Examples:
  bestow hook codex --ready-file state/server.json --token-file codex-token
  bestow hook codex --agent codex --config /work/agents.toml --state /work/state")]
    Codex(HostHookArgs),

    /// Answers the hooks of Gemini CLI
    ///
    /// It answers BeforeTool from the engine, and begins and ends the agents of sessions (SessionStart, SessionEnd). A
    /// call that needs a person is denied, with the id of the request that waits.
    #[command(after_long_help = "\
Examples:
  bestow hook gemini --ready-file state/server.json --token-file gemini-token
  bestow hook gemini --agent gemini --config /work/agents.toml --state /work/state")]
    Gemini(HostHookArgs),

    /// Answers the hooks of GitHub Copilot CLI
    ///
    /// It answers preToolUse from the engine, and begins and ends the agents of sessions (sessionStart, sessionEnd). A
    /// call that needs a person is denied, with the id of the request that waits.
    ///
    /// Copilot CLI runs no hook of a project that is not trusted, and goes on. Name the hook in ~/.copilot/hooks.
    #[command(after_long_help = "\
Examples:
  bestow hook copilot --ready-file state/server.json --token-file copilot-token
  bestow hook copilot --agent copilot --config /work/agents.toml --state /work/state")]
    Copilot(HostHookArgs),
}

/// The arguments of `hook` for one host.
#[derive(Debug, Args)]
pub(crate) struct HostHookArgs {
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    /// The time to wait for the answer of a person who is there; a number alone is in seconds
    ///
    /// It ends a second before the time limit at the latest.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = values::duration)]
    pub(crate) wait: Duration,
    /// The time after which the hook answers that the call may not happen
    ///
    /// It must be shorter than the time limit that the settings of the host give the hook. Without it, it is five
    /// seconds shorter than the host's usual limit: 595s for Claude Code and Codex, 55s for Gemini CLI, 25s for Copilot
    /// CLI.
    #[arg(long, value_name = "TIME", value_parser = values::time_limit)]
    pub(crate) time_limit: Option<Duration>,
    /// For Codex: judges a command as if it ran in the directory of the session
    ///
    /// Codex does not tell its hook in which directory a command runs (`workdir`). Without this option, every command
    /// of Codex is denied. With it, let the sandbox of Codex confine the commands.
    #[arg(long)]
    pub(crate) assume_directory: bool,
}

impl HostHookArgs {
    /// The time to wait for a person, if no option names one.
    pub(crate) const USUAL_WAIT: Duration = Duration::from_secs(60);
}

/// The arguments of `hook pre-tool-use`.
#[derive(Debug, Args)]
pub(crate) struct PreToolUseArgs {
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
    /// The time to wait for the answer of a person, at most 8s; a number alone is in seconds
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = values::hook_wait)]
    pub(crate) wait: Duration,
    /// The time after which the hook answers "allow":false by itself, at most 9s
    #[arg(long, value_name = "TIME", default_value = "9s", value_parser = values::hook_limit)]
    pub(crate) time_limit: Duration,
}

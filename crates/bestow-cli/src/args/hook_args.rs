//! Commands that the host of an agent runs as hooks.

use std::time::Duration;

use clap::{Args, Subcommand};

use super::{RemoteArgs, values};

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

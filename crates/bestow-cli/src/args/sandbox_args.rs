//! Commands that run in a sandbox, and the profile of one.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use bestow::{
    AgentId, Permission,
    sandbox::{Domain, Format, Limit, Limits},
};
use clap::{ArgAction, Args, Subcommand, ValueEnum};

use super::{PolicyFileArgs, values};
use crate::exit::Exit;

/// Commands that use the sandbox.
#[derive(Debug, Subcommand)]
pub(crate) enum SandboxCommand {
    /// Runs a command in a sandbox, as an agent of the policy file
    ///
    /// The command starts in the working directory of the agent. It reads whatever is not protected. It has no other
    /// permission than those of --grant, each of which the agent must hold. A command whose limits cannot be enforced
    /// on this machine does not run. The person who types the command approves it, once; what a rule denies stays
    /// denied.
    ///
    /// The exit code is 0 if the command succeeds, and 1 if it fails.
    #[command(after_long_help = "\
Examples:
  bestow exec --agent lead -- ls -l
  bestow exec --agent lead --grant @write:/work/site --timeout 600 -- make
  bestow exec --agent lead --grant @network --domain example.com -- curl https://example.com
  bestow exec --agent lead --limit memory=2GiB --limit cpu_time=30s -- ./simulate
  bestow exec --agent lead --limit total_memory=8GiB --timeout unlimited -- ./serve
  bestow exec --agent lead --state /var/lib/bestow -- ls -l")]
    Exec(ExecArgs),

    /// Shows what the sandbox enforces
    #[command(subcommand, arg_required_else_help = false)]
    Sandbox(SandboxPart),
}

/// Commands below `sandbox`.
#[derive(Debug, Subcommand)]
pub(crate) enum SandboxPart {
    /// Prints the sandbox profile of an agent in the format of another program
    ///
    /// The profile is what `bestow exec` would enforce. It is an error if the format cannot express it. Only `srt` and
    /// `json` express hosts (--domain).
    #[command(after_long_help = "\
Examples:
  bestow sandbox profile --agent lead --format json
  bestow sandbox profile --agent lead --format bwrap --grant @write:/work/site")]
    Profile {
        #[command(flatten)]
        scope: ScopeArgs,
        /// The format of the profile
        #[arg(long)]
        format: FormatName,
    },
}

/// The agent and the permissions of a sandbox.
#[derive(Debug, Args)]
pub(crate) struct ScopeArgs {
    /// The agent, by its name in the policy file
    #[arg(long, value_name = "ID")]
    pub(crate) agent: AgentId,
    #[command(flatten)]
    pub(crate) file: PolicyFileArgs,
    /// A permission of the agent that the command gets; repeatable
    #[arg(long = "grant", value_name = "PERMISSION", value_parser = values::permission)]
    pub(crate) permissions: Vec<Permission>,
    /// A host that the command may reach, instead of every host; repeatable, with --grant @network
    #[arg(long = "domain", value_name = "HOST")]
    domains: Vec<Domain>,
}

impl ScopeArgs {
    /// Returns the hosts that the command may reach; none means every host, where it has the network.
    pub(crate) fn domains(&self) -> Result<impl Iterator<Item = Domain>, Exit> {
        if !self.domains.is_empty() && !self.permissions.contains(&Permission::Network) {
            return Err(Exit::usage("`--domain` limits `@network` to hosts: add `--grant @network`"));
        }
        Ok(self.domains.iter().cloned())
    }

    pub(crate) fn config(&self) -> &PathBuf {
        &self.file.config
    }
}

/// Returns the long help of `--limit`, with the names of all limits.
fn limit_help() -> String {
    let names: Vec<_> = Limits::names().collect();
    let (last, names) = names.split_last().unwrap_or((&"", &[]));
    let names = names.join(", ");
    format!(
        "A limit in place of the one in [limits] of the file; repeatable\n\nThe names are {names} and {last}. \
         `processes`, `total_memory` and `time` apply to the command with everything that it starts, and the others to \
         each process, file or stream."
    )
}

/// The arguments of `exec`.
#[derive(Debug, Args)]
pub(crate) struct ExecArgs {
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// The state directory of an engine: its grants and denials apply, and the events of the command are stored there
    /// [default: nothing is stored]
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) state: Option<PathBuf>,
    /// The longest time that the command may run, as in 90s, 5m or unlimited; a number alone is in seconds [default:
    /// the one in [limits] of the file, or else 1h]
    #[arg(long, value_name = "TIME", value_parser = values::run_limit, allow_hyphen_values = true)]
    pub(crate) timeout: Option<Duration>,
    /// A limit in place of the one in [limits] of the file; repeatable
    #[arg(long = "limit", value_name = "NAME=VALUE", long_help = limit_help())]
    pub(crate) limits: Vec<Limit>,
    /// The command and its words, after `--`
    #[arg(value_name = "COMMAND", action = ArgAction::Append, required = true, trailing_var_arg = true)]
    pub(crate) words: Vec<OsString>,
}

/// The name of a profile format.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum FormatName {
    /// The arguments of bubblewrap, one JSON array
    Bwrap,
    /// The settings of srt (sandbox-runtime), JSON
    Srt,
    /// A permission profile of codex, TOML
    Codex,
    /// The whole profile in the JSON of bestow
    Json,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Format {
        match name {
            FormatName::Bwrap => Format::Bubblewrap,
            FormatName::Srt => Format::Srt,
            FormatName::Codex => Format::Codex,
            FormatName::Json => Format::Json,
        }
    }
}

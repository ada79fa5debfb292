//! Commands about the long-running processes of agents.

use std::time::Duration;

use bestow::{
    AgentId, Permission,
    control::{AdminCommand, ProcessCall},
    event::{OutputStream, ProcessId},
};
use clap::{ArgAction, Args, Subcommand};

use super::{
    admin_request::{AdminRequest, ChangeArgs, EndArgs, PersonArgs, StateArgs},
    values,
};
use crate::exit::Exit;

/// Commands about long-running processes.
#[derive(Debug, Subcommand)]
pub(crate) enum ProcessCommand {
    /// Starts a process as an agent, in its sandbox, and prints its name (p0, p1, ...)
    ///
    /// The command runs as with `bestow exec`, but goes on when this command has ended. The person who types it
    /// approves it, once. The process ends with its engine, its agent, the run of its agent, and each permission of
    /// --grant.
    #[command(after_long_help = "\
Examples:
  bestow process start --agent lead --state /var/lib/bestow -- npm run watch
  bestow process start --agent lead --state /var/lib/bestow --grant @write:/work/site -- make serve")]
    Start {
        /// The agent
        #[arg(long, value_name = "ID")]
        agent: AgentId,
        /// A permission of the agent that the process gets; repeatable
        #[arg(long = "grant", value_name = "PERMISSION", value_parser = values::permission)]
        permissions: Vec<Permission>,
        #[command(flatten)]
        change: ChangeArgs,
        /// The command and its words, after `--`
        #[arg(value_name = "COMMAND", action = ArgAction::Append, required = true)]
        words: Vec<String>,
    },

    /// Lists the processes
    #[command(after_long_help = "\
Examples:
  bestow process list --state /var/lib/bestow
  bestow process list --state /var/lib/bestow --agent lead")]
    List {
        /// Only the processes of this agent
        #[arg(long, value_name = "ID")]
        agent: Option<AgentId>,
        #[command(flatten)]
        state: StateArgs,
    },

    /// Prints the latest output of a process
    #[command(after_long_help = "\
Examples:
  bestow process read p0 --state /var/lib/bestow
  bestow process read p0 --state /var/lib/bestow --stderr --from 4096")]
    Read {
        #[command(flatten)]
        process: ProcessArgs,
        /// Reads standard error instead of standard output
        #[arg(long)]
        stderr: bool,
        /// The first byte of the output to print
        #[arg(long, value_name = "BYTE", default_value = "0", value_parser = values::whole_number)]
        #[arg(allow_hyphen_values = true)]
        from: u64,
        #[command(flatten)]
        state: StateArgs,
    },

    /// Writes a line to the input of a process
    #[command(after_long_help = "\
Examples:
  bestow process write p0 --state /var/lib/bestow -- reload all
  bestow process write p0 --state /var/lib/bestow --close")]
    Write {
        #[command(flatten)]
        process: ProcessArgs,
        /// The words of the line
        #[arg(value_name = "WORD", action = ArgAction::Append, required_unless_present = "close")]
        words: Vec<String>,
        /// Closes the input after the line
        #[arg(long)]
        close: bool,
        #[command(flatten)]
        change: ChangeArgs,
    },

    /// Stops a process
    ///
    /// It asks the process to end, and kills it after --grace.
    #[command(after_long_help = "\
Examples:
  bestow process stop p0 --state /var/lib/bestow
  bestow process stop p0 --state /var/lib/bestow --grace 30 --reason 'the site has moved'")]
    Stop {
        #[command(flatten)]
        process: ProcessArgs,
        /// The time that the process has to end by itself, as in 30s or 2m; a number alone is in seconds
        #[arg(long, value_name = "TIME", default_value = "5s", value_parser = values::duration)]
        #[arg(allow_hyphen_values = true)]
        grace: Duration,
        #[command(flatten)]
        end: EndArgs,
    },

    /// Stops a process and starts it again
    #[command(after_long_help = "\
Examples:
  bestow process restart p0 --state /var/lib/bestow")]
    Restart {
        #[command(flatten)]
        process: ProcessArgs,
        #[command(flatten)]
        change: ChangeArgs,
    },
}

/// The name of a process.
#[derive(Debug, Args)]
pub(crate) struct ProcessArgs {
    /// The process, such as p0
    #[arg(value_name = "PROCESS")]
    process: ProcessId,
}

impl ProcessCommand {
    /// Returns the request to the engine.
    pub(super) fn request(&self) -> Result<AdminRequest, Exit> {
        let change = |call, args: &ChangeArgs| args.request(|by| AdminCommand::Process { call, by });
        let read = |call, state: &StateArgs| {
            let by = PersonArgs::default().by()?;
            Ok(AdminRequest::of(AdminCommand::Process { call, by }, state))
        };
        match self {
            ProcessCommand::Start { agent, permissions, change: args, words } => {
                let (agent, command, named) = (agent.clone(), words.clone(), permissions.clone());
                change(ProcessCall::Start { agent, command, named }, args)
            }
            ProcessCommand::List { agent, state } => read(ProcessCall::List { agent: agent.clone() }, state),
            ProcessCommand::Read { process, stderr, from, state } => {
                let stream = if *stderr { OutputStream::Stderr } else { OutputStream::Stdout };
                read(ProcessCall::Read { process: process.process, stream, from: *from }, state)
            }
            ProcessCommand::Write { process, words, close, change: args } => {
                let line = words.join(" ");
                let text = if line.is_empty() { line } else { format!("{line}\n") };
                change(ProcessCall::Write { process: process.process, text, close: *close }, args)
            }
            ProcessCommand::Stop { process, grace, end: EndArgs { reason, change: args } } => {
                let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
                change(ProcessCall::Stop { process: process.process, grace_ms, reason: reason.clone() }, args)
            }
            ProcessCommand::Restart { process, change: args } => {
                change(ProcessCall::Restart { process: process.process }, args)
            }
        }
    }
}

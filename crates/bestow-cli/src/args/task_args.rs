//! Commands about scheduled tasks.

use bestow::event::TaskId;
use clap::{Args, Subcommand};

use std::path::PathBuf;

/// Commands about scheduled tasks.
#[derive(Debug, Subcommand)]
pub(crate) enum TaskCommand {
    /// Lists, checks and runs the scheduled tasks of the policy file
    ///
    /// Without a command it lists the tasks: when each is due next, what happened to it last, and why.
    #[command(after_long_help = "\
Examples:
  bestow tasks
  bestow tasks check --config agents.toml
  bestow tasks run cron/report")]
    Tasks(TasksArgs),
}

/// The arguments of `tasks`.
#[derive(Debug, Args)]
pub(crate) struct TasksArgs {
    #[command(subcommand)]
    pub(crate) part: Option<TaskPart>,
    /// The policy file
    #[arg(long, value_name = "FILE", global = true, default_value = super::POLICY_FILE)]
    pub(crate) config: PathBuf,
}

/// Commands below `tasks`.
#[derive(Debug, Subcommand)]
pub(crate) enum TaskPart {
    /// Lists the tasks: when each is due next, and what happened last
    #[command(after_long_help = "\
Examples:
  bestow tasks list")]
    List,

    /// Checks the files of the tasks, and what would keep the tasks from running
    #[command(after_long_help = "\
Examples:
  bestow tasks check")]
    Check,

    /// Runs a task by hand
    ///
    /// It runs the gate of the task in its sandbox, prints the prompt that the task gets, and records the run. The exit
    /// code is 0 if the task runs, 3 if its gate fails or may not run, 2 if a person would have to be asked for what
    /// the gate lacks, and 1 if there is no such task, no agent to run it, or its gate could not run.
    #[command(after_long_help = "\
Examples:
  bestow tasks run cron/report
  bestow tasks run heartbeat/mail")]
    Run {
        /// The task, as in `cron/NAME`; `bestow tasks` lists them
        #[arg(value_name = "TASK")]
        task: TaskId,
    },
}

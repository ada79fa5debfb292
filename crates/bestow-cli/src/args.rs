//! The words of the command line: one definition of every command and option.
//!
//! Parsing, help pages, completions and manual pages all come from [`definition`].

mod acp_args;
mod admin_request;
mod agent_args;
mod audit_args;
mod engine_args;
mod hook_args;
mod install_args;
mod mcp_args;
mod policy_args;
mod process_args;
mod program_args;
mod remote_args;
mod sandbox_args;
mod server_args;
mod state_args;
mod task_args;
mod usage;
mod values;

use std::{ffi::OsString, path::PathBuf};

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand, error::ErrorKind};

pub(crate) use acp_args::{AcpAgentArgs, AcpPart, UnansweredBy, WrapArgs};
pub(crate) use admin_request::{AdminRequest, PersonArgs, user_name};
pub(crate) use agent_args::{AgentCommand, PassOnArgs, RequestArgs};
pub(crate) use audit_args::{AuditCommand, ShowArgs};
pub(crate) use engine_args::{EngineArgs, OwnEngine};
pub(crate) use hook_args::{HookPart, HostHookArgs, PreToolUseArgs};
pub(crate) use install_args::{InstallArgs, InstallPart, SettingsArgs, UninstallArgs, UninstallPart};
pub(crate) use mcp_args::McpArgs;
pub(crate) use policy_args::{CheckArgs, CheckConfigArgs, ClassifyArgs, InitArgs, PolicyCommand, Question};
pub(crate) use program_args::ProgramCommand;
pub(crate) use remote_args::RemoteArgs;
pub(crate) use sandbox_args::{ExecArgs, SandboxCommand, SandboxPart, ScopeArgs};
pub(crate) use server_args::{
    CreateArgs, DashboardArgs, DemoArgs, NewRole, NoteArgs, RotateArgs, ServeArgs, ServerCommand, ShareArgs, TokenArgs,
    TokenPart, USUAL_LIFETIME,
};
pub(crate) use state_args::{KeepArgs, StateCommand, WatchArgs};
pub(crate) use task_args::{TaskCommand, TaskPart, TasksArgs};

use crate::exit::{EXIT_CODES, Exit};

/// The name of the policy file where no option names one.
pub(crate) const POLICY_FILE: &str = "agents.toml";

/// The name of the program in help pages and messages.
pub(crate) const PROGRAM: &str = "bestow";

/// The widest line of a help page.
const WIDEST: usize = 100;

/// Decides, explains and enforces what agents may do
///
/// bestow is a permission engine for programs that run AI agents. A person writes a policy file, `agents.toml`. It says
/// which agents there are, which permissions they hold, and what is always allowed, asked or denied. An agent that
/// lacks a permission asks a person for it.
///
/// This program tries a policy file out, runs commands in a sandbox, and answers the requests of agents.
#[derive(Debug, Parser)]
#[command(name = PROGRAM, version, max_term_width = WIDEST, arg_required_else_help = false, after_help = HINT)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The last lines of the first help page.
const HINT: &str = "\
A first try, in the directory of a project:
  bestow init
  bestow check --agent lead --command 'git status'
  bestow explain --agent lead --write notes.md

`bestow COMMAND --help` describes one command, with examples.";

/// The commands, in groups.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    Policy(PolicyCommand),
    #[command(flatten)]
    Sandbox(SandboxCommand),
    #[command(flatten)]
    State(StateCommand),
    #[command(flatten)]
    Server(ServerCommand),
    #[command(flatten)]
    Tasks(TaskCommand),
    #[command(flatten)]
    Agent(AgentCommand),
    #[command(flatten)]
    Program(ProgramCommand),
}

/// Returns the headings of the groups of commands on the first help page, each with the commands below it.
fn groups() -> [(&'static str, clap::Command); 7] {
    let group = || clap::Command::new("group");
    [
        ("Write and try a policy file", PolicyCommand::augment_subcommands(group())),
        ("Run a command in a sandbox", SandboxCommand::augment_subcommands(group())),
        ("Answer and inspect an engine, running or stopped", StateCommand::augment_subcommands(group())),
        ("Serve an engine to other programs", ServerCommand::augment_subcommands(group())),
        ("Scheduled tasks", TaskCommand::augment_subcommands(group())),
        ("For agents: inside a command that holds @events", AgentCommand::augment_subcommands(group())),
        ("This program", ProgramCommand::augment_subcommands(group())),
    ]
}

/// Returns the definition of the whole command line.
///
/// A program that carries this command line under another name can make its own completions and manual pages from it.
pub fn definition() -> clap::Command {
    let command = Arguments::command();
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}Options:\n{{options}}{{after-help}}",
        listed()
    );
    let codes = format!("Exit codes:\n{EXIT_CODES}");
    let hint = format!("{HINT}\n\n{codes}");
    command.help_template(template).after_long_help(hint).mut_subcommands(|command| completed(command, &codes))
}

/// Returns the list of all commands, under the headings of their groups.
fn listed() -> String {
    let groups = groups();
    let names = groups.iter().flat_map(|(_, group)| group.get_subcommands()).map(|command| command.get_name().len());
    let width = names.max().unwrap_or(0);
    let line = |command: &clap::Command| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        format!("  {:<width$}  {about}\n", command.get_name())
    };
    let section = |(heading, group): &(&str, clap::Command)| {
        format!("{heading}:\n{}\n", group.get_subcommands().map(line).collect::<String>())
    };
    groups.iter().map(section).collect()
}

/// Adds the exit codes to the help page of a command and of the commands below it.
fn completed(command: clap::Command, codes: &str) -> clap::Command {
    let examples = command.get_after_long_help().map_or_else(String::new, |text| format!("{text}\n\n"));
    let command = command.after_long_help(format!("{examples}{codes}")).disable_help_subcommand(true);
    command.mut_subcommands(|command| completed(command, codes))
}

impl Arguments {
    /// Reads the words that follow the name of the program.
    pub(crate) fn read(words: &[OsString]) -> Result<Arguments, Exit> {
        let mut definition = definition();
        let words = std::iter::once(OsString::from(PROGRAM)).chain(words.iter().cloned());
        let read = definition.try_get_matches_from_mut(words.clone());
        read.and_then(|read| Arguments::from_arg_matches(&read)).map_err(|error| {
            if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
                return Exit::print(&error.render().to_string());
            }
            Exit::usage(usage::sentence(&error, usage::named(&definition, words.skip(1)).0))
        })
    }

    /// Returns the command that `words` name, as a person would type it: `bestow audit show`.
    pub(crate) fn named(words: &[OsString]) -> String {
        let mut definition = definition();
        definition.build();
        usage::named(&definition, words.iter().cloned()).1
    }
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Text for a person.
    Text,
    /// JSON for a program.
    Json,
}

/// An option that selects JSON.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FormArgs {
    /// Prints JSON for programs instead of text for people
    #[arg(long)]
    json: bool,
}

impl FormArgs {
    pub(crate) fn form(&self) -> Form {
        if self.json { Form::Json } else { Form::Text }
    }
}

/// An option that names the policy file.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct PolicyFileArgs {
    /// The policy file
    #[arg(long, value_name = "FILE", default_value = POLICY_FILE)]
    pub(crate) config: PathBuf,
}

//! The command line of bestow, the agent-to-agent permission grant engine.
//!
//! It makes no decision itself: every answer comes from the library `bestow`. The library half of this package is for
//! programs that carry the same command line under another name: [`main`] runs it, and [`definition`] describes it.

#![forbid(unsafe_code)]

mod acp;
mod args;
mod audit;
mod check_config;
mod classify;
mod command;
mod dashboard;
mod decide;
mod demo;
mod events;
mod exit;
mod feed;
mod follow;
#[doc(hidden)]
pub mod fuzzing;
mod generate;
mod head_notes;
mod hook;
mod init;
mod install;
mod jsonl;
mod mcp;
mod own_engine;
mod path;
mod persist;
mod program;
mod pump;
mod remote;
mod serve;
mod server_files;
mod signals;
mod state;
mod suggest;
mod tasks;
mod token;
mod tools;
mod watch;

use std::process::ExitCode;

use bestow::control::AdminCommand;

use args::{
    AdminRequest, AgentCommand, Arguments, Command, PolicyCommand, ProgramCommand, SandboxCommand, SandboxPart,
    ServerCommand, StateCommand, TaskCommand,
};
use exit::Exit;

pub use args::definition;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    if let Some(code) = bestow::sandbox::enter_if_asked() {
        return code;
    }
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let exit = match Arguments::read(&words) {
        // A host takes any other exit code than that of an answer as permission.
        Err(Exit::Usage(why)) if words.first().is_some_and(|word| word == "hook") => hook::not_understood(&words, &why),
        Err(exit) => exit,
        Ok(arguments) => run(arguments.command).unwrap_or_else(|exit| exit),
    };
    exit.report(|| Arguments::named(&words))
}

fn run(command: Command) -> Result<Exit, Exit> {
    Ok(match command {
        Command::Policy(command) => policy(command)?,
        Command::Sandbox(SandboxCommand::Exec(args)) => command::exec(&args)?,
        Command::Sandbox(SandboxCommand::Sandbox(SandboxPart::Profile { scope, format })) => {
            command::profile(&scope, format.into())?
        }
        Command::State(StateCommand::Watch(args)) => watch::watch(&args)?,
        Command::State(StateCommand::Keep(args)) => persist::keep(&args)?,
        Command::State(StateCommand::Audit(command)) => audit::audit(&command)?,
        Command::State(StateCommand::Engine(command)) => engine(&command.request()?)?,
        Command::Server(ServerCommand::Serve(args)) => serve::serve(&args)?,
        Command::Server(ServerCommand::Dashboard(args)) => dashboard::dashboard(&args)?,
        Command::Server(ServerCommand::Demo(args)) => demo::demo(&args)?,
        Command::Server(ServerCommand::Token(args)) => token::token(&args)?,
        Command::Server(ServerCommand::Hook(part)) => hook::hook(part),
        Command::Server(ServerCommand::Acp(part)) => acp::acp(part)?,
        Command::Server(ServerCommand::Install(part)) => install::install(&part)?,
        Command::Server(ServerCommand::Uninstall(part)) => install::uninstall(&part)?,
        Command::Server(ServerCommand::Mcp(args)) => mcp::mcp(args)?,
        Command::Tasks(TaskCommand::Tasks(args)) => tasks::tasks(&args)?,
        Command::Agent(AgentCommand::Request(args)) => events::request(&args),
        Command::Agent(AgentCommand::Grant(args)) => events::grant(&args),
        Command::Agent(AgentCommand::Events) => events::relay(),
        Command::Program(ProgramCommand::Completions { shell }) => generate::completions(shell),
        Command::Program(ProgramCommand::Man { directory }) => generate::manual(&directory),
    })
}

fn engine(request: &AdminRequest) -> Result<Exit, Exit> {
    match (&request.write, &request.order) {
        (Some(file), _) => persist::approve(request, file),
        (None, AdminCommand::Follow { .. }) => follow::follow(&request.state, request.form),
        (None, _) => state::order(request),
    }
}

fn policy(command: PolicyCommand) -> Result<Exit, Exit> {
    Ok(match command {
        PolicyCommand::Init(args) => init::init(&args)?,
        PolicyCommand::Check(args) => decide::check(&args)?,
        PolicyCommand::Explain(args) => decide::explain(&args)?,
        PolicyCommand::CheckConfig(args) => check_config::check_config(args)?,
        PolicyCommand::Protected { config } => decide::protected(config)?,
        PolicyCommand::Classify(args) => classify::classify(&args)?,
        PolicyCommand::Program { name, form } => program::program(&name, form.form())?,
        PolicyCommand::Tools { config, form } => tools::list(config, form.form())?,
        PolicyCommand::Path { jsonl: _ } => path::answer_lines(std::io::stdin().lock(), std::io::stdout().lock()),
    })
}

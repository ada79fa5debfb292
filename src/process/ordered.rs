//! The orders for processes from a bot, or from a user of the command line.

use std::{io, sync::Arc};

use async_trait::async_trait;

use super::{Chunk, ProcessOptions};
use crate::{
    engine::Agent,
    engine::process_order::{ProcessOrder, Processed, Runner, Unprocessed},
    model::{Action, Actor, Permission},
    sandbox::{Command, ExecError, Profile, Sandbox, SandboxError},
    stdio::{AgentClient, Bot},
};

impl From<ExecError> for Unprocessed {
    fn from(why: ExecError) -> Unprocessed {
        match why {
            ExecError::Engine(why) => Unprocessed::Engine(why),
            ExecError::Sandbox(why) => Unprocessed::Other(why.to_string()),
        }
    }
}

impl From<SandboxError> for Unprocessed {
    fn from(why: SandboxError) -> Unprocessed {
        ExecError::from(why).into()
    }
}

impl Bot {
    /// Returns this bot with the ability to start long-running processes, as its agent and confined by `sandbox`. For a
    /// connector, this changes nothing.
    ///
    /// # Authority
    ///
    /// The bot gets no permission by this: each start is decided as in [`Agent::process_start`]. The host runs commands
    /// for the bot.
    #[must_use]
    pub fn starting_processes_in(self, sandbox: Sandbox) -> Bot {
        self.with_runner(Arc::new(InSandbox(sandbox)))
    }
}

impl AgentClient {
    /// Returns this client with the ability to start long-running processes, as its agent and confined by `sandbox`.
    ///
    /// # Authority
    ///
    /// The client gets no permission by this: each start is decided as in [`Agent::process_start`]. The host runs
    /// commands for the client.
    #[must_use]
    pub fn starting_processes_in(self, sandbox: Sandbox) -> AgentClient {
        self.with_runner(Arc::new(InSandbox(sandbox)))
    }
}

struct InSandbox(Sandbox);

fn words(command: &[String]) -> Command {
    let mut words = command.iter();
    Command::new(words.next().cloned().unwrap_or_default()).args(words.cloned())
}

/// Returns the profile of `agent` with the permissions in `named`. This looks at every protected path, and a disk may
/// be slow.
async fn profile(agent: &Agent, named: &[Permission]) -> Result<Profile, Unprocessed> {
    let (agent, named) = (agent.clone(), named.to_vec());
    let profile = tokio::task::spawn_blocking(move || agent.sandbox_profile(&named)).await;
    Ok(profile.map_err(|why| SandboxError::Io(io::Error::other(why)))??)
}

/// Returns the action of an order of `agent`; `None` if the order is no action.
pub(crate) async fn action(agent: &Agent, order: &ProcessOrder) -> Result<Option<Action>, Unprocessed> {
    match order {
        ProcessOrder::Start { command, named } => {
            Ok(Some(profile(agent, named).await?.process_action(&words(command))?))
        }
        ProcessOrder::Restart { process } => Ok(Some(agent.process_restart_action(*process)?)),
        ProcessOrder::List | ProcessOrder::Read { .. } | ProcessOrder::Write { .. } | ProcessOrder::Stop { .. } => {
            Ok(None)
        }
    }
}

/// Carries out an order of `by` as `agent`.
pub(crate) async fn carry_out(
    sandbox: &Sandbox,
    agent: &Agent,
    order: ProcessOrder,
    by: Actor,
) -> Result<Processed, Unprocessed> {
    match order {
        ProcessOrder::Start { command, named } => {
            let options = ProcessOptions::default();
            Ok(Processed::Started(agent.process_start(sandbox, words(&command), &named, options).await?))
        }
        ProcessOrder::List => {
            let all = agent.process_list()?.into_iter();
            Ok(Processed::List(all.map(|status| (status.process, status.exit)).collect()))
        }
        ProcessOrder::Read { process, stream, from, most } => {
            let Chunk { from, bytes, dropped, next, is_end } = agent.process_read(process, stream, from, most)?;
            Ok(Processed::Output { from, bytes, dropped, next, is_end })
        }
        ProcessOrder::Write { process, bytes, close } => {
            let written = if bytes.is_empty() { 0 } else { agent.process_write(process, &bytes).await? };
            if close && written == bytes.len() {
                agent.process_close_input(process)?;
            }
            Ok(Processed::Written(written))
        }
        ProcessOrder::Stop { process, grace } => {
            agent.process_stop(process, grace).await?;
            Ok(Processed::Stopping)
        }
        ProcessOrder::Restart { process } => {
            agent.restart_as(process, by).await?;
            Ok(Processed::Started(process))
        }
    }
}

#[async_trait]
impl Runner for InSandbox {
    async fn action(&self, agent: &Agent, order: &ProcessOrder) -> Result<Option<Action>, Unprocessed> {
        action(agent, order).await
    }

    async fn carry_out(&self, agent: &Agent, order: ProcessOrder) -> Result<Processed, Unprocessed> {
        carry_out(&self.0, agent, order, Actor::Agent(agent.id().clone())).await
    }
}

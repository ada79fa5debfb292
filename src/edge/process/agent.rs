//! What an agent does with its processes.

use std::{io, sync::Arc, time::Duration};

use super::{
    Chunk, OutputStream, ProcessOptions, ProcessStatus,
    entry::{Entry, Plan},
    registry::Registry,
    supervise::Start,
};
use crate::{
    edge::sandbox::{Command, ExecError, Limits, Profile, Sandbox, SandboxError},
    engine::{Agent, Error},
    kernel::{Refusal, Starting},
    model::{Action, Actor, Permission, ProcessExit, ProcessId, Reason},
};

/// The most bytes that one read gives.
const MOST_READ: usize = 1 << 20;

/// How long a process that is started again may take to end before.
const TO_END: Duration = Duration::from_secs(5);

/// A process has no time of its own: it goes on until something ends it.
const FOR_EVER: Duration = Duration::from_secs(u32::MAX as u64);

impl Profile {
    /// What starting `command` as a process under this profile is, to be decided: another action than running it to its end,
    /// since somebody can write to its input.
    ///
    /// # Errors
    ///
    /// As [`Profile::action`].
    pub fn process_action(&self, command: &Command) -> Result<Action, SandboxError> {
        for_ever(self.clone()).action(&command.clone().held())
    }
}

/// The same without an end to its time.
fn for_ever(profile: Profile) -> Profile {
    let limits = Limits { time: FOR_EVER, ..profile.limits().clone() };
    profile.limited(limits)
}

impl Agent {
    /// Starts `command` as a process that goes on, with nothing but this agent's working directory and what is `named`,
    /// confined by `sandbox` (`process_start` of `sources/004`).
    ///
    /// It is decided as [`Agent::exec`] is, and what is in force is a fact (`sandbox.applied`, `process.started`) before it
    /// runs. Its profile is fixed at its start; so it is ended, at once and with the reason, when a right that is `named` is
    /// revoked or expires, when a rule, a policy or a mode comes that denies it, when the agent's run ends or the agent is
    /// retired, and with the engine. Its output is kept in memory, the latest of it, and nowhere else.
    ///
    /// # Errors
    ///
    /// Then it does not run. As [`Agent::exec`]; and [`Refusal::TooManyProcesses`].
    ///
    /// # Cancellation
    ///
    /// Dropping the future keeps it from starting, or ends it.
    pub async fn process_start(
        &self,
        sandbox: &Sandbox,
        command: Command,
        named: &[Permission],
        options: ProcessOptions,
    ) -> Result<ProcessId, ExecError> {
        let (agent, named) = (self.clone(), named.to_vec());
        // It looks at every path that is protected, and a disk may be slow.
        let profile = tokio::task::spawn_blocking(move || agent.sandbox_profile(&named)).await;
        let profile = profile.map_err(|why| SandboxError::Io(io::Error::other(why)))?;
        self.process_start_under(sandbox, profile?, command, options).await
    }

    /// The same with a profile of this agent that was changed: other limits, say, or hosts. Its time is no limit here.
    ///
    /// # Errors
    ///
    /// As [`Agent::process_start`].
    ///
    /// # Cancellation
    ///
    /// As [`Agent::process_start`].
    pub async fn process_start_under(
        &self,
        sandbox: &Sandbox,
        profile: Profile,
        command: Command,
        options: ProcessOptions,
    ) -> Result<ProcessId, ExecError> {
        let plan = self.process_plan(sandbox, profile, command, options);
        self.start_as_planned(Arc::new(Entry::new(plan)), Actor::Agent(self.id().clone())).await
    }

    fn process_plan(&self, sandbox: &Sandbox, profile: Profile, command: Command, options: ProcessOptions) -> Plan {
        Plan { sandbox: sandbox.clone(), profile: for_ever(profile), command: command.held(), options }
    }

    /// Decided, and then started: the first time, or again.
    async fn start_as_planned(&self, entry: Arc<Entry>, by: Actor) -> Result<ProcessId, ExecError> {
        let registry = self.outside::<Registry>()?;
        let action = entry.plan.profile.action(&entry.plan.command)?;
        let generation = registry.generation();
        let cause = self.go_ahead(action.clone()).await?;
        let again = entry.process();
        if let (Some(before), None) = (&again, entry.exit()) {
            self.order_stop(by.clone(), before.id, TO_END, Some(again_reason()?)).await?;
            entry.when(|entry| entry.exit().is_some()).await;
        }
        let command = crate::model::redacted(&entry.plan.command.shown());
        let (agent, permissions) = (self.id().clone(), action.needs.clone());
        let starting = Starting { agent, command, permissions, cause, again, by };
        Start { agent: self.clone(), registry, entry, starting, action, generation }.start().await
    }

    /// The processes of this agent: those that go on, and the latest of those that ended.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone.
    pub fn process_list(&self) -> Result<Vec<ProcessStatus>, Error> {
        let entries = self.outside::<Registry>()?.of(self.id());
        let status = |entry: &Arc<Entry>| Some(ProcessStatus { process: entry.process()?, exit: entry.exit() });
        Ok(entries.iter().filter_map(status).collect())
    }

    /// At most `most` bytes of what a process of this agent wrote, from byte `from` on. What is no longer kept is counted.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownProcess`] if this agent has none of that name.
    pub fn process_read(
        &self,
        process: ProcessId,
        stream: OutputStream,
        from: u64,
        most: usize,
    ) -> Result<Chunk, Error> {
        Ok(self.entry(process)?.read(stream, from, most.min(MOST_READ)))
    }

    /// Waits until there is output from byte `from` on, or the process has ended.
    ///
    /// # Errors
    ///
    /// As [`Agent::process_read`].
    ///
    /// # Cancellation
    ///
    /// Dropping the future stops waiting, and nothing else.
    pub async fn process_output(&self, process: ProcessId, stream: OutputStream, from: u64) -> Result<(), Error> {
        let entry = self.entry(process)?;
        entry.when(|entry| entry.has_output(stream, from)).await;
        Ok(())
    }

    /// Gives `bytes` to the standard input of a process of this agent, as many as there is room for, and says how many.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownProcess`] if this agent has none of that name, [`Refusal::ProcessEnded`] if it has ended, or its
    /// input is closed.
    pub async fn process_write(&self, process: ProcessId, bytes: &[u8]) -> Result<usize, ExecError> {
        let written = self.entry(process)?.write(bytes).map_err(SandboxError::from)?;
        Ok(written.ok_or_else(|| Error::from(Refusal::ProcessEnded(process)))?)
    }

    /// Closes the standard input of a process of this agent.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownProcess`] if this agent has none of that name.
    pub fn process_close_input(&self, process: ProcessId) -> Result<(), Error> {
        self.entry(process)?.close_input();
        Ok(())
    }

    /// Says that a process of this agent, or of one that it created, is to end: TERM to its group, and KILL after `grace`.
    /// Everything that it started ends with it. [`Agent::process_wait`] tells how it ended.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownProcess`] if there is none of that name that goes on.
    pub async fn process_stop(&self, process: ProcessId, grace: Duration) -> Result<(), Error> {
        self.order_stop(Actor::Agent(self.id().clone()), process, grace, None).await
    }

    /// Waits for the end of a process of this agent.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownProcess`] if this agent has none of that name.
    ///
    /// # Cancellation
    ///
    /// Dropping the future stops waiting, and nothing else.
    pub async fn process_wait(&self, process: ProcessId) -> Result<ProcessExit, Error> {
        let entry = self.entry(process)?;
        entry.when(|entry| entry.exit().is_some()).await;
        entry.exit().ok_or_else(|| Agent::no_process(process))
    }

    /// Starts a process of this agent again, under its name and with the profile of its start; one that goes on is stopped
    /// first. It is a new action: decided anew, and a right that went since is missing.
    ///
    /// # Errors
    ///
    /// Then one that goes on goes on. As [`Agent::process_start_under`]; and [`Refusal::UnknownProcess`].
    ///
    /// # Cancellation
    ///
    /// Dropping the future keeps it from starting again, or ends it.
    pub async fn process_restart(&self, process: ProcessId) -> Result<(), ExecError> {
        self.restart_as(process, Actor::Agent(self.id().clone())).await
    }

    /// The same, as somebody who acts as this agent.
    pub(in crate::edge) async fn restart_as(&self, process: ProcessId, by: Actor) -> Result<(), ExecError> {
        let entry = self.entry(process)?;
        self.start_as_planned(entry, by).await.map(drop)
    }

    /// What starting a process of this agent again would be, to be decided.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownProcess`] if this agent has none of that name.
    pub fn process_restart_action(&self, process: ProcessId) -> Result<Action, ExecError> {
        let entry = self.entry(process)?;
        Ok(entry.plan.profile.action(&entry.plan.command)?)
    }

    fn entry(&self, process: ProcessId) -> Result<Arc<Entry>, Error> {
        let registry = self.outside::<Registry>()?;
        registry.get(process, self.id()).ok_or_else(|| Agent::no_process(process))
    }
}

fn again_reason() -> Result<Reason, ExecError> {
    "it starts again".parse().map_err(|_| Error::Closed.into())
}

//! Commands of agents. The engine decides about a command, and the sandbox confines it. With `@events`, the command
//! speaks for its agent.

use std::{
    future::pending,
    io,
    os::{fd::OwnedFd, unix::net::UnixStream},
    sync::Arc,
    thread,
};

use tokio::sync::{Semaphore, oneshot};

use crate::{
    engine::Agent,
    kernel::SandboxDenials,
    model::{Access, Cause, Permission, ProcessExit, Reads, SandboxFacts, SanitizedPath},
};
use crate::{
    sandbox::{
        CancelOnDrop, Command, Door, ExecError, Finished, Profile, ProfileError, Sandbox, SandboxError, Watched,
        watched,
    },
    stdio::{Bot, Limits},
};

/// The maximum number of simultaneous conversations of one command.
const MOST_CONVERSATIONS: usize = 32;

impl Agent {
    /// Returns the sandbox profile for a command of this agent that needs the permissions in `named`. It is the [exec
    /// scope](Agent::exec_scope) with the limits of the settings. Protected paths are hidden, and so are paths that
    /// rules and policies deny by name for reading. Paths that they deny by name for writing cannot be written.
    ///
    /// # Errors
    ///
    /// The errors of [`Agent::exec_scope`], and an error for a root that no command may have.
    pub fn sandbox_profile(&self, named: &[Permission]) -> Result<Profile, ExecError> {
        let scope = self.exec_scope(named)?;
        let (kept, limits) = (self.kept_from_commands()?, self.limits_of_commands()?);
        let profile = Profile::guarding(&scope, kept.hidden, kept.sensitive)?;
        Ok(profile.not_writing(kept.unwritten).limited(limits))
    }

    /// Runs `command`, confined by `sandbox`. The command gets this agent's working directory and the permissions in
    /// `named`, and nothing else.
    ///
    /// First the engine decides about the command, as about every action. A command that a rule or the mode denies does
    /// not run. A command that needs approval by a person runs only after it. [`Agent::authorize`] with
    /// [`Profile::action`] requests that approval.
    ///
    /// The restrictions in force are recorded (`sandbox.applied`) before the command starts. Attempts of the command
    /// beyond them are recorded as well (`sandbox.violation`), if there is evidence. With `@events` the command reaches
    /// this engine, and nothing else, by [one socket](crate::sandbox::connect_to_engine), as this agent.
    ///
    /// # Errors
    ///
    /// The command has not run after an error. [`ExecError::Engine`] if a permission in `named` is not held, or if the
    /// command is not allowed without a request ([`Refusal::NotAllowed`](crate::decision::Refusal::NotAllowed));
    /// [`ExecError::Sandbox`] if a restriction cannot be enforced. A command that failed is no error: the result
    /// contains its exit.
    ///
    /// # Cancellation
    ///
    /// Dropping the future kills the command and everything it started, or keeps it from starting.
    pub async fn exec(&self, sandbox: &Sandbox, command: Command, named: &[Permission]) -> Result<Finished, ExecError> {
        let (agent, named) = (self.clone(), named.to_vec());
        // This looks at every protected path, and a disk may be slow.
        let profile = tokio::task::spawn_blocking(move || agent.sandbox_profile(&named)).await;
        let profile = profile.map_err(|why| SandboxError::Io(io::Error::other(why)))?;
        self.exec_under(sandbox, profile?, command).await
    }

    /// Runs `command` like [`Agent::exec`], with the [workspace](Agent::workspace) of this agent as the only place that
    /// it can write. An agent without a workspace runs it read-only. This is the call for an ordinary command. It
    /// always runs confined.
    ///
    /// ```no_run
    /// # async fn example(worker: bestow::Agent) -> Result<(), Box<dyn std::error::Error>> {
    /// use bestow::sandbox::{Command, Sandbox};
    ///
    /// let done = worker.run(&Sandbox::find()?, Command::new("make").arg("site")).await?;
    /// println!("{}", String::from_utf8_lossy(&done.stdout.bytes));
    /// # Ok(()) }
    /// ```
    ///
    /// # Authority
    ///
    /// The command gets only what this agent holds. It gets no network.
    ///
    /// # Errors
    ///
    /// The errors of [`Agent::exec`], and [`ProfileError::SeveralRoots`] if it is not clear which place is meant.
    ///
    /// # Cancellation
    ///
    /// Dropping the future has the effect described at [`Agent::exec`].
    pub async fn run(&self, sandbox: &Sandbox, command: Command) -> Result<Finished, ExecError> {
        let workspace = self.workspace()?.map(|path| Permission::Path(Access::Write, path));
        self.exec(sandbox, command, workspace.as_slice()).await
    }

    /// Returns the place where the commands of this agent write: its working directory, if it may write there, and
    /// otherwise the only place that it may write. None if it may write nowhere. One-time permissions do not count.
    ///
    /// # Errors
    ///
    /// [`ExecError::Engine`] if the agent is gone; [`ProfileError::SeveralRoots`] if it may write several places, and
    /// not its working directory.
    pub fn workspace(&self) -> Result<Option<SanitizedPath>, ExecError> {
        let here = self.profile()?.working_dir.clone();
        let held = self.permissions()?;
        if held.covers(&Permission::Path(Access::Write, here.clone()), Reads::Granted) {
            return Ok(Some(here));
        }
        let root = |held| if let Permission::Path(Access::Write, path) = held { Some(path) } else { None };
        let mut roots: Vec<_> = held.iter().filter_map(root).collect();
        match roots.len() {
            0 | 1 => Ok(roots.pop()),
            _ => Err(ProfileError::SeveralRoots(roots).into()),
        }
    }

    /// Runs a command with a changed profile of this agent, for example with other limits. Paths that were protected or
    /// denied by name since the profile was made are kept from the command too.
    ///
    /// # Errors
    ///
    /// The errors of [`Agent::exec`].
    ///
    /// # Cancellation
    ///
    /// Dropping the future has the effect described at [`Agent::exec`].
    pub async fn exec_under(
        &self,
        sandbox: &Sandbox,
        profile: Profile,
        command: Command,
    ) -> Result<Finished, ExecError> {
        let cause = self.go_ahead(profile.action(&command)?).await?;
        self.run_under(sandbox, profile, command, cause).await
    }

    /// Runs a command for the host program while no person is present. An approval that only the tier of the command
    /// would need is skipped, since the command is confined to its named permissions.
    #[cfg(feature = "schedule")]
    pub(crate) async fn exec_confined(
        &self,
        sandbox: &Sandbox,
        profile: Profile,
        command: Command,
    ) -> Result<Finished, ExecError> {
        let cause = self.go_ahead_confined(profile.action(&command)?).await?;
        self.run_under(sandbox, profile, command, cause).await
    }

    async fn run_under(
        &self,
        sandbox: &Sandbox,
        profile: Profile,
        command: Command,
        cause: Option<Arc<Cause>>,
    ) -> Result<Finished, ExecError> {
        let (agent, sandbox) = (self.clone(), sandbox.clone());
        // Dropping this future drops `_wanted`, and the command learns that through `watched`.
        let (_wanted, watched): (CancelOnDrop, Watched) = watched();
        let run = move || {
            // Paths may have been protected or denied since the profile was made, for example while a person was asked.
            let kept = agent.kept_from_commands()?;
            let profile = keeping_from(profile, &kept);
            let mut begun = None;
            let tell = |facts: &SandboxFacts| {
                begun = agent.tell_begin(facts.clone(), cause.clone())?;
                Ok(())
            };
            let (_listening, way) = if profile.events() { Listening::of(&agent)? } else { Listening::nowhere() };
            let done: Result<Finished, ExecError> = sandbox.run_with(&profile, &command, way, &watched, tell);
            let violations = done.as_ref().map(|done| done.violations.clone()).unwrap_or_default();
            let recorded = agent.tell_violations(violations, cause.as_ref());
            if let Some(begun) = begun {
                agent.tell_end(begun, done.as_ref().map_or(ProcessExit::NotStarted, Finished::exit));
            }
            let done = done?;
            recorded?;
            Ok(done)
        };
        let done = tokio::task::spawn_blocking(run).await;
        done.unwrap_or_else(|why| Err(SandboxError::Io(io::Error::other(why)).into()))
    }
}

/// Returns the profile without everything that is now kept from the agent's commands.
pub(crate) fn keeping_from(profile: Profile, kept: &SandboxDenials) -> Profile {
    let profile = profile.hiding(kept.hidden.iter().cloned()).not_writing(kept.unwritten.iter().cloned());
    profile.denying(&kept.hidden_globs, &kept.unwritten_globs)
}

/// The engine's side of one command's `@events`, on a thread of its own. The host's runtime need not do I/O, and the
/// command delays nobody else. Dropping this ends it.
pub(crate) struct Listening {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Listening {
    pub(crate) fn nowhere() -> (Listening, Option<OwnedFd>) {
        (Listening { stop: None, thread: None }, None)
    }

    /// Starts listening for a command of `agent`. Also returns the descriptor that the command inherits.
    fn of(agent: &Agent) -> Result<(Listening, Option<OwnedFd>), SandboxError> {
        let agent = agent.clone();
        Listening::start(move || Some(agent.clone()))
    }

    /// Starts listening for the agent that `agent` returns at the start of each conversation. Listening ends when it
    /// returns `None`. Also returns the descriptor that the command inherits.
    pub(crate) fn start(
        agent: impl Fn() -> Option<Agent> + Send + 'static,
    ) -> Result<(Listening, Option<OwnedFd>), SandboxError> {
        let (ours, theirs) = UnixStream::pair()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let serve = move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = stopped => {}
                    () = listen(ours, &agent) => {}
                }
            });
        };
        let thread = thread::Builder::new().name("bestow-events".into()).spawn(serve)?;
        Ok((Listening { stop: Some(stop), thread: Some(thread) }, Some(theirs.into())))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // Output that is still unsent has no reader any more.
            let _ = thread.join();
        }
    }
}

/// Talks to every process of the command that begins a conversation.
async fn listen(ours: UnixStream, agent: &(impl Fn() -> Option<Agent> + Send)) {
    let Ok(door) = Door::new(ours) else { return };
    let seats = Arc::new(Semaphore::new(MOST_CONVERSATIONS));
    while let Ok(seat) = Arc::clone(&seats).acquire_owned().await {
        let Some(stream) = door.next().await else { break };
        let Ok(stream) = tokio::net::UnixStream::from_std(stream) else { continue };
        let Some(agent) = agent() else { break };
        let bot = Bot::beside_others(agent).limits(Limits::default());
        tokio::spawn(async move {
            let (reader, writer) = stream.into_split();
            bot.serve(reader, writer).await;
            drop(seat);
        });
    }
    // Ongoing conversations continue to their end.
    pending().await
}

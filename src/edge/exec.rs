//! Commands of agents: the engine says what, the sandbox how, and over `@events` the command speaks for its agent.

use std::{
    future::pending,
    io,
    os::{fd::OwnedFd, unix::net::UnixStream},
    sync::Arc,
    thread,
};

use tokio::sync::{Semaphore, oneshot};

use super::{
    sandbox::{Command, Door, ExecError, Finished, Profile, Sandbox, SandboxError, Wanted, Watched, watched},
    stdio::{Bot, Limits},
};
use crate::{
    engine::Agent,
    fs,
    kernel::KeptFrom,
    model::{Cause, Permission, SandboxFacts},
};

/// How many conversations one command may have at the same time.
const MOST_CONVERSATIONS: usize = 32;

impl Agent {
    /// What a command of this agent may do when it needs `named`: its [exec scope](Agent::exec_scope), with what is
    /// protected hidden from it, what rules and policies deny by name neither read nor written, and the limits of the settings.
    ///
    /// # Errors
    ///
    /// As [`Agent::exec_scope`]; and a root that no command gets.
    pub fn sandbox_profile(&self, named: &[Permission]) -> Result<Profile, ExecError> {
        let scope = self.exec_scope(named)?;
        let (kept, limits) = (self.kept_from_commands()?, self.limits_of_commands()?);
        let profile = Profile::guarding(&scope, kept.hidden, kept.sensitive)?;
        Ok(profile.not_writing(kept.unwritten).limited(limits))
    }

    /// Runs `command` with nothing but this agent's working directory and what is `named`, confined by `sandbox`.
    ///
    /// First it is decided, as every action is: what a rule or the mode forbids does not run, and what a person has to say
    /// something about runs once they did. Ask with [`Agent::authorize`] and [`Profile::action`].
    ///
    /// What was in force is a fact (`sandbox.applied`) before the command starts; what it tried beyond that is one too
    /// (`sandbox.violation`), where there is evidence. With `@events` the command reaches this engine, and nothing else,
    /// by [one socket](super::sandbox::connect_to_engine), as this agent.
    ///
    /// # Errors
    ///
    /// Then the command has not run: [`ExecError::Engine`] if something `named` is not held or the command may not
    /// happen without a question ([`Refusal::NotAllowed`](crate::Refusal::NotAllowed)), [`ExecError::Sandbox`] if
    /// something cannot be enforced. A command that failed is no error; how it ended is in what is returned.
    ///
    /// # Cancellation
    ///
    /// Dropping the future kills the command and everything it started, or keeps it from starting.
    pub async fn exec(&self, sandbox: &Sandbox, command: Command, named: &[Permission]) -> Result<Finished, ExecError> {
        let (agent, named) = (self.clone(), named.to_vec());
        // It looks at every path that is protected, and a disk may be slow.
        let profile = tokio::task::spawn_blocking(move || agent.sandbox_profile(&named)).await;
        let profile = profile.map_err(|why| SandboxError::Io(io::Error::other(why)))?;
        self.exec_under(sandbox, profile?, command).await
    }

    /// The same with a profile of this agent that was changed: other limits, say. What is protected or denied by name since
    /// it was made is kept from the command too.
    ///
    /// # Errors
    ///
    /// As [`Agent::exec`].
    ///
    /// # Cancellation
    ///
    /// As [`Agent::exec`].
    pub async fn exec_under(
        &self,
        sandbox: &Sandbox,
        profile: Profile,
        command: Command,
    ) -> Result<Finished, ExecError> {
        let cause = self.go_ahead(profile.action(&command)?).await?;
        self.run_under(sandbox, profile, command, cause).await
    }

    /// The same for the host program, which has it done while nobody is there: what only the tier of the command asks is no
    /// question then, since it is confined to what is named.
    #[cfg(feature = "schedule")]
    pub(super) async fn exec_confined(
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
        // Whoever drops this future lets go of the one, and the command hears it through the other.
        let (_wanted, watched): (Wanted, Watched) = watched();
        let run = move || {
            // What is protected or denied since the profile was made, while a person was asked, say.
            let kept = agent.kept_from_commands()?;
            let profile = keeping_from(profile, &kept)?;
            let tell = |facts: &SandboxFacts| agent.tell_sandbox(facts.clone(), cause.clone()).map_err(ExecError::from);
            let (_listening, way) = if profile.events() { Listening::of(&agent)? } else { Listening::nowhere() };
            let done = sandbox.run_with(&profile, &command, way, &watched, tell)?;
            agent.tell_violations(done.violations.clone(), cause.as_ref())?;
            Ok(done)
        };
        let done = tokio::task::spawn_blocking(run).await;
        done.unwrap_or_else(|why| Err(SandboxError::Io(io::Error::other(why)).into()))
    }
}

/// The profile without what its agent's commands are kept from now: paths by name, and those that denied globs mean below
/// its roots.
///
/// # Errors
///
/// Too much lies below the roots to find out what a glob means there.
pub(super) fn keeping_from(profile: Profile, kept: &KeptFrom) -> Result<Profile, SandboxError> {
    let roots = profile.roots();
    let hidden = fs::all_found(&kept.hidden_globs, &roots)?;
    let unwritten = fs::all_found(&kept.unwritten_globs, &roots)?;
    let profile = profile.hiding(kept.hidden.iter().cloned()).hiding(hidden);
    Ok(profile.not_writing(kept.unwritten.iter().cloned()).not_writing(unwritten))
}

/// The engine's side of one command's `@events`, on a thread of its own: the host's runtime need not do I/O, and what the
/// command does holds up nobody else. It is over when this is dropped.
pub(super) struct Listening {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Listening {
    pub(super) fn nowhere() -> (Listening, Option<OwnedFd>) {
        (Listening { stop: None, thread: None }, None)
    }

    /// For a command of `agent`; and what it inherits.
    fn of(agent: &Agent) -> Result<(Listening, Option<OwnedFd>), SandboxError> {
        let agent = agent.clone();
        Listening::start(move || Some(agent.clone()))
    }

    /// For whoever `agent` gives when a conversation begins, until it gives nobody; and what the command inherits.
    pub(super) fn start(
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
            // What it was in the middle of saying was for nobody.
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
    // Those that go on are heard to their end.
    pending().await
}

//! Commands of agents: the engine says what, the sandbox how.

use crate::{
    engine::Agent,
    model::{Permission, SandboxFacts},
};

use super::{Command, ExecError, Finished, Profile, Sandbox, SandboxError};

impl Agent {
    /// What a command of this agent may do when it needs `named`: its [exec scope](Agent::exec_scope), and what is
    /// protected hidden from it.
    ///
    /// # Errors
    ///
    /// As [`Agent::exec_scope`]; and a root that no command gets.
    pub fn sandbox_profile(&self, named: &[Permission]) -> Result<Profile, ExecError> {
        let scope = self.exec_scope(named)?;
        Ok(Profile::of(&scope, self.protected()?)?)
    }

    /// Runs `command` with nothing but this agent's working directory and what is `named`, confined by `sandbox`.
    ///
    /// What was in force is a fact (`sandbox.applied`) before the command starts; what it tried beyond that is one too
    /// (`sandbox.violation`), where there is evidence.
    ///
    /// # Errors
    ///
    /// Then the command has not run: [`ExecError::Engine`] if something `named` is not held, [`ExecError::Sandbox`] if
    /// something cannot be enforced. A command that failed is no error; how it ended is in what is returned.
    ///
    /// # Cancellation
    ///
    /// Dropping the future leaves the command to its end or its time limit.
    pub async fn exec(&self, sandbox: &Sandbox, command: Command, named: &[Permission]) -> Result<Finished, ExecError> {
        self.exec_under(sandbox, self.sandbox_profile(named)?, command).await
    }

    /// The same with a profile of this agent that was changed: other limits, say.
    ///
    /// # Errors
    ///
    /// As [`Agent::exec`].
    pub async fn exec_under(
        &self,
        sandbox: &Sandbox,
        profile: Profile,
        command: Command,
    ) -> Result<Finished, ExecError> {
        let (agent, sandbox) = (self.clone(), sandbox.clone());
        let run = move || {
            let tell = |facts: &SandboxFacts| agent.tell_sandbox(facts.clone(), None).map_err(ExecError::from);
            let done = sandbox.run_with(&profile, &command, None, tell)?;
            agent.tell_violations(done.violations.clone(), None)?;
            Ok(done)
        };
        let done = tokio::task::spawn_blocking(run).await;
        done.unwrap_or_else(|why| Err(SandboxError::Io(std::io::Error::other(why)).into()))
    }
}

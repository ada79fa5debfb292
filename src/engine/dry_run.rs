//! A dry run: evaluates actions as if a policy were in force, in an engine of its own.

use std::{fmt, sync::Arc};

use crate::{
    command::Classifier,
    kernel::{Command, Explanation, State},
    model::{Action, AgentId, OnNoUser, Policy, SanitizedPath, Settings},
    ports::{DiskPaths, Paths, SystemClock},
};

use super::{
    Agent, Error,
    classifier::classifier_for,
    commit_queue::CommitQueue,
    fresh::{fresh_run, seed},
    shared::Shared,
};

/// A dry run of a policy. No other policy is in force, no other engine is affected, and a person counts as present.
///
/// The answers are those of [`Agent::explain`], by the same function. Paths are followed on the disk as in real use.
///
/// ```no_run
/// use bestow::{Action, PolicyFile, decision::Verdict, policy::DryRun};
/// let rehearsal = DryRun::of(PolicyFile::new("agents.toml").load()?)?;
/// let explanation = rehearsal.explain(&"writer".parse()?, &Action::command("git push --force"))?;
/// assert_ne!(explanation.decision.verdict(), Verdict::Allow, "{explanation}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DryRun {
    shared: Arc<Shared>,
}

impl fmt::Debug for DryRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DryRun").finish_non_exhaustive()
    }
}

impl DryRun {
    /// Applies `policy` like an engine that starts with it.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] and [`Error::Commands`] if an engine would reject the policy.
    pub fn of(policy: Policy) -> Result<DryRun, Error> {
        DryRun::on(policy, Arc::new(DiskPaths))
    }

    /// Applies `policy` with the given path resolver.
    pub(crate) fn on(policy: Policy, paths: Arc<dyn Paths>) -> Result<DryRun, Error> {
        classifier_for(&policy.settings)?;
        let shared = Shared::new(
            CommitQueue::in_memory(State::new(Settings::default()).on(paths.floor())),
            Classifier::default(),
            Arc::new(SystemClock::new()),
            paths,
            seed(),
        );
        // A queued request is treated like one that a person sees.
        let settings = Settings { on_no_user: OnNoUser::Queue, ..policy.settings };
        let policy = Arc::new(Policy { settings, ..policy });
        shared.execute_own(Command::Configure { policy, run: fresh_run() }).at_once()?;
        Ok(DryRun { shared: Arc::new(shared) })
    }

    /// Returns every path that would be protected, like [`Engine::protected`](super::Engine::protected).
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn protected(&self) -> Result<Vec<SanitizedPath>, Error> {
        self.shared.look(|state, _| state.protected_paths())
    }

    /// Explains the decision that `action` of `agent` would get.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the policy has no such agent.
    pub fn explain(&self, agent: &AgentId, action: &Action) -> Result<Explanation, Error> {
        let unknown = || Error::Refused(crate::kernel::Refusal::UnknownAgent(agent.clone()));
        let cell = self.shared.cell(agent).ok_or_else(unknown)?;
        Agent { shared: Arc::clone(&self.shared).into(), id: agent.clone(), cell, via: None }.explain(action)
    }
}

#[cfg(feature = "config")]
mod example {
    use std::sync::Arc;

    use super::DryRun;
    use crate::{
        engine::Error,
        kernel::Rules,
        model::{Action, Kind, Policy, Profile, Rule, Settings},
        ports::AsWritten,
    };

    /// Example actions of rules, understood without the disk, because an example is about the text of the rule.
    #[derive(Debug)]
    pub(crate) struct Examples(DryRun);

    impl Examples {
        /// Creates a checker that understands commands as `settings` define.
        pub(crate) fn under(settings: &Settings) -> Result<Examples, Error> {
            let settings = settings.clone();
            let policy = Policy { settings, agents: Default::default(), left_out: Vec::new() };
            DryRun::on(policy, Arc::new(AsWritten)).map(Examples)
        }

        /// Returns the first of `rules` that matches `action`, if there is one. The engine uses this same function to
        /// decide.
        pub(crate) fn spoken_of_by(&self, rules: &Rules, action: &Action) -> Result<Option<Rule>, Error> {
            // The paths of the action are absolute, so the result does not depend on the agent.
            let anybody = || {
                let stand = "/".parse().ok()?;
                Some(Profile::new("a".parse().ok()?, "a".parse().ok()?, Kind::System, stand))
            };
            let profile = anybody().ok_or(Error::Closed)?;
            let action = self.0.shared.understood(&profile, action)?;
            Ok(rules.about(&action, &action.uses.own).first().map(|rule| (*rule).clone()))
        }
    }
}

#[cfg(feature = "config")]
pub(crate) use example::Examples;

//! What would be decided if a file were in force: asked of the function that decides, in an engine of its own.

use std::{
    fmt,
    hash::{BuildHasher, RandomState},
    sync::Arc,
};

use crate::{
    command::Classifier,
    kernel::{Command, Explanation, State},
    model::{Action, AgentId, OnNoUser, Policy, SanitizedPath, Settings},
    seam::{DiskPaths, Paths, SystemClock},
};

use super::{Agent, Error, fresh_run, shared::Shared};

/// A policy on trial: nothing else is in force, no other engine notices, and somebody is there to ask.
///
/// The answers are those of [`Agent::explain`], by the same function; paths are followed on the disk as in real use.
///
/// ```no_run
/// use bestow::{Action, PolicyFile, Rehearsal, Verdict};
/// let rehearsal = Rehearsal::of(PolicyFile::new("agents.toml").load()?)?;
/// let explanation = rehearsal.explain(&"writer".parse()?, &Action::command("git push --force"))?;
/// assert_ne!(explanation.decision.verdict(), Verdict::Allow, "{explanation}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Rehearsal {
    shared: Arc<Shared>,
}

impl fmt::Debug for Rehearsal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rehearsal").finish_non_exhaustive()
    }
}

impl Rehearsal {
    /// Takes `policy` over as an engine does that starts with it.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] and [`Error::Commands`] if an engine would not take it.
    pub fn of(policy: Policy) -> Result<Rehearsal, Error> {
        Rehearsal::on(policy, Arc::new(DiskPaths))
    }

    /// The same on other paths.
    pub(crate) fn on(policy: Policy, paths: Arc<dyn Paths>) -> Result<Rehearsal, Error> {
        Classifier::for_settings(&policy.settings)?;
        let seed = RandomState::new().hash_one("fingerprints");
        let shared = Shared::new(
            State::new(Settings::default()).on(paths.floor()),
            Classifier::default(),
            Arc::new(SystemClock::new()),
            paths,
            seed,
        );
        // A question that waits is as good as somebody who hears it.
        let settings = Settings { on_no_user: OnNoUser::Queue, ..policy.settings };
        let policy = Arc::new(Policy { settings, ..policy });
        shared.execute(Command::Configure { policy, run: fresh_run() }).at_once()?;
        Ok(Rehearsal { shared: Arc::new(shared) })
    }

    /// Every path that would be protected, as [`Engine::protected`](super::Engine::protected) tells it.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn protected(&self) -> Result<Vec<SanitizedPath>, Error> {
        self.shared.look(|state, _| state.protected_paths())
    }

    /// What would be decided about `action` of `agent`, with the whole way to it.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the policy has no such agent.
    pub fn explain(&self, agent: &AgentId, action: &Action) -> Result<Explanation, Error> {
        let unknown = || Error::Refused(crate::kernel::Refusal::UnknownAgent(agent.clone()));
        let cell = self.shared.cell(agent).ok_or_else(unknown)?;
        Agent { shared: Arc::clone(&self.shared), id: agent.clone(), cell }.explain(action)
    }
}

#[cfg(feature = "config")]
mod example {
    use std::sync::Arc;

    use super::Rehearsal;
    use crate::{
        engine::Error,
        kernel::Rules,
        model::{Action, Kind, Policy, Profile, Rule, Settings},
        seam::AsWritten,
    };

    /// Actions that a rule is tried with, understood without the disk: an example is about the words of the rule.
    #[derive(Debug)]
    pub(crate) struct Examples(Rehearsal);

    impl Examples {
        /// Commands are understood as `settings` say.
        pub(crate) fn under(settings: &Settings) -> Result<Examples, Error> {
            let settings = settings.clone();
            let policy = Policy { settings, agents: Default::default(), left_out: Vec::new() };
            Rehearsal::on(policy, Arc::new(AsWritten)).map(Examples)
        }

        /// The first of `rules` that speaks about `action`, if one does: what decides asks the same.
        pub(crate) fn spoken_of_by(&self, rules: &Rules, action: &Action) -> Result<Option<Rule>, Error> {
            // Its paths are absolute, so it is the same whoever does it.
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

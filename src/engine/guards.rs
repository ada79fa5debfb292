//! Guards of a run's tools, as a person sets and reads them.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    kernel::{Command, Considered, Refusal, State},
    model::{Action, AgentId, Event, Guard, OwnerId, Policies, PolicyPatch, RequestId, RunId, SanitizedPath, ToolName},
};

use super::{Approver, Error, shared::Shared};

/// Guards: what the tools of one run may do besides rules (`sources/001`). They end with the run, when no agent of this
/// owner is in it any more.
///
/// The host program, or a person, names the runs of agents ([`Engine::begin_run`](crate::Engine::begin_run),
/// [`Approver::begin_run`]):
///
/// ```
/// # use bestow::{Agent, Approver, Engine, PolicyPatch, RunId};
/// # async fn example(engine: Engine, ann: Agent, you: Approver) -> Result<(), Box<dyn std::error::Error>> {
/// let run: RunId = "night-shift".parse()?;
/// engine.begin_run(ann.id(), run.clone()).await?;
/// you.declare_tools(&run, ["write_file".parse()?]).await?;
/// let patch = PolicyPatch::writing().deny("secrets/**").of("write_file".parse()?);
/// you.update_policy(&run, patch).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Authority
///
/// A person stands behind all of it; it gives no right.
impl Approver {
    /// Says which tools a run has, so that policies can name them before they are used.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: [`Refusal::UnknownRun`], [`Refusal::TooManyPolicies`].
    pub async fn declare_tools(&self, run: &RunId, tools: impl IntoIterator<Item = ToolName>) -> Result<(), Error> {
        let (by, run, tools) = (self.person(), run.clone(), tools.into_iter().collect());
        self.shared.execute(Command::DeclareTools { by, run, tools }).acknowledged().await.map(drop)
    }

    /// Puts `policies` in the place of those of one tool, or of all that the run has and will have. Questions that
    /// policies answer by now end.
    ///
    /// ```
    /// # use bestow::{Approver, PathPolicy, Policies, RunId, Verdict};
    /// # async fn example(you: Approver, run: RunId) -> Result<(), Box<dyn std::error::Error>> {
    /// let policies = Policies {
    ///     forbidden: vec!["/**/.env*".parse()?],
    ///     write: PathPolicy { allow: vec!["/work/site/**".parse()?], default: Some(Verdict::Ask), ..Default::default() },
    ///     deny_commands: vec!["git push **".parse()?],
    ///     ..Policies::default()
    /// };
    /// you.set_policies(&run, None, policies).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: [`Refusal::UnknownRun`], [`Refusal::UnknownTool`], [`Refusal::TooManyPolicies`].
    pub async fn set_policies(&self, run: &RunId, tool: Option<&ToolName>, policies: Policies) -> Result<(), Error> {
        let (by, run, tool, policies) = (self.person(), run.clone(), tool.cloned(), Arc::new(policies));
        self.change(Command::SetPolicies { by, run, tool, policies }).await
    }

    /// Adds to the path policies of one tool, or of all that the run has and will have (`sources/001`, "Request:
    /// update_policy"). Only the default takes the place of another. What changes nothing leaves no event. Questions
    /// that policies answer by now end.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: [`Refusal::UnknownRun`], [`Refusal::UnknownTool`], [`Refusal::InvalidGlob`],
    /// [`Refusal::SeveralBases`], [`Refusal::TooManyPolicies`]; [`Error::Path`] if the base cannot be followed. Then
    /// nothing was changed.
    pub async fn update_policy(&self, run: &RunId, patch: PolicyPatch) -> Result<(), Error> {
        let base = self.base(run, &patch)?;
        self.change(Command::UpdatePolicy { by: self.person(), run: run.clone(), patch, base }).await
    }

    /// The guard of a tool. A tool that was never declared nor used has what every tool begins with.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: [`Refusal::UnknownRun`].
    pub fn policies(&self, run: &RunId, tool: &ToolName) -> Result<Guard, Error> {
        self.look_at(run, |state| guard(state, self, run, tool))
    }

    /// The guards of a run: of every tool that was declared or used, by name.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: [`Refusal::UnknownRun`].
    pub fn guards(&self, run: &RunId) -> Result<Vec<Guard>, Error> {
        self.look_at(run, |state| {
            let tools = state.guards_of(&self.owner, run).map(|guards| guards.tools());
            tools.into_iter().flatten().map(|(tool, _)| guard(state, self, run, tool)).collect()
        })
    }

    fn look_at<T>(&self, run: &RunId, look: impl FnOnce(&State) -> T) -> Result<T, Error> {
        let looked = self.shared.look(|state, _| state.goes_on(&self.owner, run, None).then(|| look(state)))?;
        looked.ok_or_else(|| Refusal::UnknownRun(run.clone()).into())
    }

    async fn change(&self, command: Command) -> Result<(), Error> {
        let changed = self.shared.change(command).await?;
        if !changed.iter().any(|event| matches!(event, Event::PolicyForAll { .. } | Event::PolicyUpdated { .. })) {
            return Ok(());
        }
        let actions = self.shared.asked_about(Some(&self.owner))?;
        if actions.is_empty() {
            return Ok(());
        }
        self.shared.execute(Command::Reconsider { by: self.person(), actions }).acknowledged().await.map(drop)
    }

    /// Where the globs of `patch` count, as the disk has it.
    fn base(&self, run: &RunId, patch: &PolicyPatch) -> Result<SanitizedPath, Error> {
        if !patch.needs_base() {
            return Ok(SanitizedPath::root());
        }
        let base = match &patch.base {
            Some(base) => base.clone(),
            None => self.working_dir(run)?,
        };
        Ok(self.shared.paths.real(base.as_str())?.path)
    }

    /// Where the agents of a run work: those that nobody in the run created, since who creates an agent chooses where it
    /// works.
    fn working_dir(&self, run: &RunId) -> Result<SanitizedPath, Error> {
        let dirs = self.look_at(run, |state| {
            let here = |agent: &AgentId| {
                state.agents.get(agent).filter(|agent| agent.run == *run && agent.profile.owner == self.owner)
            };
            let all = state.agents.keys().filter_map(here);
            let first = all.filter(|agent| agent.profile.parent.as_ref().and_then(here).is_none());
            first.map(|agent| agent.profile.working_dir.clone()).collect::<BTreeSet<_>>()
        })?;
        let mut dirs = dirs.into_iter();
        match (dirs.next(), dirs.next()) {
            (Some(dir), None) => Ok(dir),
            _ => Err(Refusal::SeveralBases(run.clone()).into()),
        }
    }
}

impl Shared {
    /// What the questions of this owner's agents, or of everybody's, are about, understood again: what is kept of them is
    /// only what may be shown. Where that is not the whole of it, the kernel sees that it is another action.
    pub(super) fn asked_about(&self, owner: Option<&OwnerId>) -> Result<Vec<(RequestId, Arc<Considered>)>, Error> {
        let asked = self.look(|state, _| {
            let waiting = state.all_pending(owner).into_iter().map(|pending| pending.request);
            let about = waiting.filter_map(|request| Some((request.id, request.action.clone()?, request)));
            let known = about.filter_map(|(id, facts, request)| {
                Some((id, facts, Arc::clone(&state.agents.get(&request.from)?.profile)))
            });
            known.collect::<Vec<_>>()
        })?;
        asked
            .into_iter()
            .map(|(id, facts, profile)| {
                let plain = Action::new(facts.operation, &facts.resource).by_tool(facts.tool.clone());
                let action = Action { overrides: facts.overrides, ..plain };
                Ok((id, Arc::new(self.understood(&profile, &action)?)))
            })
            .collect()
    }
}

fn guard(state: &State, approver: &Approver, run: &RunId, tool: &ToolName) -> Guard {
    let names = state.names_in_guard(&approver.owner, run, tool, &[]);
    let guards = state.guards_of(&approver.owner, run);
    let policies = guards.map(|guards| Arc::clone(guards.of(tool).written())).unwrap_or_default();
    Guard { tool: tool.clone(), names, policies }
}

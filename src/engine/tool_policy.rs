//! Tool policies of a run, which a person sets and reads.

use std::{collections::BTreeSet, sync::Arc};

use bestow_command::internal::declaration;

use crate::{
    kernel::{Command, Refusal, ResolvedAction, State},
    model::{
        Action, AgentId, Event, OwnerId, PolicyPatch, RequestId, RunId, SanitizedPath, ToolName, ToolPolicies,
        ToolPolicy,
    },
};

use super::{Approver, Error, shared::Shared};

/// Tool policies: limits for the tools of one run, in addition to rules (`sources/001`). They end with the run, when no
/// agent of this owner is left in it.
///
/// The host program, or a person, names the runs of agents ([`Engine::begin_run`](crate::Engine::begin_run),
/// [`Approver::begin_run`]):
///
/// ```
/// # use bestow::{Agent, Approver, Engine, agent::RunId, tool::PolicyPatch};
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
/// A person authorizes all of this. It grants no permission.
impl Approver {
    /// Declares the tools of a run, so that policies can name them before they are used.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: [`Refusal::UnknownRun`], [`Refusal::TooManyPolicies`].
    pub async fn declare_tools(&self, run: &RunId, tools: impl IntoIterator<Item = ToolName>) -> Result<(), Error> {
        let (by, run, tools) = (self.person()?, run.clone(), tools.into_iter().collect());
        self.shared.execute(Command::DeclareTools { by, run, tools }).acknowledged().await.map(drop)
    }

    /// Replaces the policies of one tool, or of all current and future tools of the run. Requests that the policies now
    /// answer end.
    ///
    /// ```
    /// # use bestow::{Approver, agent::RunId, decision::Verdict, tool::{PathPolicy, ToolPolicies}};
    /// # async fn example(you: Approver, run: RunId) -> Result<(), Box<dyn std::error::Error>> {
    /// let policies = ToolPolicies {
    ///     forbidden: vec!["/**/.env*".parse()?],
    ///     write: PathPolicy {
    ///         allow: vec!["/work/site/**".parse()?],
    ///         default: Some(Verdict::Ask),
    ///         ..Default::default()
    ///     },
    ///     deny_commands: vec!["git push **".parse()?],
    ///     ..ToolPolicies::default()
    /// };
    /// you.set_policies(&run, None, policies).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: [`Refusal::UnknownRun`], [`Refusal::UnknownTool`], [`Refusal::TooManyPolicies`].
    pub async fn set_policies(
        &self,
        run: &RunId,
        tool: Option<&ToolName>,
        policies: ToolPolicies,
    ) -> Result<(), Error> {
        let is_declared = self.is_declared(tool);
        let (by, run, tool, policies) = (self.person()?, run.clone(), tool.cloned(), Arc::new(policies));
        self.change(Command::SetPolicies { by, run, tool, is_declared, policies }).await
    }

    /// Adds to the path policies of one tool, or of all current and future tools of the run (`sources/001`, "Request:
    /// update_policy"). Only the default replaces another. A patch that changes nothing leaves no event. Requests that
    /// the policies now answer end.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: [`Refusal::UnknownRun`], [`Refusal::UnknownTool`], [`Refusal::InvalidGlob`],
    /// [`Refusal::SeveralBases`], [`Refusal::TooManyPolicies`]; [`Error::Path`] if the base cannot be followed. Then no
    /// policy was changed.
    pub async fn update_policy(&self, run: &RunId, patch: PolicyPatch) -> Result<(), Error> {
        let base = self.base(run, &patch)?;
        let is_declared = self.is_declared(patch.tool.as_ref());
        self.change(Command::UpdatePolicy { by: self.person()?, run: run.clone(), patch, is_declared, base }).await
    }

    /// Returns true if the built-in table, the policy file or the host program declares the tool.
    fn is_declared(&self, tool: Option<&ToolName>) -> bool {
        let classifier = self.shared.classifier.load();
        tool.is_some_and(|tool| declaration(classifier.tools(), tool.as_str()).is_some())
    }

    /// Returns the policies of a tool. A tool that was never declared or used has the initial policies of every tool.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: [`Refusal::UnknownRun`].
    pub fn policies(&self, run: &RunId, tool: &ToolName) -> Result<ToolPolicy, Error> {
        let owner = self.person()?.owner;
        self.look_at(run, |state| guard(state, &owner, run, tool))
    }

    /// Returns the policies of every tool of a run that was declared or used or that a saved decision of this run is
    /// about, by name. [`later_policies`](Approver::later_policies) has those of every other tool.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: [`Refusal::UnknownRun`].
    pub fn guards(&self, run: &RunId) -> Result<Vec<ToolPolicy>, Error> {
        let owner = self.person()?.owner;
        self.look_at(run, |state| {
            let tools = state.tools_in_guard(&owner, run);
            tools.into_iter().map(|tool| guard(state, &owner, run, tool)).collect()
        })
    }

    /// Returns the policies of every tool of a run that [`guards`](Approver::guards) does not name: those that a tool
    /// has at its first use.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: [`Refusal::UnknownRun`].
    pub fn later_policies(&self, run: &RunId) -> Result<Arc<ToolPolicies>, Error> {
        let owner = self.person()?.owner;
        self.look_at(run, |state| {
            let common = state.guards_of(&owner, run).map(|guards| Arc::clone(guards.common().written()));
            common.unwrap_or_default()
        })
    }

    fn look_at<T>(&self, run: &RunId, look: impl FnOnce(&State) -> T) -> Result<T, Error> {
        let owner = self.person()?.owner;
        let looked = self.shared.look(|state, _| state.goes_on(&owner, run, None).then(|| look(state)))?;
        looked.ok_or_else(|| Refusal::UnknownRun(run.clone()).into())
    }

    async fn change(&self, command: Command) -> Result<(), Error> {
        let changed = self.shared.execute(command).acknowledged().await?;
        if !changed.iter().any(|event| matches!(event, Event::PolicyForAll { .. } | Event::PolicyUpdated { .. })) {
            return Ok(());
        }
        let person = self.person()?;
        let actions = self.shared.asked_about(Some(&person.owner))?;
        if actions.is_empty() {
            return Ok(());
        }
        self.shared.execute(Command::Reconsider { by: person, actions }).acknowledged().await.map(drop)
    }

    /// Returns the directory to which the globs of `patch` are relative, as a real path.
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

    /// Returns the working directory of the agents of a run. Only agents that no other agent of the run created count,
    /// since a creator chooses the working directory of its agents.
    fn working_dir(&self, run: &RunId) -> Result<SanitizedPath, Error> {
        let owner = self.person()?.owner;
        let dirs = self.look_at(run, |state| {
            let here = |agent: &AgentId| {
                state.agents.get(agent).filter(|agent| agent.run == *run && agent.profile.owner == owner)
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
    /// Resolves the actions of the waiting requests again, for one owner or for all. A request keeps only the facts
    /// that may be shown. If those are incomplete, the kernel recognizes the result as another action.
    pub(super) fn asked_about(&self, owner: Option<&OwnerId>) -> Result<Vec<(RequestId, Arc<ResolvedAction>)>, Error> {
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

fn guard(state: &State, owner: &OwnerId, run: &RunId, tool: &ToolName) -> ToolPolicy {
    let names = state.names_in_guard(owner, run, tool, &[]);
    let guards = state.guards_of(owner, run);
    let policies = guards.map(|guards| Arc::clone(guards.of(tool).written())).unwrap_or_default();
    ToolPolicy { tool: tool.clone(), names, policies }
}

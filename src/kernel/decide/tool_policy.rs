//! Changes of the tool policies of a run.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::model::{
    Actor, Decider, Event, InvalidGlob, Operation, OwnerId, PathGlob, PolicyPatch, Reach, Reply, RequestId, RuleRef,
    Ruled, RunId, SanitizedPath, SavedDecision, Scope, Timestamp, ToolName, ToolPolicies,
};

use super::super::{
    Refusal, State,
    authorization::{EvaluationInput, Stage, evaluate},
    command::{Person, StaleGrants},
    resolved_action::ResolvedAction,
    state::Waiting,
    tool_policy::{Compiled, MAX_POLICIES},
};

/// The tools whose policies change.
#[derive(Clone, Copy)]
pub(super) enum Guarded<'t> {
    /// All tools of the run, the later ones included.
    All,
    /// One tool. `is_declared` is true if the built-in table, the policy file or the host program declares it.
    One { tool: &'t ToolName, is_declared: bool },
}

impl Guarded<'_> {
    pub(super) fn of(tool: Option<&ToolName>, is_declared: bool) -> Guarded<'_> {
        tool.map_or(Guarded::All, |tool| Guarded::One { tool, is_declared })
    }
}

impl State {
    /// Adds tools to a run.
    pub(super) fn declare_tools(
        &self,
        by: &Person,
        run: RunId,
        mut tools: BTreeSet<ToolName>,
    ) -> Result<Vec<Event>, Refusal> {
        self.refuse_unknown_run(&by.owner, &run)?;
        let known = self.guards_of(&by.owner, &run).map(|guards| guards.tools());
        tools.retain(|tool| known.is_none_or(|known| !known.contains_key(tool)));
        if tools.is_empty() {
            return Ok(Vec::new());
        }
        refuse_too_many(&run, tools.len() + known.map_or(0, BTreeMap::len))?;
        Ok(vec![Event::ToolsDeclared { owner: by.owner.clone(), run, tools: Arc::new(tools), by: by.actor() }])
    }

    /// Replaces the policies of one tool, or of all current and future tools of the run.
    pub(super) fn set_policies(
        &self,
        by: &Person,
        run: &RunId,
        guarded: Guarded<'_>,
        policies: &Arc<ToolPolicies>,
    ) -> Result<Vec<Event>, Refusal> {
        self.change_guards(by, run, guarded, |_| ToolPolicies::clone(policies))
    }

    /// Adds the patch to the existing policies, completely or not at all (`update_policy`).
    pub(super) fn update_policy(
        &self,
        by: &Person,
        run: &RunId,
        patch: &PolicyPatch,
        is_declared: bool,
        base: &SanitizedPath,
    ) -> Result<Vec<Event>, Refusal> {
        let patched = patched(run, patch, base)?;
        self.change_guards(by, run, Guarded::of(patch.tool.as_ref(), is_declared), patched)
    }

    /// Applies only the restrictive part of a patch.
    pub(super) fn narrow_policy(
        &self,
        by: &Person,
        run: &RunId,
        patch: &PolicyPatch,
        is_declared: bool,
        base: &SanitizedPath,
    ) -> Result<Vec<Event>, Refusal> {
        let patched = patched(run, patch, base)?;
        self.change_guards(by, run, Guarded::of(patch.tool.as_ref(), is_declared), |before| {
            before.narrowed(&patched(before))
        })
    }

    /// Applies only the restrictive part of `policies`.
    pub(super) fn narrow_policies(
        &self,
        by: &Person,
        run: &RunId,
        guarded: Guarded<'_>,
        policies: &ToolPolicies,
    ) -> Result<Vec<Event>, Refusal> {
        self.change_guards(by, run, guarded, |before| before.narrowed(policies))
    }

    /// Returns one event for each tool policy that changes.
    fn change_guards(
        &self,
        by: &Person,
        run: &RunId,
        guarded: Guarded<'_>,
        change: impl Fn(&ToolPolicies) -> ToolPolicies,
    ) -> Result<Vec<Event>, Refusal> {
        let owner = &by.owner;
        self.refuse_unknown_run(owner, run)?;
        let guards = self.guards_of(owner, run).cloned().unwrap_or_default();
        let (mut events, mut usable) = (Vec::new(), Vec::new());
        let mut changed = |before: &Compiled| {
            let after = Arc::new(change(before.written()));
            let is_new = after != *before.written();
            is_new.then(|| refuse_unusable(run, &after, &mut usable).map(|()| after)).transpose()
        };
        let Guarded::One { tool, is_declared } = guarded else {
            if let Some(rules) = changed(guards.common())? {
                events.push(self.policy_for_all(owner, run, rules, by.actor()));
            }
            for (tool, before) in guards.tools() {
                let after = changed(before)?;
                events.extend(after.map(|rules| self.updated(owner, run, tool, rules, Some(by.actor()))));
            }
            return Ok(events);
        };
        let own = || Operation::ALL.map(Operation::own_tool);
        let is_declared = || is_declared || !self.declared_by_people(owner, tool.as_str()).is_empty();
        if !guards.tools().contains_key(tool) {
            if !own().contains(tool) && !is_declared() {
                let known: BTreeSet<_> = guards.tools().keys().cloned().chain(own()).collect();
                return Err(Refusal::UnknownTool { tool: tool.clone(), run: run.clone(), known });
            }
            refuse_too_many(run, guards.tools().len() + 1)?;
        }
        let after = changed(guards.of(tool))?;
        Ok(after.map(|rules| self.updated(owner, run, tool, rules, Some(by.actor()))).into_iter().collect())
    }

    /// Returns the event of new policies for later tools of a run.
    pub(super) fn policy_for_all(&self, owner: &OwnerId, run: &RunId, rules: Arc<ToolPolicies>, by: Actor) -> Event {
        let policies = rules.names().into_iter().map(Arc::from).collect();
        Event::PolicyForAll { owner: owner.clone(), run: run.clone(), policies, rules, by }
    }

    /// Returns the event of new policies for one tool of a run.
    pub(super) fn updated(
        &self,
        owner: &OwnerId,
        run: &RunId,
        tool: &ToolName,
        rules: Arc<ToolPolicies>,
        by: Option<Actor>,
    ) -> Event {
        let rulings = self.rulings_in_guard(owner, run, tool, &[]);
        let policies = rules.names().into_iter().map(Arc::from).chain(rulings).collect();
        let (owner, run, tool) = (owner.clone(), run.clone(), tool.clone());
        Event::PolicyUpdated { owner, run, tool, policies, rules, by }
    }

    /// Returns the event that lists a new saved decision with the policies of its tool.
    pub(super) fn heard_in_guard(&self, ruling: &Arc<SavedDecision>) -> Option<Event> {
        self.retold(ruling, std::slice::from_ref(ruling))
    }

    /// Returns the events that remove ended saved decisions from the policies of their tools, if the run is still in
    /// use.
    pub(in super::super) fn guards_follow(&self, events: &[Event], _now: Timestamp) -> Vec<Event> {
        let mut told = BTreeSet::new();
        let ended = events
            .iter()
            .filter_map(|event| if let Event::RulingEnded { ruling, .. } = event { Some(ruling) } else { None });
        ended
            .filter(|ruling| told.insert((&ruling.owner, &ruling.run, &ruling.tool)))
            .filter(|ruling| ruling.run.as_ref().is_some_and(|run| self.goes_on(&ruling.owner, run, None)))
            .filter_map(|ruling| self.retold(ruling, &[]))
            .collect()
    }

    /// Returns the complete list of the tool policies that `ruling` belongs to, with the decisions in `and`.
    fn retold(&self, ruling: &SavedDecision, and: &[Arc<SavedDecision>]) -> Option<Event> {
        let run = ruling.run.as_ref().filter(|_| ruling.scope == Scope::Session)?;
        let (owner, tool) = (ruling.owner.clone(), ruling.tool.clone());
        let policies = self.names_in_guard(&owner, run, &tool, and);
        let rules = self.guards_of(&owner, run).map(|guards| Arc::clone(guards.of(&tool).written()));
        Some(Event::PolicyUpdated {
            owner,
            run: run.clone(),
            tool,
            policies,
            rules: rules.unwrap_or_default(),
            by: None,
        })
    }

    /// Ends the requests about `actions` that policies answer by now. `actions` contains the resolved actions of these
    /// requests as far as they are known.
    pub(super) fn reconsider(
        &self,
        by: &Person,
        actions: &[(RequestId, Arc<ResolvedAction>)],
        now: Timestamp,
    ) -> Vec<Event> {
        let waiting = actions.iter().filter_map(|(id, action)| Some((self.pending.get(id)?, action)));
        let waiting = waiting.filter(|(waiting, action)| {
            let asked = waiting.request.action.as_ref();
            waiting.request.owner == by.owner && asked.is_some_and(|facts| facts.access == action.facts().access)
        });
        let decider = || Decider::Policies { by: by.by.clone(), means: Arc::clone(&by.means) };
        waiting
            .filter_map(|(waiting, action)| {
                let reply = self.answered_by_policy(waiting, action, now)?;
                Some(waiting.settled_with(reply, decider(), now))
            })
            .collect()
    }

    /// Returns the answer to a request if tool policies decide it.
    fn answered_by_policy(&self, waiting: &Waiting, action: &ResolvedAction, now: Timestamp) -> Option<Reply> {
        let agent = self.agents.get(&waiting.request.from)?;
        let broken = StaleGrants::new();
        let judged = evaluate(&EvaluationInput { state: self, agent, action, broken: &broken, opinions: &[], now });
        if !judged.conclusion.refs.iter().any(RuleRef::is_policy) {
            return None;
        }
        match (judged.stage, judged.conclusion.ruled) {
            (Stage::Denied, Ruled::Deny) => Some(Reply::Deny),
            // Only a person can give the additional permissions of a request. If a hook requires a person, only a
            // person can answer.
            (Stage::AllowRule, Ruled::Allow)
                if waiting.request.asked.is_empty() && waiting.request.hooks.is_empty() =>
            {
                Some(Reply::Allow)
            }
            (_, Ruled::Allow | Ruled::Deny | Ruled::Ask | Ruled::Sandboxed | Ruled::Unavailable) => None,
        }
    }

    fn refuse_unknown_run(&self, owner: &OwnerId, run: &RunId) -> Result<(), Refusal> {
        if self.goes_on(owner, run, None) { Ok(()) } else { Err(Refusal::UnknownRun(run.clone())) }
    }
}

/// Returns the function that applies a patch to policies.
fn patched(
    run: &RunId,
    patch: &PolicyPatch,
    base: &SanitizedPath,
) -> Result<impl Fn(&ToolPolicies) -> ToolPolicies + use<>, Refusal> {
    refuse_too_many(run, patch.allow.len() + patch.deny.len())?;
    let allow = globs(&patch.allow, base, Reach::Below)?;
    let deny = globs(&patch.deny, base, Reach::Everywhere)?;
    let (mode, default) = (patch.mode, patch.default);
    Ok(move |before: &ToolPolicies| {
        let mut after = before.clone();
        let policy = after.path_mut(mode);
        add(&mut policy.allow, &allow);
        add(&mut policy.deny, &deny);
        policy.default = default.or(policy.default);
        after
    })
}

fn globs(texts: &[Arc<str>], base: &SanitizedPath, reach: Reach) -> Result<Vec<PathGlob>, Refusal> {
    let invalid = |glob: &Arc<str>, why: InvalidGlob| Refusal::InvalidGlob { glob: Arc::clone(glob), why };
    texts.iter().map(|text| PathGlob::at(text, base, reach).map_err(|why| invalid(text, why))).collect()
}

fn add(globs: &mut Vec<PathGlob>, more: &[PathGlob]) {
    for glob in more {
        if !globs.contains(glob) {
            globs.push(glob.clone());
        }
    }
}

fn refuse_too_many(run: &RunId, count: usize) -> Result<(), Refusal> {
    let max = MAX_POLICIES;
    if count <= max as usize { Ok(()) } else { Err(Refusal::TooManyPolicies { run: run.clone(), max }) }
}

/// Refuses policies that do not compile. Equal policies are compiled only once.
fn refuse_unusable(
    run: &RunId,
    policies: &Arc<ToolPolicies>,
    usable: &mut Vec<Arc<ToolPolicies>>,
) -> Result<(), Refusal> {
    refuse_too_many(run, policies.len())?;
    if usable.contains(policies) {
        return Ok(());
    }
    if !Compiled::of(policies).is_usable() {
        return Err(Refusal::TooManyPolicies { run: run.clone(), max: MAX_POLICIES });
    }
    usable.push(Arc::clone(policies));
    Ok(())
}

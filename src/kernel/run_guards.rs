//! The tool policies of the runs in the state.

use std::{collections::BTreeSet, sync::Arc};

use crate::model::{AgentId, Decision, Digest, OwnerId, RunId, SavedDecision, Scope, ToolName, ToolPolicies};

use super::{
    State,
    agent::Agent,
    tool_policy::{Compiled, RunGuards},
};

/// The maximum number of tools of a run that are known by use alone. Agents choose tool names, so this limit is lower.
const MAX_USED: usize = 256;

impl State {
    pub(crate) fn guards_of(&self, owner: &OwnerId, run: &RunId) -> Option<&RunGuards> {
        self.guards.get(owner)?.get(run)
    }

    /// Returns the names of the entries that apply to `tool`: policies first, then saved decisions of this run, oldest
    /// first. `and` contains further saved decisions that are about to be recorded.
    ///
    /// Duplicate names are made distinct: the later entry gets a part of a hash appended.
    pub(crate) fn names_in_guard(
        &self,
        owner: &OwnerId,
        run: &RunId,
        tool: &ToolName,
        and: &[Arc<SavedDecision>],
    ) -> Vec<Arc<str>> {
        let own = self.guards_of(owner, run).map(|guards| guards.of(tool).written().names()).unwrap_or_default();
        own.into_iter().map(Arc::from).chain(self.rulings_in_guard(owner, run, tool, and)).collect()
    }

    /// Returns the tools of a run that have an entry of their own, or a saved decision of this run.
    pub(crate) fn tools_in_guard(&self, owner: &OwnerId, run: &RunId) -> BTreeSet<&ToolName> {
        let known = self.guards_of(owner, run).into_iter().flat_map(|guards| guards.tools().keys());
        let decided = self.rulings.values().map(|ruling| &**ruling);
        let decided = decided.filter(|ruling| is_in_guard(ruling, owner, run, &ruling.tool));
        known.chain(decided.map(|ruling| &ruling.tool)).collect()
    }

    /// Returns the names of the saved decisions about `tool` in this run, and of those in `and`.
    pub(super) fn rulings_in_guard(
        &self,
        owner: &OwnerId,
        run: &RunId,
        tool: &ToolName,
        and: &[Arc<SavedDecision>],
    ) -> Vec<Arc<str>> {
        let (mut names, mut taken) = (Vec::new(), BTreeSet::new());
        let told = self.rulings.values().chain(and).filter(|ruling| is_in_guard(ruling, owner, run, tool));
        for ruling in told {
            let name = name_apart(ruling, &taken);
            taken.insert(Arc::clone(&name));
            names.push(name);
        }
        names
    }

    pub(super) fn guards_mut(&mut self, owner: &OwnerId, run: &RunId) -> &mut RunGuards {
        self.guards.entry(owner.clone()).or_default().entry(run.clone()).or_default()
    }

    pub(super) fn declare(&mut self, owner: &OwnerId, run: &RunId, tools: &BTreeSet<ToolName>) {
        let guards = self.guards_mut(owner, run);
        for tool in tools {
            let common = &guards.common;
            guards.tools.entry(tool.clone()).or_insert_with(|| common.clone());
        }
    }

    pub(super) fn guard(
        &mut self,
        owner: &OwnerId,
        run: &RunId,
        tool: Option<&ToolName>,
        policies: &Arc<ToolPolicies>,
    ) {
        let guards = self.guards_mut(owner, run);
        let known = std::iter::once(&guards.common).chain(guards.tools.values());
        // Most tools share the common policies, so equal policies are stored once.
        let same = known.into_iter().find(|other| other.written() == policies).cloned();
        let guard = same.unwrap_or_else(|| Compiled::of(policies));
        match tool {
            Some(tool) => {
                guards.tools.insert(tool.clone(), guard);
            }
            None => guards.common = guard,
        }
    }

    /// Records a tool at its first use. From then on it has its own entry.
    pub(super) fn used_tool(&mut self, decision: &Decision) {
        let Some(agent) = self.agents.get(&decision.agent) else { return };
        let (owner, tool) = (agent.profile.owner.clone(), &decision.action.tool);
        if self.guards_of(&owner, &decision.run).is_some_and(|guards| guards.tools.contains_key(tool)) {
            return;
        }
        let guards = self.guards_mut(&owner, &decision.run);
        if guards.tools.len() < MAX_USED {
            guards.tools.insert(tool.clone(), guards.common.clone());
        }
    }

    /// Returns true if the run is still in use: `owner` has an agent other than `but` in `run`, an agent that was
    /// created in `run`, or a retired agent that was in `run` or created in it and still binds others.
    pub(crate) fn goes_on(&self, owner: &OwnerId, run: &RunId, but: Option<&AgentId>) -> bool {
        let but = but
            .and_then(|but| self.agents.get(but))
            .filter(|but| but.profile.owner == *owner && but.run == *run && but.made_in.as_ref() != Some(run));
        let is_in = |agent: &Agent| agent.run == *run || agent.made_in.as_ref() == Some(run);
        self.kin.count_in(owner, run) > usize::from(but.is_some())
            || self.gone.agents().any(|agent| is_in(agent) && agent.profile.owner == *owner)
    }

    /// Removes the tool policies of a run that ended after an agent left it.
    pub(super) fn leave_guards(&mut self, owner: &OwnerId, run: &RunId) {
        if self.guards_of(owner, run).is_none() || self.goes_on(owner, run, None) {
            return;
        }
        if let Some(runs) = self.guards.get_mut(owner) {
            runs.remove(run);
            if runs.is_empty() {
                self.guards.remove(owner);
            }
        }
    }
}

/// Returns true if `ruling` is listed with the tool policies. One-time and permanent decisions are not listed.
fn is_in_guard(ruling: &SavedDecision, owner: &OwnerId, run: &RunId, tool: &ToolName) -> bool {
    ruling.scope == Scope::Session && ruling.tool == *tool && ruling.run.as_ref() == Some(run) && ruling.owner == *owner
}

fn name_apart(ruling: &SavedDecision, taken: &BTreeSet<Arc<str>>) -> Arc<str> {
    let name = ruling.policy_name();
    let hash = || Digest::of_texts([name.as_str(), ruling.agent.as_str(), &ruling.id.to_string()]).to_string();
    let candidates = std::iter::once(None).chain([8, 64].map(Some)).map(|digits| match digits {
        None => name.clone(),
        Some(digits) => format!("{name}-{}", hash().get(..digits).unwrap_or_default()),
    });
    let free = candidates.map(Arc::from).find(|name: &Arc<str>| !taken.contains(name));
    free.unwrap_or_else(|| name.into())
}

//! A change of the policy file in sentences: what it allows besides permissions, and what it allows no more.

use std::sync::Arc;

use crate::model::{AgentId, AgentOrigin, AgentPolicy, Mode, Policy, Profile, Settings};

use super::{
    super::{State, agent::Agent},
    restriction,
};

/// Sentences, each with its agent. Without an agent, the sentence is about the settings.
pub(super) type Sentences = Vec<(Option<AgentId>, Arc<str>)>;

/// The change of a policy besides permissions.
#[derive(Debug, Default)]
pub(super) struct PolicyChange {
    pub(super) widened: Sentences,
    pub(super) narrowed: Sentences,
}

impl State {
    /// Returns the change that `policy` makes besides permissions. The first policy changes nothing.
    pub(super) fn change_to(&self, policy: &Policy) -> PolicyChange {
        let mut change = PolicyChange::default();
        if !self.agents.values().any(|agent| agent.source == AgentOrigin::Config) {
            return change;
        }
        let strict = restriction::settings(&self.settings, &policy.settings);
        change.narrow(None, restriction::changed_settings(&self.settings, &strict));
        change.narrow(None, stricter_settings(&self.settings, &policy.settings));
        change.widen(None, restriction::changed_settings(&strict, &policy.settings));
        let mut gone: Vec<_> = self.agents.values().filter(|agent| has_left(agent, policy)).collect();
        gone.sort_by(|one, other| one.profile.id.cmp(&other.profile.id));
        for agent in gone {
            change.narrow(Some(&agent.profile.id), ["removed".to_owned()]);
        }
        for (id, spec) in &policy.agents {
            match self.agents.get(id).filter(|agent| stays(agent, policy)) {
                Some(agent) => change.follow(id, agent, spec),
                None => change.widen(Some(id), [new_agent(&spec.profile)]),
            }
        }
        change
    }
}

impl PolicyChange {
    fn widen(&mut self, agent: Option<&AgentId>, sentences: impl IntoIterator<Item = String>) {
        self.widened.extend(sentences.into_iter().map(|sentence| (agent.cloned(), sentence.into())));
    }

    fn narrow(&mut self, agent: Option<&AgentId>, sentences: impl IntoIterator<Item = String>) {
        self.narrowed.extend(sentences.into_iter().map(|sentence| (agent.cloned(), sentence.into())));
    }

    /// Adds the changes of an agent that was in the file before.
    fn follow(&mut self, id: &AgentId, agent: &Agent, spec: &AgentPolicy) {
        let new = as_set(agent, &spec.profile);
        // A name allows nothing.
        let now = Profile { name: new.name.clone(), ..Profile::clone(&agent.profile) };
        let strict = restriction::profile(&now, &new);
        self.narrow(Some(id), restriction::changed_profile(&now, &strict));
        self.widen(Some(id), restriction::changed_profile(&strict, &new));
        let written = agent.rules.written();
        self.narrow(Some(id), restriction::narrowing_rules(written, &spec.rules));
        self.widen(Some(id), restriction::widening_rules(written, &spec.rules));
    }
}

/// Returns one sentence for each path and name that is protected or sensitive from now on.
fn stricter_settings(now: &Settings, new: &Settings) -> Vec<String> {
    let protected = restriction::unprotected(new, now).into_iter().map(|path| format!("{path} is protected"));
    let sensitive = new.sensitive.iter().filter(|name| !now.sensitive.contains(name));
    protected.chain(sensitive.map(|name| format!("{name} is sensitive"))).collect()
}

fn new_agent(profile: &Profile) -> String {
    let command = profile.bot.as_ref().map(|bot| format!(", with the command {bot}")).unwrap_or_default();
    format!("new, {} in mode {}{command}", profile.kind, profile.mode)
}

fn has_left(agent: &Agent, policy: &Policy) -> bool {
    agent.source == AgentOrigin::Config && !stays(agent, policy)
}

/// Returns the mode of `agent` under a file that describes it as `profile`. A mode that was set at run time stays as
/// long as the line of the file does not change. Otherwise the mode of the file applies.
pub(super) fn mode_under(agent: &Agent, profile: &Profile) -> Mode {
    if agent.written_mode == Some(profile.mode) { agent.profile.mode } else { profile.mode }
}

/// Returns `profile` with the mode that `agent` has under it.
pub(super) fn as_set(agent: &Agent, profile: &Profile) -> Profile {
    Profile { mode: mode_under(agent, profile), ..profile.clone() }
}

/// Returns true if the file still describes this agent. An agent with another owner is a different agent.
pub(super) fn stays(agent: &Agent, policy: &Policy) -> bool {
    let spec = policy.agents.get(&agent.profile.id);
    spec.is_some_and(|spec| spec.profile.owner == agent.profile.owner && agent.source == AgentOrigin::Config)
}

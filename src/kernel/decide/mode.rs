//! Changes of the mode of an agent at run time.

use std::sync::Arc;

use crate::model::{Actor, AgentId, AgentOrigin, Decider, Event, Mode, Outcome, OwnerId, RequestId, Ruled, Timestamp};

use super::{
    super::{
        Refusal, State,
        authorization::{EvaluationInput, Stage, evaluate},
        command::StaleGrants,
        resolved_action::ResolvedAction,
    },
    restriction::lets_no_more,
};

impl State {
    /// Sets the mode of `agent`. It applies until another mode is set, or until the policy file changes its own line.
    pub(super) fn set_mode(
        &self,
        agent: &AgentId,
        mode: Mode,
        by: Actor,
        owner: Option<&OwnerId>,
    ) -> Result<Vec<Event>, Refusal> {
        let known = self.agent(agent)?;
        if let Some(owner) = owner.filter(|owner| **owner != known.profile.owner) {
            return Err(Refusal::OtherOwner { agent: agent.clone(), owner: owner.clone() });
        }
        let before = known.profile.mode;
        if before == mode {
            return Ok(Vec::new());
        }
        let written = (known.source == AgentOrigin::Config).then(|| known.written_mode.unwrap_or(before));
        let written = written.filter(|written| *written != mode);
        Ok(vec![Event::ModeChanged { agent: agent.clone(), before, mode, written, by: Some(by) }])
    }

    /// Sets the mode of `agent` only if the new mode allows no more than the current one.
    pub(super) fn narrow_mode(
        &self,
        agent: &AgentId,
        mode: Mode,
        by: Actor,
        owner: Option<&OwnerId>,
    ) -> Result<Vec<Event>, Refusal> {
        let is_narrower = lets_no_more(self.agent(agent)?.profile.mode, mode);
        if is_narrower { self.set_mode(agent, mode, by, owner) } else { Ok(Vec::new()) }
    }

    /// Ends the requests of agents whose mode forbids prompts by now.
    pub(in super::super) fn silence(&self, events: &[Event], now: Timestamp) -> Vec<Event> {
        let is_change = |event: &Event| matches!(event, Event::ModeChanged { .. } | Event::AgentChanged { .. });
        if self.pending.is_empty() || !events.iter().any(is_change) {
            return Vec::new();
        }
        let ended = self.pending.values().filter_map(|waiting| {
            let decider = self.silenced(self.agents.get(&waiting.request.from)?)?;
            Some(waiting.resolved_without_grant(Outcome::Denied, decider, now))
        });
        ended.collect()
    }

    /// Ends the requests about `actions` that a mode denies by now. `actions` contains the resolved actions of these
    /// requests as far as they are known.
    pub(super) fn judge_again(&self, actions: &[(RequestId, Arc<ResolvedAction>)], now: Timestamp) -> Vec<Event> {
        let waiting = actions.iter().filter_map(|(id, action)| Some((self.pending.get(id)?, action)));
        let ended = waiting.filter_map(|(waiting, action)| {
            let asked = waiting.request.action.as_ref()?;
            let agent = self.agents.get(&waiting.request.from)?;
            let is_same = asked.access == action.facts().access;
            let broken = StaleGrants::new();
            let judged = evaluate(&EvaluationInput { state: self, agent, action, broken: &broken, opinions: &[], now });
            let denied = judged.stage == Stage::Mode && judged.conclusion.ruled == Ruled::Deny;
            let decider = Decider::Mode { mode: judged.manner.mode, of: judged.manner.of.profile.id.clone() };
            (is_same && denied).then(|| waiting.resolved_without_grant(Outcome::Denied, decider, now))
        });
        ended.collect()
    }
}

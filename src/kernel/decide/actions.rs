//! Actions: decided, recorded, and asked about where a person has to say.

use std::sync::Arc;

use crate::model::{
    ActionFacts, AgentId, Decision, DecisionId, Event, Permission, Reply, Request, RequestId, Ruled, Verdict,
};

use super::super::{
    Refusal, State,
    command::Broken,
    considered::Considered,
    judge::{Case, Judgement, Opinion, Stage, judge},
    state::Agent,
};
use crate::model::Timestamp;

impl State {
    /// Decides an action, leaves the record, uses up what was for one use, asks where a person has to say.
    pub(super) fn authorize(
        &self,
        agent: &AgentId,
        action: &Considered,
        opinions: &[Opinion],
        request: RequestId,
        broken: &Broken,
        now: Timestamp,
    ) -> Result<Vec<Event>, Refusal> {
        let agent = self.agent(agent)?;
        let case = Case { state: self, agent, action, broken, opinions, now };
        let judgement = judge(&case);
        let decision = self.named(&case, &judgement);
        match decision.verdict() {
            Verdict::Deny => Ok(vec![evaluated(decision)]),
            Verdict::Allow => Ok(std::iter::once(evaluated(decision)).chain(used_up(judgement)).collect()),
            Verdict::Ask => self.ask_about(&case, judgement, decision, request),
        }
    }

    /// Lets it happen at once and leaves the record; uses up what was for one use. A question is a refusal here.
    pub(super) fn act(
        &self,
        agent: &AgentId,
        action: &Considered,
        opinions: &[Opinion],
        broken: &Broken,
        now: Timestamp,
    ) -> Result<Vec<Event>, Refusal> {
        let agent = self.agent(agent)?;
        let case = Case { state: self, agent, action, broken, opinions, now };
        let judgement = judge(&case);
        if judgement.conclusion.ruled.verdict() != Verdict::Allow {
            return Err(self.not_allowed(&case, &judgement));
        }
        let decision = self.named(&case, &judgement);
        Ok(std::iter::once(evaluated(decision)).chain(used_up(judgement)).collect())
    }

    /// The record of what was decided, under the next name.
    fn named(&self, case: &Case<'_>, judgement: &Judgement<'_>) -> Decision {
        Decision { id: Some(DecisionId::new(self.next_decision)), ..judgement.decision(case) }
    }

    /// The refusal of somebody who acts without having asked. What is simply not held is said in those words.
    pub(crate) fn not_allowed(&self, case: &Case<'_>, judgement: &Judgement<'_>) -> Refusal {
        let only_lacks = !judgement.missing.is_empty() && !judgement.asks_about_action;
        let asked = matches!(judgement.conclusion.ruled, Ruled::Ask | Ruled::Unavailable);
        let is_protected = judgement.stage == Stage::Protected;
        match judgement.missing.first() {
            Some(right) if is_protected => Refusal::Protected(right.permission.clone()),
            Some(right) if only_lacks && asked => self.not_held(case.agent, &right.permission, case.now),
            Some(_) | None => Refusal::NotAllowed(Arc::new(judgement.decision(case))),
        }
    }

    fn ask_about(
        &self,
        case: &Case<'_>,
        judgement: Judgement<'_>,
        decision: Decision,
        id: RequestId,
    ) -> Result<Vec<Event>, Refusal> {
        let action = judgement.asks_about_action.then(|| case.action.facts());
        let hooks = if action.is_some() { hooks_that_ask(case.opinions) } else { Vec::new() };
        if let Some(request) = self.same_action(case.agent, action.as_deref(), &hooks, &judgement) {
            let approval_action_id = Some(request.id);
            let decision = Decision { approval_action_id, ..decision };
            return Ok(vec![evaluated(decision), Event::Joined { request }]);
        }
        let (mut asked, mut settled) = (Vec::new(), Vec::new());
        for right in judgement.missing {
            if self.fresh_no(&case.agent.profile.id, &right.permission, case.now).is_some() {
                settled.push((right.permission, Reply::Deny));
            } else {
                asked.push(right);
            }
        }
        // What was refused a moment ago keeps the whole from happening: nobody is asked about the rest.
        let action = action.filter(|_| settled.is_empty());
        if !settled.is_empty() {
            settled.extend(asked.drain(..).map(|right| (right.permission, Reply::Deny)));
        }
        let about_action = action.is_some();
        let request = Arc::new(Request {
            id,
            from: case.agent.profile.id.clone(),
            name: case.agent.profile.name.clone(),
            kind: case.agent.profile.kind,
            owner: case.agent.profile.owner.clone(),
            asked,
            settled,
            reason: case.action.reason.clone().unwrap_or_else(crate::model::Reason::not_said),
            action,
            hooks,
            hooks_say: if about_action { what_hooks_say(case.opinions) } else { Vec::new() },
            hook_failed: case.opinions.iter().any(|opinion| opinion.failed),
            scope: None,
            run: case.agent.run.clone(),
            since: case.now,
            deadline: case.now.after(self.settings.request_timeout),
        });
        let decision = Decision { approval_action_id: Some(id), ..decision };
        let asked = self.first_step(case.agent, &request, case.now)?;
        Ok(std::iter::once(evaluated(decision)).chain(asked).collect())
    }

    /// The pending request of `agent` about the same action that lacks the same, if there is one.
    fn same_action(
        &self,
        agent: &Agent,
        action: Option<&ActionFacts>,
        hooks: &[Arc<str>],
        judgement: &Judgement<'_>,
    ) -> Option<Arc<Request>> {
        let mut pending = agent.pending.iter().filter_map(|id| self.pending.get(id)).map(|waiting| &waiting.request);
        let same = |request: &&Arc<Request>| {
            let about = request.action.as_ref().map(|facts| (facts.input, facts.overrides));
            request.scope.is_none()
                && about == action.map(|facts| (facts.input, facts.overrides))
                && request.asked == judgement.missing
                && hooks.iter().all(|hook| request.hooks.contains(hook))
                && request.is_open()
        };
        pending.find(same).cloned()
    }
}

fn what_hooks_say(opinions: &[Opinion]) -> Vec<Arc<str>> {
    opinions.iter().filter(|opinion| opinion.verdict == Verdict::Ask).map(|opinion| opinion.told().into()).collect()
}

fn hooks_that_ask(opinions: &[Opinion]) -> Vec<Arc<str>> {
    let asking = opinions.iter().filter(|opinion| opinion.verdict == Verdict::Ask);
    asking.map(|opinion| Arc::clone(&opinion.hook)).collect()
}

fn evaluated(decision: Decision) -> Event {
    Event::Evaluated { decision: Arc::new(decision) }
}

/// What a yes used up: a person's word for one use, rights for one use.
fn used_up(judgement: Judgement<'_>) -> impl Iterator<Item = Event> {
    let ruling = judgement.uses_ruling.map(|ruling| Event::RulingUsed { ruling });
    let grants = judgement.uses_grants.into_iter().map(|grant| {
        let permission: Permission = grant.right.permission.clone();
        Event::GrantUsed { grant, permission }
    });
    ruling.into_iter().chain(grants)
}

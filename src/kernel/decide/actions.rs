//! Actions: decided, recorded, and put before a person if necessary.

use std::sync::Arc;

use crate::model::{
    ActionFacts, AgentId, Cause, Decision, DecisionId, Details, Effect, Event, Permission, Reply, Request, RequestId,
    Ruled, SandboxFacts, Verdict,
};

use super::super::{
    Refusal, State,
    authorization::{Evaluation, EvaluationInput, HookVerdict, Stage, evaluate},
    command::StaleGrants,
    resolved_action::ResolvedAction,
};
use crate::model::Timestamp;

impl State {
    /// Decides an action and records the decision. Consumes one-time approvals and asks a person if necessary. Does
    /// nothing if a missing permission is not bound to the disk yet.
    pub(super) fn authorize(
        &self,
        agent: &AgentId,
        action: &ResolvedAction,
        opinions: &[HookVerdict],
        request: RequestId,
        broken: &StaleGrants,
        now: Timestamp,
    ) -> Result<Vec<Event>, Refusal> {
        let agent = self.agent(agent)?;
        let case = EvaluationInput { state: self, agent, action, broken, opinions, now };
        let judgement = evaluate(&case);
        if action.lacks_place_of(judgement.lacking.iter()) {
            return Ok(Vec::new());
        }
        let decision = self.named(&case, &judgement);
        match decision.verdict() {
            Effect::Deny => Ok(vec![evaluated(decision)]),
            Effect::Allow => Ok(std::iter::once(evaluated(decision)).chain(used_up(judgement)).collect()),
            // Only the run inside the sandbox consumes one-time approvals.
            Effect::Confined => Ok(vec![evaluated(Decision { used: None, ..decision })]),
            Effect::Ask => self.ask_about(&case, judgement, decision, request),
        }
    }

    /// Allows an action now and records the decision. Consumes one-time approvals. If a person would have to be asked,
    /// the action is refused.
    pub(super) fn act(
        &self,
        agent: &AgentId,
        action: &ResolvedAction,
        opinions: &[HookVerdict],
        broken: &StaleGrants,
        now: Timestamp,
    ) -> Result<Vec<Event>, Refusal> {
        let agent = self.agent(agent)?;
        let case = EvaluationInput { state: self, agent, action, broken, opinions, now };
        let judgement = evaluate(&case);
        if judgement.conclusion.ruled.verdict() != Effect::Allow {
            return Err(self.not_allowed(&case, &judgement));
        }
        let decision = self.named(&case, &judgement);
        Ok(std::iter::once(evaluated(decision)).chain(used_up(judgement)).collect())
    }

    /// Allows an action now inside a sandbox and records the decision. `applied` contains the facts that a host program
    /// reports about its own sandbox. The library's own sandbox reports separately.
    pub(super) fn act_confined(
        &self,
        agent: &AgentId,
        action: &ResolvedAction,
        opinions: &[HookVerdict],
        broken: &StaleGrants,
        applied: Option<Arc<SandboxFacts>>,
        now: Timestamp,
    ) -> Result<Vec<Event>, Refusal> {
        let known = self.agent(agent)?;
        let case = EvaluationInput { state: self, agent: known, action, broken, opinions, now };
        let judgement = evaluate(&case);
        if action.lacks_place_of(judgement.lacking.iter()) {
            return Ok(Vec::new());
        }
        match judgement.conclusion.ruled.verdict() {
            Effect::Allow => {}
            Effect::Confined => {
                applied.as_deref().map_or(Ok(()), |facts| self.refuse_wider(&case, &judgement, facts))?
            }
            Effect::Ask | Effect::Deny => return Err(self.not_allowed(&case, &judgement)),
        }
        let decision = self.named(&case, &judgement);
        let cause = Cause::of(&decision).map(Arc::new);
        let applied = applied.map(|facts| self.with_violations(agent, facts)).transpose()?;
        let applied = applied.map(|facts| Event::SandboxApplied { agent: agent.clone(), facts, command: None, cause });
        Ok(std::iter::once(evaluated(decision)).chain(used_up(judgement)).chain(applied).collect())
    }

    /// Refuses sandbox facts that allow more writes or access than the action uses and the agent holds. A path that a
    /// line only names need not be held if the sandbox denies it, so the sandbox must deny it.
    fn refuse_wider(
        &self,
        case: &EvaluationInput<'_>,
        judgement: &Evaluation<'_>,
        facts: &SandboxFacts,
    ) -> Result<(), Refusal> {
        let open = case.action.uses.pinned().filter(|pinned| !judgement.lacking.contains(pinned));
        let open: Vec<_> = open.map(|pinned| &pinned.permission).collect();
        let is_open = |permission: &Permission| {
            let reaches = self.reaches(permission);
            open.iter().any(|open| reaches(open))
        };
        let network = facts.network.then_some(Permission::Network);
        let events = (!facts.unix_sockets.is_empty()).then_some(Permission::Events);
        let written = facts.write_roots.iter().cloned().map(Permission::write);
        let wider = network.into_iter().chain(events).chain(written).find(|permission| !is_open(permission));
        let kept = || self.kept_from_commands(case.agent, case.now).written_by(facts).cloned().map(Permission::write);
        match wider.or_else(kept) {
            Some(permission) => Err(Refusal::WiderThanDecided(permission)),
            None => Ok(()),
        }
    }

    /// Adds the ids of the violations by the agent's commands in this run to `facts`.
    pub(super) fn with_violations(
        &self,
        agent: &AgentId,
        facts: Arc<SandboxFacts>,
    ) -> Result<Arc<SandboxFacts>, Refusal> {
        let violation_refs: Vec<_> = self.agent(agent)?.kept_from.iter().map(|violated| violated.id).collect();
        Ok(Arc::new(SandboxFacts { violation_refs, ..SandboxFacts::clone(&facts) }))
    }

    /// Returns the record of the decision with the next id.
    fn named(&self, case: &EvaluationInput<'_>, judgement: &Evaluation<'_>) -> Decision {
        Decision { id: Some(DecisionId::new(self.next_decision)), ..judgement.decision(case) }
    }

    /// Returns the refusal of an action that may not happen without asking. If only a permission is missing, the
    /// refusal says so.
    pub(crate) fn not_allowed(&self, case: &EvaluationInput<'_>, judgement: &Evaluation<'_>) -> Refusal {
        let only_lacks = !judgement.missing.is_empty() && !judgement.asks_about_action;
        let asked = matches!(judgement.conclusion.ruled, Ruled::Ask | Ruled::Unavailable);
        let is_protected = judgement.stage == Stage::Protected;
        match judgement.missing.first() {
            Some(pinned) if is_protected => Refusal::Protected(pinned.permission.clone()),
            Some(pinned) if only_lacks && asked => self.not_held(case.agent, &pinned.permission, case.now),
            Some(_) | None => Refusal::NotAllowed(Arc::new(judgement.decision(case))),
        }
    }

    fn ask_about(
        &self,
        case: &EvaluationInput<'_>,
        judgement: Evaluation<'_>,
        decision: Decision,
        id: RequestId,
    ) -> Result<Vec<Event>, Refusal> {
        let (action, only_lacks) = (Arc::clone(&decision.action), !judgement.asks_about_action);
        let hooks = if only_lacks { Vec::new() } else { hooks_that_ask(case.opinions) };
        if let Some(request) = self.same_action(case, &action, &hooks, &judgement) {
            let approval_action_id = Some(request.id);
            let decision = Decision { approval_action_id, ..decision };
            return Ok(vec![evaluated(decision), Event::Joined { request }]);
        }
        let (mut asked, mut settled) = (Vec::new(), Vec::new());
        for pinned in judgement.missing {
            let is_fresh = self.fresh_no(&case.agent.profile.id, &pinned.permission, case.now).is_some();
            // A tool that asks a person once more, despite a denial, asks for the permission as well.
            if is_fresh && !case.action.overrides {
                settled.push((pinned.permission, Reply::Deny));
            } else {
                asked.push(pinned);
            }
        }
        // A recently denied permission blocks the whole action, so the other permissions are not asked for.
        let action = settled.is_empty().then_some(action);
        if !settled.is_empty() {
            settled.extend(asked.drain(..).map(|pinned| (pinned.permission, Reply::Deny)));
        }
        let about_action = action.is_some() && !only_lacks;
        let request = Arc::new(Request {
            id,
            from: case.agent.profile.id.clone(),
            name: case.agent.profile.name.clone(),
            kind: case.agent.profile.kind,
            owner: case.agent.profile.owner.clone(),
            asked,
            settled,
            reason: case.action.reason.clone().unwrap_or_else(crate::model::Reason::not_said),
            only_lacks: only_lacks && action.is_some(),
            action,
            details: case.action.details.clone(),
            hooks,
            why: Some(decision.full_reason().into()),
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

    /// Returns the agent's pending request about an equal action and content with equal missing permissions, if there
    /// is one.
    fn same_action(
        &self,
        case: &EvaluationInput<'_>,
        action: &ActionFacts,
        hooks: &[Arc<str>],
        judgement: &Evaluation<'_>,
    ) -> Option<Arc<Request>> {
        let content = |details: &Option<Details>| details.as_ref().map(|details| details.digest);
        let mut pending =
            case.agent.pending.iter().filter_map(|id| self.pending.get(id)).map(|waiting| &waiting.request);
        let same = |request: &&Arc<Request>| {
            let is_it = |facts: &Arc<ActionFacts>| facts.input == action.input && facts.overrides == action.overrides;
            request.scope.is_none()
                && request.action.as_ref().is_some_and(is_it)
                && request.only_lacks != judgement.asks_about_action
                && request.asked == judgement.missing
                && content(&request.details) == content(&case.action.details)
                && hooks.iter().all(|hook| request.hooks.contains(hook))
                && request.is_open()
        };
        pending.find(same).cloned()
    }
}

fn what_hooks_say(opinions: &[HookVerdict]) -> Vec<Arc<str>> {
    opinions.iter().filter(|opinion| opinion.verdict == Verdict::Ask).map(|opinion| opinion.told().into()).collect()
}

fn hooks_that_ask(opinions: &[HookVerdict]) -> Vec<Arc<str>> {
    let asking = opinions.iter().filter(|opinion| opinion.verdict == Verdict::Ask);
    asking.map(|opinion| Arc::clone(&opinion.hook)).collect()
}

fn evaluated(decision: Decision) -> Event {
    Event::Evaluated { decision: Arc::new(decision) }
}

/// Returns the events that consume one-time decisions and one-time permissions.
fn used_up(judgement: Evaluation<'_>) -> impl Iterator<Item = Event> {
    let rulings = judgement.uses_rulings.into_iter().map(|ruling| Event::RulingUsed { ruling });
    let grants = judgement.uses_grants.into_iter().map(|grant| {
        let permission: Permission = grant.pinned.permission.clone();
        Event::GrantUsed { grant: grant.whole(), permission }
    });
    rulings.chain(grants)
}

//! Requests: asked, routed, answered and ended.

use std::sync::Arc;

use crate::model::{
    ActionFacts, AgentId, Allowed, Answer, Decider, Event, Origin, Outcome, Permission, PinnedPermission, Reason,
    Reply, Request, RequestId, Resolution, Route, SavedDecision, SavedDecisionId, Scope, Timestamp, Verdict,
};

use super::{
    super::{
        Refusal, State,
        agent::Agent,
        authorization::{EvaluationInput, evaluate, is_no_worse},
        command::{Person, StaleGrants},
        resolved_action::ResolvedAction,
        state::{RecentDenial, Waiting},
    },
    grants::{Draft, from_people, refuse_past},
};

/// The action that a person puts in place of the requested one.
struct Instead {
    facts: Arc<ActionFacts>,
    /// The permissions that the agent lacks for it.
    lacks: Vec<PinnedPermission>,
}

/// The parts of an answer about an action.
struct Said<'a> {
    answer: &'a Answer,
    /// The replacement of the requested action.
    instead: Option<Arc<ActionFacts>>,
    yes: bool,
    /// The permissions that come with a one-time approval.
    gives: Vec<PinnedPermission>,
}

impl State {
    /// Requests permissions (`request_permission`). A held permission needs no prompt, and a recently denied one is
    /// denied again. An equal pending request is joined. Only the remaining permissions are asked.
    #[expect(clippy::too_many_arguments, reason = "the fields of one command")]
    pub(super) fn request(
        &self,
        id: RequestId,
        from: &AgentId,
        permissions: Vec<PinnedPermission>,
        reason: Reason,
        scope: Option<Scope>,
        broken: &StaleGrants,
        now: Timestamp,
    ) -> Result<Vec<Event>, Refusal> {
        let agent = self.agent(from)?;
        scope.map_or(Ok(()), |scope| refuse_past(scope, now))?;
        let (mut asked, mut settled) = (Vec::new(), Vec::new());
        for pinned in permissions {
            if self.uses(agent, &pinned.permission, now, broken) {
                settled.push((pinned.permission, Reply::Allow));
                continue;
            }
            self.refuse_protected(&pinned.permission)?;
            if self.fresh_no(from, &pinned.permission, now).is_some() {
                settled.push((pinned.permission, Reply::Deny));
            } else {
                asked.push(pinned);
            }
        }
        if self.silenced(agent).is_some() {
            settled.extend(asked.drain(..).map(|pinned| (pinned.permission, Reply::Deny)));
        }
        let nothing_refused = settled.iter().all(|(_, reply)| *reply == Reply::Allow);
        if nothing_refused && let Some(request) = self.same_question(agent, &asked, scope) {
            return Ok(vec![Event::Joined { request }]);
        }
        let request = Arc::new(Request {
            id,
            from: from.clone(),
            name: agent.profile.name.clone(),
            kind: agent.profile.kind,
            owner: agent.profile.owner.clone(),
            asked,
            settled,
            action: None,
            only_lacks: false,
            details: None,
            hooks: Vec::new(),
            hook_failed: false,
            why: None,
            hooks_say: Vec::new(),
            reason,
            scope,
            run: agent.run.clone(),
            since: now,
            deadline: now.after(self.settings.request_timeout),
        });
        self.first_step(agent, &request, now)
    }

    /// Ends a new request at once, or routes it.
    pub(super) fn first_step(
        &self,
        agent: &Agent,
        request: &Arc<Request>,
        now: Timestamp,
    ) -> Result<Vec<Event>, Refusal> {
        let requested = Event::Requested { request: Arc::clone(request) };
        if !request.is_open() {
            let refused = request.settled.iter().any(|(_, reply)| *reply == Reply::Deny);
            let (outcome, decider) = if refused {
                (Outcome::Denied, self.silenced(agent).unwrap_or(Decider::FreshRefusal))
            } else {
                (Outcome::Granted, Decider::AlreadyHeld)
            };
            let feedback = self.feedback_of_fresh_refusal(request, now);
            let resolution = resolution(request, outcome, &[], None, decider, feedback, now);
            return Ok(vec![requested, Event::Resolved { resolution, carrier: None }]);
        }
        self.refuse_too_many_asked(agent, now)?;
        let max = self.settings.max_pending;
        if agent.pending.len() >= max as usize {
            return Err(Refusal::TooManyPending { agent: agent.profile.id.clone(), max });
        }
        let next = self.route_or_resolve(request, None, now);
        Ok(vec![requested, next])
    }

    /// Returns a recent denial for the family of `agent` that concerns `permission`, a broader permission or a narrower
    /// one.
    pub(super) fn fresh_no(&self, agent: &AgentId, permission: &Permission, now: Timestamp) -> Option<&RecentDenial> {
        let family = self.agents.get(agent).map_or(agent, |agent| &agent.family);
        let mut said = self.refusals.get(family)?.iter();
        let is_about = |denied: &Permission| denied.covers(permission) || permission.covers(denied);
        said.find(|(denied, no)| now < no.until && is_about(denied)).map(|(_, no)| no)
    }

    /// Returns the feedback of the recent denial, so that asking again does not lose it.
    fn feedback_of_fresh_refusal(&self, request: &Request, now: Timestamp) -> Option<Reason> {
        let mut refused = request.settled.iter().filter(|(_, reply)| *reply == Reply::Deny);
        refused.find_map(|(permission, _)| self.fresh_no(&request.from, permission, now)?.feedback.clone())
    }

    /// Refuses a request if the family asked too many questions within a minute. After denials the limit is lower.
    fn refuse_too_many_asked(&self, agent: &Agent, now: Timestamp) -> Result<(), Refusal> {
        let Some(asked) = self.family(&agent.profile.id).map(|family| family.asked) else { return Ok(()) };
        let (agent, max) = (agent.profile.id.clone(), self.settings.max_asks_per_minute);
        match asked.paused_until(now) {
            _ if asked.lately(now) < asked.limit(max, now) => Ok(()),
            Some(until) => Err(Refusal::AskedAfterNo { agent, noes: asked.noes(), until }),
            None => Err(Refusal::TooManyAsked { agent, max }),
        }
    }

    /// Returns the pending request of `agent` that asks for all of `asked` with an equal scope, if there is one.
    fn same_question(&self, agent: &Agent, asked: &[PinnedPermission], scope: Option<Scope>) -> Option<Arc<Request>> {
        let mut pending = agent.pending.iter().filter_map(|id| self.pending.get(id)).map(|waiting| &waiting.request);
        let same = |request: &&Arc<Request>| {
            request.scope == scope
                && request.action.is_none()
                && asked.iter().all(|pinned| request.asked.contains(pinned))
                && !asked.is_empty()
        };
        pending.find(same).cloned()
    }

    /// Answers a request. The first valid answer ends it, and the allowed permissions become grants in this step.
    pub(super) fn answer(
        &self,
        id: RequestId,
        answer: Answer,
        modified: Option<&ResolvedAction>,
        by: Person,
        now: Timestamp,
    ) -> Result<Vec<Event>, Refusal> {
        let waiting = self.answerable(id, &by)?;
        let request = &waiting.request;
        let receiver = self.agent(&request.from)?;
        let instead = self.no_worse(request, modified, now)?;
        let allowed = allowed_of(request, &answer.allowed)?;
        let lacked = instead.as_ref().map_or(&request.asked, |instead| &instead.lacks);
        let scope = answer.scope.unwrap_or(request.scope_if_none_is_named());
        let all = answer.allowed != Allowed::Nothing && lacked.iter().all(|pinned| names(&allowed, &pinned.permission));
        let nothing_refused = request.settled.iter().all(|(_, reply)| *reply == Reply::Allow);
        let yes = all && nothing_refused && (!request.asks_about_action() || answer.allowed == Allowed::All);
        // A one-time permission is given to this action alone. If the action is denied, no permission is given.
        let is_bound = request.action.is_some() && scope == Scope::Once;
        let given = if is_bound && !yes { Vec::new() } else { named(lacked, &allowed) };
        // A denial gives nothing, so its scope and permissions need no check.
        if !given.is_empty() {
            if let Some(asked) = request.scope
                && !scope.fits_within(asked)
            {
                return Err(Refusal::ScopeTooWide { asked, answered: scope });
            }
            refuse_past(scope, now)?;
            if !is_bound {
                self.refuse_too_many(&request.from, from_people(receiver), given.len())?;
            }
            given.iter().try_for_each(|pinned| self.refuse_protected(&pinned.permission))?;
        }
        if answer.allowed != Allowed::Nothing && request.is_once_only() && scope != Scope::Once {
            return Err(Refusal::NotShownWhole { answered: scope });
        }
        let origin = Origin::Person { by: by.by.clone(), means: Arc::clone(&by.means), request: Some(id) };
        let draft = Draft::new(&request.from, origin, Some(request.reason.clone()), scope, now).in_run_of(receiver);
        let lasting = given.iter().filter(|_| !is_bound);
        let grants = lasting.zip(self.fresh_ids()).map(|(pinned, id)| draft.issue(id, pinned.clone()));
        let outcome = if yes { Outcome::Granted } else { Outcome::Denied };
        let mut events: Vec<_> = grants.collect();
        let gives = if is_bound { given.clone() } else { Vec::new() };
        let said = Said { answer: &answer, instead: instead.map(|instead| instead.facts), yes, gives };
        let ruled = self.rulings_by(request, said, &by, now)?;
        let scope = (!given.is_empty() || !ruled.is_empty()).then_some(scope);
        let decider = Decider::Person { by: by.by, means: by.means };
        let answered = resolution(request, outcome, &allowed, scope, decider.clone(), answer.feedback.clone(), now);
        let updated_input = modified.filter(|_| yes).map(ResolvedAction::facts);
        let mut granted = answered.granted.clone();
        granted.retain(|permission| !names(&allowed, permission) || names(&given, permission));
        let resolution = Arc::new(Resolution { granted, updated_input, ..Resolution::clone(&answered) });
        let others: Vec<_> = ruled.iter().flat_map(|ruling| self.also_settled(ruling, id)).collect();
        let told: Vec<_> = ruled.iter().filter_map(|ruling| self.heard_in_guard(ruling)).collect();
        events.extend(ruled.into_iter().map(|ruling| Event::RulingMade { ruling }).chain(told));
        events.push(Event::Resolved { resolution, carrier: waiting.carrier() });
        let others = others.into_iter().filter_map(|other| self.pending.get(&other));
        let reply = if yes { Reply::Allow } else { Reply::Deny };
        events.extend(others.map(|other| other.settled_with(reply, decider.clone(), now)));
        Ok(events)
    }

    /// Returns the saved decisions that an answer about an action leaves.
    fn rulings_by(
        &self,
        request: &Request,
        said: Said<'_>,
        by: &Person,
        now: Timestamp,
    ) -> Result<Vec<Arc<SavedDecision>>, Refusal> {
        let Said { answer, instead, yes, gives } = said;
        let Some(asked) = &request.action else { return Ok(Vec::new()) };
        let verdict = if yes { Verdict::Allow } else { Verdict::Deny };
        let lasts = answer.scope.is_some_and(|scope| scope != Scope::Once);
        // A person who was asked only for permissions and gives some permanently has not decided about the action
        // itself.
        let only_lacks = request.only_lacks && instead.is_none();
        if only_lacks && answer.allowed != Allowed::Nothing && (lasts || !yes) {
            return Ok(Vec::new());
        }
        let what = instead.as_ref().unwrap_or(asked);
        let ruling = self.ruling_of(request, what, answer, verdict, by, now)?;
        let ruling = ruling.map(|ruling| SavedDecision { gives, only_gives: only_lacks && yes, ..ruling });
        let mut rulings: Vec<_> = ruling.into_iter().collect();
        // A lasting approval does not answer a failed hook, so this request also gets a one-time approval.
        if yes && request.hook_failed && lasts {
            let now_only = Answer { scope: Some(Scope::Once), ..answer.clone() };
            let once = self.ruling_of(request, what, &now_only, verdict, by, now)?;
            rulings.extend(once.map(|once| SavedDecision { id: SavedDecisionId::new(once.id.number() + 1), ..once }));
        }
        if !rulings.is_empty() {
            let agent = self.agent(&request.from)?;
            self.refuse_too_many(&request.from, agent.rulings.len(), rulings.len())?;
        }
        Ok(rulings.into_iter().map(Arc::new).collect())
    }

    /// Checks a replacement of the requested action. It must be no worse and must not be denied.
    fn no_worse(
        &self,
        request: &Request,
        modified: Option<&ResolvedAction>,
        now: Timestamp,
    ) -> Result<Option<Instead>, Refusal> {
        let (Some(asked), Some(modified)) = (&request.action, modified) else { return Ok(None) };
        let (agent, facts) = (self.agent(&request.from)?, modified.facts());
        let lacked: Vec<_> = request.permissions().collect();
        let broken = StaleGrants::new();
        let case = EvaluationInput { state: self, agent, action: modified, broken: &broken, opinions: &[], now };
        if !is_no_worse(asked, &lacked, &case) {
            return Err(Refusal::InputClimbs { asked: asked.resource.clone(), answered: facts.resource.clone() });
        }
        Ok(Some(Instead { facts, lacks: evaluate(&case).missing }))
    }

    /// Returns the pending request that `by` may answer. The refusals distinguish ended requests from unknown ones.
    fn answerable(&self, id: RequestId, by: &Person) -> Result<&Waiting, Refusal> {
        let foreign = |agent: &AgentId| Refusal::OtherOwner { agent: agent.clone(), owner: by.owner.clone() };
        if let Some(waiting) = self.pending.get(&id) {
            let request = &waiting.request;
            return if request.owner == by.owner { Ok(waiting) } else { Err(foreign(&request.from)) };
        }
        let resolution = self.resolved.get(&id).ok_or(Refusal::UnknownRequest(id))?;
        Err(if resolution.owner == by.owner {
            Refusal::AlreadyResolved(Arc::clone(resolution))
        } else {
            foreign(&resolution.from)
        })
    }

    pub(super) fn cancel(&self, id: RequestId, by: &AgentId, now: Timestamp) -> Result<Vec<Event>, Refusal> {
        let Some(waiting) = self.pending.get(&id) else {
            return Err(match self.resolved.get(&id) {
                Some(resolution) if resolution.from == *by => Refusal::AlreadyResolved(Arc::clone(resolution)),
                Some(_) => Refusal::NotYours(id),
                None => Refusal::UnknownRequest(id),
            });
        };
        if waiting.request.from != *by {
            return Err(Refusal::NotYours(id));
        }
        Ok(vec![waiting.resolved_without_grant(Outcome::Cancelled, Decider::Asker, now)])
    }

    pub(super) fn shutdown(&self, now: Timestamp) -> Vec<Event> {
        let cancelled =
            |waiting: &Waiting| waiting.resolved_without_grant(Outcome::Cancelled, Decider::EngineGone, now);
        self.pending.values().map(cancelled).chain(self.end_processes()).collect()
    }
}

impl Waiting {
    /// Ends the request without new grants.
    pub(super) fn resolved_without_grant(&self, outcome: Outcome, decider: Decider, now: Timestamp) -> Event {
        let resolution = resolution(&self.request, outcome, &[], None, decider, None, now);
        Event::Resolved { resolution, carrier: self.carrier() }
    }

    /// Ends the request by the answer to an equal request.
    pub(super) fn settled_with(&self, reply: Reply, decider: Decider, now: Timestamp) -> Event {
        let (outcome, allowed) = match reply {
            Reply::Allow => (Outcome::Granted, self.request.asked.as_slice()),
            Reply::Deny => (Outcome::Denied, [].as_slice()),
        };
        let resolution = resolution(&self.request, outcome, allowed, None, decider, None, now);
        Event::Resolved { resolution, carrier: self.carrier() }
    }

    /// Ends the request because all asked permissions are held by now.
    pub(super) fn resolved_as_held(&self, now: Timestamp) -> Event {
        let nothing_refused = self.request.settled.iter().all(|(_, reply)| *reply == Reply::Allow);
        let outcome = if nothing_refused { Outcome::Granted } else { Outcome::Denied };
        let resolution = resolution(&self.request, outcome, &self.request.asked, None, Decider::AlreadyHeld, None, now);
        Event::Resolved { resolution, carrier: self.carrier() }
    }

    pub(super) fn carrier(&self) -> Option<AgentId> {
        match &self.route {
            Route::Carrier(agent) => Some(agent.clone()),
            Route::Approvers | Route::Queue => None,
        }
    }
}

/// Returns the requested permissions that an answer allows.
fn allowed_of(request: &Request, allowed: &Allowed) -> Result<Vec<PinnedPermission>, Refusal> {
    match allowed {
        Allowed::All => Ok(request.asked.clone()),
        Allowed::Nothing => Ok(Vec::new()),
        Allowed::Only(permissions) => {
            let asked = |permission: &Permission| request.asked.iter().find(|pinned| pinned.permission == *permission);
            permissions
                .iter()
                .map(|permission| asked(permission).cloned().ok_or_else(|| Refusal::NotAsked(permission.clone())))
                .collect()
        }
    }
}

fn names(permissions: &[PinnedPermission], permission: &Permission) -> bool {
    permissions.iter().any(|pinned| pinned.permission == *permission)
}

/// Returns the permissions that are allowed, without duplicates.
fn named(permissions: &[PinnedPermission], allowed: &[PinnedPermission]) -> Vec<PinnedPermission> {
    let mut named: Vec<PinnedPermission> = Vec::new();
    for pinned in permissions.iter().filter(|pinned| names(allowed, &pinned.permission)) {
        if !named.contains(pinned) {
            named.push(pinned.clone());
        }
    }
    named
}

pub(super) fn resolution(
    request: &Request,
    outcome: Outcome,
    allowed: &[PinnedPermission],
    scope: Option<Scope>,
    decider: Decider,
    feedback: Option<Reason>,
    at: Timestamp,
) -> Arc<Resolution> {
    let settled = |wanted| {
        let matching = request.settled.iter().filter(move |(_, reply)| *reply == wanted);
        matching.map(|(permission, _)| permission.clone())
    };
    let (given, kept): (Vec<_>, Vec<_>) = request.asked.iter().partition(|pinned| allowed.contains(pinned));
    let permissions =
        |pinned: Vec<&PinnedPermission>| pinned.into_iter().map(|pinned| pinned.permission.clone()).collect::<Vec<_>>();
    Arc::new(Resolution {
        request: request.id,
        from: request.from.clone(),
        owner: request.owner.clone(),
        outcome,
        granted: settled(Reply::Allow).chain(permissions(given)).collect(),
        refused: settled(Reply::Deny).chain(permissions(kept)).collect(),
        scope,
        decider,
        feedback,
        action: request.action.clone(),
        updated_input: None,
        at,
    })
}

//! Saved decisions of people about actions: for one use, for a run, for a time or permanently. They can be revoked.

use std::sync::Arc;

use crate::model::{
    Actor, AgentId, Answer, Ended, Event, Operation, OwnerId, Reason, Request, RequestId, RunId, SavedDecision,
    SavedDecisionId, Scope, Subject, Tier, Timestamp, Verdict,
};

use super::{
    super::{Refusal, State, agent::Agent, command::Person, resolved_action::ResolvedAction},
    grants::{refuse_past, same_owner},
};
use crate::model::ActionFacts;

impl State {
    /// Returns the saved decision that an answer about an action leaves. Every approval leaves one, and a denial leaves
    /// one unless it is for one use.
    pub(super) fn ruling_of(
        &self,
        request: &Request,
        action: &Arc<ActionFacts>,
        answer: &Answer,
        verdict: Verdict,
        by: &Person,
        now: Timestamp,
    ) -> Result<Option<SavedDecision>, Refusal> {
        let scope = answer.scope.unwrap_or(Scope::Once);
        if verdict != Verdict::Allow && scope == Scope::Once {
            return Ok(None);
        }
        if verdict == Verdict::Allow && action.cut && scope != Scope::Once {
            return Err(Refusal::NotShownWhole { answered: scope });
        }
        refuse_past(scope, now)?;
        let refused = action.doing.clone().filter(|_| verdict == Verdict::Deny);
        let (about, doing) = match (subject(action, verdict, scope)?, refused) {
            // A program file is also a path, so its denial stays bound to the access.
            (Subject::Access(_), Some(doing)) if action.operation != Operation::Exec => (Subject::Doing(doing), None),
            (about, doing) => (about, doing),
        };
        let agent = self.agent(&request.from)?;
        let ruling = self.ruling(agent, action, about, verdict, scope, by, now);
        let (hooks, reason) = (request.hooks.clone(), answer.feedback.clone());
        Ok(Some(SavedDecision { request: Some(request.id), hooks, doing, reason, ..ruling }))
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one record")]
    fn ruling(
        &self,
        agent: &Agent,
        action: &ActionFacts,
        about: Subject,
        verdict: Verdict,
        scope: Scope,
        by: &Person,
        now: Timestamp,
    ) -> SavedDecision {
        let until = match scope {
            Scope::Until(moment) => Some(moment),
            Scope::Once | Scope::Session | Scope::Always => None,
        };
        SavedDecision {
            id: SavedDecisionId::new(self.next_ruling),
            agent: agent.profile.id.clone(),
            owner: agent.profile.owner.clone(),
            verdict,
            about,
            tool: action.tool.clone(),
            operation: action.operation,
            resource: Arc::clone(&action.resource),
            scope,
            run: matches!(scope, Scope::Once | Scope::Session).then(|| agent.run.clone()),
            until,
            overrides: action.overrides,
            by: by.by.clone(),
            means: Arc::clone(&by.means),
            request: None,
            hooks: Vec::new(),
            doing: None,
            uses: action.uses.clone(),
            gives: Vec::new(),
            only_gives: false,
            reason: None,
            since: now,
        }
    }

    /// Approves exactly this action for one use, even if it is destructive.
    pub(super) fn enable(
        &self,
        by: &Person,
        agent: &AgentId,
        action: &ResolvedAction,
        reason: Reason,
        now: Timestamp,
    ) -> Result<Vec<Event>, Refusal> {
        let agent = self.agent(agent)?;
        same_owner(agent, &by.owner)?;
        self.refuse_too_many(&agent.profile.id, agent.rulings.len(), 1)?;
        let facts = action.facts();
        let about = Subject::Input(*facts.input);
        let ruling = self.ruling(agent, &facts, about, Verdict::Allow, Scope::Once, by, now);
        Ok(vec![Event::RulingMade { ruling: Arc::new(SavedDecision { reason: Some(reason), ..ruling }) }])
    }

    /// Revokes a saved decision. If `owner` is set, the actor may only touch decisions of that owner.
    pub(super) fn revoke_ruling(
        &self,
        id: SavedDecisionId,
        by: Actor,
        owner: Option<&OwnerId>,
        reason: Option<Reason>,
    ) -> Result<Vec<Event>, Refusal> {
        let ruling = self.rulings.get(&id).ok_or(Refusal::UnknownRuling(id))?;
        // The owner is stored in the decision, because its agent may be retired. A decision of another owner looks as
        // if it did not exist.
        if owner.is_some_and(|owner| *owner != ruling.owner) {
            return Err(Refusal::UnknownRuling(id));
        }
        Ok(vec![Event::RulingEnded { ruling: Arc::clone(ruling), ended: Ended::Revoked { by, reason } }])
    }

    /// Returns the saved decisions that end when `agent` leaves its run. These are its own decisions, and the denials
    /// for the run if it was the last agent in it.
    pub(super) fn rulings_left_behind(&self, agent: &Agent, ended: &Ended, all: bool) -> Vec<Event> {
        let run = (agent.profile.owner.clone(), agent.run.clone());
        // A denial stays in force while it binds descendants of the agent, now or in a run that the agent has left.
        let binds = all && self.binds(agent);
        let run_goes_on = |run: &RunId| self.goes_on(&agent.profile.owner, run, Some(&agent.profile.id));
        let goes_on = binds || run_goes_on(&agent.run);
        let own = agent.rulings.iter().filter(|ruling| match (&ruling.run, ruling.verdict) {
            (Some(run), Verdict::Deny) => !binds && !run_goes_on(run),
            (Some(_), Verdict::Allow | Verdict::Ask) => true,
            (None, Verdict::Deny) => all && !binds,
            (None, Verdict::Allow | Verdict::Ask) => all,
        });
        let noes = self.denied_in.get(&run).filter(|_| !goes_on).into_iter().flatten();
        let of_others = noes.filter_map(|id| self.rulings.get(id)).filter(|ruling| ruling.agent != agent.profile.id);
        let over = own.chain(of_others);
        over.map(|ruling| Event::RulingEnded { ruling: Arc::clone(ruling), ended: ended.clone() }).collect()
    }

    /// Returns the requests about actions, other than `but`, that a saved decision also answers. An approval answers
    /// equal requests of its agent. A denial also answers requests about the denied action by all agents of the run.
    pub(super) fn also_settled<'s>(
        &'s self,
        ruling: &'s SavedDecision,
        but: RequestId,
    ) -> impl Iterator<Item = RequestId> + 's {
        let lasting = ruling.scope != Scope::Once;
        let waiting = self.pending.values().filter(move |waiting| lasting && waiting.request.id != but);
        waiting.filter_map(|waiting| {
            let request = &waiting.request;
            let action = request.action.as_ref()?;
            let whose = request.from == ruling.agent
                || ruling.verdict == Verdict::Deny && Some(&request.run) == ruling.run.as_ref();
            // An approval of the action gives no additional permissions and answers no other hook.
            let heard = !request.hook_failed && request.hooks.iter().all(|hook| ruling.hooks.contains(hook));
            let enough = ruling.verdict == Verdict::Deny || request.asked.is_empty() && heard;
            let same_owner = request.owner == ruling.owner;
            (same_owner && whose && enough && !action.overrides && ruling.answers(action)).then_some(request.id)
        })
    }
}

/// Returns the subject that is saved for `scope`. Every denial can be saved, because it only takes something away.
fn subject(action: &ActionFacts, verdict: Verdict, scope: Scope) -> Result<Subject, Refusal> {
    if scope == Scope::Once {
        return Ok(Subject::Input(*action.input));
    }
    if verdict != Verdict::Deny && !action.approval_can_last(scope) {
        let is_destructive = action.tier == Tier::Destructive;
        let why = if is_destructive { Refusal::OnlyOnce } else { Refusal::NotForGood };
        return Err(why(action.resource.clone()));
    }
    // A denial of a line of several parts is for that line, in every spelling.
    let shape = action.shape.as_ref().filter(|shape| verdict != Verdict::Deny || !shape.is_beside());
    match (scope, shape) {
        (Scope::Always | Scope::Until(_), Some(shape)) if action.runs() => Ok(Subject::Shape(shape.clone())),
        _ => Ok(Subject::Access(*action.access)),
    }
}

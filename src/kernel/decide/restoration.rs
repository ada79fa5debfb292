//! The undoing of a revocation. A person gives again what one revocation ended, all of it or nothing.
//!
//! No authority appears out of nothing. The revoked grant becomes a grant of this person. Each grant that fell with it
//! comes back from the agent that gave it, if that agent can pass the permission on now. The chain of each of them
//! therefore leads to this person.

use std::sync::Arc;

use crate::model::{
    AgentId, Event, Grant, GrantId, Hold, Origin, OwnerId, Revocation, Revoked, SavedDecision, SavedDecisionId, Scope,
    Timestamp,
};

use super::{
    super::{
        Refusal, State,
        agent::Agent,
        command::{Person, StaleGrants},
        held_grants::giver,
        support::hold_of_gift,
    },
    grants::{from_agent, from_people, refuse_past, same_owner},
};

impl State {
    /// Returns the events that give again what a revocation ended. Refuses if another person revoked, or if an agent
    /// of these grants is gone or has changed its run.
    pub(super) fn restore(&self, by: &Person, undone: &Revocation, now: Timestamp) -> Result<Vec<Event>, Refusal> {
        if undone.by != by.actor() {
            return Err(Refusal::RevocationStands("another person revoked".into()));
        }
        match &undone.revoked {
            Revoked::Ruling(ruling) => self.decided_again(by, ruling, undone, now).map(|event| vec![event]),
            Revoked::Grant(grant) => self.given_with_all(by, grant, undone, now),
        }
    }

    /// Gives the revoked grant and those that fell with it. Each is checked with those before it in force, because they
    /// rest on each other.
    fn given_with_all(
        &self,
        by: &Person,
        grant: &Grant,
        undone: &Revocation,
        now: Timestamp,
    ) -> Result<Vec<Event>, Refusal> {
        let mut after = self.clone();
        let mut events = vec![after.given_again(by, grant, undone, now)?];
        events.iter().for_each(|event| after.apply(event));
        let mut open: Vec<&Arc<Grant>> = undone.also_ended.iter().collect();
        while !open.is_empty() {
            let before = open.len();
            let mut shorter = None;
            open.retain(|fallen| match after.passed_on_again(by, fallen, undone, now) {
                Ok(again) if again.until == fallen.until => {
                    events.push(issue(again, &mut after));
                    false
                }
                again => {
                    shorter.get_or_insert((fallen.id, again));
                    true
                }
            });
            // A grant waits for the support that lasts as long as before. If none comes, it ends with another one.
            if let Some((id, again)) = shorter.filter(|_| open.len() == before) {
                events.push(issue(again?, &mut after));
                open.retain(|fallen| fallen.id != id);
            }
        }
        Ok(events)
    }

    /// Gives the revoked grant by this person, for the same object, use and time.
    fn given_again(&self, by: &Person, grant: &Grant, undone: &Revocation, now: Timestamp) -> Result<Event, Refusal> {
        let holder = self.unchanged(&grant.to, &by.owner, undone)?;
        self.refuse_protected(&grant.pinned.permission)?;
        self.refuse_too_many(&grant.to, from_people(holder), 1)?;
        let request = if let Origin::Person { request, .. } = &grant.origin { *request } else { None };
        let origin = Origin::Person { by: by.by.clone(), means: Arc::clone(&by.means), request };
        let reason = grant.reason.clone().or_else(|| "given again after a revocation".parse().ok());
        let grant = self.beginning_now(Grant { origin, reason, depth: 0, ..grant.clone() }, now)?;
        Ok(Event::GrantIssued { grant: Arc::new(grant) })
    }

    /// Passes a fallen grant on by the agent that gave it, if the agent can pass it on now.
    fn passed_on_again(
        &self,
        by: &Person,
        fallen: &Grant,
        undone: &Revocation,
        now: Timestamp,
    ) -> Result<Grant, Refusal> {
        let Some(from) = giver(&fallen.origin) else { return Err(Refusal::UnknownGrant(fallen.id)) };
        let permission = &fallen.pinned.permission;
        self.unchanged(from, &by.owner, undone)?;
        let holder = self.unchanged(&fallen.to, &by.owner, undone)?;
        let held = self.held_for_passing_on(from, permission, now, &StaleGrants::new())?;
        self.refuse_too_many(&fallen.to, from_agent(holder, from), 1)?;
        let hold = fallen_hold(fallen.hold, hold_of_gift(&holder.held, permission, now));
        let (depth, until) = (held.depth_below(), held.until_below(fallen.until));
        self.beginning_now(Grant { hold, depth, until, ..fallen.clone() }, now)
    }

    /// Returns the grant with the next id, beginning now.
    fn beginning_now(&self, grant: Grant, now: Timestamp) -> Result<Grant, Refusal> {
        grant.until.map_or(Ok(()), |until| refuse_past(Scope::Until(until), now))?;
        Ok(Grant { id: GrantId::new(self.next_grant.max(1)), since: now, ..grant })
    }

    /// Decides again as the revoked decision says, by this person.
    fn decided_again(
        &self,
        by: &Person,
        ruling: &SavedDecision,
        undone: &Revocation,
        now: Timestamp,
    ) -> Result<Event, Refusal> {
        let agent = self.unchanged(&ruling.agent, &by.owner, undone)?;
        ruling.until.map_or(Ok(()), |until| refuse_past(Scope::Until(until), now))?;
        self.refuse_too_many(&ruling.agent, agent.rulings.len(), 1)?;
        ruling.gives.iter().try_for_each(|pinned| self.refuse_protected(&pinned.permission))?;
        let (id, means) = (SavedDecisionId::new(self.next_ruling), Arc::clone(&by.means));
        let ruling = SavedDecision { id, by: by.by.clone(), means, since: now, ..ruling.clone() };
        Ok(Event::RulingMade { ruling: Arc::new(ruling) })
    }

    /// Returns an agent of this owner that is in the same run as before the revocation.
    fn unchanged(&self, id: &AgentId, owner: &OwnerId, undone: &Revocation) -> Result<&Agent, Refusal> {
        let agent = self.agent(id)?;
        same_owner(agent, owner)?;
        if undone.runs.get(id) == Some(&agent.run) {
            return Ok(agent);
        }
        Err(Refusal::RevocationStands(format!("agent `{id}` has begun another run").into()))
    }
}

/// Issues a grant in a state, and returns the event.
fn issue(grant: Grant, state: &mut State) -> Event {
    let event = Event::GrantIssued { grant: Arc::new(grant) };
    state.apply(&event);
    event
}

/// Returns the stricter of two uses.
fn fallen_hold(before: Hold, now: Hold) -> Hold {
    if before == Hold::PassOn { before } else { now }
}

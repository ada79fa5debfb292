//! Registration, creation and retirement of agents.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use crate::model::{
    AgentId, AgentOrigin, Decider, Ended, Event, GrantId, Kind, Origin, Outcome, Permission, PinnedPermission, Profile,
    Reason, RunId, SavedDecision, SavedDecisionId, Scope, Timestamp, Verdict,
};

use super::{
    super::{
        Refusal, State,
        agent::Agent,
        command::{NewAgent, StaleGrants},
    },
    grants::Draft,
};

/// The time for which a denial for a run goes on binding an id after the agent that was denied is retired.
const DENIAL_AFTER_RUN: Duration = Duration::from_secs(24 * 60 * 60);

impl State {
    /// Registers all of `agents`, or none.
    pub(super) fn register_agents(&self, agents: Vec<NewAgent>, now: Timestamp) -> Result<Vec<Event>, Refusal> {
        let (mut ids, mut names, mut events) = (self.fresh_ids(), BTreeSet::new(), Vec::new());
        for agent in agents {
            if !names.insert(agent.profile.id.clone()) {
                return Err(Refusal::AgentExists(agent.profile.id));
            }
            self.register_agent(agent, &mut ids, now, &mut events)?;
        }
        Ok(events)
    }

    fn register_agent(
        &self,
        agent: NewAgent,
        ids: &mut impl Iterator<Item = GrantId>,
        now: Timestamp,
        events: &mut Vec<Event>,
    ) -> Result<(), Refusal> {
        let NewAgent { profile, run, permissions } = agent;
        let is_of_a_task = matches!(profile.kind, Kind::Cron | Kind::Heartbeat) && profile.parent.is_some();
        if profile.id.is_kept_for_tasks() && !is_of_a_task {
            return Err(Refusal::NameOfTask(profile.id));
        }
        self.refuse_known(&profile.id)?;
        self.refuse_too_many(&profile.id, 0, permissions.len())?;
        permissions.iter().try_for_each(|start| self.refuse_protected(&start.pinned.permission))?;
        let profile = Arc::new(profile);
        events.push(Event::AgentRegistered { profile: Arc::clone(&profile), run, source: AgentOrigin::Operator });
        let draft = Draft::new(&profile.id, Origin::Operator, None, Scope::Always, now);
        let grants = permissions.into_iter().zip(ids);
        events.extend(grants.map(|(start, id)| draft.clone().hold(start.hold).issue(id, start.pinned)));
        Ok(())
    }

    /// Creates an agent. All of `permissions` are checked against the creator before anything is created. The child
    /// holds no other permissions.
    #[expect(clippy::too_many_arguments, reason = "the fields of one command")]
    pub(super) fn create_agent(
        &self,
        creator: &AgentId,
        profile: Profile,
        run: RunId,
        permissions: Vec<PinnedPermission>,
        reason: &Reason,
        broken: &StaleGrants,
        now: Timestamp,
    ) -> Result<Vec<Event>, Refusal> {
        let Profile { owner, mode, .. } = &*self.agent(creator)?.profile;
        if !matches!(profile.kind, Kind::Subagent | Kind::Permanent) {
            return Err(Refusal::NoChildKind { agent: profile.id, kind: profile.kind });
        }
        if profile.id.is_kept_for_tasks() {
            return Err(Refusal::NameOfTask(profile.id));
        }
        if profile.id.belongs_to_another() && !profile.id.is_below(creator) {
            return Err(Refusal::NameOfOther { agent: profile.id, creator: creator.clone() });
        }
        self.refuse_protected(&Permission::read(profile.working_dir.clone()))?;
        let max = self.settings.max_children;
        if self.family(creator).is_some_and(|family| family.descendants >= max) {
            return Err(Refusal::TooManyChildren { agent: creator.clone(), max });
        }
        if *owner != profile.owner {
            return Err(Refusal::OtherOwner { agent: profile.id, owner: owner.clone() });
        }
        self.refuse_known(&profile.id)?;
        self.refuse_too_many(&profile.id, 0, permissions.len())?;
        // The child inherits the mode, so an agent cannot avoid its own mode by letting a child act. An agent states no
        // command that the host would start.
        let profile = Arc::new(Profile { mode: *mode, parent: Some(creator.clone()), bot: None, ..profile });
        let mut ids = self.fresh_ids();
        let mut events =
            vec![Event::AgentRegistered { profile: Arc::clone(&profile), run, source: AgentOrigin::Agent }];
        for (pinned, id) in permissions.into_iter().zip(&mut ids) {
            let held = self.held_for_passing_on(creator, &pinned.permission, now, broken)?;
            let origin = Origin::Agent { from: held.from().clone() };
            let draft = Draft::new(&profile.id, origin, Some(reason.clone()), Scope::Always, now).resting_on(&held);
            events.push(draft.issue(id, pinned));
        }
        Ok(events)
    }

    /// Retires an agent by order. An agent from the policy file is refused, because the next reload would bring it
    /// back.
    pub(super) fn retire_by_hand(&self, agent: &AgentId, now: Timestamp) -> Result<Vec<Event>, Refusal> {
        let known = self.agent(agent)?;
        if known.source == AgentOrigin::Config {
            return Err(Refusal::InFile(agent.clone()));
        }
        let mut events = self.retire(known, now);
        // The creator can end the agent and create it again, and both may be in the hands of who was denied.
        if known.source == AgentOrigin::Agent {
            let outliving = self.outliving_denials(agent, &events, now);
            events.extend(outliving);
        }
        Ok(events)
    }

    /// Returns the denials of a retired agent that bind a later agent with its id and owner: a permanent one for good,
    /// and one for a run for a day.
    fn outliving_denials(&self, agent: &AgentId, events: &[Event], now: Timestamp) -> Vec<Event> {
        let ended = events.iter().filter_map(|event| {
            let Event::RulingEnded { ruling, .. } = event else { return None };
            Some(ruling)
        });
        let own = ended.filter(|ruling| ruling.verdict == Verdict::Deny && ruling.agent == *agent);
        let ids = (self.next_ruling..).map(SavedDecisionId::new);
        let again = own.zip(ids).map(|(ruling, id)| {
            let until = now.after(DENIAL_AFTER_RUN);
            let (scope, until) = match ruling.run {
                Some(_) => (Scope::Until(until), Some(until)),
                None => (ruling.scope, ruling.until),
            };
            SavedDecision { id, scope, until, run: None, ..SavedDecision::clone(ruling) }
        });
        again.map(|ruling| Event::RulingMade { ruling: Arc::new(ruling) }).collect()
    }

    /// Retires an agent. Its grants, the grants that it gave, its requests and its connection end with it.
    pub(in super::super) fn retire(&self, agent: &Agent, now: Timestamp) -> Vec<Event> {
        let id = &agent.profile.id;
        let held =
            agent.held.iter().map(|grant| Event::GrantRevoked { grant: grant.whole(), ended: Ended::HolderRetired });
        let rests_on = |permission| {
            let support = agent.held.iter().find(|grant| grant.pinned.permission.covers(permission));
            support.map(|grant| grant.id)
        };
        let to_others = |given: &&GrantId| !agent.held.iter().any(|held| held.id == **given);
        let given = agent.given.iter().filter(to_others).filter_map(|id| self.grants.get(id)).map(|grant| {
            let with = rests_on(&grant.pinned.permission);
            Event::GrantRevoked { grant: grant.whole(), ended: Ended::SupportLost { with } }
        });
        let asked = agent.pending.iter().filter_map(|request| self.pending.get(request));
        let asked = asked.map(|waiting| waiting.resolved_without_grant(Outcome::Cancelled, Decider::Retired, now));
        let connector = self.is_connected(agent).then(|| Event::CarrierDisconnected { agent: id.clone() });
        let rulings = self.rulings_left_behind(agent, &Ended::HolderRetired, true);
        held.chain(given)
            .chain(asked)
            .chain(rulings)
            .chain(connector)
            .chain([Event::AgentRetired { agent: id.clone() }])
            .collect()
    }

    fn refuse_known(&self, agent: &AgentId) -> Result<(), Refusal> {
        if self.agents.contains_key(agent) { Err(Refusal::AgentExists(agent.clone())) } else { Ok(()) }
    }
}

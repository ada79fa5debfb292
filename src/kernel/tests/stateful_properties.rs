//! Properties that hold after every step of a random scenario.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{
    scenario::{Scenario, Step, TAGS},
    *,
};
use crate::{
    kernel::Check,
    model::{Origin, Scope},
};

fn steps() -> impl Strategy<Value = (bool, Vec<Step>)> {
    (any::<bool>(), prop::collection::vec(any::<Step>(), 1..60))
}

fn start(anywhere: bool) -> Scenario {
    Scenario::new(if anywhere { Reads::Anywhere } else { Reads::Granted })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::property_cases::cases(192), ..ProptestConfig::default() })]

    #[test]
    fn a_refused_command_leaves_the_state_equal_whatever_went_before((anywhere, steps) in steps()) {
        let mut tale = start(anywhere);
        for step in steps {
            let command = tale.command(step);
            let before = tale.state.clone();
            if tale.tell(command).is_err() {
                prop_assert!(tale.state == before);
            }
        }
    }

    #[test]
    fn replaying_the_events_rebuilds_the_state((anywhere, steps) in steps()) {
        let mut tale = start(anywhere);
        for step in steps {
            let command = tale.command(step);
            let _ = tale.tell(command);
        }
        prop_assert!(replayed(tale.first.clone(), &tale.events) == tale.state);
        for event in &tale.events {
            prop_assert_eq!(crate::kernel::meter::size_of(event), serde_json::to_string(event).unwrap().len());
        }
        let written: Vec<String> = tale.events.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
        let read: Vec<Event> = written.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
        prop_assert_eq!(&read, &tale.events);
        prop_assert!(replayed(tale.first.clone(), &read) == tale.state);
    }

    #[test]
    fn every_held_permission_has_a_live_chain_to_a_root_whatever_happens((anywhere, steps) in steps()) {
        let mut tale = start(anywhere);
        for step in steps {
            let command = tale.command(step);
            let _ = tale.tell(command);
            let live: BTreeSet<_> = tale
                .state
                .grants
                .values()
                .filter(|grant| grant.is_live(tale.now))
                .map(|grant| grant.id)
                .collect();
            prop_assert_eq!(live, tale.hanging_on_a_root());
            prop_assert!(tale.indexes_agree());
        }
    }

    #[test]
    fn the_compiled_permissions_answer_what_the_grants_say((anywhere, steps) in steps()) {
        let mut tale = start(anywhere);
        for step in steps {
            let command = tale.command(step);
            let _ = tale.tell(command);
        }
        for agent in tale.agents() {
            for wanted in TAGS.iter().chain(&[
                "@tool:t/a/b",
                "@tool:ta",
                "@read:/w/a/b/c",
                "@write:/w/ab",
                "@read:/p/x/y",
                "@read:/pp",
                "@write:/p/x",
            ]) {
                let wanted = tag(wanted);
                let plain = tale.plain_check(&agent, &wanted);
                prop_assert_eq!(tale.compiled_check(&agent, &wanted), plain, "{} {}", agent, wanted);
                let told = tale.state.why(&agent, &wanted, &crate::kernel::StaleGrants::new(), tale.now);
                prop_assert!(plain == Check::NotHeld || !told.is_empty(), "{} {} is not explained", agent, wanted);
                let uses = tale
                    .state
                    .agents
                    .get(&agent)
                    .is_some_and(|known| tale.state.uses(known, &wanted, tale.now, &StaleGrants::new()));
                prop_assert_eq!(uses, plain == Check::Held);
            }
        }
    }

    #[test]
    fn every_grant_between_agents_is_explained_and_was_held_by_the_giver((anywhere, steps) in steps()) {
        let mut tale = start(anywhere);
        for step in steps {
            let command = tale.command(step);
            let before = tale.state.clone();
            let now = tale.now;
            // What is given back together rests on each other.
            let (is_undo, mut so_far) = (matches!(command, Command::Restore { .. }), before.clone());
            for event in tale.tell(command).unwrap_or_default() {
                let before = if is_undo { so_far.clone() } else { before.clone() };
                so_far.apply(&event);
                let Event::GrantIssued { grant } = &event else { continue };
                prop_assert!(grant.is_live(now) && grant.since == now);
                match &grant.origin {
                    Origin::Agent { from } => {
                        prop_assert!(grant.reason.is_some());
                        prop_assert!(before.held(from, &grant.pinned.permission, now, &StaleGrants::new()).is_ok());
                        // A gift makes no permission usable that the receiver holds for delegation only.
                        let own = before.agents.get(&grant.to).into_iter().flat_map(|to| &to.held);
                        let mut only = own
                            .filter(|own| own.hold == Hold::PassOn && !matches!(own.origin, Origin::Agent { .. }));
                        let kept_back = only
                            .any(|own| own.is_live(now) && own.pinned.permission.covers(&grant.pinned.permission));
                        let hold = if kept_back { Hold::PassOn } else { Hold::Use };
                        let is_kept = is_undo && grant.hold == Hold::PassOn;
                        prop_assert!(grant.depth > 0 && (grant.hold == hold || is_kept));
                        let owner = |agent| tale.state.agents.get(agent).map(|agent| agent.profile.owner.clone());
                        prop_assert_eq!(owner(from), owner(&grant.to));
                    }
                    Origin::Person { .. } => prop_assert!(grant.reason.is_some() && grant.depth == 0),
                    Origin::Config(_) | Origin::Operator => prop_assert!(
                        grant.depth == 0 && grant.scope == Scope::Always
                    ),
                }
            }
        }
    }

    #[test]
    fn a_request_is_resolved_at_most_once_and_is_pending_or_over((anywhere, steps) in steps()) {
        let mut tale = start(anywhere);
        for step in steps {
            let command = tale.command(step);
            let _ = tale.tell(command);
        }
        let asked: Vec<_> = tale
            .events
            .iter()
            .filter_map(|event| if let Event::Requested { request } = event { Some(request.id) } else { None })
            .collect();
        let over: Vec<_> = tale
            .events
            .iter()
            .filter_map(|event|
                if let Event::Resolved { resolution, .. } = event { Some(resolution.request) } else { None }
            )
            .collect();
        let distinct: BTreeSet<_> = over.iter().copied().collect();
        prop_assert_eq!(distinct.len(), over.len());
        for id in asked {
            prop_assert!(tale.state.pending.contains_key(&id) != distinct.contains(&id));
        }
    }

    #[test]
    fn a_reload_tells_what_changed_and_nothing_else((anywhere, steps) in steps()) {
        let mut tale = start(anywhere);
        for step in steps {
            let command = tale.command(step);
            let before = tale.state.clone();
            let events = tale.tell(command).unwrap_or_default();
            let uses = |state: &State, agent: &AgentId, permission: &Permission| {
                let stale = StaleGrants::new();
                state.agents.get(agent).is_some_and(|known| state.uses(known, permission, tale.now, &stale))
            };
            let went = |agent: &AgentId| events.contains(&Event::AgentRetired { agent: agent.clone() });
            for event in &events {
                let Event::ConfigReloaded { gained, lost, .. } = event else { continue };
                for (agent, permission) in gained {
                    prop_assert!(
                        uses(&tale.state, agent, permission),
                        "{} gained {} and does not hold it",
                        agent,
                        permission
                    );
                    prop_assert!(
                        went(agent) || !uses(&before, agent, permission),
                        "{} held {} before",
                        agent,
                        permission
                    );
                }
                for (agent, permission) in lost {
                    prop_assert!(
                        went(agent) || !uses(&tale.state, agent, permission),
                        "{} lost {} and holds it",
                        agent,
                        permission
                    );
                }
            }
        }
    }
}

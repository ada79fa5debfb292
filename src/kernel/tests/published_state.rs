//! The published state, compared with the decided state.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

use proptest::prelude::*;

use super::{
    super::only_takes,
    scenario::{Scenario, Step},
    *,
};
use crate::model::{Answer, Hold, SavedDecision, Scope, Tier, ToolPolicies, Verdict};

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::property_cases::cases(192), ..ProptestConfig::default() })]

    #[test]
    fn a_state_behind_holds_nothing_that_is_lost_ahead_and_catches_up(
        steps in prop::collection::vec((any::<Step>(), 0..4_usize), 1..60),
    ) {
        let mut tale = Scenario::new(Reads::Granted);
        let mut behind = tale.state.clone();
        let mut on_its_way = VecDeque::new();
        for (step, stored) in steps {
            let command = tale.command(step);
            let batch = tale.tell(command).unwrap_or_default();
            batch.iter().for_each(|event| behind.lose(event, &tale.state));
            on_its_way.push_back(batch);
            for batch in (0..stored).map_while(|_| on_its_way.pop_front()) {
                batch.iter().for_each(|event| behind.catch_up(event, &tale.state));
            }
            for (id, grant) in &behind.grants {
                prop_assert_eq!(tale.state.grants.get(id), Some(grant), "lost ahead, or longer here");
            }
        }
        on_its_way.iter().flatten().for_each(|event| behind.catch_up(event, &tale.state));
        prop_assert!(behind == tale.state);
    }

    #[test]
    fn after_a_failure_to_store_every_grant_still_has_a_chain_to_a_root_and_no_loss_is_undone(
        before in prop::collection::vec(any::<Step>(), 0..40),
        failed in prop::collection::vec(any::<Step>(), 1..20),
    ) {
        let mut tale = Scenario::new(Reads::Granted);
        for step in before {
            let command = tale.command(step);
            let _ = tale.tell(command);
        }
        let mut stored = tale.state.clone();
        let mut unstored = Vec::new();
        for step in failed {
            let command = tale.command(step);
            unstored.extend(tale.tell(command).unwrap_or_default());
        }
        let kept = stored.keep_losses(unstored.iter(), tale.now);
        prop_assert!(kept.iter().all(only_takes));
        for (id, grant) in &stored.grants {
            if let Some(there) = tale.state.grants.get(id) {
                prop_assert!(there.hold != Hold::PassOn || grant.hold == Hold::PassOn, "for use again");
            } else {
                let ends = unstored.iter().any(|event| only_takes(event) && event.grant().is_some_and(|g| g.id == *id));
                prop_assert!(!ends, "its end was forgotten");
            }
        }
        tale.state = stored;
        let supported = tale.hanging_on_a_root();
        let mut live = tale.state.grants.values().filter(|grant| grant.is_live(tale.now));
        prop_assert!(live.all(|grant| supported.contains(&grant.id)));
        prop_assert!(tale.indexes_agree());
    }

    #[test]
    fn a_state_that_is_written_down_and_read_back_is_equal(steps in prop::collection::vec(any::<Step>(), 1..60)) {
        let mut tale = Scenario::new(Reads::Granted);
        for step in steps {
            let command = tale.command(step);
            let _ = tale.tell(command);
        }
        let image = tale.state.to_image().unwrap();
        prop_assert!(State::from_image(&image).unwrap().link().into_state() == tale.state);
    }

    #[test]
    fn a_snapshot_and_the_events_after_it_lead_to_the_state(
        steps in prop::collection::vec(any::<Step>(), 1..60),
        part in 0_usize..100,
    ) {
        let mut tale = Scenario::new(Reads::Granted);
        for step in steps {
            let command = tale.command(step);
            let _ = tale.tell(command);
        }
        let (before, after) = tale.events.split_at(tale.events.len() * part / 100);
        let image = replayed(tale.first.clone(), before).to_image().unwrap();
        let mut read = State::from_image(&image).unwrap().link();
        after.iter().for_each(|event| read.apply(event));
        prop_assert!(read.into_state() == tale.state);
    }
}

/// Covers tool policies and saved decisions, which random scenarios rarely reach.
#[test]
fn guards_and_rulings_are_written_down_and_replayed_and_what_they_deny_outlasts_the_engine() {
    let mut tale = Scenario::new(Reads::Granted);
    let run = "r0".parse().unwrap();
    let tools: BTreeSet<_> = ["bash", "read_file"].into_iter().map(|tool| tool.parse().unwrap()).collect();
    tale.tell(Command::DeclareTools { by: person("you"), run, tools }).unwrap();
    let policies = |pattern: &str| {
        Arc::new(ToolPolicies { deny_commands: vec![pattern.parse().unwrap()], ..ToolPolicies::default() })
    };
    for (tool, pattern) in [(None, "rm **"), (Some("bash".parse().unwrap()), "git **")] {
        let (by, run) = (person("you"), "r0".parse().unwrap());
        tale.tell(Command::SetPolicies { by, run, tool, is_declared: false, policies: policies(pattern) }).unwrap();
    }
    let (push, list) = (command("git push", Tier::Dangerous), command("ls a", Tier::Dangerous));
    for (number, scope) in [(1, Scope::Session), (2, Scope::Once)] {
        let asked = tale.tell(authorize(number, "b", &command(&format!("x {number}"), Tier::Dangerous))).unwrap();
        let request = asked.iter().find_map(Event::opened).expect("a question");
        let answer = Answer::allow().scope(scope);
        tale.tell(Command::Answer { request, answer, modified: None, by: person("you") }).unwrap();
    }
    let denied = tale.tell(authorize(3, "b", &list)).unwrap();
    let request = denied.iter().find_map(Event::opened).expect("a question");
    let answer = Answer::deny().scope(Scope::Session);
    tale.tell(Command::Answer { request, answer, modified: None, by: person("you") }).unwrap();
    assert!(!tale.state.guards.is_empty() && !tale.state.denied_in.is_empty() && tale.state.rulings.len() == 3);

    let mut back = State::from_image(&tale.state.to_image().unwrap()).unwrap().link().into_state();
    assert!(back == tale.state && replayed(tale.first.clone(), &tale.events) == tale.state);
    for state in [&mut back, &mut tale.state.clone()] {
        let decided = done(state, authorize(4, "b", &push));
        assert_eq!(
            decided.iter().find_map(Event::decided).map(|decision| decision.verdict()),
            Some(crate::model::Effect::Deny)
        );
    }

    let (policies, noes) = (tale.state.guards.clone(), tale.state.denied_in.clone());
    tale.tell(Command::Resume { settings: None, cut: None, runs: crate::kernel::RunsAtOpen::End }).unwrap();
    assert!(tale.state.guards == policies && tale.state.denied_in == noes, "what denies goes on");
    let allows = |ruling: &&Arc<SavedDecision>| ruling.scope == Scope::Session && ruling.verdict == Verdict::Allow;
    assert_eq!(tale.state.rulings.values().filter(allows).count(), 0);
    assert!(replayed(tale.first.clone(), &tale.events) == tale.state);
}

//! The undoing of a revocation gives back exactly what ended, and nothing to anybody else.

use std::{collections::BTreeMap, sync::Arc};

use proptest::prelude::*;

use super::{
    scenario::{Scenario, Step, revocation, runs},
    *,
};
use crate::model::{Actor, Grant, GrantId, Origin, Revocation, Scope};

fn by_ann(grant: GrantId) -> Command {
    Command::Revoke { grant, by: person("you").actor(), owner: Some(person("you").owner), reason: None }
}

fn restore(undone: &Revocation) -> Command {
    Command::Restore { by: person("you"), undone: Arc::new(undone.clone()) }
}

/// Returns how often each permission is held, with its holder, its use, its scope and its end.
fn held(state: &State) -> BTreeMap<String, u32> {
    let mut held = BTreeMap::new();
    for grant in state.grants.values() {
        let Grant { to, pinned, hold, scope, until, run, .. } = grant.to_grant();
        *held.entry(format!("{to} {} {hold:?} {scope} {until:?} {run:?}", pinned.permission)).or_default() += 1;
    }
    held
}

/// A chain of three agents, and its root.
fn chain() -> (State, GrantId) {
    let mut state = State::new(settings(|_| {}));
    for (agent, tags) in [("top", &["@write:/w"][..]), ("middle", &[]), ("end", &[])] {
        done(&mut state, register(agent, "you", Kind::Subagent, tags));
    }
    done(&mut state, grant("top", "middle", &["@write:/w/a"]));
    done(&mut state, grant("middle", "end", &["@read:/w/a/b"]));
    let root = state.agents[&id("top")].held[0].id;
    (state, root)
}

fn revoked(state: &mut State, root: GrantId) -> Revocation {
    let runs = runs(state);
    let events = done(state, by_ann(root));
    revocation(&events, runs).unwrap()
}

#[test]
fn a_whole_chain_comes_back_and_hangs_on_the_person() {
    let (mut state, root) = chain();
    let before = held(&state);
    let undone = revoked(&mut state, root);
    assert!(held(&state).is_empty());
    let events = done(&mut state, restore(&undone));
    assert_eq!(held(&state), before);
    let again = events[0].granted().unwrap();
    let grant = &state.grants[&again];
    assert!(matches!(&grant.origin, Origin::Person { by, .. } if by.as_str() == "ann"), "{grant:?}");
    done(&mut state, by_ann(again));
    assert!(held(&state).is_empty(), "everything rests on the grant of the person");
}

#[test]
fn a_revocation_stands_if_another_person_revoked_or_an_agent_goes_on() {
    let (mut state, root) = chain();
    let undone = revoked(&mut state, root);
    let bert = Person { by: "bert".parse().unwrap(), ..person("you") };
    let of_bert = Command::Restore { by: bert, undone: Arc::new(undone.clone()) };
    assert!(matches!(state.execute(of_bert, NOW), Err(Refusal::RevocationStands(_))));
    let of_others = Command::Restore { by: person("them"), undone: Arc::new(undone.clone()) };
    assert!(matches!(state.execute(of_others, NOW), Err(Refusal::OtherOwner { .. })));
    done(&mut state, begin_run("end", "r9".parse().unwrap()));
    assert!(matches!(state.execute(restore(&undone), NOW), Err(Refusal::RevocationStands(_))));
    assert!(held(&state).is_empty(), "all of it or nothing");
}

#[test]
fn another_agent_with_the_id_of_one_that_is_gone_gets_nothing() {
    let (mut state, root) = chain();
    let undone = revoked(&mut state, root);
    done(&mut state, Command::Retire { agent: id("end") });
    assert!(matches!(state.execute(restore(&undone), NOW), Err(Refusal::UnknownAgent(_))));
    let other = Command::Register {
        profile: profile("end", "you", Kind::Subagent),
        run: "r7".parse().unwrap(),
        permissions: Vec::new(),
    };
    done(&mut state, other);
    assert!(matches!(state.execute(restore(&undone), NOW), Err(Refusal::RevocationStands(_))));
}

#[test]
fn a_grant_in_a_ring_waits_for_the_support_that_lasts() {
    let mut state = State::new(settings(|_| {}));
    for (agent, tags) in [("root", &["@network"][..]), ("a", &[]), ("b", &[]), ("c", &[])] {
        done(&mut state, register(agent, "you", Kind::Subagent, tags));
    }
    let until = Scope::Until(NOW.after(std::time::Duration::from_secs(60)));
    let timed = Command::Grant {
        from: id("root"),
        to: id("a"),
        permissions: pinned(&["@network"]),
        reason: "why".parse().unwrap(),
        scope: until,
        broken: StaleGrants::new(),
    };
    done(&mut state, grant("root", "b", &["@network"]));
    done(&mut state, grant("b", "c", &["@network"]));
    done(&mut state, timed);
    done(&mut state, grant("a", "c", &["@network"]));
    done(&mut state, grant("c", "a", &["@network"]));
    let before = held(&state);
    let root = state.agents[&id("root")].held[0].id;
    let undone = revoked(&mut state, root);
    done(&mut state, restore(&undone));
    assert_eq!(held(&state), before);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::property_cases::cases(128), ..ProptestConfig::default() })]

    /// An undo at once gives back what ended and no more, or nothing, whatever went before.
    #[test]
    fn an_undo_gives_back_what_ended_and_no_more(
        steps in proptest::collection::vec(any::<Step>(), 1..60),
        which in any::<prop::sample::Index>(),
    ) {
        let mut tale = Scenario::new(Reads::Granted);
        for step in steps {
            let command = tale.command(step);
            let _ = tale.tell(command);
        }
        let grants: Vec<_> = tale.state.grants.keys().copied().collect();
        prop_assume!(!grants.is_empty());
        let (before, state) = (held(&tale.state), tale.state.clone());
        let runs = runs(&tale.state);
        let Ok(events) = tale.tell(by_ann(grants[which.index(grants.len())])) else { return Ok(()) };
        let shortened = events.iter().any(|event| matches!(event, Event::GrantChanged { .. }));
        let Some(undone) = revocation(&events, runs) else { return Ok(()) };
        let after_revocation = tale.state.clone();
        match tale.tell(restore(&undone)) {
            Ok(_) if shortened => {}
            Ok(events) if events.iter().all(|event| matches!(event, Event::GrantIssued { .. })) => {
                prop_assert_eq!(held(&tale.state), before);
            }
            Ok(_) => {}
            Err(_) => prop_assert!(tale.state == after_revocation),
        }
        // Nobody may do more than before the revocation.
        for grant in tale.state.grants.values() {
            let is_old = state.grants.values().any(|old| {
                old.to == grant.to && old.pinned == grant.pinned && (old.hold == grant.hold || old.hold == Hold::Use)
            });
            prop_assert!(is_old, "{grant:?}");
        }
    }
}

#[test]
fn the_host_program_is_not_the_person_who_revoked() {
    let (mut state, root) = chain();
    let runs = runs(&state);
    let events = done(&mut state, Command::Revoke { grant: root, by: Actor::Operator, owner: None, reason: None });
    let undone = Revocation { by: Actor::Operator, ..revocation(&events, runs).unwrap() };
    assert!(matches!(state.execute(restore(&undone), NOW), Err(Refusal::RevocationStands(_))));
}

//! Support of permissions in difficult graph shapes.

use super::*;
use crate::model::{Actor, Ended, GrantId, Origin, Scope};

fn given(events: &[Event]) -> GrantId {
    events.iter().find_map(Event::granted).unwrap()
}

fn revoke(state: &mut State, grant: GrantId) -> Vec<Event> {
    done(state, Command::Revoke { grant, by: Actor::Operator, owner: None, reason: None })
}

fn agents(holders: &[(&str, &[&str])]) -> State {
    let mut state = State::new(settings(|_| {}));
    for (agent, tags) in holders {
        done(&mut state, register(agent, "you", Kind::Subagent, tags));
    }
    state
}

fn give(to: &str, wanted: &str, scope: Scope) -> Command {
    Command::Give {
        by: person("you"),
        to: id(to),
        permissions: starts(&[wanted]),
        reason: "why".parse().unwrap(),
        scope,
    }
}

fn holders(state: &State) -> Vec<String> {
    state.grants.values().map(|grant| format!("{}:{}", grant.to, grant.pinned.permission)).collect()
}

#[test]
fn a_circle_falls_when_nothing_outside_holds_it_up() {
    let mut state = agents(&[("a", &["@network"]), ("b", &[]), ("c", &[]), ("d", &[])]);
    let root = state.agents[&id("a")].held[0].id;
    for (from, to) in [("a", "b"), ("b", "c"), ("c", "d"), ("d", "b"), ("c", "b"), ("b", "a"), ("d", "a")] {
        done(&mut state, grant(from, to, &["@network"]));
    }
    revoke(&mut state, root);
    assert_eq!(holders(&state), Vec::<String>::new());
}

#[test]
fn a_circle_with_a_second_root_stays_up_and_falls_with_that() {
    let mut state = agents(&[("a", &["@network"]), ("b", &[]), ("c", &["@network"])]);
    let [first, second] = ["a", "c"].map(|agent| state.agents[&id(agent)].held[0].id);
    for (from, to) in [("a", "b"), ("b", "a"), ("c", "b")] {
        done(&mut state, grant(from, to, &["@network"]));
    }
    let events = revoke(&mut state, first);
    assert_eq!(events.len(), 1, "what a has of b hangs on c now, and so does what b has of a: {events:?}");
    revoke(&mut state, second);
    assert_eq!(holders(&state), Vec::<String>::new());
}

#[test]
fn a_diamond_stands_on_either_leg_and_on_no_less() {
    let mut state = agents(&[("top", &["@write:/w"]), ("left", &[]), ("right", &[]), ("bottom", &[])]);
    let left = given(&done(&mut state, grant("top", "left", &["@write:/w/a"])));
    let right = given(&done(&mut state, grant("top", "right", &["@read:/w/a"])));
    let from_left = given(&done(&mut state, grant("left", "bottom", &["@read:/w/a/b"])));
    let from_right = given(&done(&mut state, grant("right", "bottom", &["@read:/w/a/b"])));
    assert_ne!(from_left, from_right, "two givers are two grants");
    let fell = revoke(&mut state, left);
    assert!(matches!(&fell[1], Event::GrantRevoked { grant, ended }
            if grant.id == from_left && *ended == Ended::SupportLost { with: Some(left) }));
    assert_eq!(fell.len(), 2);
    assert!(!state.why(&id("bottom"), &tag("@read:/w/a/b"), &StaleGrants::new(), NOW).is_empty());
    assert_eq!(revoke(&mut state, right).len(), 2);
    assert!(state.why(&id("bottom"), &tag("@read:/w/a/b"), &StaleGrants::new(), NOW).is_empty());
}

#[test]
fn a_support_that_covers_only_part_saves_only_that() {
    let mut state = agents(&[("a", &["@write:/w", "@read:/w/a"]), ("b", &[])]);
    let whole = state.agents[&id("a")].held[0].id;
    done(&mut state, grant("a", "b", &["@write:/w/a", "@read:/w/a/x", "@read:/w/b"]));
    revoke(&mut state, whole);
    assert_eq!(holders(&state), ["a:@read:/w/a", "b:@read:/w/a/x"]);
}

#[test]
fn ends_shorten_all_the_way_down_when_the_longer_support_goes() {
    let at = |millis| Timestamp::from_millis(NOW.as_millis() + millis);
    let mut state = agents(&[("a", &[]), ("b", &[]), ("c", &[])]);
    done(&mut state, give("a", "@network", Scope::Until(at(10))));
    let longer = given(&done(&mut state, give("a", "@network", Scope::Until(at(90)))));
    done(&mut state, grant("a", "b", &["@network"]));
    done(&mut state, grant("b", "c", &["@network"]));
    let end = |state: &State, agent| state.agents[&id(agent)].held[0].until;
    assert_eq!((end(&state, "b"), end(&state, "c")), (Some(at(90)), Some(at(90))));
    let events = revoke(&mut state, longer);
    assert_eq!(events.iter().filter(|event| matches!(event, Event::GrantChanged { .. })).count(), 2);
    assert_eq!((end(&state, "b"), end(&state, "c")), (Some(at(10)), Some(at(10))));
    assert_eq!(state.next_due(), Some(at(10)));
    let over = state.execute(Command::Tick, at(10)).unwrap();
    assert_eq!(over.len(), 3);
    assert_eq!((holders(&state), state.next_due()), (Vec::new(), None));
}

#[test]
fn the_next_due_is_the_first_end_or_deadline() {
    let at = |millis| Timestamp::from_millis(NOW.as_millis() + millis);
    let mut state = agents(&[("a", &[])]);
    assert_eq!(state.next_due(), None);
    done(&mut state, request(1, "a", &["@events"]));
    assert_eq!(state.next_due(), Some(at(300_000)));
    let timed = given(&done(&mut state, give("a", "@network", Scope::Until(at(5)))));
    assert_eq!(state.next_due(), Some(at(5)));
    revoke(&mut state, timed);
    assert_eq!(state.next_due(), Some(at(300_000)));
    assert!(state.execute(Command::Tick, at(299_999)).unwrap().is_empty());
    assert_eq!(state.execute(Command::Tick, at(300_000)).unwrap().len(), 1);
    assert_eq!(state.next_due(), None);
}

#[test]
fn who_goes_takes_along_what_only_they_held_up() {
    let mut state = agents(&[("a", &["@network"]), ("b", &[]), ("c", &["@network"]), ("d", &[])]);
    done(&mut state, grant("a", "b", &["@network"]));
    done(&mut state, grant("b", "d", &["@network"]));
    done(&mut state, grant("c", "d", &["@network"]));
    done(&mut state, Command::Retire { agent: id("a") });
    assert_eq!(holders(&state), ["c:@network", "d:@network"]);
    assert!(!state.agents.contains_key(&id("a")));
}

#[test]
fn circles_of_reads_fall_when_reading_is_no_longer_free() {
    let mut state = State::new(settings(|settings| settings.reads = Reads::Anywhere));
    for (agent, tags) in [("a", &["@read:/w/held"][..]), ("b", &[]), ("c", &[])] {
        done(&mut state, register(agent, "you", Kind::Subagent, tags));
    }
    for (from, to) in [("a", "b"), ("b", "c"), ("c", "b"), ("c", "a")] {
        done(&mut state, grant(from, to, &["@read:/etc", "@read:/w/held"]));
    }
    let policy = crate::model::Policy { settings: settings(|_| {}), agents: Default::default(), left_out: Vec::new() };
    let configure = Command::Configure { policy: policy.into(), run: "r0".parse().unwrap() };
    let events = done(&mut state, configure);
    assert!(state.grants.values().all(|grant| grant.pinned.permission == tag("@read:/w/held")));
    assert!(
        ["a", "b", "c"]
            .iter()
            .all(|agent| !state.why(&id(agent), &tag("@read:/w/held"), &StaleGrants::new(), NOW).is_empty())
    );
    let without_reason =
        |event: &&Event| matches!(event, Event::GrantRevoked { ended: Ended::SupportLost { with: None }, .. });
    assert_eq!(events.iter().filter(without_reason).count(), 4);
}

#[test]
fn every_agents_grant_says_from_whom_and_why() {
    let mut state = agents(&[("a", &["@network"]), ("b", &[])]);
    done(&mut state, grant("a", "b", &["@network"]));
    let grant = &state.agents[&id("b")].held[0];
    assert_eq!(grant.origin, Origin::Agent { from: id("a") });
    assert_eq!(grant.reason.as_ref().map(|reason| reason.as_str()), Some("why"));
    assert_eq!((grant.since, grant.depth), (NOW, 1));
}

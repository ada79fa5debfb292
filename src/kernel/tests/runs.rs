//! Runs after a restart. A resumed engine leaves every agent in its run.

use std::collections::BTreeSet;

use super::{super::RunsAtOpen, *};
use crate::model::{Answer, Scope};

#[test]
fn every_agent_is_in_its_run_after_a_restart() {
    let mut state = State::new(settings(|_| {}));
    for agent in ["a", "b", "c"] {
        done(&mut state, register(agent, "you", Kind::Subagent, &[]));
    }
    done(&mut state, begin_run("c", "alone".parse().unwrap()));
    let runs = |state: &State| -> BTreeSet<_> {
        state.agents.values().map(|agent| (agent.profile.id.clone(), agent.run.clone())).collect()
    };
    let before = runs(&state);
    done(&mut state, Command::Resume { settings: None, cut: None, runs: RunsAtOpen::End });
    assert_eq!(runs(&state), before);
}

/// The ways to resume twice, and the number of permissions for the session that are left.
#[test]
fn what_holds_for_a_session_outlives_a_restart_only_between_engines_that_both_leave_the_runs_to_the_next() {
    use RunsAtOpen::{AsBefore, End, GoOn};
    for (ways, cut, left) in [
        ([End, End, GoOn], false, 0),
        ([End, GoOn, End], false, 0),
        ([End, AsBefore, GoOn], false, 0),
        ([GoOn, GoOn, GoOn], false, 1),
        ([GoOn, AsBefore, GoOn], false, 1),
        ([GoOn, AsBefore, AsBefore], false, 1),
        ([GoOn, End, GoOn], false, 0),
        ([GoOn, GoOn, GoOn], true, 0),
    ] {
        let mut state = State::new(settings(|_| {}));
        let resume = |runs, cut: bool| {
            let cut = cut.then(|| "a record".into());
            Command::Resume { settings: None, cut, runs }
        };
        done(&mut state, resume(ways[0], false));
        done(&mut state, register("a", "you", Kind::Subagent, &[]));
        done(&mut state, request(1, "a", &["@network"]));
        let answer = Answer::allow().scope(Scope::Session);
        done(&mut state, Command::Answer { request: request_id(1), answer, modified: None, by: person("you") });
        assert_eq!(state.agents[&id("a")].held.len(), 1);
        // What was said about the runs is a part of what is stored.
        let mut state = State::from_image(&serde_json::to_vec(&state).unwrap()).unwrap().link().into_state();
        done(&mut state, resume(ways[1], false));
        done(&mut state, resume(ways[2], cut));
        assert_eq!(state.agents[&id("a")].held.len(), left, "{ways:?}, cut: {cut}");
    }
}

#[test]
fn the_approval_of_a_destructive_action_ends_with_the_engine_also_where_runs_go_on() {
    let mut state = State::new(settings(|_| {}));
    let resume = || Command::Resume { settings: None, cut: None, runs: RunsAtOpen::GoOn };
    done(&mut state, resume());
    done(&mut state, register("a", "you", Kind::Subagent, &[]));
    let action = command("rm -rf x", crate::model::Tier::Destructive);
    let (by, reason) = (person("you"), "why".parse().unwrap());
    done(&mut state, Command::Enable { by, agent: id("a"), action, reason });
    assert_eq!(state.rulings.len(), 1);
    done(&mut state, resume());
    assert!(state.rulings.is_empty(), "{:?}", state.rulings);
}

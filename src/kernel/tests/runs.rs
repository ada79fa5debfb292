//! Runs after a restart. A resumed engine leaves every agent in its run.

use std::collections::BTreeSet;

use super::*;

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
    done(&mut state, Command::Resume { settings: None, cut: None });
    assert_eq!(runs(&state), before);
}

//! Runs after a restart. A resumed engine never puts an agent into the run of another one.

use std::collections::BTreeSet;

use super::*;

#[test]
fn agents_that_were_in_one_run_are_each_in_their_own_after_a_restart() {
    let mut state = State::new(settings(|_| {}));
    for agent in ["a", "b", "c"] {
        done(&mut state, register(agent, "you", Kind::Subagent, &[]));
    }
    done(&mut state, begin_run("c", "alone".parse().unwrap()));
    done(&mut state, Command::Resume { settings: None, run: "after".parse().unwrap(), cut: None });
    let runs: BTreeSet<_> = state.agents.values().map(|agent| agent.run.clone()).collect();
    assert_eq!(runs.len(), 3, "{runs:?}");
    assert_eq!(
        state.agents[&id("c")].run.as_str(),
        "alone",
        "who has nothing of its run, and is alone in it, stays in it"
    );
}

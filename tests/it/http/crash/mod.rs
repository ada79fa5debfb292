//! A server that is killed at any moment while many clients write over HTTP and WebSocket. The next server has
//! everything that was acknowledged, and nothing that nobody asked for. `scripts/kill-server` does the same many times.
#![cfg(feature = "cli")]

mod keys;
mod ledger;
mod survey;
mod writers;

use std::{env, sync::Arc};

use rustix::process::Signal;
use tokio::task::JoinSet;

use self::{ledger::Ledger, writers::Writer};
use super::project::Project;

/// A variable with the number of kills. Without it, there are fifteen.
const KILLS: &str = "BESTOW_SERVER_KILLS";

/// The number of kills of the servers that use one state directory.
const LIVES: usize = 30;

/// The agents, one for each kind of writes, so that no writer disturbs another one.
const AGENTS: [&str; 8] = ["granted", "asker", "caller", "moded", "guarded", "judged", "enabled", "filed"];

/// The policy file. The agent of the last table gets the permissions of `lines`.
fn policy(lines: &[String]) -> String {
    let engine = "\
[engine]
confirm_widening = true
denial_memory = \"0s\"
request_timeout = \"1d\"
max_pending = 100000
max_asks_per_minute = 1000000
max_changes_per_minute = 1000000
max_facts_per_minute = 1000000
max_grants = 100000

[defaults]
owner = \"you\"
working_dir = \".\"
";
    let agents: String = AGENTS.iter().map(|agent| format!("\n[agents.{agent}]\nkind = \"subagent\"\n")).collect();
    format!("{engine}{agents}permissions = {lines:?}\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_of_the_server_loses_nothing_that_was_acknowledged() {
    let kills = env::var(KILLS).map_or(15, |kills| kills.parse::<usize>().unwrap());
    let mut count = 0;
    for first in (0..kills).step_by(LIVES) {
        count += lives(first..kills.min(first + LIVES)).await;
        println!("{} kills, {count} acknowledged steps, none lost", kills.min(first + LIVES));
    }
    assert!(kills * 5 < count, "only {count} steps were acknowledged");
}

/// Kills the servers of one state directory. Returns the number of acknowledged steps.
async fn lives(range: std::ops::Range<usize>) -> usize {
    let mut project = Project::new();
    let ledger = Arc::new(Ledger::default());
    project.policy(&policy(&[]));
    let tokens = writers::tokens(&project);
    project.serve();
    for life in range {
        let writer = Arc::new(Writer::new(&project, tokens.clone(), Arc::clone(&ledger), life));
        let mut writers = JoinSet::new();
        writers::start(&writer, &mut writers);
        // A different moment in each life: sometimes before the first step, and never at one place of the work.
        ledger.counts(life * 7919 % 80).await;
        project.end(Signal::KILL);
        while let Some(ended) = writers.join_next().await {
            ended.unwrap();
        }
        project.serve();
        survey::agrees(&project, &tokens, &ledger, life).await;
    }
    ledger.total()
}

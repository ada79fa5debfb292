//! A mixed load for minutes on a server and on a program with an engine: the memory, the descriptors, the threads and
//! the latencies of both processes stay flat. `scripts/soak` runs it.

mod figures;
mod program;
mod server;

use std::{
    env,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::time::Instant;

use self::{
    figures::{Figures, Series},
    program::Program,
};
use super::http::project::Project;

/// A variable with the seconds of the run. Without it, there are thirty.
const SECONDS: &str = "BESTOW_SOAK";

/// The number of intervals whose figures are compared.
const INTERVALS: u32 = 15;

/// Times of calls, until somebody asks for them.
#[derive(Clone, Debug, Default)]
struct Times(Arc<Mutex<Vec<Duration>>>);

impl Times {
    fn add(&self, began: Instant) {
        self.0.lock().unwrap().push(began.elapsed());
    }

    fn take(&self) -> Vec<Duration> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// The policy of both processes. Each second version has one more permission and one more rule.
fn policy(version: u64) -> String {
    let more = if version.is_multiple_of(2) { "" } else { "permissions = [\"@write:/srv/reloaded\"]\n" };
    let rule = "\n[[agents.filed.rules]]\nverdict = \"deny\"\ncommand = \"git push\"\n";
    let rule = if version.is_multiple_of(2) { "" } else { rule };
    let agents: String =
        ["granted", "asker", "bot"].map(|id| format!("\n[agents.{id}]\nkind = \"subagent\"\n")).concat();
    format!(
        "[engine]\nrequest_timeout = \"10s\"\ndenial_memory = \"0s\"\nmax_pending = 1000000\nmax_asks_per_minute = \
         1000000\nmax_changes_per_minute = 1000000\nmax_facts_per_minute = 1000000\n\n[defaults]\nowner = \
         \"you\"\nworking_dir = \".\"\n\n[agents.lead]\nkind = \"foreground\"\n{agents}\n[agents.filed]\nkind = \
         \"cron\"\n{more}{rule}"
    )
}

#[ignore = "it runs for minutes: scripts/soak"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_mixed_load_leaves_everything_flat() {
    if let Ok(place) = env::var(program::CHILD) {
        return program::live(place.as_ref()).await;
    }
    let seconds = env::var(SECONDS).map_or(30, |seconds| seconds.parse::<u32>().unwrap());
    let mut project = Project::new();
    project.policy(&policy(0));
    let clients = server::Clients::of(&mut project);
    let mut load = clients.start();
    let mut program = Program::start();
    let (mut of_server, mut of_program) = (Series::of("bestow serve"), Series::of("a program"));
    let mut tick = tokio::time::interval(Duration::from_secs(1) * seconds / INTERVALS);
    tick.tick().await;
    for _ in 0..INTERVALS {
        tick.tick().await;
        of_server.add(Figures::of(project.process(), clients.times.take()));
        of_program.add(program.figures());
        assert!(!load.is_ended(), "a client has stopped");
    }
    load.stop().await;
    let problems = [of_server.problems(), of_program.problems()].concat();
    println!("{of_server}\n{of_program}");
    assert!(problems.is_empty(), "{problems:?}");
}

//! Measures how long the answer about `ls` takes while eight agents of another owner ask about searches of a large
//! tree: `cargo bench -p bestow-benches --bench neighbours`. Prints both in one run, and their ratio.
#![allow(missing_docs, reason = "a bench has no reader but its author and the next one")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a bench may stop, and looks at the clock"
)]

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use bestow::{
    Action, Agent, AgentId, Engine, PolicyFile, Settings,
    host::{DiskPaths, SystemClock},
};

/// The number of directories, with as many files in each.
const WIDTH: usize = 150;

/// The time between two questions of the neighbour, as a coding agent might ask.
const PAUSE: Duration = Duration::from_millis(2);

const QUESTIONS: usize = 2_000;

const SEARCHERS: usize = 8;

/// Writes a policy file with a deny rule for every agent. It lies beside the tree.
fn policy(directory: &Path) -> std::path::PathBuf {
    let mut text = "[defaults]\nowner = \"you\"\nworking_dir = \"tree\"\n\n\
                    [[defaults.rules]]\nverdict = \"deny\"\npath = \"/**/.env\"\n\n\
                    [agents.neighbour]\nkind = \"permanent\"\nowner = \"them\"\n"
        .to_owned();
    (0..SEARCHERS).for_each(|number| text += &format!("\n[agents.searcher-{number}]\nkind = \"permanent\"\n"));
    let file = directory.join("agents.toml");
    fs::write(&file, text).unwrap();
    file
}

/// Returns the median and the 99th percentile of the answers about `ls`.
async fn answers(agent: &Agent) -> (Duration, Duration) {
    let mut times = Vec::with_capacity(QUESTIONS);
    for number in 0..QUESTIONS {
        let action = Action::command(&format!("ls -la d{}", number % WIDTH));
        let start = Instant::now();
        let _ = std::hint::black_box(agent.authorize(action).await.unwrap());
        times.push(start.elapsed());
        tokio::time::sleep(PAUSE).await;
    }
    times.sort_unstable();
    (times[QUESTIONS / 2], times[QUESTIONS * 99 / 100])
}

async fn search(agent: Agent, stop: Arc<AtomicBool>) -> usize {
    let mut done = 0;
    while !stop.load(Ordering::Relaxed) {
        let _ = std::hint::black_box(agent.authorize(Action::command("grep -rn x .")).await.unwrap());
        done += 1;
    }
    done
}

fn main() {
    let directory = tempfile::tempdir().unwrap();
    for number in 0..WIDTH {
        let place = directory.path().join(format!("tree/d{number}"));
        fs::create_dir_all(&place).unwrap();
        (0..WIDTH).for_each(|file| fs::write(place.join(format!("f{file}")), "x").unwrap());
    }
    let file = policy(directory.path());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let engine = Engine::on(Settings::default(), Arc::new(SystemClock::new()), Arc::new(DiskPaths)).unwrap();
        engine.configure(PolicyFile::new(file).load().unwrap()).await.unwrap();
        let agent = |id: &str| engine.agent(id.parse::<AgentId>().unwrap()).unwrap();
        let neighbour = agent("neighbour");
        let (median, tail) = answers(&neighbour).await;
        let stop = Arc::new(AtomicBool::new(false));
        let mut searching = Vec::new();
        for number in 0..SEARCHERS {
            searching.push(tokio::spawn(search(agent(&format!("searcher-{number}")), Arc::clone(&stop))));
        }
        let (beside_median, beside_tail) = answers(&neighbour).await;
        stop.store(true, Ordering::Relaxed);
        let mut searches = 0;
        for agent in searching {
            searches += agent.await.unwrap();
        }
        let ratio = beside_tail.as_secs_f64() / tail.as_secs_f64();
        println!("`ls` in a tree of {} files, under a deny rule for `/**/.env`", WIDTH * WIDTH);
        println!("alone: median {median:?}, 99th percentile {tail:?}");
        println!("beside {searches} searches of {SEARCHERS} agents:");
        println!("  median {beside_median:?}, 99th percentile {beside_tail:?}");
        println!("ratio of the 99th percentiles: {ratio:.2}");
    });
}

//! Large trails: the start with many live grants, the verification of a million records, and `bestow revoke`.

use std::{
    env,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::Instant,
};

use sha2::{Digest as _, Sha256};

use bestow::{AgentId, InitialGrants, Kind, Profile, grant::Scope, journal::audit};

/// A variable that is set in the process whose start is measured: its state directory.
pub(crate) const CHILD: &str = "BESTOW_BENCH_START";

/// A variable that is set in the process whose verification is measured: its state directory.
pub(crate) const VERIFIED: &str = "BESTOW_BENCH_VERIFY";

const AGENTS: u64 = 1_000;

/// The records of the large trail, and the grants that are live at its end.
const RECORDS: u64 = 1_000_000;
const LIVE: u64 = 500_000;

const POLICY: &str = "[agents.lead]\nkind = \"cron\"\nowner = \"you\"\nworking_dir = \"/\"\n";

/// The command line.
const BESTOW: &str = env!("CARGO_BIN_EXE_bestow-measured");

/// Prints the milliseconds until the engine on `directory` answers, and the largest memory that it used, in MB.
pub(crate) async fn start(directory: &Path) {
    let started = Instant::now();
    let engine = super::engine(directory, super::SEGMENT).await;
    let took = started.elapsed();
    // The list of all grants takes memory of its own.
    let (most, then) = (in_mb("VmHWM:"), in_mb("VmRSS:"));
    let grants = engine.grants().unwrap().len();
    println!("{} {most} {then} {grants}", took.as_millis());
    engine.shutdown().await;
}

/// Prints the milliseconds of the verification of `directory`, and the largest memory that it used, in MB.
pub(crate) fn verify(directory: &Path) {
    let started = Instant::now();
    let verified = audit::verify(directory, None).unwrap();
    println!("{} {} {}", started.elapsed().as_millis(), in_mb("VmHWM:"), verified.head.sequence);
}

/// Returns the words that a process of its own prints about `directory`.
fn measured(variable: &str, directory: &Path) -> Vec<String> {
    let output = Command::new(env::current_exe().unwrap()).env(variable, directory).output().unwrap();
    String::from_utf8(output.stdout).unwrap().split_whitespace().map(str::to_owned).collect()
}

fn in_mb(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

/// Stores `live` grants, after as many revocations as make `records` records.
async fn fill(directory: &Path, records: u64, live: u64) {
    let engine = super::engine(directory, super::SEGMENT).await;
    let mut writers = Vec::new();
    let revoked = records.saturating_sub(live) / 2;
    for number in 0..AGENTS {
        let id: AgentId = format!("agent-{number}").parse().unwrap();
        let profile = Profile::new(id.clone(), "you".parse().unwrap(), Kind::Cron, "/".parse().unwrap());
        engine.register(profile, InitialGrants::nothing()).await.unwrap();
        let you = engine.approver("you", "ann", "bench");
        writers.push(tokio::spawn(async move {
            for step in 0..(live + revoked) / AGENTS {
                let wanted = super::write(&format!("/srv/work/project-{number}/{step}"));
                let given = you.give(&id, wanted, Scope::Always, "the work of this project").await.unwrap();
                if step < revoked / AGENTS {
                    you.revoke(given[0], None).await.unwrap();
                }
            }
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    engine.shutdown().await;
}

pub(crate) fn measure(directory: &Path, runtime: &tokio::runtime::Runtime) {
    let large = directory.join("large");
    let filled = Instant::now();
    runtime.block_on(fill(&large, RECORDS, LIVE));
    println!("a trail of {RECORDS} records was stored in {:.1} s", filled.elapsed().as_secs_f64());
    for _ in 0..3 {
        let words = measured(CHILD, &large);
        println!(
            "start with {} live grants: {} ms, at most {} MB, then {} MB (aims: 2000 ms, 300 MB)",
            words[3], words[0], words[1], words[2]
        );
    }
    for _ in 0..3 {
        let words = measured(VERIFIED, &large);
        let limit = read_and_hash(&large);
        let ratio = words[0].parse::<f64>().unwrap() / limit;
        println!(
            "verify of {} records: {} ms, at most {} MB (aims: 5000 ms, 250 MB), {ratio:.2} times the limit of \
             {limit:.0} ms",
            words[2], words[0], words[1]
        );
    }
    let small = directory.join("small");
    runtime.block_on(fill(&small, 1_000, 1_000));
    revoke(directory, &small, "1000");
    revoke(directory, &large, "500000");
}

/// Returns the milliseconds in which two threads read all records of `directory` as JSON and hash them, written by
/// hand. It is measured right after the verification, because the speed of a virtual machine changes.
fn read_and_hash(directory: &Path) -> f64 {
    let started = Instant::now();
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let is_segment = |path: &std::path::PathBuf| path.extension().is_some_and(|extension| extension == "jsonl");
    let mut segments: Vec<_> = files.filter(is_segment).collect();
    segments.sort();
    let records = std::thread::scope(|scope| {
        let threads = [0, 1].map(|first| {
            let segments = &segments;
            scope.spawn(move || segments.iter().skip(first).step_by(2).map(|path| read_segment(path)).sum::<u64>())
        });
        threads.map(|thread| thread.join().unwrap()).into_iter().sum::<u64>()
    });
    assert!(RECORDS <= records, "{records}");
    started.elapsed().as_secs_f64() * 1e3
}

/// Reads and hashes the records of a file. Returns their number.
fn read_segment(path: &Path) -> u64 {
    let text = std::fs::read_to_string(path).unwrap();
    let mut hash = [0; 32];
    let records = text.lines().map(|line| {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        hash = Sha256::new().chain_update(hash).chain_update(line).finalize().into();
        record["sequence"].as_u64().unwrap()
    });
    let count = u64::try_from(records.map(std::hint::black_box).count()).unwrap();
    std::hint::black_box(hash);
    count
}

/// Prints the milliseconds of `bestow revoke`, with a running server and without one.
fn revoke(directory: &Path, state: &Path, live: &str) {
    let policy = directory.join("agents.toml");
    std::fs::write(&policy, POLICY).unwrap();
    let mut server = serve(&policy, state);
    let listed = run(state, &["grants", "--json", "--agent", "agent-7"]);
    let with: Vec<_> = listed.lines().take(51).map(|line| timed(state, &name_in(line))).collect();
    server.kill().unwrap();
    server.wait().unwrap();
    // Grants of another agent, which are all there.
    let listed = run(state, &["grants", "--json", "--agent", "agent-8"]);
    let without: Vec<_> = listed.lines().take(3).map(|line| timed(state, &name_in(line))).collect();
    println!(
        "revoke at {live} live grants: {:.1} ms with a server, {:.1} ms without one",
        median(with),
        median(without)
    );
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn name_in(line: &str) -> String {
    let grant: serde_json::Value = serde_json::from_str(line).unwrap();
    grant["id"].as_str().map_or_else(|| format!("g{}", grant["id"]), str::to_owned)
}

fn serve(policy: &Path, state: &Path) -> Child {
    let mut command = Command::new(BESTOW);
    command.args(["serve", "--listen", "127.0.0.1:0", "--config"]).arg(policy).arg("--state").arg(state);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("listening on "), "{line}");
    child
}

fn run(state: &Path, words: &[&str]) -> String {
    let done = Command::new(BESTOW).args(words).arg("--state").arg(state).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    String::from_utf8(done.stdout).unwrap()
}

/// Returns the milliseconds of a revocation, from the start of the process to its end.
fn timed(state: &Path, name: &str) -> f64 {
    let token = state.join("approver-token");
    let started = Instant::now();
    let told = run(state, &["revoke", name, "--as", "ann", "--token-file", token.to_str().unwrap()]);
    let took = started.elapsed();
    assert!(told.contains("was revoked"), "{told}");
    took.as_secs_f64() * 1e3
}

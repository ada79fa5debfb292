//! Measures the start of a command in a sandbox: per back end, beside a plain start of the same program, and as a ratio
//! to bubblewrap with the same namespaces and nothing else.

#![allow(clippy::unwrap_used, reason = "a bench that cannot be set up has nothing to say")]
#![allow(clippy::disallowed_methods, reason = "it measures time, and what it made has to be older than just now")]

use std::{
    fs,
    path::Path,
    process,
    time::{Duration, Instant},
};

use bestow::{
    Agent, Engine, InitialGrants, Kind, Permission, Settings,
    action::ExecScope,
    agent::Mode,
    grant::PermissionSet,
    path::{PathGlob, Reach},
    sandbox::{Command, Profile, Sandbox},
    tool::ToolPolicies,
};

/// Creates a workspace with `files` files, none of them sensitive.
fn workspace(files: usize) -> (tempfile::TempDir, Profile) {
    let dir = tempfile::tempdir().unwrap();
    for file in 0..files {
        let below = dir.path().join(format!("d{}", file / 100));
        fs::create_dir_all(&below).unwrap();
        fs::write(below.join(format!("f{file}")), "").unwrap();
    }
    let root: Permission = format!("@write:{}", dir.path().display()).parse().unwrap();
    let mut caller = PermissionSet::empty(dir.path().to_str().unwrap().parse().unwrap());
    caller.insert(root.clone());
    let profile = Profile::of(&ExecScope::of(&caller, [&root]).unwrap(), []).unwrap();
    (dir, profile)
}

/// Returns an agent that works in `dir`, and that may not read what a pattern matches there.
async fn denied(dir: &Path) -> (Engine, Agent) {
    let engine = Engine::new(Settings::default()).unwrap();
    let workspace: bestow::path::SanitizedPath = dir.to_str().unwrap().parse().unwrap();
    let glob = PathGlob::at("**/*.secret", &workspace, Reach::Below).unwrap();
    let profile = bestow::Profile::new("worker".parse().unwrap(), "you".parse().unwrap(), Kind::Permanent, workspace);
    let held = InitialGrants::of([format!("@write:{}", dir.display()).parse().unwrap()]);
    let agent = engine.register(profile.in_mode(Mode::Bypass), held).await.unwrap();
    let run: bestow::agent::RunId = "measured".parse().unwrap();
    engine.begin_run(agent.id(), run.clone()).await.unwrap();
    let policies = ToolPolicies { forbidden: vec![glob], ..ToolPolicies::default() };
    engine.approver("you", "ann", "bench").set_policies(&run, None, policies).await.unwrap();
    (engine, agent)
}

/// Creates `count` repositories in `dir`.
fn with_repositories(dir: &Path, count: usize) {
    for number in 0..count {
        fs::create_dir_all(dir.join(format!("r{}/r{number}/.git/hooks", number / 100))).unwrap();
    }
}

/// A way to start a command, with its name.
type Case<'k> = (String, Box<dyn FnMut() + 'k>);

/// Returns the median of several runs of each kind. The kinds take turns, so that other load on the machine affects all
/// of them.
fn medians(kinds: &mut [Case<'_>], runs: usize) -> Vec<Duration> {
    let mut times = vec![Vec::new(); kinds.len()];
    for _ in 0..runs {
        for ((_, run), times) in kinds.iter_mut().zip(&mut times) {
            let start = Instant::now();
            run();
            times.push(start.elapsed());
        }
    }
    times.iter_mut().for_each(|times| times.sort());
    times.into_iter().map(|times| times.get(times.len() / 2).copied().unwrap_or_default()).collect()
}

fn main() {
    let sandbox = || Sandbox::with_helper(env!("CARGO_BIN_EXE_bestow-measured"));
    let run = |sandbox: &Sandbox, profile: &Profile| {
        assert_eq!(sandbox.run(profile, &Command::new("true")).unwrap().code, Some(0));
    };
    let alone = sandbox().without_bubblewrap();
    let (_dir, profile) = workspace(0);
    let unguarded = profile.without_guard();
    let all: Vec<_> = [(10, 0), (50_000, 0), (500_000, 0), (10, 50), (10, 1_500)]
        .into_iter()
        .filter(|_| sandbox().backend() == "bubblewrap")
        .map(|(files, repositories)| {
            let (dir, profile) = workspace(files);
            with_repositories(dir.path(), repositories);
            (format!("{files} files, {repositories} repositories"), dir, profile, sandbox())
        })
        .collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (with_pattern, _) = workspace(50_000);
    let (_engine, agent) = runtime.block_on(denied(with_pattern.path()));
    let write: Permission = format!("@write:{}", with_pattern.path().display()).parse().unwrap();
    let kept = sandbox();
    let run_denied = || {
        let done = runtime.block_on(agent.exec(&kept, Command::new("true"), std::slice::from_ref(&write)));
        assert_eq!(done.unwrap().code, Some(0));
    };
    let bare = sandbox();
    let mut kinds: Vec<Case<'_>> = vec![
        ("bwrap with the same namespaces".into(), Box::new(bwrap)),
        ("plain".into(), Box::new(|| assert!(process::Command::new("true").status().unwrap().success()))),
        ("Landlock alone".into(), Box::new(|| run(&alone, &unguarded))),
    ];
    if bare.backend() == "bubblewrap" {
        kinds.push(("bubblewrap, nothing guarded".into(), Box::new(|| run(&bare, &unguarded))));
    }
    for (name, _, profile, kept) in &all {
        kinds.push((
            format!("{name}, first command"),
            Box::new(|| {
                forget();
                run(kept, profile);
            }),
        ));
        kinds.push((format!("{name}, later ones"), Box::new(|| run(kept, profile))));
    }
    if kept.backend() == "bubblewrap" {
        let first = || {
            forget();
            run_denied();
        };
        kinds.push(("50000 files and a denied pattern, by an engine, first command".into(), Box::new(first)));
        kinds.push(("50000 files and a denied pattern, by an engine, later ones".into(), Box::new(&run_denied)));
    }
    // A root that changed a moment ago may still change unnoticed, so it is not cached yet.
    std::thread::sleep(Duration::from_secs(3));
    let medians = medians(&mut kinds, 15);
    let unit = medians.first().copied().unwrap_or_default().as_secs_f64();
    for ((name, _), median) in kinds.iter().zip(medians) {
        println!("{name:<62} {:>9.2} ms {:>7.2}", median.as_secs_f64() * 1e3, median.as_secs_f64() / unit);
    }
}

/// Deletes the cache of scanned roots.
fn forget() {
    let seen = format!("/dev/shm/bestow-{}/seen", rustix::process::geteuid().as_raw());
    let gone = fs::remove_dir_all(seen);
    assert!(gone.is_ok() || gone.is_err_and(|why| why.kind() == std::io::ErrorKind::NotFound));
}

fn bwrap() {
    let words = "--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --unshare-net \
                 --disable-userns --cap-drop ALL --die-with-parent --new-session --clearenv --ro-bind / / --dev /dev \
                 --tmpfs /dev/shm --remount-ro /dev --proc /proc --bind /tmp /tmp -- true";
    let told = process::Command::new("bwrap").args(words.split_whitespace()).output();
    assert!(told.is_ok_and(|told| told.status.success()));
}

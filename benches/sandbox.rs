//! What it costs to start a command in a sandbox: per back end, beside a plain start of the same program.

#![allow(clippy::unwrap_used, reason = "a bench that cannot be set up has nothing to say")]

use std::{fs, process};

use bestow::{
    ExecScope, Permission, PermissionSet,
    sandbox::{Command, Profile, Sandbox},
};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

/// Writes one workspace of so many files; nothing of it is sensitive.
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

fn start_up(c: &mut Criterion) {
    let mut group = c.benchmark_group("start `true`");
    group.bench_function("plain", |b| b.iter(|| assert!(process::Command::new("true").status().unwrap().success())));
    let sandbox = Sandbox::with_helper(env!("CARGO_BIN_EXE_bestow"));
    let alone = sandbox.clone().without_bubblewrap();
    let (_dir, profile) = workspace(0);
    let unguarded = profile.clone().without_guard();
    let run = |sandbox: &Sandbox, profile: &Profile| {
        assert_eq!(sandbox.run(profile, &Command::new("true")).unwrap().code, Some(0));
    };
    group.bench_function("landlock", |b| b.iter(|| run(&alone, &unguarded)));
    if sandbox.backend() == "bubblewrap" {
        group.bench_function("bubblewrap, nothing guarded", |b| b.iter(|| run(&sandbox, &unguarded)));
        for files in [0, 1_000, 10_000] {
            let (_dir, profile) = workspace(files);
            let id = BenchmarkId::new("bubblewrap, looking through a workspace of files", files);
            group.bench_function(id, |b| b.iter(|| run(&sandbox, &profile)));
        }
    }
    group.finish();
}

criterion_group!(benches, start_up);
criterion_main!(benches);

//! Measures the cost of the safe file calls beside the plain calls that they replace.
//!
//! Targets: `resolve` and open within 3x of `canonicalize` and `open`; open within 1.2x of `open`.

#![allow(clippy::unwrap_used, reason = "a bench that cannot be set up has nothing to say")]

use std::{fs, hint::black_box, os::unix::fs::symlink, path::Path, sync::Arc};

use bestow::fs::{Backend, Base, resolve};
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main, measurement::WallTime};

/// A workspace as deep as `/home/me/projects/ours`, a file three directories down, and a path to it through two links.
struct World {
    _dir: tempfile::TempDir,
    workspace: String,
}

impl World {
    fn new() -> World {
        let dir = tempfile::tempdir().unwrap();
        let workspace = dir.path().join("projects/workspace");
        fs::create_dir_all(workspace.join("a/b/c")).unwrap();
        fs::write(workspace.join("a/b/c/f"), "x").unwrap();
        symlink("a/b", workspace.join("l1")).unwrap();
        symlink(workspace.join("l1"), workspace.join("l2")).unwrap();
        World { workspace: workspace.to_str().unwrap().to_owned(), _dir: dir }
    }

    fn path(&self, below: &str) -> String {
        format!("{}/{below}", self.workspace)
    }
}

#[expect(clippy::disallowed_methods, reason = "what ours is measured against")]
fn plain_resolve_and_open(path: &str) -> fs::File {
    let real = Path::new(path).canonicalize().unwrap();
    fs::File::open(real).unwrap()
}

fn resolve_and_open(c: &mut Criterion) {
    let world = World::new();
    let base = Arc::new(Base::hold(&world.workspace).unwrap());
    for (name, below) in [("plain path", "a/b/c/f"), ("two links", "l2/c/f"), ("dot-dot", "a/b/../b/c/f")] {
        let (path, mut group) = (world.path(below), c.benchmark_group(format!("resolve and open, {name}")));
        bench(&mut group, "canonicalize + open", || plain_resolve_and_open(black_box(&path)));
        bench(&mut group, "bestow", || resolve(&[&world.workspace], black_box(&path)).unwrap().open_read().unwrap());
        bench(&mut group, "bestow, base held", || base.contain(black_box(&path)).unwrap().open_read().unwrap());
        bench(&mut group, "bestow, without openat2", || {
            Backend::Walk.resolve(&[&world.workspace], black_box(&path)).unwrap().open_read().unwrap()
        });
        group.finish();
    }
}

fn open_alone(c: &mut Criterion) {
    let world = World::new();
    let path = world.path("a/b/c/f");
    let contained = resolve(&[&world.workspace], &path).unwrap();
    let walked = Backend::Walk.resolve(&[&world.workspace], &path).unwrap();
    let mut group = c.benchmark_group("open");
    bench(&mut group, "plain", || fs::File::open(black_box(&path)).unwrap());
    bench(&mut group, "bestow", || black_box(&contained).open_read().unwrap());
    bench(&mut group, "bestow, without openat2", || black_box(&walked).open_read().unwrap());
    group.finish();
}

fn bench<T>(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, mut work: impl FnMut() -> T) {
    group.bench_function(name, |b| b.iter(&mut work));
}

criterion_group!(benches, resolve_and_open, open_alone);
criterion_main!(benches);

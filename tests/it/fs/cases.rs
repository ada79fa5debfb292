//! Runs the table of cases in `tests/cases/paths.jsonl` over both back ends.

use std::{collections::BTreeMap, fs};

use bestow::fs::{Answer, Backend, Op, Verdict};
use serde::Deserialize;

use super::{
    BOTH,
    world::{SECRET, World},
};

const TABLE: &str = include_str!("../../cases/paths.jsonl");

/// A row of the table. `{ROOT}` in a text stands for the directory in which the row is run.
#[derive(Deserialize)]
struct Row {
    id: String,
    why: String,
    /// The files to create: `["mkdir", path]`, `["file", path]`, `["symlink", target, path]`, `["hardlink", old, new]`.
    setup: Vec<Vec<String>>,
    allowed: Vec<String>,
    op: Op,
    path: String,
    expect: Verdict,
    /// The resolved path, below the root.
    real: Option<String>,
    /// The paths that must not exist afterwards.
    #[serde(default)]
    absent: Vec<String>,
}

#[test]
fn every_row_of_the_table_is_answered_as_it_says() {
    check_over(&BOTH);
}

/// Runs the whole table over each of these back ends.
pub(super) fn check_over(backends: &[Backend]) {
    for backend in backends {
        check_with(&format!("{backend:?}"), |op, allowed, path| backend.answer(op, allowed, path));
    }
}

/// Runs the whole table with this function as the answer.
pub(crate) fn check_with(over: &str, answer: impl Fn(Op, &[String], &str) -> Answer) {
    let rows: Vec<Row> = TABLE.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 93);
    let wrong: Vec<String> = rows.iter().filter_map(|row| row.wrong(over, &answer)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

impl Row {
    /// Returns the error in the answer, if there is one.
    fn wrong(&self, over: &str, answer: impl Fn(Op, &[String], &str) -> Answer) -> Option<String> {
        let world = World::empty();
        self.set_up(&world);
        let before = contents(&world);
        let allowed: Vec<String> = self.allowed.iter().map(|base| absolute(&world, base)).collect();
        let answer = answer(self.op, &allowed, &self.path.replace("{ROOT}", world.root()));
        let complaint = self.complaint(&world, &answer).or_else(|| {
            let is_untouched = answer.verdict == Verdict::Ok || contents(&world) == before;
            (!is_untouched).then(|| "a refusal changed the disk".to_owned())
        })?;
        Some(format!("{} ({}) over {over}: {complaint}; {answer:?}", self.id, self.why))
    }

    fn complaint(&self, world: &World, answer: &Answer) -> Option<String> {
        if answer.verdict != self.expect {
            return Some(format!("expected {:?}", self.expect));
        }
        if (answer.verdict == Verdict::Deny) != answer.reason.is_some() {
            return Some("a refusal, and only a refusal, has a reason".to_owned());
        }
        if let Some(real) = &self.real
            && answer.real.as_deref() != Some(&world.text(real))
        {
            return Some(format!("expected it to lead to {real}"));
        }
        self.absent.iter().find(|path| world.exists(path)).map(|path| format!("{path} exists"))
    }

    fn set_up(&self, world: &World) {
        for step in &self.setup {
            match step.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                ["mkdir", path] => world.dir(path),
                ["file", path] => world.file(path, SECRET),
                ["symlink", target, path] => world.link(target.replace("{ROOT}", world.root()), path),
                ["hardlink", old, new] => fs::hard_link(world.path(old), world.path(new)).unwrap(),
                ref other => panic!("{}: unknown step {other:?}", self.id),
            }
        }
    }
}

/// Returns a base with the root in front. An empty base stays empty, because the row tests that case.
fn absolute(world: &World, base: &str) -> String {
    if base.is_empty() || base.starts_with('/') { base.to_owned() } else { world.text(base) }
}

/// Returns every name below the root and, for files, its content.
fn contents(world: &World) -> BTreeMap<String, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut dirs = vec![world.path("")];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
            let kind = entry.file_type().unwrap();
            let content = kind.is_file().then(|| fs::read(entry.path()).unwrap());
            found.insert(entry.path().to_str().unwrap().to_owned(), content);
            if kind.is_dir() {
                dirs.push(entry.path());
            }
        }
    }
    found
}

//! The property of guards: for random trees, random guards and random sequences of commands, no guarded path is ever
//! read or written.
//!
//! The oracle looks at the disk as the user who runs the tests, before and after each step. If that user is root, no
//! mode of a file keeps it from looking.

use std::{
    cell::Cell,
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command as Process,
    sync::mpsc::{Sender, channel},
};

use bestow::sandbox::Command;
use proptest::{
    prelude::*,
    sample::select,
    test_runner::{Config, TestRunner},
};

use super::ground::{Ground, shown, with_bubblewrap};

/// The text in every file that is to be hidden.
const HIDDEN: &str = "hidden-text";

/// The names in a tree. Some of them are sensitive.
const NAMES: [&str; 9] = ["a", "b", "c", ".git", "config", ".env", ".claude", "key.pem", "HEAD"];

/// The paths that may be guarded by name.
const GUARDED: [&str; 6] = ["a", "a/b", "b/c", "c", "a/c/b", "b/.env"];

/// A path in the workspace.
fn path() -> impl Strategy<Value = String> {
    proptest::collection::vec(select(&NAMES[..]), 1..4).prop_map(|names| names.join("/"))
}

/// A line that prepares the tree, outside of the sandbox.
fn plant() -> impl Strategy<Value = String> {
    let above = |path: &str| Path::new(path).parent().map(|above| above.display().to_string()).unwrap_or_default();
    prop_oneof![
        path().prop_map(|path| format!("mkdir -p ./{path}")),
        path().prop_map(move |path| format!("mkdir -p ./{} && echo inside > ./{path}", above(&path))),
        (path(), path()).prop_map(|(one, other)| format!("ln -s {one} ./{other}")),
    ]
}

/// A line of a command: what a user may do with files of its own.
fn deed() -> impl Strategy<Value = String> {
    let mode = select(&["000", "0311", "0555", "0600", "755"][..]);
    prop_oneof![
        (mode, path()).prop_map(|(mode, path)| format!("chmod {mode} ./{path}")),
        Just("chmod 0311 .".to_owned()),
        Just("chmod 755 .".to_owned()),
        (path(), path()).prop_map(|(one, other)| format!("mv ./{one} ./{other}")),
        (path(), path()).prop_map(|(one, other)| format!("ln -sfn {one} ./{other}")),
        (path(), path()).prop_map(|(one, other)| format!("ln ./{one} ./{other}; cat ./{other}; echo x > ./{other}")),
        path().prop_map(|path| format!("mkdir -p ./{path}")),
        path().prop_map(|path| format!("rm -rf ./{path}")),
        path().prop_map(|path| format!("echo changed > ./{path}")),
        path().prop_map(|path| format!("cat ./{path} ./{path}/* ./{path}/*/*")),
        Just("chmod -R u+rwX .; tar cf - .".to_owned()),
    ]
}

/// One step: the lines of one command, and of another one that runs beside it.
#[derive(Clone, Debug)]
struct Step {
    one: Vec<String>,
    other: Option<Vec<String>>,
}

fn step() -> impl Strategy<Value = Step> {
    let lines = || proptest::collection::vec(deed(), 1..7);
    (lines(), proptest::option::of(lines())).prop_map(|(one, other)| Step { one, other })
}

#[derive(Clone, Debug)]
struct Case {
    tree: Vec<String>,
    hidden: Vec<&'static str>,
    steps: Vec<Step>,
}

fn case() -> impl Strategy<Value = Case> {
    let hidden = proptest::sample::subsequence(&GUARDED[..], 0..3);
    let steps = proptest::collection::vec(step(), 1..4);
    (proptest::collection::vec(plant(), 0..7), hidden, steps).prop_map(|(tree, hidden, steps)| Case {
        tree,
        hidden,
        steps,
    })
}

/// The objects at guarded paths: the content of a file, the target of a link, or nothing for a directory.
type Seen = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// Looks at a workspace on a thread of the user who runs the tests.
struct Oracle(Sender<(PathBuf, Vec<PathBuf>, Sender<Seen>)>);

impl Oracle {
    fn new() -> Oracle {
        let (ask, asked) = channel::<(PathBuf, Vec<PathBuf>, Sender<Seen>)>();
        std::thread::spawn(move || {
            for (root, hidden, answer) in asked {
                let mut seen = Seen::new();
                look(&root, &hidden, false, &mut seen);
                hidden
                    .iter()
                    .filter(|path| object(path).is_some())
                    .for_each(|path| look(path, &hidden, true, &mut seen));
                let _ = answer.send(seen);
            }
        });
        Oracle(ask)
    }

    fn look(&self, root: &Path, hidden: &[PathBuf]) -> Seen {
        let (answer, answered) = channel();
        self.0.send((root.to_owned(), hidden.to_vec(), answer)).unwrap();
        answered.recv().unwrap()
    }
}

/// Returns the object at a path, if there is one. A placeholder counts as none.
fn object(path: &Path) -> Option<Option<Vec<u8>>> {
    use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
    let found = fs::symlink_metadata(path).ok()?;
    match found.file_type() {
        kind if kind.is_symlink() => Some(fs::read_link(path).ok().map(|to| to.into_os_string().into_encoded_bytes())),
        // Another name of the same file is not guarded (docs/sandbox.md).
        kind if kind.is_file() && found.nlink() > 1 => None,
        kind if kind.is_file() => Some(fs::read(path).ok()),
        kind if kind.is_socket() => None,
        _ => Some(None),
    }
}

/// Returns true if no directory above a path is a link.
fn is_plain(path: &Path) -> bool {
    path.ancestors().skip(1).all(|above| !above.is_symlink())
}

fn is_sensitive(name: &str) -> bool {
    [".git", ".env", ".claude"].contains(&name) || name.ends_with(".pem")
}

/// Adds the guarded objects at `path` and below it.
fn look(path: &Path, hidden: &[PathBuf], is_guarded: bool, seen: &mut Seen) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_guarded = is_guarded || is_sensitive(&name) || hidden.iter().any(|hidden| hidden == path);
    let Some(object) = object(path) else { return };
    if is_guarded {
        seen.insert(path.to_owned(), object);
    }
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
        for entry in fs::read_dir(path).into_iter().flatten().filter_map(Result::ok) {
            look(&entry.path(), hidden, is_guarded, seen);
        }
    }
}

fn outside(ground: &Ground, line: &str) {
    let mut sh = Process::new("sh");
    sh.args(["-c", line]).current_dir(ground.path("workspace")).stderr(std::process::Stdio::null());
    let _ = sh.status().unwrap();
}

/// Makes the workspace anew. Each guarded file holds the text that must not be read.
fn prepare(ground: &Ground, case: &Case) {
    outside(
        ground,
        "chmod 755 . && find . -mindepth 1 -maxdepth 1 -exec chmod -R u+rwX {} + -exec rm -rf {} +; \
         mkdir .git && echo inside > .git/config",
    );
    case.tree.iter().for_each(|line| outside(ground, line));
    let at = |path: &str| ground.path(&format!("workspace/{path}"));
    for path in case.hidden.iter().filter(|path| is_plain(&at(path)) && !at(path).is_symlink()) {
        let fill = "test -e ./PATH && find ./PATH -type f -exec sh -c 'echo TEXT > \"$1\"' sh '{}' ';'";
        outside(ground, &fill.replace("PATH", path).replace("TEXT", HIDDEN));
    }
}

/// The runs of a property, and those that the sandbox refused.
#[derive(Default)]
struct Count {
    runs: Cell<u32>,
    refused: Cell<u32>,
}

/// Runs the commands of a step. Returns their output, or `None` for a refusal.
fn run(ground: &Ground, case: &Case, step: &Step) -> Vec<Result<String, String>> {
    let hidden: Vec<_> = case.hidden.iter().map(|path| format!("workspace/{path}")).collect();
    let hidden: Vec<_> = hidden.iter().map(String::as_str).collect();
    let one = |lines: &Vec<String>| {
        // The paths of a profile may be anything at this moment, also something that cannot be examined.
        let profile = ground.profile_hiding(&[], &hidden);
        let line = format!("exec 2>/dev/null; {}; true", lines.join("; "));
        let done = ground.sandbox.run(&profile, &Command::new("sh").args(["-c", &line]));
        done.map(|done| shown(&done.stdout.bytes)).map_err(|why| why.to_string())
    };
    std::thread::scope(|scope| {
        let beside = step.other.as_ref().map(|lines| scope.spawn(move || one(lines)));
        let first = one(&step.one);
        [Some(first), beside.map(|beside| beside.join().unwrap())].into_iter().flatten().collect()
    })
}

fn holds(ground: &Ground, oracle: &Oracle, case: &Case, count: &Count) -> Result<(), TestCaseError> {
    prepare(ground, case);
    let workspace = ground.path("workspace");
    let hidden: Vec<_> = case.hidden.iter().map(|path| workspace.join(path)).collect();
    for step in &case.steps {
        let before = oracle.look(&workspace, &hidden);
        for answer in run(ground, case, step) {
            count.runs.set(count.runs.get() + 1);
            match answer {
                Ok(told) => prop_assert!(!told.contains(HIDDEN), "{ground}: {step:?} read it"),
                Err(why) => {
                    count.refused.set(count.refused.get() + 1);
                    prop_assert!(why.contains(ground.world.root()), "{ground}: a refusal names its path: {why}");
                }
            }
        }
        let after = oracle.look(&workspace, &hidden);
        for (path, object) in &before {
            prop_assert_eq!(after.get(path), Some(object), "{}: {:?}: {:?}", ground, path, step);
        }
        // A path that a link leads away from is another path.
        for path in hidden.iter().filter(|path| is_plain(path)) {
            let is_new = !before.contains_key(path) && after.get(path).is_some_and(|object| object.is_some());
            prop_assert!(!is_new, "{ground}: {path:?} was made: {step:?}");
        }
    }
    Ok(())
}

#[test]
fn no_sequence_of_commands_reads_or_writes_what_is_guarded() {
    let oracle = std::sync::Mutex::new(Oracle::new());
    with_bubblewrap(|ground| {
        let (oracle, count) = (oracle.lock().unwrap(), Count::default());
        let mut runner = TestRunner::new(Config {
            cases: crate::support::cases(48),
            failure_persistence: None,
            max_shrink_iters: 64,
            ..Config::default()
        });
        let done = runner.run(&case(), |case| holds(ground, &oracle, &case, &count));
        outside(ground, "chmod 755 .; chmod -R u+rwX .");
        if let Err(why) = done {
            panic!("{ground}: {why}");
        }
        let (runs, refused) = (count.runs.get(), count.refused.get());
        eprintln!("{ground}: {refused} of {runs} commands were refused");
        assert!(refused * 4 <= runs, "{ground}: {refused} of {runs} commands were refused");
    });
}

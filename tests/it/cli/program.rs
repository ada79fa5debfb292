//! Tests of `bestow program`.

use bestow::command::{ProgramFacts, known_programs};
use serde_json::Value;

use super::{bestow, text};

#[test]
fn a_program_is_described_with_what_it_reads_destroys_runs_and_obeys() {
    let told = bestow(&["program", "git"], b"");
    let page = text(&told.stdout);
    assert_eq!(told.status.code(), Some(0));
    for part in [
        "git (programs/repositories.toml:",
        "reads: status",
        "  yes: git status",
        "  no : git -c core.fsmonitor=x status",
        "destroys: push",
        "runs: `bisect run` starts the command after it",
        "obeys: the repository",
        "rollback: `git reflog`",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let told = bestow(&["program", "timeout"], b"");
    assert!(text(&told.stdout).contains("runs: runs the command in its words after 1 words of its own"));
    let told = bestow(&["program", "mkfs.ext4"], b"");
    assert!(text(&told.stdout).contains("makes a new file system"));
}

#[test]
fn the_object_has_the_same_facts() {
    for name in ["git", "kubectl", "curl", "sudo", "tsort"] {
        let told = bestow(&["program", name, "--json"], b"");
        let object: Value = serde_json::from_str(text(&told.stdout)).unwrap();
        assert_eq!(object, serde_json::to_value(ProgramFacts::of(name).unwrap()).unwrap());
        let keys = ["names", "place", "reads", "destroys", "runs", "needs", "obeys", "rollback", "secrets", "notes"];
        assert!(keys.iter().all(|key| object.get(key).is_some()), "{object}");
    }
    assert!(known_programs().all(|name| ProgramFacts::of(name.trim_end_matches('*')).is_some()));
}

#[test]
fn a_name_that_is_not_known_is_an_error_with_a_suggestion() {
    for (name, help) in [
        ("kubctl", ": did you mean `kubectl`?"),
        ("/usr/bin/git", ": did you mean `git`?"),
        ("no-such-program-at-all", ""),
        ("a\u{1b}[2Jb", ""),
    ] {
        let told = bestow(&["program", name], b"");
        let message = text(&told.stderr).to_owned();
        assert_eq!((told.status.code(), text(&told.stdout)), (Some(1), ""), "{name}");
        assert!(
            message.contains("nothing is known about a program") && message.trim_end().ends_with(help),
            "{message}"
        );
        assert!(!message.contains('\u{1b}'), "{message:?}");
    }
    assert_eq!(bestow(&["program"], b"").status.code(), Some(64));
}

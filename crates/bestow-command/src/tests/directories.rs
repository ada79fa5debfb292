//! The directories in which the commands of a line may run.

use crate::{
    Classifier,
    values::{Said, SpokenPart, StartDir},
};

/// Returns the directories of the last part that runs `cmd`.
fn dirs(line: &str) -> Vec<StartDir> {
    let answer = Classifier::default().judge(line);
    let cmd = |part: &&SpokenPart| {
        let program = part.runs.as_ref().and_then(|command| command.words.first());
        program.and_then(Said::known) == Some("cmd")
    };
    answer.commands.iter().rev().find(cmd).map(|part| part.dirs.clone()).unwrap_or_default()
}

#[test]
fn behind_an_exit_only_the_directory_that_was_entered_counts() {
    let web = vec![StartDir::Said("web".into())];
    for line in [
        "cd web || exit 1; cmd",
        "cd web || exit; cmd",
        "cd web || exit 1\ncmd",
        "cd web || { echo no; exit 1; }; cmd",
        "cd web || exit 1 && cmd",
        "(cd web || exit 1; cmd)",
    ] {
        assert_eq!(dirs(line), web, "{line}");
    }
    assert_eq!(dirs("cd a && cd b || exit 1; cmd"), [StartDir::Said("a/b".into())]);
}

#[test]
fn an_exit_that_may_not_end_the_shell_counts_for_nothing() {
    for line in [
        "cd web; cmd",
        "cd web || true; cmd",
        "cd web || (exit 1); cmd",
        "cd web || exit 1 | cat; cmd",
        "cd web || ! exit 1; cmd",
        "cd web || exit 1 2; cmd",
        "cd web || exit $X; cmd",
        "cd web || exit 1 > /no/file; cmd",
        "cd web || { exit 1; } > /no/file; cmd",
        "cd web || { exit 1 & }; cmd",
        "cd web || { true || exit 1; }; cmd",
        "cd web || X=1 exit 1; cmd",
        "cd web || ./exit 1; cmd",
        "cd web || true || exit 1; cmd",
        "! cd web || exit 1; cmd",
        "(cd web || exit 1); cmd",
        "{ cd web || exit 1; } | cat; cmd",
        "cd web || exit 1 & cmd",
        "f() { return 0; cd web || exit 1; }; f; cmd",
        "if x; then cd web || exit 1; fi; cmd",
        "exit() { :; }; cd web || exit 1; cmd",
        "cd() { :; }; cd web || exit 1; cmd",
        "alias exit=true; cd web || exit 1; cmd",
        "alias cd=true; cd web || exit 1; cmd",
        "enable -n exit; cd web || exit 1; cmd",
        "builtin enable -n exit; cd web || exit 1; cmd",
        "shopt -s extdebug; trap false DEBUG; cd web || exit 1; cmd",
        "trap cmd EXIT; cd web || exit 1; true",
        "bash -c 'cd web || exit 1'; cmd",
        "for d in a b; do cd web || { break; exit 1; }; done; cmd",
    ] {
        let dirs = dirs(line);
        let start = |dir: &StartDir| matches!(dir, StartDir::Own | StartDir::Unknown);
        assert!(dirs.iter().any(start), "{line}: {dirs:?}");
    }
}

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

/// Returns the directories, relative to the one in which the line runs, whose files programs of the line obey.
fn led(line: &str) -> Vec<Option<String>> {
    let commands = Classifier::default().judge(line).commands;
    commands.into_iter().flat_map(|part| part.obeys).map(|obeys| obeys.into.map(String::from)).collect()
}

#[test]
fn the_check_of_obeyed_files_follows_every_leading_option() {
    let to = |directory: &str| vec![Some(directory.to_owned())];
    assert_eq!(led("terraform -chdir=src/t validate"), to("src/t"));
    assert_eq!(led("terraform -chdir=src/t graph"), to("src/t"));
    assert_eq!(led("terraform -chdir=/abs -chdir=x validate"), to("/abs/x"));
    assert_eq!(led("hg log -R src"), to("src"));
    assert_eq!(led("yarn list --cwd=src"), to("src"));
    assert_eq!(led("docker-compose --project-directory=src logs -f web"), to("src"));
    assert_eq!(led("docker-compose logs -f web"), to("."));
    assert_eq!(led("git grep -C 3 x"), to("."));
    assert_eq!(led("cargo metadata --manifest-path src/Cargo.toml"), vec![None]);
}

/// Puts each option that may lead elsewhere before and behind the words of each example that obeys files. The line may
/// not be safe with the files of its own directory alone.
#[test]
fn no_safe_form_obeys_a_directory_unseen() {
    let (mut unseen, mut tried) = (Vec::new(), 0);
    for program in crate::programs::all().filter(|program| program.obeys.is_some()) {
        let declared = program.directory.split(' ').filter(|option| !option.is_empty());
        let options: Vec<&str> = crate::obeys::LEADING.iter().copied().chain(declared).collect();
        let examples = program.reads.iter().flat_map(|row| row.matches.iter().map(move |example| (row, example)));
        for (row, example) in examples {
            let Some((name, rest)) = example.split_once(' ').filter(|(name, _)| program.names.contains(name)) else {
                continue;
            };
            for option in &options {
                // Behind a subcommand, a short option often has another meaning.
                let is_long = option.len() > 2 && name != "git";
                let behind = (is_long && !row.stop_at_operand)
                    .then(|| [format!("{example} {option} led"), format!("{example} {option}=led")]);
                let before = [format!("{name} {option} led {rest}"), format!("{name} {option}=led {rest}")];
                for line in before.into_iter().chain(behind.into_iter().flatten()) {
                    let is_safe = crate::classify(&line).tier == crate::Tier::Safe;
                    let led = led(&line);
                    tried += usize::from(is_safe && !led.is_empty());
                    if is_safe && led.contains(&Some(".".into())) {
                        unseen.push(line);
                    }
                }
            }
        }
    }
    assert!(tried > 20, "{tried}");
    assert!(unseen.is_empty(), "{}", unseen.join("\n"));
}

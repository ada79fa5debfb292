//! Tests of the commands that known programs run: launchers, other names of a program, and programs that a line
//! renames.

use crate::{
    Classifier, Tier, classify, programs,
    values::{Said, Spoken},
};

/// Returns true if the line may run a command with these words at its beginning, as the rules of a person see it.
fn may_run(line: &str, words: &str) -> bool {
    let judged = Classifier::default().judge(line);
    let commands = judged.commands.iter().flat_map(|part| part.runs.iter().chain(&part.starts));
    let begins = |said: &[Said]| {
        let known: Vec<_> = said.iter().map_while(Said::known).collect();
        words.split(' ').enumerate().all(|(at, word)| known.get(at).is_some_and(|known| is_it(known, word)))
    };
    let is_here = |command: &Spoken| match command.anywhere {
        true => (0..command.words.len()).any(|at| command.words.get(at..).is_some_and(begins)),
        false => begins(&command.words),
    };
    commands.into_iter().any(is_here)
}

fn is_it(known: &str, word: &str) -> bool {
    known == word || known.rsplit('/').next() == Some(word)
}

#[test]
fn a_known_launcher_hides_no_command() {
    for launcher in [
        "pyenv exec",
        "rbenv exec",
        "nodenv exec",
        "goenv exec",
        "nx exec --",
        "nvm exec 20",
        "fnm exec --using 20",
        "volta run",
        "opam exec --",
        "stack exec --",
        "cabal exec",
        "rtx exec --",
        "composer exec",
        "gem exec",
        "mix cmd",
        "dart run",
        "machinectl shell x",
        "nix shell x -c",
        "adb shell",
        "xcrun",
        "kubectl debug x --",
        "oc rsh x",
        "repo forall -c",
        "jj util exec --",
        "lerna exec --",
        "nodemon --exec",
        "pm2 start",
    ] {
        let line = format!("{launcher} git push origin");
        assert!(may_run(&line, "git push"), "{line}");
        let line = format!("{launcher} rm -rf /");
        assert_eq!(classify(&line).tier, Tier::Destructive, "{line}");
    }
}

/// Programs that read or change the files that their words name, print their words, or run nothing in a shell.
#[test]
fn no_program_in_the_records_runs_a_destructive_command_unseen() {
    let mut unseen = Vec::new();
    for name in programs::all().flat_map(|program| program.names.iter().copied()) {
        let known = programs::known(name);
        let reads_files = known.files.is_some_and(|files| files.role.is_some());
        for line in [format!("{name} exec -- rm -rf /"), format!("{name} shell x rm -rf /")] {
            let tier = classify(&line).tier;
            // These run a file of that name, or wait for a signal.
            let runs_a_file = crate::evaluator::is_shell(name) || matches!(name, "php" | "trap");
            if tier == Tier::Dangerous && !reads_files && !runs_a_file && !name.contains('*') {
                unseen.push(line);
            }
        }
    }
    assert!(unseen.is_empty(), "{}", unseen.join("\n"));
}

#[test]
fn a_push_by_another_name_is_a_push() {
    for line in [
        "git subtree push --prefix=x origin main",
        "git -C a subtree push --prefix x origin main",
        "git send-pack origin main",
        "git http-push origin",
        "git lfs push origin main",
        "git for-each-repo --config=x push origin",
        "mvn exec:exec -Dexec.executable=git -Dexec.args=push",
        "mvn org.codehaus.mojo:exec-maven-plugin:3.1.0:exec -Dexec.executable=git '-Dexec.args=push origin'",
    ] {
        assert!(may_run(line, "git push"), "{line}");
    }
}

#[test]
fn a_program_under_a_new_name_is_still_that_program() {
    for line in [
        "hash -p /usr/bin/git foo; foo push",
        "hash -p/usr/bin/git foo && foo push",
        "ln -s /usr/bin/git g && ./g push",
        "ln -sf $(which git) src/g; ./src/g push",
        "ln -sf \"$(command -v git)\" src/g; src/g push",
        "cp /usr/bin/git ./src/g; ./src/g push",
        "mv git g; ./g push",
    ] {
        assert!(may_run(line, "git push"), "{line}");
    }
    assert!(may_run("ln -sf $(which bestow) src/g; ./src/g approve X", "bestow approve X"));
    assert_eq!(classify("cp /bin/rm x; ./x -rf /").tier, Tier::Destructive);
    assert!(!may_run("cp src/git.rs b; ./b push", "git push"));
}

#[test]
fn a_built_program_is_named_by_its_package() {
    for line in [
        "cargo run -p bestow-cli -- approve X",
        "cargo run --package=bestow-cli -- approve X",
        "cargo +nightly run --release --bin bestow -- approve X",
        "cargo r -pbestow-cli -- approve X",
    ] {
        assert!(may_run(line, "bestow approve X"), "{line}");
    }
}

#[test]
fn names_and_messages_are_no_commands() {
    for (line, command) in [
        ("git commit -m 'rm -rf /'", "rm"),
        ("git rm -rf build", "rm"),
        ("git remote rm origin", "rm"),
        ("apt install curl", "curl"),
        ("dnf -y install curl", "curl"),
        ("pacman -S git", "git"),
        ("npm install git", "git"),
        ("pip install docker", "docker"),
        ("brew install git", "git"),
        ("conda install git", "git"),
        ("gem install git", "git"),
        ("docker build .", "."),
        ("docker volume rm x", "rm x"),
        ("kubectl get pods", "pods"),
        ("cargo test rm", "rm"),
        ("cargo add git", "git"),
        ("jest docker", "docker"),
        ("service docker restart", "docker"),
        ("gh pr create --title 'git push' --body x", "git"),
        ("chmod +x git", "git"),
    ] {
        let is_told = may_run(line, command);
        assert!(classify(line).tier == Tier::Destructive || !is_told, "{line}");
        assert!(line.starts_with("docker volume") || classify(line).tier != Tier::Destructive, "{line}");
    }
}

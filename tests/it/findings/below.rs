//! What is denied or protected is not used by way of a pattern, of a directory, or of another name for the same place.

use std::{fs, path::Path, sync::Arc};

use bestow::{Action, Agent, Effect, Engine, Mode, Operation, PathGlob, Place, Rule, Settings, Verdict};

use crate::support::{World, id, policy, profile, settings};

fn deny(operation: Option<Operation>, glob: &str) -> Rule {
    Rule {
        verdict: Verdict::Deny,
        tool: None,
        operation,
        path: Some(PathGlob::try_from(glob.to_owned()).unwrap()),
        command: None,
        shape: None,
        cwd: None,
        why: None,
        place: Place { file: "agents.toml".into(), line: 3 },
    }
}

async fn bound(engine: &Engine, dir: &str, mode: Mode, rules: Vec<Rule>) -> Agent {
    let holds = format!("@write:{dir}");
    let mut file = policy(settings(|_| {}), &[("ann", "you", &[&holds, "@network"])]);
    let ann = file.agents.get_mut(&id("ann")).unwrap();
    ann.profile = profile("ann", "you", bestow::Kind::Permanent).in_mode(mode);
    ann.profile.working_dir = dir.parse().unwrap();
    ann.rules = Arc::from(rules);
    engine.configure(file).await.unwrap();
    engine.agent(&id("ann")).unwrap()
}

/// A directory with files that are denied and files that are not.
fn ground() -> (tempfile::TempDir, String) {
    let place = tempfile::tempdir().unwrap();
    #[expect(clippy::disallowed_methods, reason = "the second opinion on what `fs` says")]
    let real = place.path().canonicalize().unwrap();
    let work = real.join("work");
    for name in [".env", "sub/.env", "sub/a.rs", "b.rs", "plain/c.rs", "secrets/x", "a.zip"] {
        let path = work.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    std::os::unix::fs::symlink("secrets", work.join("link")).unwrap();
    let text = work.to_str().unwrap().to_owned();
    (place, text)
}

fn verdict(agent: &Agent, line: &str) -> Effect {
    agent.verdict(&Action::command(line)).unwrap()
}

fn all_denied(agent: &Agent, lines: &[&str]) {
    let allowed: Vec<_> = lines.iter().filter(|line| verdict(agent, line) != Effect::Deny).collect();
    assert!(allowed.is_empty(), "not denied: {allowed:#?}");
}

fn none_denied(agent: &Agent, lines: &[&str]) {
    let denied: Vec<_> = lines.iter().filter(|line| verdict(agent, line) == Effect::Deny).collect();
    assert!(denied.is_empty(), "denied: {denied:#?}");
}

#[tokio::test]
async fn a_denied_file_is_not_read_by_a_pattern_or_by_what_reads_a_directory() {
    let (_place, work) = ground();
    for mode in [Mode::Default, Mode::Bypass, Mode::Plan] {
        let engine = Engine::new(Settings::default()).unwrap();
        let agent = bound(&engine, &work, mode, vec![deny(Some(Operation::Read), "/**/.env*")]).await;
        let lines = [
            "cat .env",
            "cat .en?",
            "cat .e*",
            "cat [.]env .en[v]",
            "cat s*/.env",
            "cat ./.[e]nv",
            "grep -r . .",
            "grep -rn x sub",
            "grep -R x",
            "rg -uu .",
            "rg x sub",
            "diff -r sub plain",
            "for f in .e*; do cat \"$f\"; done",
            "for f in sub/.e*; do cat $f; done",
        ];
        all_denied(&agent, &lines);
        let fine = [
            "cat *.rs",
            "cat b.r?",
            "grep -r x plain",
            "grep x *.rs",
            "cat *",
            "ls -R",
            "ls .",
            "find . -name x",
            "diff -r plain plain",
        ];
        none_denied(&agent, &fine);
    }
}

#[tokio::test]
async fn what_copies_or_packs_a_directory_reads_what_is_denied_in_it() {
    let (_place, work) = ground();
    let engine = Engine::new(Settings::default()).unwrap();
    let agent = bound(&engine, &work, Mode::Bypass, vec![deny(Some(Operation::Read), "/**/.env*")]).await;
    let lines = [
        "cp -r sub out",
        "cp -a . ../out",
        "tar cf a.tar sub",
        "tar -C sub -cf - .",
        "rsync -a sub out",
        "find sub -exec cat {} +",
        "find . -name a.rs -exec cat {} ;",
        "cp sub/.en? out",
    ];
    all_denied(&agent, &lines);
    none_denied(&agent, &["cp -r plain out", "tar cf a.tar plain", "rsync -a plain out"]);
}

#[tokio::test]
async fn what_is_protected_is_not_read_by_a_pattern_or_by_what_reads_a_directory() {
    let (_place, work) = ground();
    for mode in [Mode::Default, Mode::Plan, Mode::Bypass] {
        let engine = Engine::new(Settings::default()).unwrap();
        let agent = bound(&engine, &work, mode, vec![]).await;
        let lines = [
            "cat /etc/shadow",
            "cat /etc/shado?",
            "cat /etc/[s]hadow",
            "cat /e*/shadow",
            "grep -r root /etc",
            "rg root /etc",
            "grep root /etc/*",
            "for f in /etc/*; do cat $f; done",
            "diff -rN /etc /tmp/empty",
            "git -C /etc diff --no-index /dev/null shadow",
            "git -C /etc grep --no-index root -- shadow",
            "cat /dev/fd/../../../etc/shadow",
            "cat < /dev/fd/../../../etc/shadow",
            "cat /dev/fd/3/../../../../etc/shadow",
            "cat /dev/fd/../../1/environ",
            "cat $PWD/../../../../../../../etc/shadow",
            "cat ~+/../../../../../../../etc/shadow",
        ];
        all_denied(&agent, &lines);
        none_denied(&agent, &["cat /etc/host*", "ls /etc", "cat /etc/hostname", "cat $HOME/notes.txt"]);
    }
}

#[tokio::test]
async fn home_is_home_in_quotes_and_without() {
    let home = std::env::home_dir().unwrap();
    let key = home.join(".ssh/id_rsa");
    let engine = Engine::new(Settings::default()).unwrap();
    let (_place, work) = ground();
    let rule = deny(None, key.to_str().unwrap());
    let agent = bound(&engine, &work, Mode::Bypass, vec![rule]).await;
    let lines = [
        "cat ~/.ssh/id_rsa",
        "cat $HOME/.ssh/id_rsa",
        "cat ${HOME}/.ssh/id_rsa",
        "cat \"$HOME/.ssh/id_rsa\"",
        "cat $HOME/.ssh/../.ssh/id_rsa",
        "touch $HOME/.ssh/id_rsa",
    ];
    all_denied(&agent, &lines);
}

#[tokio::test]
async fn a_denied_file_is_not_written_by_a_program_that_nobody_knows() {
    let (_place, work) = ground();
    let engine = Engine::new(Settings::default()).unwrap();
    let glob = format!("{work}/secrets/**");
    let agent = bound(&engine, &work, Mode::Bypass, vec![deny(Some(Operation::Write), &glob)]).await;
    let lines = [
        "touch secrets/x",
        "rsync a secrets/x",
        "patch secrets/x",
        "gzip secrets/x",
        "git checkout -- secrets/x",
        "git rm secrets/x",
        "unzip a.zip -d secrets",
        "ed secrets/x",
        "gcc a.c -o secrets/x",
        "split a secrets/x",
        "sort b.rs -o secrets/x",
        "sort -osecrets/x b.rs",
        "git diff --output=secrets/x",
        "sed 'w secrets/x' b.rs",
        "python3 w.py secrets/x",
        "zip secrets/x.zip b.rs",
        "touch s*/x",
        "tee s*/x",
        "touch link/x",
        "rm -rf .",
        "make -C secrets -f x",
    ];
    all_denied(&agent, &lines);
    let fine = [
        "cat secrets/x",
        "grep x secrets/x",
        "cp secrets/x out",
        "sort secrets/x",
        "diff secrets/x b.rs",
        "timeout 5 cat secrets/x",
        "env A=b grep x secrets/x",
        "git log -- secrets/x",
        "touch other",
        "ls secrets",
    ];
    none_denied(&agent, &fine);
}

/// Where paths are no files of a disk, what a glob may mean counts.
#[tokio::test]
async fn where_nobody_can_look_what_may_be_there_counts_as_being_there() {
    let world = World::new();
    let agent = bound(&world.engine, "/ws", Mode::Bypass, vec![deny(Some(Operation::Read), "/**/.env*")]).await;
    all_denied(&agent, &["cat .en?", "grep -r . .", "cat .e*", "cp -r sub out"]);
    none_denied(&agent, &["cat *.rs", "ls -R"]);
}

/// In the sandbox, what is denied inside is kept from the command, which may have the rest.
#[cfg(feature = "sandbox")]
#[tokio::test]
async fn a_confined_command_reads_a_directory_without_what_is_denied_in_it() {
    use bestow::sandbox::{Command, Sandbox};
    let (_place, work) = ground();
    fs::write(Path::new(&work).join(".env"), "hidden-text").unwrap();
    let engine = Engine::new(Settings::default()).unwrap();
    let agent = bound(&engine, &work, Mode::Bypass, vec![deny(Some(Operation::Read), "/**/.env*")]).await;
    let sandbox = Sandbox::with_helper(env!("CARGO_BIN_EXE_bestow"));
    let done = agent.exec(&sandbox, Command::new("grep").args(["-r", "", "."]), &[]).await.unwrap();
    let told = String::from_utf8_lossy(&done.stdout.bytes).into_owned();
    assert!(told.contains("b.rs") && !told.contains("hidden-text"), "{told}");
}

//! Lines in which one part names a denied file and another part reads it, run by a real shell.

use std::{fs, process::Command, sync::Arc};

use bestow::{Action, Agent, Effect, Engine, Settings, action::Operation, agent::Mode, decision::Verdict};

use crate::support::{id, policy, profile, rule, settings};

/// Commands that print the name `.env`, as it is written in the line or as the disk has it.
const PRINTERS: &[&str] = &[
    "echo .env",
    "printf '%s\\n' .env",
    "printf .%s\\\\n env; : .env",
    "ls .env",
    "ls -d .e*",
    "ls .e?v",
    "ls -d .\"e\"nv",
    "stat -c %n .env",
    "find .env",
    "find . -maxdepth 1 -path ./.env",
    "basename ./.env",
    "realpath .env",
    "readlink -f .env",
    "dirname .env/x",
    "cat <<< .env",
    "cat <<E\n.env\nE\n",
    "sed -n 1p <<< .env",
    "head -n1 <<< '.env'",
    "grep -o '.env' <<< a.env",
    "awk 'BEGIN { print \".env\" }'",
    "test -e .env && echo $_",
    "[ -e .env ] && echo .env",
    "x=.env; echo $x",
    "x=.e; echo ${x}nv",
    "x=.envx; echo ${x%x}",
    "case .env in *) echo .env;; esac",
    "for n in .env; do echo $n; done",
    "echo b .env | cut -d' ' -f2",
    "{ echo .env; }",
    ":; (echo .env)",
    "du -a .env | cut -f2",
    "file -b --mime b.rs >/dev/null; echo .env",
    "wc -c .env | cut -d' ' -f2",
];

/// Ways from the output of the printer `P` to the words of the reader `R`.
const WAYS: &[&str] = &[
    "R $(P)",
    "R \"$(P)\"",
    "R `P`",
    "P | xargs R",
    "P | xargs -I% R %",
    "P | xargs -n1 -- R",
    "P | while read f; do R $f; done",
    "P | while IFS= read -r f; do R \"$f\"; done",
    "P | { read f; R $f; }",
    "P | sort | xargs R",
    "P | head -1 | xargs R",
    "{ P; } | xargs R",
    "(P) | xargs R",
    "f=$(P); R $f",
    "f=$(P) && R \"$f\"",
    "read f < <(P); R $f",
    "read -r f <<< \"$(P)\"; R $f",
    "mapfile -t a < <(P); R ${a[0]}",
    "a=($(P)); R \"${a[@]}\"",
    "for f in $(P); do R $f; done",
    "set -- $(P); R $1",
    "g() { R $1; }; g $(P)",
    "g() { P; }; R $(g)",
    "eval R $(P)",
    "bash -c 'R $0' $(P)",
    "P > n; R $(< n)",
    "P > n; xargs R < n",
    "P | tee n > /dev/null; R $(cat n)",
    "R < $(P)",
    "exec 3< $(P); R <&3",
    "coproc C { P; }; read f <&${C[0]}; R $f",
    "declare f=$(P); R $f",
    "printf -v f %s \"$(P)\"; R $f",
    "find . -maxdepth 1 -name \"$(P)\" -exec R {} +",
    "if f=$(P); then R $f; fi",
    "R -- $(P)",
    "env R $(P)",
    "command R $(P)",
    "time R $(P)",
    "timeout 5 R $(P)",
];

/// Programs that print what they read.
const READERS: &[&str] = &["cat", "head", "tail -n1", "grep secret", "sed p", "awk 1", "sort", "nl", "tac", "cut -c1-"];

async fn bypassing(dir: &str) -> Agent {
    let engine = Engine::new(Settings::default()).unwrap();
    let holds = format!("@write:{dir}");
    let mut file = policy(settings(|_| {}), &[("ann", "you", &[&holds, "@network"])]);
    let ann = file.agents.get_mut(&id("ann")).unwrap();
    ann.profile = profile("ann", "you", bestow::Kind::Permanent).in_mode(Mode::Bypass);
    ann.profile.working_dir = dir.parse().unwrap();
    ann.rules = Arc::from(vec![rule(Verdict::Deny, Some(Operation::Read), Some("/**/.env"))]);
    engine.configure(file).await.unwrap();
    engine.agent(id("ann")).unwrap()
}

/// Returns true if a shell prints the content of the denied file.
fn prints_the_secret(line: &str, dir: &std::path::Path) -> bool {
    let done = Command::new("timeout").args(["5", "bash", "-c", line]).current_dir(dir).output().unwrap();
    let _ = fs::remove_file(dir.join("n"));
    String::from_utf8_lossy(&done.stdout).contains("the secret")
}

fn line(way: &str, reader: &str, printer: &str) -> String {
    way.replace('R', reader).replace('P', printer)
}

/// Creates a directory with a denied file, and one that is not.
fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join(".env"), "the secret\n").unwrap();
    fs::write(place.path().join("b.rs"), "b\n").unwrap();
    place
}

#[tokio::test]
async fn no_line_that_reads_a_denied_file_by_a_passed_name_is_allowed() {
    let place = place();
    let agent = bypassing(place.path().to_str().unwrap()).await;
    let mut readers = READERS.iter().cycle();
    let products = WAYS.iter().flat_map(|way| PRINTERS.iter().map(move |printer| (way, printer)));
    let lines = products.map(|(way, printer)| line(way, readers.next().unwrap(), printer));
    let is_allowed = |line: &String| agent.verdict(&Action::command(line)).unwrap() == Effect::Allow;
    let leaks: Vec<_> = lines.filter(|line| is_allowed(line) && prints_the_secret(line, place.path())).collect();
    assert!(leaks.is_empty(), "{leaks:#?}");
}

/// The other test would find nothing if these lines printed nothing.
#[test]
fn the_shell_reads_the_file_in_every_way_and_for_every_printer() {
    let place = place();
    let ways = WAYS.iter().map(|way| line(way, "cat", "echo .env"));
    let printers = PRINTERS.iter().map(|printer| line("R $(P)", "cat", printer));
    let readers = READERS.iter().map(|reader| line("R $(P)", reader, "echo .env"));
    let silent: Vec<_> =
        ways.chain(printers).chain(readers).filter(|line| !prints_the_secret(line, place.path())).collect();
    assert!(silent.is_empty(), "{silent:#?}");
}

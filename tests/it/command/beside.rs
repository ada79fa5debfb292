//! Tests of the shapes of lines with one unsafe part among parts that only read.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
};

use bestow::command::{Shape, Tier, classify};
use proptest::prelude::*;

fn shape(text: &str) -> Option<Shape> {
    classify(text).shape
}

fn covered(learned: &str, text: &str) -> bool {
    shape(learned).expect("a shape to attack").covers(&classify(text))
}

const LEARNED: &str = "cargo test 2>&1 | tail -30";

#[test]
fn the_unsafe_part_of_a_line_is_what_a_person_allows() {
    for (line, shown, directory) in [
        (LEARNED, "cargo test <and any parts that only read>", None),
        ("cd web && cargo test 2>&1 | tail -30", "cargo test <and any parts that only read>", Some("web")),
        ("cd 'my web' && cargo test", "cargo test <and any parts that only read>", Some("my web")),
        ("cd /ws/a && ls && npm run build", "npm run build <and any parts that only read>", Some("/ws/a")),
        ("git status; make >/dev/null 2>&1 && echo ok", "make <and any parts that only read>", None),
        (
            "git add src/a.rs && git status -s",
            "git add <any path in the working directory> <and any parts that only read>",
            None,
        ),
        ("git commit -m 'x; y' | cat", "git commit -m <any text> <and any parts that only read>", None),
    ] {
        let shape = shape(line).unwrap_or_else(|| panic!("{line}"));
        assert_eq!(
            (shape.to_string().as_str(), shape.directory(), shape.is_beside()),
            (shown, directory, true),
            "{line}"
        );
        assert!(shape.covers(&classify(line)), "{line}");
        assert_eq!(shown.parse::<Shape>().unwrap().alone(), shape.alone(), "{line}");
        let stored = serde_json::to_string(&shape).unwrap();
        assert_eq!(serde_json::from_str::<Shape>(&stored).unwrap(), shape);
        assert!(shape.covers(&classify(&shape.example())), "{}", shape.example());
    }
    assert!(!shape("cargo test").expect("a shape").is_beside(), "one command stays one command");
}

#[test]
fn other_parts_that_only_read_may_stand_beside_it() {
    for text in [
        "cargo test",
        "cargo test 2>&1",
        "cargo test 2>/dev/null >/dev/null",
        "cargo test 2>&1 | grep -E 'FAIL|ok' | head -5",
        "cargo test | tail -30; echo \"exit: $?\"",
        "ls -la && cargo test",
        "cat src/lib.rs; cargo test",
        "git status && cargo test && git diff --stat",
        "cargo test || echo failed",
        "! cargo test",
        "time cargo test | tail",
        "test -f Cargo.toml && cargo test",
        "[ -d src ] && cargo test",
        "printf '%s\\n' a && cargo test",
        "sort < notes.txt && cargo test",
        "command -v cargo && cargo test",
        "cargo test | xargs echo",
        "cat $X && cargo test; echo $HOME",
        "timeout 5 ls && cargo test",
        "cargo 'test' | tail # a comment",
        "ls\ncargo test\nls",
    ] {
        assert!(covered(LEARNED, text), "{text}: {:?}", classify(text).reason);
    }
}

/// A part that changes the shell in which the unsafe part is started.
const CHANGES_THE_SHELL: &[&str] = &[
    "PATH=.",
    "PATH=. ls",
    "FOO=bar",
    "CFLAGS=-x",
    "export FOO=bar",
    "export LANG=C",
    "export RUSTFLAGS=x",
    "alias cargo=./x",
    "alias cargo=ls",
    "unalias cargo",
    "cargo() { ./x; }",
    "cargo() { ls; }",
    "function cargo { ls; }",
    "unset -f cargo",
    "unset HOME",
    "hash -p ./x cargo",
    "hash -r",
    "enable -n test",
    "builtin cd web",
    "command cd web",
    "set -a",
    "set -e",
    "set -o pipefail",
    "set -- a",
    "shopt -s expand_aliases",
    "shopt -s nullglob",
    "trap 'ls' EXIT",
    "trap 'ls' DEBUG",
    "trap '' INT",
    "ulimit -f 0",
    "ulimit -n 5",
    "umask 000",
    "exec 3>/dev/null",
    "exec >/dev/null",
    "exec ls",
    ". ./env",
    "source ./env",
    "eval ls",
    "read X",
    "read X < f",
    "printf -v PATH .",
    "printf -v X y",
    "mapfile < f",
    "readarray X < f",
    "getopts a X",
    "declare X=1",
    "declare -x A=b",
    "typeset X=1",
    "local X=1",
    "readonly X=1",
    "let X=1",
    "((X=1))",
    "[[ a =~ b ]]",
    "echo ${X:=y}",
    "echo \"${X=y}\"",
    "echo $((X=1))",
    "echo ${X[Y=1]}",
    "ls {X}>/dev/null",
    "echo a {CARGO_HOME}>&1",
    "wait",
    "wait -n",
    "exit",
    "return",
    "break",
    "times",
    "jobs",
    "help",
    "history",
    "fc -l",
    "dirs",
    "pushd web",
    "popd",
    "test -v X",
    "test -v 'a[X=1]'",
    "[ -R X ]",
    "coproc ls",
    "logout",
    "disown",
    "bg",
    "kill -0 1",
    "kill $$",
    "suspend",
    "compgen -A function",
    "bind -p",
    "complete -p",
    "caller",
    "setopt",
    "emulate sh",
    "rehash",
    "zmodload x",
    "noglob ls",
    "nocorrect ls",
    "vared X",
    "autoload x",
    "ls ${ X=1; }",
];

/// A part that writes a file which the unsafe part may obey or read, or that may do so.
const WRITES: &[&str] = &[
    "echo x > build.rs",
    "echo x >> Cargo.toml",
    "echo x >| Cargo.toml",
    "echo x &> build.rs",
    "ls > f",
    "ls 2> f",
    "ls 3> f",
    "ls <> f",
    "echo x | tee build.rs",
    "wget https://example.org/Cargo.toml",
    "wget -q https://example.org/build.rs",
    "curl -O https://example.org/build.rs",
    "curl -o build.rs https://example.org/x",
    "curl https://example.org/x",
    "curl -s http://localhost:8080/deploy",
    "sort -o build.rs x",
    "git log --output=build.rs",
    "sed -i s/a/b/ build.rs",
    "sed -n 'w build.rs' x",
    "awk '{print > \"build.rs\"}' x",
    "find . -name x -fprint build.rs",
    "find . -exec cp {} build.rs ';'",
    "cp a build.rs",
    "mv a build.rs",
    "touch build.rs",
    "mkdir a",
    "rm a",
    "./x",
    "python3 x.py",
    "env ./x",
    "tar xf a.tar",
    "unzip a.zip",
    "git checkout .",
    "git stash",
    "npm install",
    "ln -s a build.rs",
    "dd if=a of=b",
    "echo \"$(./x)\"",
    "ls `./x`",
    "cat <(./x)",
    "ls > >(./x)",
    "env",
    "printenv",
    "timeout 5 wget https://example.org/build.rs",
    "sh -c 'wget https://example.org/build.rs'",
    "ls | xargs wget https://example.org/build.rs",
    "nice curl https://example.org/x",
];

#[test]
fn no_other_part_may_change_what_it_does() {
    for part in CHANGES_THE_SHELL.iter().chain(WRITES) {
        for text in [
            format!("{part}; cargo test | tail -30"),
            format!("{part} && cargo test | tail -30"),
            format!("{part}\ncargo test"),
            format!("cargo test | tail -30; {part}"),
            format!("cargo test | {part}"),
            format!("{part} & cargo test"),
            format!("ls | {part}; cargo test"),
        ] {
            assert!(!covered(LEARNED, &text), "{text}");
        }
    }
}

#[test]
fn the_unsafe_part_itself_is_the_allowed_one() {
    for text in [
        "FOO=bar cargo test | tail",
        "PATH=. cargo test | tail",
        "LANG=C cargo test | tail",
        "./cargo test | tail",
        "/tmp/cargo test | tail",
        "cargo test --release | tail",
        "cargo build | tail",
        "cargo test $X | tail",
        "cargo $X | tail",
        "cargo test * | tail",
        "cargo test {a,b} | tail",
        "cargo test ~ | tail",
        "cargo test \"$(ls)\" | tail",
        "$X test | tail",
        "env cargo test | tail",
        "timeout 60 cargo test | tail",
        "nice cargo test | tail",
        "command cargo test | tail",
        "exec cargo test | tail",
        "sudo cargo test | tail",
        "bash -c 'cargo test' | tail",
        "eval cargo test | tail",
        "xargs cargo test",
        "cargo test < f | tail",
        "cargo test <> /dev/null | tail",
        "cargo test <<< y | tail",
        "cargo test <<EOF | tail\ny\nEOF",
        "cargo test <&3 | tail",
        "cargo test 3>&1 | tail",
        "cargo test > out | tail",
        "cargo test 2> out | tail",
        "cargo test &> out | tail",
        "cargo test {X}>&1 | tail",
        "cargo test >&- | tail",
        "echo y | cargo test",
        "yes | cargo test | tail",
        "cat f | cargo test",
        "cargo test; cargo test",
        "cargo test; cargo publish",
        "cargo test && git push",
        "cargo test | sh",
        "cargo test & tail f",
        "cargo test &",
        "(cargo test) | tail",
        "{ cargo test; } | tail",
        "if true; then cargo test; fi",
        "while true; do cargo test; done",
        "for x in a; do cargo test; done",
        "case x in x) cargo test;; esac",
        "f() { cargo test; }; f",
        "cargo test | while read x; do echo $x; done",
        "echo $(cargo test)",
        "cat <(cargo test)",
        "cargo test; rm -rf /",
        "cargo test | tail; 'open",
    ] {
        assert!(!covered(LEARNED, text), "{text}");
    }
}

#[test]
fn it_runs_in_the_directory_that_the_person_read() {
    let learned = "cd web && cargo test | tail";
    for text in [
        "cd web && cargo test",
        "cd 'web' && ls && cargo test 2>&1 | grep x",
        "git status; cd web && cargo test",
        "ls && cd web && test -f x && cargo test || echo failed; ls",
    ] {
        assert!(covered(learned, text), "{text}");
    }
    for text in [
        "cargo test | tail",
        "cargo test",
        "cd web; cargo test",
        "cd web\ncargo test",
        "cd web & cargo test",
        "cd web | cargo test",
        "cd web || cargo test",
        "cd web || true && cargo test",
        "true || cd web && cargo test",
        "! cd web && cargo test",
        "cd web && ! ls && cargo test",
        "cd web && cd .. && cargo test",
        "cd .. && cd web && cargo test",
        "cd web && cargo test; cd ..",
        "cd web && ls; cargo test",
        "(cd web && cargo test)",
        "pushd web && cargo test",
        "cd -P web && cargo test",
        "cd -- web && cargo test",
        "cd web x && cargo test",
        "cd && cargo test",
        "cd - && cargo test",
        "cd ~ && cargo test",
        "cd ~/web && cargo test",
        "cd $X && cargo test",
        "cd \"$X\" && cargo test",
        "cd w* && cargo test",
        "cd {web,x} && cargo test",
        "cd \"$(ls)\" && cargo test",
        "cd web2 && cargo test",
        "cd ../web && cargo test",
        "cd '' && cargo test",
        "CDPATH=/ cd web && cargo test",
        "cd web >/dev/null && cargo test",
        "env -C web cargo test | tail",
    ] {
        assert!(!covered(learned, text), "{text}");
    }
    assert!(!covered(LEARNED, learned), "the other directory was not allowed");
}

#[test]
fn what_was_allowed_alone_stays_alone() {
    assert!(!covered("cargo test", "cargo test | tail"));
    assert!(!covered("git commit -m x", "git commit -m y && git log -1"));
    let alone = serde_json::to_string(&shape("cargo test").unwrap()).unwrap();
    assert_eq!(alone, r#"{"program":"cargo","words":[{"fixed":"test"}]}"#, "as it was stored before");
    let rule: Shape = "cargo test".parse().unwrap();
    assert!(rule.covers(&classify("cargo test")) && !rule.covers(&classify("cargo test | tail")));
    let rule: Shape = "cargo test <and any parts that only read>".parse().unwrap();
    assert!(rule.covers(&classify("cargo test")) && rule.covers(&classify("cargo test | tail")));
    assert!(!rule.covers(&classify("cd web && cargo test")));
}

#[test]
fn a_text_that_is_no_such_shape_is_refused_with_a_way_out() {
    for text in [
        "<and any parts that only read>",
        " <and any parts that only read>",
        "cargo test  <and any parts that only read>",
        "cargo test <and any parts that only read> <and any parts that only read>",
        "cargo test <and any parts that only read> ",
        "cargo <and any parts that only read> test",
        "cargo test <and any parts>",
        "cd web && cargo test <and any parts that only read>",
        "bash -c \"x; y\" <and any parts that only read>",
        "cargo test | tail",
    ] {
        let why = text.parse::<Shape>().expect_err(text).to_string();
        assert!(why.contains("`<and any parts that only read>` at its end"), "{why}");
    }
    let word = shape("npm run '<and any parts that only read>'").expect("a shape");
    assert_eq!(word.to_string(), "npm run \"<and any parts that only read>\"");
    assert!(!word.is_beside());
    assert_eq!(word.to_string().parse::<Shape>().unwrap(), word);
}

/// A person's own rule may declare a function of the shell safe. It is no program that only reads.
#[test]
fn what_a_person_declared_safe_may_not_stand_beside_it() {
    use bestow::command::{Additions, Classifier};
    let nvm = serde_json::json!({
        "program": "nvm", "subcommand": ["use"], "operands": true,
        "match": ["nvm use 18"], "not_match": ["nvm install 18"],
    });
    let nvm = serde_json::from_value(nvm).unwrap();
    let classifier = Classifier::default().with_additions(Additions::new(vec![nvm], Vec::new()).unwrap());
    assert_eq!(classifier.classify("nvm use 18").tier, Tier::Safe);
    assert_eq!(classifier.classify("nvm use 18 && cargo test").shape, None);
    assert!(classifier.classify("ls && cargo test").shape.is_some());
}

/// The stub that stands for the allowed program. It records everything that it can see: its words, its directory, its
/// environment, its limits, its input, and all files.
const STUB: &str = r#"#!/bin/sh
exec >>@RECORD@ 2>&1
echo "run: $0" "$@"
pwd
umask
ulimit -a
env -u _ -u SHLVL | sort
trap
ls /proc/self/fd | wc -l
cat
find @WORLD@ -type f ! -name record -exec cksum {} + | sort
echo end
"#;

/// A directory with a stub in `bin` and a place to work in.
struct Stage {
    directory: tempfile::TempDir,
}

impl Stage {
    fn new() -> Stage {
        let stage = Stage { directory: tempfile::tempdir().expect("a directory") };
        fs::create_dir_all(stage.at("bin")).unwrap();
        fs::create_dir_all(stage.at("work/web")).unwrap();
        for file in ["work/f", "work/web/f", "work/env"] {
            fs::write(stage.at(file), "echo evil\n").unwrap();
        }
        let stub = STUB.replace("@RECORD@", &stage.at("record")).replace("@WORLD@", &stage.at(""));
        for name in ["bin/made", "work/made", "work/web/made"] {
            fs::write(stage.at(name), &stub).unwrap();
            fs::set_permissions(stage.at(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        stage
    }

    fn at(&self, name: &str) -> String {
        self.directory.path().join(name).to_str().unwrap().to_owned()
    }

    /// Runs a line in a real bash. Returns what the stub recorded.
    fn run(&self, line: &str) -> String {
        let record = self.at("record");
        let _ = fs::remove_file(&record);
        let mut bash = Command::new("bash");
        bash.args(["--norc", "--noprofile", "-c", line]).current_dir(self.at("work")).env_clear();
        bash.env("PATH", format!("{}:/usr/bin:/bin", self.at("bin"))).env("EXPORTED", "1").env("HOME", self.at("work"));
        bash.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        bash.status().expect("bash is here");
        if Path::new(&record).exists() { fs::read_to_string(&record).unwrap() } else { String::new() }
    }
}

/// A piece of a line.
#[derive(Clone, Copy, Debug)]
struct Piece {
    text: &'static str,
    /// True if it only reads and cannot change anything.
    harmless: bool,
}

const PIECES: &[(&str, bool)] = &[
    ("ls", true),
    ("cat f", true),
    ("echo $EXPORTED", true),
    ("true", true),
    ("false", true),
    ("grep -c evil f", true),
    ("test -f f", true),
    ("pwd", true),
    ("sort < f", true),
    ("head -1 f 2>/dev/null", true),
    ("echo a >&2", true),
    ("ls none", true),
    ("command -v made", true),
    ("EXPORTED=2", false),
    ("export EXPORTED=2", false),
    ("PATH=.", false),
    ("unset EXPORTED", false),
    ("alias made=ls", false),
    ("made() { echo; }", false),
    ("umask 0", false),
    ("ulimit -n 50", false),
    ("read EXPORTED < f", false),
    ("printf -v EXPORTED x", false),
    ("echo ${EXPORTED:=3}", false),
    ("echo ${NEW:=3}", false),
    ("echo $((EXPORTED=4))", false),
    ("ls {EXPORTED}>/dev/null", false),
    ("exec 5</dev/null", false),
    ("exec 2>/dev/null", false),
    ("trap '' INT", false),
    ("hash -p ./made made", false),
    ("set -a; NEW=1", false),
    (". ./env", false),
    ("echo x > f", false),
    ("echo x >> f", false),
    ("echo x | tee f", false),
    ("touch new", false),
    ("declare -x NEW=1", false),
    ("export NEW", false),
    ("mapfile EXPORTED < f", false),
    ("let EXPORTED=5", false),
    ("set -m", false),
    ("cd web", false),
    ("cd ..", false),
    ("pushd web", false),
    ("cd none", false),
    ("! cd none", false),
    ("wait", false),
    ("sleep 0.01 &", false),
    ("made x", false),
];

const JOINTS: &[&str] = &["; ", " && ", " || ", "\n", " | ", " & "];

fn piece() -> impl Strategy<Value = Piece> {
    // Half of the pieces are harmless, so that many lines are covered.
    let harmless = PIECES.iter().filter(|piece| piece.1).count();
    let any = prop_oneof![2 => 0..harmless, 1 => 0..PIECES.len()];
    any.prop_map(|at| Piece { text: PIECES[at].0, harmless: PIECES[at].1 })
}

fn joint() -> impl Strategy<Value = &'static str> {
    prop_oneof![4 => 0..4usize, 1 => 0..JOINTS.len()].prop_map(|at| JOINTS[at])
}

proptest! {
    /// Of random lines around an allowed command, those that are covered run exactly this command, or do not run it. A
    /// real bash shows that: the command sees the same words, directory, environment, input and files as it does alone.
    #[test]
    fn a_covered_line_runs_the_allowed_command_as_it_runs_alone(
        before in prop::collection::vec((piece(), joint()), 0..4),
        own in prop_oneof![
            5 => Just("made test"), 1 => Just("made test 2>&1"), 1 => Just("made test >/dev/null"),
            1 => Just("made other"), 1 => Just("./made test"), 1 => Just("NEW=1 made test"),
            1 => Just("made test < f"), 1 => Just("made test > f"), 1 => Just("(made test)"),
        ],
        after in prop::collection::vec((joint(), piece()), 0..4),
        enters in any::<bool>(),
    ) {
        let mut line: String = before.iter().map(|(piece, joint)| format!("{}{joint}", piece.text)).collect();
        if enters {
            line.push_str("cd web && ");
        }
        line.push_str(own);
        line.extend(after.iter().map(|(joint, piece)| format!("{joint}{}", piece.text)));
        let learned = if enters { "cd web && made test | cat" } else { "made test | cat" };
        let is_covered = covered(learned, &line);
        let pieces = before.iter().map(|(piece, _)| piece).chain(after.iter().map(|(_, piece)| piece));
        let are_harmless = pieces.clone().all(|piece| piece.harmless);
        prop_assert!(!is_covered || are_harmless, "a harmful part is covered: {line}");
        // It reads the output of another part, or something runs in the background, or `cd` may have failed.
        let is_fed = before.last().is_some_and(|(_, joint)| *joint == " | ");
        let joints = before.iter().map(|(_, joint)| joint).chain(after.iter().map(|(joint, _)| joint));
        let is_plain = !is_fed && !joints.clone().any(|joint| *joint == " & ");
        let is_certain = !enters || !before.iter().any(|(_, joint)| matches!(*joint, " || "));
        let is_own = matches!(own, "made test" | "made test 2>&1" | "made test >/dev/null");
        if are_harmless && is_plain && is_certain && is_own {
            prop_assert!(is_covered, "this line could be covered: {line}: {}", classify(&line).reason);
        }
        if is_covered {
            let stage = Stage::new();
            let alone = stage.run(if enters { "cd web && made test" } else { "made test" });
            prop_assert!(alone.ends_with("end\n"), "{alone}");
            let found = stage.run(&line);
            prop_assert!(found.is_empty() || found == alone, "{line}\n{found}\n---\n{alone}");
        }
    }
}

//! Lines that hide what they do from a reader of their text: each runs in a real shell, which does it, and no reading
//! calls it safe.

use std::{fs, path::Path, process::Command, sync::Arc};

use bestow::{
    Action, Agent, Effect, Engine, Settings, action::Operation, agent::Mode, command::Shell, decision::Verdict,
};

use crate::support::{id, policy, profile, rule, settings};

/// Lines that make the file `pwn`, and the shells that do so.
const RUNS: &[(&str, &str)] = &[
    // The end of a here-document.
    ("bash dash zsh", "cat <<${x}\n${x}\ntouch pwn"),
    ("bash dash zsh", "cat <<E${x}E\nE${x}E\ntouch pwn"),
    ("bash dash zsh", "cat <<\"${x}\"\n${x}\ntouch pwn"),
    ("zsh dash", "cat <<$\"E\"\n$E\ntouch pwn"),
    ("dash", "cat <<$'E'\n$E\ntouch pwn\nE"),
    ("bash", "echo $(cat <<E\nE)\ntouch pwn\nE\n)"),
    ("bash", "echo \"$(cat <<'E'\nx\nE)\"; touch pwn; echo \"\nE\n)\""),
    ("bash", "x=$(cat <<E\nx\nE );touch pwn\nE\n)"),
    ("bash", "cat <(cat <<E\nE)\ntouch pwn\nE\n)"),
    ("bash zsh", "cat <<-'\tE'\n\tE\ntouch pwn"),
    // What a trap sets.
    ("bash zsh", "f() { e='touch pwn'; }; trap f DEBUG; e=ls; eval \"$e\""),
    ("bash", "f() { e='touch pwn'; }; trap f DEBUG; e=ls; sh -c \"$e\""),
    ("bash", "trap 'if true; then e=\"touch pwn\"; fi' DEBUG; e=ls; eval \"$e\""),
    ("bash", "trap 'true && e=\"touch pwn\"' DEBUG; e=ls; eval \"$e\""),
    ("bash", "trap 'for e in \"touch pwn\"; do :; done' DEBUG; e=ls; eval \"$e\""),
    ("bash", "trap 'declare e=\"touch pwn\"' DEBUG; e=ls; eval \"$e\""),
    ("bash", "trap 'printf -v e \"touch pwn\"' DEBUG; e=ls; eval \"$e\""),
    ("bash", "trap ': ${e:=x} ${q:=touch pwn}' DEBUG; q=; eval \"$q\""),
    ("bash", "f() { o=pwn; }; trap f DEBUG; o=/dev/null; echo x > $o"),
    // A file name that arithmetic evaluates.
    ("bash", "for f in z*; do [[ $f -eq 0 ]]; done"),
    ("bash", "for f in z*; do [[ -v $f ]]; done"),
    ("bash", "for f in z*; do let f; done"),
    ("bash", "for f in z*; do let \"$f\"; done"),
    ("bash", "for f in z*; do echo $((f)); done"),
    ("bash", "for f in z*; do echo \"$(( $f ))\"; done"),
    ("bash", "for f in z*; do x=$((f+1)); done"),
    ("bash", "for f in z*; do echo ${x[f]}; done"),
    ("bash", "for f in z*; do echo ${x[$f]}; done"),
    ("bash", "x=abc; for f in z*; do echo ${x:f}; done"),
    ("bash", "for f in z*; do a[$f]=1; done"),
    ("bash", "for f in z*; do b[f]=1; done"),
    ("bash", "for f in z*; do n=$f; [[ n -eq 0 ]]; done"),
    ("bash", "x=(z*); echo $((x))"),
    ("bash", "set -- z*; [[ $1 -eq 0 ]]"),
    ("bash", "for f in z*; do [ -v \"$f\" ]; done"),
    ("bash", "z=(1); for f in z*; do unset \"$f\"; done"),
    ("bash", "for f in z*; do read \"$f\" <<< 1; done"),
    ("bash", "for f in z*; do printf -v \"$f\" x; done"),
    ("bash", "declare -i n; for f in z*; do n=$f; done"),
    // An error that keeps the old value.
    ("bash", "f='touch pwn;'; eval 'UID=7; f=echo'; eval $f"),
    ("bash zsh", "f='touch pwn;'; eval 'PPID=7; f=echo'; eval $f"),
    ("bash zsh", "f='touch pwn;'; readonly z; eval 'z=2; f=echo'; eval $f"),
    ("bash zsh", "f='touch pwn;'; eval ': $((1/0)); f=echo'; eval $f"),
    ("bash", "f='touch pwn;'; eval ': $((08)); f=echo'; sh -c \"$f\""),
    ("bash zsh", "f='touch pwn;'; eval 'a[]=1; f=echo'; eval $f"),
    ("bash", "shopt -s failglob; f='touch pwn;'; eval ': yy*; f=echo'; eval $f"),
    ("zsh", "f='touch pwn'; eval ': yy*; f=echo'; eval $f"),
    ("bash", "f='touch pwn;'\nUID=7; f=echo\neval $f x"),
    ("bash", "f='touch pwn;'\na[]=1; f=echo\neval $f x"),
    ("bash", "set -- 'touch pwn;'\nUID=7; set -- echo\neval $1"),
    // Variables whose values are arithmetic.
    ("bash", "RANDOM=$(cat n)"),
    ("bash", "read RANDOM < n"),
    ("bash", "OPTIND=$(cat n)"),
    ("bash", "mapfile -t RANDOM < n"),
    ("bash", "read x < n; RANDOM=$x"),
    ("bash", "while read SRANDOM; do :; done < n"),
    ("bash", "HISTCMD=$(cat n) true; HISTCMD=$(cat n)"),
    ("bash", "[ -v \"$(cat n)\" ]"),
    // What only dash does.
    ("dash", "f='touch pwn;'; a[]=x f=echo; eval $f"),
    // What only zsh does.
    ("zsh", "PS3=echo; PROMPT3='touch pwn;'; eval $PS3"),
    ("zsh", "RPS1=echo; RPROMPT='touch pwn;'; eval $RPS1"),
    ("zsh", "SECONDS=$(cat m)"),
    ("zsh", "printf %d \"$(cat m)\""),
    ("zsh", "while read -r x; do printf '%d\n' \"$x\"; done < m"),
    ("zsh", "(exit \"$(cat m)\")"),
    ("zsh", "[ -t \"$(cat m)\" ]"),
    ("zsh", "read -t \"$(cat m)\" x"),
    ("zsh", "x=ls; : ${x::=touch pwn}; sh -c \"$x\""),
    ("zsh", "chpwd() { e='touch pwn'; }; e=ls; cd .; sh -c \"$e\""),
    ("zsh", "chpwd_functions=(f); f() { e='touch pwn'; }; e=ls; cd .; eval \"$e\""),
    ("zsh", "TRAPDEBUG() { e='touch pwn'; }; e=ls; eval \"$e\""),
    ("zsh", "TRAPZERR() { e='touch pwn'; }; e=ls; false; eval \"$e\""),
];

/// Lines that print the file `.env`, and the shells that do so.
const READS: &[(&str, &str)] = &[
    ("bash dash zsh", "for f in *.md; do cat ${f%notes.md}.env; done"),
    ("bash dash zsh", "for f in *.md; do g=${f%notes.md}; cat ${g}.env; done"),
    ("bash dash", "for f in *.md; do cat .e${f%%*}nv; done"),
    ("bash", "for f in *.md; do cat ${f[5]}.env; done"),
    ("zsh", "for f in *.md; do cat ${f[1,0]}.env; done"),
    ("bash", "f() { g=.env; }; trap f DEBUG; g=a.txt; cat $g"),
    ("bash", "PWD=$PWD/sub; cat ~+/key"),
    ("bash", "x=$PWD; PWD=$x/sub; x=~+/key; cat $x"),
    ("zsh", "for f in *.md; do cat $f:h/.env; done"),
    ("zsh", "for f in *.md; do cat $f:s/notes.md/.env/; done"),
    ("zsh", "x=*.md; cat $x:h/.env"),
    ("zsh", "for f in src/*; do cat \"$f:h/../.env\"; done"),
    ("zsh", "TRAPDEBUG() { g=.env; }; g=a.txt; cat $g"),
    ("zsh", "x=$PWD/sub; cat ~x/key"),
    ("bash", "x=.env\nUID=7; x=notes.md\ncat $x"),
    ("bash", "x=.env\n: $((1/0)); x=notes.md\ncat $x"),
    ("bash", "x=.env\ny=${a[]}; x=notes.md\ncat $x"),
    ("zsh", "x=.env; eval 'set -u; : $y; x=notes.md'; cat $x"),
    ("bash zsh", "i=notes.md; RANDOM=i=5; cat $i"),
    ("bash zsh", "for RANDOM in i=5; do cat $i; done"),
    ("zsh", "i=notes.md; COLUMNS=i=5 true; cat $i"),
    ("bash zsh", "SECONDS=4; sleep 1; cat $SECONDS"),
    ("bash", "i=notes.md; [ -v 'a[i=5]' ]; cat $i"),
    ("zsh", "f=notes.md; printf %d f=5; cat $f"),
    ("zsh", "g() { return f=5; }; f=notes.md; g; cat $f"),
    ("dash", "f=5; a[]=x f=notes.md; cat $f"),
    ("dash zsh", "cat 15</dev/null"),
    ("dash zsh", "cat $(echo 15>&1)"),
    ("zsh", "cat 5\\\n<notes.md"),
    ("dash", "cat .[^e]nv"),
    ("dash", "for f in [^5]; do cat $f; done"),
    ("bash dash zsh", "sh -c 'cat .[^e]nv'"),
];

const SECRET: &str = "a line that nobody may read";

/// Creates the files that the lines are about.
fn ground() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("sub")).unwrap();
    fs::create_dir(place.path().join("src")).unwrap();
    for name in ["a.txt", "notes.md", "src/x"] {
        fs::write(place.path().join(name), "x").unwrap();
    }
    fs::write(place.path().join("n"), "a[$(touch pwn)0]").unwrap();
    fs::write(place.path().join("m"), "path[$(touch pwn)1]\n").unwrap();
    for name in [".env", "sub/key", "5", "15"] {
        fs::write(place.path().join(name), SECRET).unwrap();
    }
    fs::write(place.path().join("z[$(touch pwn)]"), "").unwrap();
    place
}

/// Returns what a shell prints for a line.
fn run(shell: &str, line: &str, directory: &Path) -> String {
    let mut command = Command::new(shell);
    if shell == "zsh" {
        command.arg("-f");
    }
    let done = command.args(["-c", line]).current_dir(directory).env("HOME", directory).output().unwrap();
    String::from_utf8_lossy(&done.stdout).into_owned()
}

fn shell(name: &str) -> Shell {
    match name {
        "bash" => Shell::Bash,
        "dash" => Shell::Dash,
        _ => Shell::Zsh,
    }
}

/// Returns an agent that may write below `directory`, and read neither `.env` nor `key`.
async fn agent(directory: &Path) -> Agent {
    let engine = Engine::new(Settings::default()).unwrap();
    let directory = directory.to_str().unwrap();
    let mut file = policy(settings(|_| {}), &[("ann", "you", &[&format!("@write:{directory}")])]);
    let ann = file.agents.get_mut(&id("ann")).unwrap();
    ann.profile = profile("ann", "you", bestow::Kind::Permanent).in_mode(Mode::Default);
    ann.profile.working_dir = directory.parse().unwrap();
    let denied =
        ["/**/.env", "/**/key", "/**/5", "/**/15"].map(|glob| rule(Verdict::Deny, Some(Operation::Read), Some(glob)));
    ann.rules = Arc::from(denied.to_vec());
    engine.configure(file).await.unwrap();
    engine.agent(id("ann")).unwrap()
}

/// Asserts that each shell does what a line hides, as `is_done` finds it, and that no reading of the line is allowed.
async fn assert_hidden(lines: &[(&str, &str)], is_done: impl Fn(&Path, &str) -> bool) {
    let place = ground();
    let ann = agent(place.path()).await;
    let mut wrong = Vec::new();
    for (shells, line) in lines {
        for name in shells.split(' ') {
            let other = ground();
            let printed = run(name, line, other.path());
            if !is_done(other.path(), &printed) {
                wrong.push(format!("{name} does nothing: {line}"));
            }
            for shell in [shell(name), Shell::Unknown] {
                if ann.verdict(&Action::command(line).in_shell(shell)).unwrap() == Effect::Allow {
                    wrong.push(format!("allowed for {shell:?}: {line}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn no_line_that_hides_a_command_is_allowed() {
    assert_hidden(RUNS, |directory, _| directory.join("pwn").exists()).await;
}

#[tokio::test]
async fn no_line_that_hides_the_name_of_a_denied_file_is_allowed() {
    assert_hidden(READS, |_, printed| printed.contains(SECRET)).await;
}

//! Texts that run a command which a careless reader misses. A real bash proves each one with a marker file.

use std::{path::Path, process::Command};

use bestow::command::{Tier, classify};

/// Returns true if bash, run on `text` in an empty directory, creates the file `marker`.
fn runs(text: &str) -> bool {
    let directory = tempfile::tempdir().expect("a directory");
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", text]).current_dir(directory.path()).env_clear().env("PATH", "/usr/bin:/bin");
    bash.stdin(std::process::Stdio::null()).output().expect("bash is here");
    Path::exists(&directory.path().join("marker"))
}

const TRAPS: &[&str] = &[
    "echo \"$\\\n(touch marker)\"",
    "cat <<EOF\n`touch marker`\nEOF",
    "cat <<EOF\n$(touch marker)\nEOF",
    "echo `echo \\`touch marker\\` `",
    "t\\\nouch marker",
    "[[ -v 'a[$(touch marker)]' ]]",
    "test -v 'a[$(touch marker)]'",
    "printf -v 'a[$(touch marker)]' x",
    "read 'a[$(touch marker)]' <<< 1",
    "[[ 'a[$(touch marker)]' -eq 0 ]]",
    "declare -i 'x=a[$(touch marker)]'",
    "x='a[$(touch marker)]'; echo $((x))",
    "x='a[$(touch marker)]'; (( x ))",
    "let 'a[$(touch marker)]=1'",
    "x='a[$(touch marker)]'; echo ${!x}",
    "x='$(touch marker)'; echo \"${x@P}\"",
    "x='$(touch marker)'; echo \"${x\\\n@P}\"",
    "x='$(touch marker)'; echo $\\\n{x@P}",
    "echo ${a[$(touch marker)]}",
    "echo ${x:-$(touch marker)}",
    "echo ${x:-`touch marker`}",
    "x=y; echo ${x//y/$(touch marker)}",
    "echo \"${x:-\"$(touch marker)\"}\"",
    "echo $(( $(touch marker) + 1 ))",
    "echo $((1 + `touch marker`))",
    "echo $[ $(touch marker) ]",
    "cat <(touch marker)",
    "ls > >(touch marker); sleep 0.2",
    "x=$(touch marker) ls",
    "ls 2>$(touch marker; echo /dev/null)",
    "touch$IFS\"marker\"",
    "{touch,marker}",
    "$'\\x74ouch' marker",
    "X='touch marker'; $X",
    "eval 'touch marker'",
    "trap 'touch marker' EXIT",
    "f() { touch marker; }; f",
    "ls() { touch marker; }; ls",
    "cat <<'EOF'; touch marker\nhi\nEOF",
    "cat <<EOF && touch marker\nhi\nEOF",
    "cat <<A <<B; touch marker\na\nA\nb\nB",
    "case x in x) touch marker;; esac",
    "case x in (x) touch marker;;& esac",
    "coproc touch marker; sleep 0.2",
    "! touch marker",
    "time -p touch marker",
    "ls |& touch marker",
    "mapfile -C 'touch marker #' -c 1 a <<< x",
    "compgen -W '$(touch marker)'",
    "find . -maxdepth 0 -exec touch marker \\;",
    "ls | xargs touch marker",
    "env -S 'touch marker'",
    "awk 'BEGIN{system(\"touch marker\")}'",
    "awk 'BEGIN{\"touch marker\" | getline}'",
    "awk 'BEGIN{print \"x\" > \"marker\"}'",
    "echo x | sed 's/x/touch marker/e'",
    "echo x | sed 'w marker'",
    "echo x | sed -n '/x/{w marker\n}'",
    "echo x | sed 's/[/]/y/;s/x/y/w marker'",
    "sort -o marker /dev/null",
    "sort --outpu=marker /dev/null",
    "uniq /dev/null marker",
    "bash -c 'touch marker'",
    "echo 'touch marker' | bash",
    "bash <<< 'touch marker'",
    "source <(echo touch marker)",
    "find . -maxdepth 0 -fprint marker",
    "date > marker",
    "ls >| marker",
    "ls &> marker",
    "ls >& marker",
    "echo x <> marker",
    "{fd}> marker ls",
    "tee marker < /dev/null",
    "x=; echo ${x:=$(touch marker)}",
    "select i in $(touch marker); do break; done < /dev/null",
    "for ((i=$(touch marker; echo 0); i<1; i++)); do :; done",
    "for x in 'a[$(touch marker)]'; do echo $((x)); done",
    "a=(x $(touch marker))",
    "a[$(touch marker)]=1",
    "declare \"a[$(touch marker)]=1\"",
    "echo @(a|$(touch marker))",
    "alias x='touch marker'; eval 'shopt -s expand_aliases'; shopt -s expand_aliases\nalias y='touch marker'\ny",
    "PROMPT_COMMAND='touch marker' bash --norc -i <<< ''",
    "BASH_ENV=<(echo touch marker) bash -c :",
    "exec 3> marker",
    "ls # '\ntouch marker",
    "ls \\\n; touch marker",
    "echo $'a' ; touch marker # '",
    "echo ${#x} ; touch marker",
    "echo a#b ; touch marker",
    "[ -f x ] || touch marker",
    "x[0]=1 touch marker",
    "touch${IFS%??}marker",
    "a=(1); unset 'a[$(touch marker)]'",
    "[ -v 'a[$(touch marker)]' ]",
    "declare 'a[$(touch marker)]=1'",
    "declare -n r='a[$(touch marker)]'; echo $r",
    "x=abc; y='a[$(touch marker)]'; echo ${x:y}",
    "x=abc; y='a[$(touch marker)]'; echo ${x:0:y}",
    "y='a[$(touch marker)]'; b[y]=1",
    "y='a[$(touch marker)]'; echo ${b[y]}",
    "y='a[$(touch marker)]'; echo $[y]",
    "y='a[$(touch marker)]'; for ((i=y;i<0;)); do :; done",
    "y='a[$(touch marker)]'; [[ y -eq 0 ]]",
    "read -r 'a[$(touch marker)]' < /etc/passwd",
    "declare -i z; z='a[$(touch marker)]'",
    "y='a[$(touch marker)]'; echo {1..$((y))}",
    "y='a[$(touch marker)]'; exit $((y))",
    "y=$(echo 'a[$(touch marker)]'); echo $((y))",
    "set -- 'a[$(touch marker)]'; echo $(( $1 ))",
    "f() { echo $(( $1 )); }; f 'a[$(touch marker)]'",
    "PS4='$(touch marker)'; set -x; ls",
    "trap 'touch marker' DEBUG; ls",
    "trap 'touch marker' RETURN; . /dev/null",
    "command_not_found_handle() { touch marker; }; no_such_program",
    "echo 'touch marker' > >(sh); sleep 0.3",
    "x=(touch marker); \"${x[@]}\"",
    "c=touch; c+=' marker'; $c",
    "read c <<< 'touch marker'; $c",
    "(echo touch marker) | sh",
    "f() { echo touch marker; }; f | sh",
    "echo touch marker | xargs -I{} sh -c '{}'",
    "awk 'BEGIN{print \"touch marker\" | \"sh\"}'",
    "sed '1e touch marker' /etc/passwd",
    "sed --expression='w marker' /etc/passwd",
    "tar cf - /dev/null --checkpoint=1 --checkpoint-action=exec='touch marker'",
    "git init -q .; git -c alias.x='!touch marker' x",
    "git init -q .; git --no-pager -c core.fsmonitor='touch marker' status",
];

#[test]
fn what_a_real_bash_runs_or_writes_is_never_safe() {
    // These need an option that is off by default, or end with an error before the command runs.
    let idle =
        ["{fd}> marker ls", "echo @(a|$(touch marker))", "select i in $(touch marker); do break; done < /dev/null"];
    for text in TRAPS {
        assert!(classify(text).tier > Tier::Safe, "{text}: {}", classify(text).reason);
        if !idle.contains(text) {
            assert!(runs(text), "the label is wrong, bash runs nothing: {text}");
        }
    }
}

#[test]
fn a_carriage_return_belongs_to_the_name_of_the_program() {
    assert!(!runs("ls\rtouch marker"));
    assert!(classify("ls\rtouch marker").tier > Tier::Safe);
}

#[test]
fn what_looks_like_a_trap_but_runs_nothing_may_be_safe() {
    for text in [
        "echo '$(touch marker)'",
        "echo \\$(echo) | cat",
        "cat <<'EOF'\n$(touch marker)\nEOF",
        "echo \"\\$(touch marker)\"",
        "echo '`touch marker`'",
        "grep '$(touch marker)' /dev/null",
        "ls # ; touch marker",
        "echo a\\;touch marker",
    ] {
        assert!(!runs(text), "{text}");
    }
    for text in [
        "echo '$(touch marker)'",
        "cat <<'EOF'\n$(touch marker)\nEOF",
        "echo \"\\$(touch marker)\"",
        "ls # ; touch marker",
        "echo a\\;touch marker",
    ] {
        assert_eq!(classify(text).tier, Tier::Safe, "{text}");
    }
}

/// Returns true if bash, run on `text`, starts a program that lies under one of the names `planted` in its directory.
fn starts_planted(planted: &str, text: &str) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().expect("a directory");
    for planted in planted.split(' ') {
        let program = directory.path().join(planted);
        std::fs::create_dir_all(program.parent().expect("a place for it")).expect("a directory");
        std::fs::write(&program, "#!/bin/sh\n: > \"$MARKER\"\n").expect("a program");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("it may run");
    }
    let marker = directory.path().join("marker");
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", text]).current_dir(directory.path()).env_clear();
    bash.env("PATH", "/usr/bin:/bin").env("MARKER", &marker);
    bash.stdin(std::process::Stdio::null()).output().expect("bash is here");
    marker.exists()
}

/// `PATH` and the command table of bash can be set in more ways than by `PATH=`.
#[test]
fn a_trusted_name_is_not_safe_where_the_text_says_which_program_it_is() {
    for (planted, text) in [
        ("ls", "PATH=.; ls"),
        ("ls", "for PATH in .; do ls; done"),
        ("ls", "read PATH <<< .; ls"),
        ("ls", "read -r a PATH <<< 'x .'; ls"),
        ("ls", "mapfile -t PATH <<< .; ls"),
        ("ls", "unset PATH; : ${PATH:=.}; ls"),
        ("ls", "printf -v PATH .; ls"),
        ("ls", "declare PATH=.; ls"),
        ("ls", "BASH_CMDS[ls]=./ls; ls"),
        ("ls", "BASH_CMDS=([ls]=./ls); ls"),
        ("ls", "hash -p ./ls ls; ls"),
        ("1/ls", "((PATH=1)); ls"),
        ("1/ls", "echo $((PATH=1)); ls"),
        ("1/ls", "let PATH=1; ls"),
        ("x/ls", "getopts x PATH -x; ls"),
        ("10/ls 11/ls 12/ls", "{PATH}</dev/null true; ls"),
    ] {
        assert!(starts_planted(planted, text), "the label is wrong, bash runs the real one: {text}");
        assert!(classify(text).tier > Tier::Safe, "{text}: {}", classify(text).reason);
    }
    for text in
        ["for path in a b; do ls $path; done", "read -r line; ls $line/", "((count=1)); ls", "cat {a,b}</dev/null"]
    {
        assert!(!starts_planted("ls", text), "{text}");
    }
}

/// The content of a file may be an option: `sort -omarker` writes.
#[test]
fn a_default_that_comes_from_a_file_is_not_known_text() {
    let text = ": ${x:=$(echo -omarker | cat)}; sort $x /dev/null";
    assert!(runs(text), "the label is wrong");
    assert!(classify(": ${x:=$(cat f)}; sort $x /dev/null").tier > Tier::Safe);
    assert!(classify(text).tier > Tier::Safe, "{}", classify(text).reason);
}

/// Printing and writing differ by one letter. Each pair is run, and only the first one is safe.
#[test]
fn what_is_unpacked_to_be_seen_leaves_no_file_behind() {
    let pack = "echo x > marker; ln -s marker l; mkfifo p; tar cf a.tar marker l p; gzip -k marker; rm marker l p; ";
    for (shows, writes) in [
        ("tar -xOf a.tar", "tar -xf a.tar"),
        ("tar xOf a.tar marker", "tar xf a.tar marker"),
        ("gzip -dc marker.gz", "gzip -d marker.gz"),
        ("gunzip --stdout marker.gz", "gunzip marker.gz"),
    ] {
        assert!(!runs(&format!("{pack}{shows}")), "the label is wrong: {shows}");
        assert!(runs(&format!("{pack}{writes}")), "the label is wrong: {writes}");
        assert_eq!(classify(shows).tier, Tier::Safe, "{}", classify(shows).reason);
        assert!(classify(writes).tier > Tier::Safe, "{}", classify(writes).reason);
    }
}

/// `find … | xargs sed` and `sort *` read, unless a file has the name of an option.
#[test]
fn a_file_that_is_called_like_an_option_is_one() {
    for (file, text) in
        [("-esAaAbAw marker", "ls | xargs -d '\\n' sed -n 1p"), ("-omarker", "sort *"), ("-omarker", "ls | xargs sort")]
    {
        assert!(runs(&format!("echo a > f; : > '{file}'; {text}")), "the label is wrong, nothing is written: {text}");
        assert!(classify(text).tier > Tier::Safe, "{text}: {}", classify(text).reason);
    }
    let hostile = "echo a > f; : > '-esAaAbAw marker'; : > -omarker; ";
    for text in ["ls | xargs wc -l", "jq . *.json", "sort ./*", "cat *"] {
        assert!(!runs(&format!("{hostile}{text}")), "{text}");
        assert_eq!(classify(text).tier, Tier::Safe, "{text}: {}", classify(text).reason);
    }
}

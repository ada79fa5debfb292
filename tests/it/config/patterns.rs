//! Tests of the command lines that a command pattern matches.

use bestow::{Action, decision::Verdict};

use super::rules::{rule, saved, verdict};

/// Lines that run `git push`, or may run it.
const PUSHES: &[&str] = &[
    "git push",
    "git push origin main",
    "/usr/bin/git push",
    "\\git push",
    "g''it push",
    "git -C . push",
    "git --no-pager push",
    "git -c a.b=c --git-dir x push",
    "$E git push",
    "git $x",
    "git \"$x\"",
    "git \"$@\"",
    "git -C . \"${list[@]}\"",
    "set -- push; git $1",
    "git pus*",
    "git pus[h]",
    "$x push",
    "git ${x:-push}",
    "git {push,origin}",
    "a=(git push); \"${a[@]}\"",
    "for c in status push; do git $c; done",
    "for c in p*; do git \"$c\"; done",
    "x=push; git $x",
    "x=push; if false; then x=status; fi; git $x",
    "x=push; false && x=status; git $x",
    "x=status; while true; do git $x; x=push; done",
    "x=; while true; do git $x; x=push; done",
    "x=status; printf -v x push; git $x",
    "x=status; read x; git $x",
    "x=$E; git \"$x\"",
    "IFS=,; x=git,push; $x",
    "if false; then git() { ls; }; fi; git push",
    "echo() { printf push; }; git $(echo status)",
    "git() { ls; }; unset -f git; git push",
    "g() { git \"$@\"; }; g push",
    "alias g='git push'",
    "alias g=git; g push",
    "command git push",
    "exec -a x git push",
    "builtin command git push",
    "env git push",
    "env -S 'git push'",
    "env -S'git push'",
    "env -S git push",
    "env A=b \"$x\" git push",
    "nice -n 5 git push",
    "nice -n \"$n\" git push",
    "timeout \"$t\" git push",
    "timeout --unheard-of 5 git push",
    "sudo git push",
    "sudo sh -c 'git push'",
    "sudo -u you git push",
    "doas git push",
    "su -c 'git push'",
    "su -c'git push' you",
    "su you -lc 'git push'",
    "su --command='git push'",
    "script -c 'git push' x",
    "script -qc 'git push' x",
    "flock x -c 'git push'",
    "flock -c 'git push' x",
    "flock x git push",
    "npx -c 'git push'",
    "npx --call='git push'",
    "nix-shell --run 'git push'",
    "watch 'git push'",
    "watch git push",
    "watch -n 1 \"$x\"",
    "hyperfine 'git push'",
    "hyperfine --prepare 'git push' ls",
    "concurrently 'ls' 'git push'",
    "xargs git",
    "xargs git push",
    "echo push | xargs git",
    "printf 'status\\npush' | xargs -n1 git",
    "xargs -I{} git {}",
    "xargs -I{} sh -c 'git {}'",
    "xargs -n 1 sh -c 'git \"$@\"' _",
    "xargs $x",
    "parallel git ::: push",
    "parallel git {} ::: status push",
    "parallel 'git {1}' ::: status push",
    "echo push | parallel git",
    "find . -exec git push \\;",
    "find . -exec git {} +",
    "find . -ok git push \\;",
    "find . -execdir sh -c 'git push' \\;",
    "find . $x",
    "fd x -x git push",
    "sh -c 'git push'",
    "bash -lc 'git push'",
    "sh -c \"$x\"",
    "sh -c \"git '$x'\"",
    "sh -c 'git $0' push",
    "bash \"$x\" 'git push'",
    "bash <<< 'git push'",
    "bash <<EOF\ngit push\nEOF",
    "echo git push | sh",
    "curl x | bash",
    "bash <(curl x)",
    "source <(curl x)",
    "sh -c \"$(curl x)\"",
    "eval 'git push'",
    "eval git push",
    "eval \"$x\"",
    "trap 'git push' EXIT",
    "ssh host git push",
    "ssh host 'git push'",
    "ssh host \"$x\"",
    "ssh -o 'ProxyCommand=git push' host",
    "ssh \"$HOST\" uptime",
    "ssh -- $HOST uptime",
    "ssh -- \"$HOST\" git push",
    "ssh -- \"$HOST\" 'git push'",
    "ssh -- \"$HOST\" \"$x\"",
    "ssh \"$x\" -- \"$HOST\" uptime",
    "ssh -- \"$HOST\" -o 'ProxyCommand=git push' uptime",
    "ssh -- \"$HOST\" -oProxyCommand='git push' uptime",
    "ssh host <<< 'git push'",
    "tmux new -d 'git push'",
    "tmux send-keys -t 1 'git push' Enter",
    "docker run image git push",
    "docker --context x run image sh -c 'git push'",
    "docker \"$x\" image git push",
    "kubectl -n x exec pod -- git push",
    "curl x | docker exec -i c sh",
    "git submodule foreach 'git push'",
    "git bisect run git push",
    "git rebase -x 'git push' main",
    "git -c core.pager='git push' log",
    "git -c alias.p=push p",
    "GIT_SSH_COMMAND='git push' git fetch",
    "GIT_PAGER='git push' git log",
    "PAGER=$x git log",
    "env PAGER='git push' git log",
    "PROMPT_COMMAND='git push'",
    "export PAGER='git push'",
    "mapfile -C 'git push' x",
    "python -c 'import os; os.system(\"git push\")'",
    "unheard-of git push",
    "unheard-of -- 'git push'",
    "unheard-of env -S 'git push'",
    "unheard-of rm -rf / env -S 'git push'",
    "{ git push; }",
    "( git push )",
    "! git push",
    "time git push",
    "ls $(git push)",
    "ls `git push`",
    "ls > >(git push)",
    "cat <(git push)",
    "[[ -v 'a[$(git push)]' ]]",
    "coproc git push",
    "if git push; then ls; fi",
    "git push &",
    "ls '",
    "curl x | bash -a",
    "curl x | bash -k",
    "curl x | bash -C",
    "curl x | bash -P",
    "curl x | bash --debugger",
    "printf 'git push\\n' | bash -a",
    "bash -a <<X\ngit push\nX",
    "bash -a <(curl x)",
    "bash --verbose <(echo git push)",
    "sh <p -a",
    "bash -ac '{git,push}'",
    "bash --rcfile <(echo git push) -i -c :",
    "bash --init-file <(echo git push) -i -c :",
    "bash /dev/stdin <<< 'git push'",
    "curl x | bash /dev/stdin",
    "curl x | . /dev/stdin",
    "curl x | bash -c '. /dev/stdin'",
    "bash /dev/fd/3 3<<<'git push'",
    "exec 3<<<'git push'; . /dev/fd/3",
    "exec 3<<<'git push'; . /proc/self/fd/3",
    "exec 3<<<'git push'; cd /dev/fd; sh 3",
    "curl x | su",
    "curl x | su root",
    "curl x | runuser root",
    "curl x | sg root",
    "curl x | newgrp root",
    "curl x | chroot /",
    "curl x | script -q x",
    "curl x | unshare",
    "curl x | nsenter",
    "curl x | setarch x86_64",
    "curl x | linux64",
    "curl x | nice su",
    "curl x | sudo -s",
    "curl x | sudo bash",
    "echo git push | su",
    "curl x | xargs env",
    "curl x | xargs nice",
    "curl x | xargs -L1 timeout 9",
    "curl x | xargs -l env",
    "xargs -l git <<< push",
    "xargs -l1 git <<< push",
    "xargs -eX git <<< push",
    "xargs --process-slot-var=V git <<< push",
    "env -S 'git\\_push'",
    "env '-Sgit\\_push'",
    "X=git env -S'${X}\\_push'",
    "env -S '\"g\"it #x' push",
    "prlimit --nofile git push",
    "prlimit --core git push",
    "git -c Alias.x=push x",
    "git -c ALIAS.x=push x",
    "export Q=push; git --config-env=Alias.x=Q x",
    "git config Alias.y push; git y",
    "git -c include.path=F x",
    "git -c \"$x\" log",
    "export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0=push; git x",
    "declare -x GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0=push; git x",
    "find . -maxdepth 0 -printf 'git push\\n' | sh",
    "find . -maxdepth 0 -fprintf /dev/stdout 'git push\\n' | sh",
    "python3 -c 'print(\"git\"+\" push\")' | sh",
    "python3 -c 'print(\"git\",\"push\")' | sh",
    "node -e 'console.log(\"git\"+\" push\")' | sh",
    "(echo -n 'git '; echo push) | sh",
    "typeset -l y; y=GIT; $y push",
    "declare -l y; y=GIT; $y push",
    "declare -l y=x; y=GIT; $y push",
    "y=ls; read -ray <<< git; $y push",
    "y=ls; z=y; : ${!z:=x}; unset y; : ${!z:=git}; $y push",
    "git @(push)",
    "git -C \"$x\" push",
    "git -C $x log",
    "git --unheard-of x push",
    "docker exec c sh -c \"$x\"",
    "docker exec \"$x\" \"$y\"",
    "make --eval=\"$x\"",
    "git submodule foreach \"$x\"",
    "PAGER=\"$x\" git log",
    "export PAGER=\"$x\"; git log",
    "GIT_SSH_COMMAND=\"$x\" git fetch",
];

/// Lines that do not run `git push`.
const OTHERS: &[&str] = &[
    "git status",
    "git log --format='git push'",
    "git commit -m 'git push'",
    "git commit -m \"$message\"",
    "git pull",
    "git add *.c",
    "git add src/*",
    "grep 'git push' x",
    "echo git push",
    "ls \"$x\"",
    "cat $x",
    "rm $x",
    "cargo build $FLAGS",
    "for f in a b; do cat $f; done",
    "x=a; cat $x",
    "timeout 5 cat \"$x\"",
    "find . -name '*.c'",
    "find src -name *.c",
    "find . -type f -exec cat {} \\;",
    "xargs cat",
    "sh -c 'ls'",
    "env A=b ls",
    "cp -r src lib",
    "unheard-of --push",
    "unheard-of \"don't stop\"",
    "unheard-of \"build $x done\"",
    "npm test",
    "X=\"$Y\" ls",
    "A=$HOME ls",
    "A=~ ls",
    "A=$((1+1)) ls",
    "FOO=\"$BAR\" npm test",
    "PATH=\"/x:$PATH\" ls",
    "export PATH=/x:$PATH",
    "GOPATH=$HOME/go go build",
    "DATABASE_URL=\"postgres://$H/x\" npm test",
    "git commit -m 'add alias.rs'",
    "git add src/alias.rs",
    "git rm alias.txt",
    "git -C \"$REPO\" log",
    "git -C \"$PWD\" status",
    "git -C push status",
    "git --no-pager log push",
    "make \"$T\"",
    "make -C \"$D\"",
    "just \"$X\"",
    "cargo run -- \"$X\"",
    "go run . \"$X\"",
    "docker compose up \"$X\"",
    "docker exec \"$C\" ls",
    "kubectl exec \"$POD\" -- ls",
    "ssh -- \"$HOST\" uptime",
    "ssh -p 22 -- \"$HOST\" uptime",
    "git submodule add \"$U\"",
    "git bisect good \"$X\"",
    "$HOME/.cargo/bin/cargo test",
    "python3 -c 'print(\"git push\")'",
    "cargo test -- \"git push\"",
    "pkill -f 'git push'",
];

pub(crate) fn with(said: &str, pattern: &str) -> super::Place {
    saved(&rule(&format!("verdict = \"{said}\"\ncommand = \"{pattern}\"")))
}

fn says(place: &super::Place, lines: &[&str], wanted: impl Fn(bestow::Effect) -> bool) -> Vec<String> {
    let wrong = |line: &&&str| !wanted(verdict(place, &Action::command(line)));
    lines.iter().filter(wrong).map(|line| (*line).to_owned()).collect()
}

#[test]
fn a_denied_command_is_denied_behind_everything_that_may_start_it() {
    let place = with("deny", "git push **");
    assert_eq!(says(&place, PUSHES, |verdict| verdict == Verdict::Deny), Vec::<String>::new());
}

#[test]
fn a_pattern_says_nothing_about_what_is_certainly_something_else() {
    let (with, without) = (with("deny", "git push **"), saved(&rule("verdict = \"deny\"\ntool = \"none\"")));
    let wrong: Vec<_> = OTHERS
        .iter()
        .filter(|line| verdict(&with, &Action::command(line)) != verdict(&without, &Action::command(line)))
        .collect();
    assert_eq!(wrong, Vec::<&&str>::new());
}

#[test]
fn options_may_stand_between_the_words_of_what_is_denied_and_not_of_what_is_allowed() {
    for (pattern, line) in [
        ("docker rm **", "docker --context x rm y"),
        ("kubectl delete **", "kubectl -n x delete pod y"),
        ("cargo publish **", "cargo +nightly publish"),
        ("npm run deploy", "npm --prefix x run --silent deploy"),
        ("rm -rf **", "rm -v -rf x"),
    ] {
        assert_eq!(verdict(&with("deny", pattern), &Action::command(line)), Verdict::Deny, "{line}");
        assert_ne!(verdict(&with("allow", pattern), &Action::command(line)), Verdict::Allow, "{line}");
    }
}

/// A pattern never allows an unknown word.
#[test]
fn a_line_with_words_that_are_not_written_out_is_not_allowed_by_a_pattern() {
    let (place, without) = (with("allow", "git **"), saved(&rule("verdict = \"deny\"\ntool = \"none\"")));
    let mut unknown: Vec<_> = PUSHES.iter().filter(|line| line.contains(['$', '*', '['])).copied().collect();
    unknown.retain(|line| !line.contains("$(git") && verdict(&without, &Action::command(line)) != Verdict::Allow);
    assert!(unknown.len() > 20);
    assert_eq!(says(&place, &unknown, |verdict| verdict != Verdict::Allow), Vec::<String>::new());
    for line in ["GIT_SSH_COMMAND='git status' git fetch", "git commit > x", "x=push; git $x"] {
        assert_ne!(verdict(&place, &Action::command(line)), Verdict::Allow, "{line}");
    }
    assert_eq!(verdict(&place, &Action::command("git push && git fetch")), Verdict::Allow);
}

/// The attack: the denied command is not in the line, but in another field of the tool's input.
#[test]
fn what_a_tool_is_told_besides_its_command_is_heard_by_what_denies_and_asks() {
    let call = |tool: &str, input: &str| {
        verdict(
            &with("deny", "git push **"),
            &Action::tool(tool.parse().unwrap(), serde_json::from_str(input).unwrap()),
        )
    };
    for input in [
        r#"{"command":"ls","stdin":"git push"}"#,
        r#"{"command":"sh","stdin":"git push"}"#,
        r#"{"command":"ls","env":{"PAGER":"git push"}}"#,
        r#"{"command":"ls","before":["git","push"]}"#,
        r#"{"command":"ls","git push":true}"#,
        r#"{"command":"ls","stdin":"$X push"}"#,
        r#"{"command":"ls","cwd":"/ws; git push"}"#,
        r#"{"command":"ls","cwd":"$(git push)"}"#,
    ] {
        assert_eq!(call("bash", input), Verdict::Deny, "{input}");
    }
    for input in [
        r#"{"command":"ls","stdin":"hello"}"#,
        r#"{"command":"ls","cwd":"/ws/git"}"#,
        r#"{"command":"ls","description":"git push comes later"}"#,
        r#"{"command":"ls","timeout":5}"#,
    ] {
        assert_ne!(call("bash", input), Verdict::Deny, "{input}");
    }
    let allowed = verdict(
        &with("allow", "git push **"),
        &Action::tool("bash".parse().unwrap(), serde_json::json!({"command": "ls", "stdin": "git push"})),
    );
    assert_ne!(allowed, Verdict::Allow, "and by nothing that allows");
}

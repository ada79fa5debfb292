//! Which lines a pattern of commands speaks about.

use bestow::{Action, Verdict};

use super::rules::{rule, saved, verdict};

/// Every line of these runs `git push`, or may.
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
];

/// Nothing of these does.
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
];

fn with(said: &str, pattern: &str) -> super::Place {
    saved(&rule(&format!("verdict = \"{said}\"\ncommand = \"{pattern}\"")))
}

fn says(place: &super::Place, lines: &[&str], wanted: impl Fn(Verdict) -> bool) -> Vec<String> {
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

/// What nobody knows is never what was allowed.
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

//! Tests that a denied command is denied whatever program runs it, and whatever source its text has.

use bestow::{Action, Effect, agent::Mode, decision::Verdict};
use serde_json::json;

use super::{all_allowed, all_denied};
use crate::{
    findings::{
        decision::{all_are, call, on_command},
        uses::{bound, everything_allowed},
    },
    support::World,
};

const HELD: [&str; 3] = ["@write:/ws", "@network", "@read:/"];

/// Programs whose input may be any command.
const READERS: &[&str] = &[
    "make -sf -",
    "make -sf-",
    "make -f -",
    "make --file=-",
    "make --makefile -",
    "make --mak=-",
    "gmake -kf /dev/stdin",
    "sed -nf -",
    "sed -f -",
    "sed --file=-",
    "sed --fi -",
    "gawk -f -",
    "gawk --file=-",
    "psql --file=-",
    "psql -f -",
    "psql -qf -",
    "mysql --execute=x --init-command=x -",
    "uv run -",
    "uv run --quiet -",
    "bun run -",
    "deno run -",
    "ocaml",
    "ocaml -stdin",
    "just -f -",
    "just --justfile -",
    "just --justfile=/dev/stdin",
    "fakeroot sh",
    "ninja -f -",
    "task -t -",
    "swipl",
    "sqlite3",
    "scheme",
    "clojure -",
    "go run -",
    "rustup run nightly sh",
    "source /dev/stdin",
    "\"$SHELL\"",
    "$SHELL",
    "${SHELL}",
    "\"${SHELL:-sh}\"",
];

#[tokio::test]
async fn a_program_that_runs_what_it_reads_may_run_what_is_denied() {
    let world = World::new();
    let rules = [on_command(Verdict::Deny, "git push"), everything_allowed()];
    let agent = bound(&world, Mode::Bypass, &HELD, &rules).await;
    let lines: Vec<String> = READERS.iter().flat_map(|line| [format!("./x | {line}"), format!("{line} < f")]).collect();
    all_denied(&agent, &lines.iter().map(String::as_str).collect::<Vec<_>>());
}

/// Lines with a command in their words and options.
const WITHIN: &[&str] = &[
    "split --filter='git push' f",
    "split --filter 'git push' f",
    "split --filt='git push' f",
    "tar xf a.tar --to-command='git push'",
    "tar xf a.tar --to-command 'git push'",
    "tar cf a.tar --checkpoint=1 --checkpoint-action=exec='git push' d",
    "tar cf a.tar --checkpoint=1 --checkpoint-action='exec=git push' d",
    "tar -I 'git push' -cf a.tar d",
    "tar --use-compress-program='git push' -cf a.tar d",
    "tar --use-compress-prog='git push' -cf a.tar d",
    "tar -F 'git push' -cf a.tar d",
    "sort --compress-program='git push' f",
    "awk '{ print | \"git push\" }' f",
    "awk 'BEGIN { system(\"git push\") }'",
    "awk '{ \"git push\" | getline }' f",
    "awk '{ print | \"sh\" }' f",
    "awk '{ system($0) }' f",
    "awk '{ $0 | getline x }' f",
    "gawk '{ print |& \"sh\" }' f",
    "sed 'e git push' f",
    "sed '1e git push' f",
    "sed -n 's/x/git push/e' f",
    "sed e f",
    "sed 's/.*/&/e' f",
    "fakeroot git push",
    "fakeroot -- git push",
    "fakeroot -u git push",
    "rsync -e 'git push' a b:c",
    "rsync --rsh='git push' a b:c",
    "scp -S 'git push' a b:c",
    "ssh -o ProxyCommand='git push' h",
    "git -c core.sshCommand='git push' fetch",
    "git -c alias.x=push x",
    "zip -TT 'git push' a.zip b",
    "vim -c '!git push'",
    "find . -exec git push ';'",
    "alias g=git; g push",
    "alias p='git push'; p",
    "g=git; $g push",
    "{git,push}",
    "git {push,}",
    "git {,push}",
    "xargs git <<< push",
    "echo push | xargs git",
    "\"$SHELL\" -c 'git push'",
    "$SHELL -c 'git push'",
    "\"$SHELL\" x.sh -c 'git push'",
];

#[tokio::test]
async fn a_command_in_an_option_or_in_the_words_of_another_program_is_denied() {
    let world = World::new();
    let rules = [on_command(Verdict::Deny, "git push"), everything_allowed()];
    let agent = bound(&world, Mode::Bypass, &HELD, &rules).await;
    all_denied(&agent, WITHIN);
}

#[tokio::test]
async fn every_word_that_a_list_in_braces_becomes_is_compared() {
    let world = World::new();
    let rules = [on_command(Verdict::Deny, "git push **"), everything_allowed()];
    let agent = bound(&world, Mode::Bypass, &HELD, &rules).await;
    all_denied(
        &agent,
        &["git {push,x}", "git pu{sh,ll}", "{git,push,x}", "git {push,--force} origin", "git {-q,push}"],
    );
    all_allowed(&agent, &["git {add,x}", "git {x,push}", "git pu{ll,x}"]);
}

#[tokio::test]
async fn what_runs_nothing_unseen_is_not_denied() {
    let world = World::new();
    let rules = [on_command(Verdict::Deny, "git push"), everything_allowed()];
    let agent = bound(&world, Mode::Bypass, &HELD, &rules).await;
    let lines = [
        "make -s all",
        "make -sf Makefile",
        "ls | make -s",
        "ls | sed -n p",
        "ls | sed -e 's/a/b/g'",
        "sed 's/a/e/' f",
        "sed -n '/x/p' f",
        "sed '/re/d' f",
        "ls | awk '{ print $1 }'",
        "ls | awk '$1 ~ /a|b/ { print }'",
        "awk '{ print $1 || $2 }' f",
        "awk -F'|' '{ print $1 }' f",
        "awk '{ print > \"out\" }' f",
        "psql -f x.sql",
        "ls | psql -f x.sql",
        "split -l 10 f",
        "tar xzf a.tgz",
        "tar -czf a.tgz d",
        "sort -u f",
        "ls | sort",
        "uv run pytest",
        "bun run build",
        "ls | bun run build",
        "ocaml x.ml",
        "just build",
        "just -f Justfile build",
        "fakeroot make",
        "git {status,log}",
        "xargs git add <<< f",
        "echo \"$SHELL\"",
        "rsync -a a b",
    ];
    all_allowed(&agent, &lines);
}

#[tokio::test]
async fn a_name_that_an_alias_a_list_or_an_input_gives_is_denied() {
    let world = World::new();
    let rules = [on_command(Verdict::Deny, "npm publish"), everything_allowed()];
    let agent = bound(&world, Mode::Bypass, &HELD, &rules).await;
    let lines = [
        "alias n=npm; n publish",
        "alias n=npm\nn publish",
        "alias n='npm '; n publish",
        "alias m=n n=npm; m publish",
        "xargs npm <<< publish",
        "xargs npm < f",
        "{npm,publish}",
        "npm {publish,}",
    ];
    all_denied(&agent, &lines);
    let inputs = [
        json!({"command": "npm", "args": ["publish"]}),
        json!({"args": ["publish"], "command": "npm"}),
        json!({"command": "npm", "args": "publish"}),
        json!({"cmd": "npm", "params": {"args": ["publish"]}}),
        json!({"program": "npm", "argv": ["npm", "publish"]}),
        json!({"exe": "npm", "options": [{"value": "publish"}]}),
        json!({"command": ["npm", "publish"]}),
    ];
    for tool in ["foo", "Bash", "exec", "shell"] {
        all_are(&agent, Effect::Deny, inputs.clone().map(|input| call(tool, input)));
    }
    all_are(
        &agent,
        Effect::Allow,
        [call("foo", json!({"command": "yarn", "args": ["build"]})), Action::command("npm test")],
    );
}

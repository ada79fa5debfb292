//! Words that a wildcard in an allow pattern does not match.
//!
//! A user who writes `git push origin **` means branches and tags, and not `--receive-pack='touch x'`. So a wildcard
//! matches operands, and options that a table lists as harmless for this program and subcommand. Any other word that
//! may change the command or its place must be written in the pattern itself.

use crate::values::{Said, Spoken, base_name};

use super::{options, safe};

/// Options that change neither the command that a program runs nor the place where it writes, for programs that are not
/// read-only. Each row lists program names, the words of the subcommand (alternatives are separated by `|`), and
/// options in the form of `options`.
const HARMLESS: &[(&str, &str, &str)] = &[
    (
        "git",
        "push",
        "-u -v -q -n -4 -6 --set-upstream --verbose --quiet --dry-run --tags --follow-tags --atomic --progress \
         --no-progress --porcelain --thin --no-thin --ipv4 --ipv6",
    ),
    (
        "git",
        "fetch|pull|remote update",
        "-v -q -p -t --verbose --quiet --prune --tags --no-tags --all --dry-run --depth: --progress --ff-only --ff \
         --no-ff --no-rebase --rebase?:true|false|merges --autostash",
    ),
    (
        "git",
        "clone",
        "-b: -v -q --branch: --depth: --single-branch --no-tags --verbose --quiet --progress --shallow-since:",
    ),
    (
        "git",
        "commit",
        "-m: -a -v -q -s --message: --all --verbose --quiet --signoff --amend --no-edit --allow-empty --dry-run \
         --fixup: --squash: --date: --author:",
    ),
    ("git", "add|stage", "-A -u -n -v -f -N --all --update --dry-run --verbose --force --intent-to-add"),
    ("git", "checkout|switch", "-b: -c: -q -t -d --quiet --track? --no-track --detach --create:"),
    ("git", "restore", "-S -W -q -s: --staged --worktree --quiet --source:"),
    (
        "git",
        "merge",
        "-m: -q -v --no-ff --ff --ff-only --squash --no-edit --abort --continue --no-commit --stat --quiet --verbose",
    ),
    ("git", "rebase", "-q -v --onto: --abort --continue --skip --autostash --no-autostash --quiet --verbose"),
    ("git", "cherry-pick|revert", "-x -n -m: --no-commit --no-edit --abort --continue --skip"),
    (
        "git",
        "stash|stash push|stash pop|stash apply|stash save",
        "-m: -u -k -q -p --include-untracked --keep-index --message: --index --quiet",
    ),
    ("git", "tag", "-a -m: --annotate --message:"),
    ("git", "mv|rm", "-n -v -r --dry-run --verbose --cached"),
    ("npm pnpm yarn bun", "test|t|run|run-script|start|build|lint", "-s --silent --if-present --json --loglevel:"),
    (
        "npm pnpm yarn bun",
        "install|i|ci|add",
        "-D -E -O -P --save-dev --save-exact --save --save-optional --save-prod --no-audit --no-fund --ignore-scripts \
         --prefer-offline --offline --legacy-peer-deps --frozen-lockfile --silent --production --omit: --include: \
         --dev --exact",
    ),
    (
        "cargo",
        "build|b|check|c|test|t|clippy|run|r|doc|bench|nextest run",
        "-q -v -r -p: -F: -j: --release --quiet --verbose --package: --workspace --all --all-features \
         --no-default-features --features: --all-targets --lib --bins --bin: --test: --tests --example: --examples \
         --benches --bench: --doc --locked --offline --frozen --no-run --no-fail-fast --keep-going --message-format: \
         --color: --profile: --jobs: --exclude: --no-deps --no-capture -E:",
    ),
    (
        "cargo",
        "add|remove|update",
        "-p: -F: --dev --build --package: --features: --no-default-features --optional --dry-run --precise: \
         --workspace -q -v --quiet --verbose",
    ),
    ("cargo", "fmt", "--all --check -p: --package: -q -v --quiet --verbose"),
    (
        "go",
        "build|test|vet|run",
        "= -v -race -short -count: -run: -bench: -cover -timeout: -parallel: -failfast -json -benchmem",
    ),
    (
        "make gmake",
        "",
        "-k -s -n -B -q -i -w -j? --keep-going --silent --quiet --dry-run --always-make --print-directory \
         --no-print-directory --jobs?",
    ),
    (
        "pytest py.test",
        "",
        "= -q -v -vv -vvv -x -s -k: -m: --lf --ff --last-failed --failed-first --maxfail: --tb: --collect-only \
         --durations: --no-header -ra",
    ),
    (
        "jest vitest",
        "",
        "-t: -i --testNamePattern: --runInBand --silent --verbose --bail? --ci --passWithNoTests --watch=false --run",
    ),
    ("eslint", "", "--quiet --max-warnings:"),
    ("prettier", "", "-c -l -w --check --list-different --write"),
    ("tsc", "", "= --noEmit --pretty --strict --skipLibCheck"),
    ("mkdir", "", "-p -v --parents --verbose"),
    ("touch", "", "-a -c -m --no-create"),
    ("cp", "", "-r -R -a -p -v -n -i -u --recursive --archive --verbose --no-clobber --interactive --update"),
    ("mv", "", "-v -n -i -u --verbose --no-clobber --interactive --update"),
    ("rm", "", "-v -i --verbose"),
    ("rustfmt", "", "--check -q -v --quiet --verbose --edition:"),
    ("gofmt", "", "-l -d -w -s -e"),
    (
        "gh",
        "pr create|issue create|pr comment|issue comment|pr edit|issue edit",
        "-t: -b: -d -f -B: -H: -l: -a: --title: --body: --draft --fill --base: --head: --label: --assignee:",
    ),
    (
        "docker docker-compose podman",
        "compose up|compose down|compose build|compose start|compose stop|compose restart",
        "-d --detach --build --no-build --remove-orphans --no-cache --pull",
    ),
    ("pip pip3", "install", "-U -q -v --upgrade --quiet --verbose --no-deps --no-cache-dir --pre"),
    ("mvn", "", "= -q -B -o -U -e --quiet --batch-mode --offline"),
    ("gradle gradlew", "", "-q --quiet --offline --no-daemon --stacktrace --info"),
    (
        "rsync",
        "",
        "-a -v -z -r -n -P -h -i -u -t -p -l --archive --verbose --compress --recursive --dry-run --progress \
         --human-readable --update",
    ),
    (
        "gcc cc g++ c++ clang clang++",
        "",
        "= -c -S -E -g -O0 -O1 -O2 -O3 -Os -Og -Wall -Wextra -Werror -pedantic -std: -fPIC -pthread -shared",
    ),
];

/// Options that select another working directory, in any program.
const DIRECTORIES: &[&str] = &[
    "--chdir",
    "--cwd",
    "--dir",
    "--directory",
    "--git-dir",
    "--manifest-path",
    "--prefix",
    "--project",
    "--project-directory",
    "--work-tree",
];

/// Programs that read options from the file after `@`.
const READ_OPTIONS: &str = "ar c++ cc clang clang++ g++ gcc gfortran java javac javadoc kotlinc ld nm objdump readelf \
    rustc scalac strip swiftc";

/// Programs whose first word may be a bundle of option letters.
const BUNDLES: &str = "ar bsdtar gtar tar unzip zip";

/// Returns the indexes of the words in `command` that a pattern must write out to allow the command.
pub(super) fn by_name(command: &Spoken) -> Vec<usize> {
    let Some(words) = command.words.iter().map(Said::written).collect::<Option<Vec<_>>>() else { return Vec::new() };
    let Some((program, rest)) = words.split_first() else { return Vec::new() };
    let name = base_name(program);
    let must = rest.iter().enumerate().filter(|(at, word)| {
        let before = rest.get(..*at).unwrap_or_default();
        if is_option(word) { !is_harmless(name, before, word) } else { sets_something(name, *at, word) }
    });
    must.map(|(at, _)| at + 1).collect()
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word != "--" && word.starts_with(['-', '+'])
}

/// Returns true if some table lists the option as harmless for the program and the subcommand in `before`.
fn is_harmless(name: &str, before: &[&str], word: &str) -> bool {
    let option = word.split('=').next().unwrap_or_default();
    let leads_away = DIRECTORIES.contains(&option) || (!option.starts_with("--") && option.contains('C'));
    let listed = |list: &str| list.split(' ').any(|known| known == name);
    let follows = |subcommand: &str| before_has(before, subcommand);
    !leads_away
        && (HARMLESS.iter().any(|(names, subcommands, flags)| {
            listed(names) && subcommands.split('|').any(follows) && options::knows(flags, word)
        }) || safe::harmless_flags(name, before).any(|flags| options::knows(flags, word)))
}

/// Returns true if the words `before` an option begin with the words of the subcommand.
pub(super) fn before_has(before: &[&str], subcommand: &str) -> bool {
    let mut words = before.iter();
    subcommand.split_ascii_whitespace().all(|wanted| words.next() == Some(&wanted))
}

/// Returns true if an operand has a special meaning: `make SHELL=x`, `gcc @options`, `git clone ext::x`, `tar xIf x`.
fn sets_something(name: &str, at: usize, word: &str) -> bool {
    let listed = |list: &str| list.split(' ').any(|known| known == name);
    let setting = word.split_once('=').is_some_and(|(key, _)| {
        !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-+?:".contains(&byte))
    });
    setting
        || (word.starts_with('@') && listed(READ_OPTIONS))
        || (name == "git" && word.contains("::"))
        || (at == 0 && listed(BUNDLES))
}

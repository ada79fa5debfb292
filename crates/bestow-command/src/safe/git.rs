//! Read-only uses of `git`. The configuration of a hostile repository may still run programs; this file does not see
//! it.

use super::{Operands, Spec, question, spec};

/// The only options before the subcommand that do not change the command that runs. The setting of `-c` is checked.
const GLOBALS: &str = "-c: -C: -P --no-pager --no-optional-locks --literal-pathspecs";

const fn git(subcommand: &'static str, flags: &'static str) -> Spec {
    spec("git", flags).sub(subcommand).globals(GLOBALS)
}

/// Options of every subcommand that prints differences.
const DIFF: &str = "-p -u -s -U: -z -M? -C? -B? -D -S: -G: -l: -R -a -b -w -W -t -r -c -m -q -1 -2 -3 -# -i -I: -X? \
    --patch-with-raw --cumulative --dirstat-by-file? --stat-width: --stat-name-width: --stat-graph-width: \
    --stat-count: --no-compact-summary --no-full-index --ws-error-highlight: --no-abbrev --line-prefix: \
    --default-prefix --output-indicator-new: --output-indicator-old: --output-indicator-context: --break-rewrites? \
    --irreversible-delete --rename-empty --no-rename-empty --ignore-matching-lines: --no-indent-heuristic \
    --no-color-moved --color-moved-ws: --no-color-moved-ws --no-relative --ita-invisible-in-index \
    --ita-visible-in-index --rotate-to: --skip-to: --find-object: --patch --no-patch --unified: --raw --stat? \
    --numstat --shortstat --dirstat? --summary --patch-with-stat --name-only --name-status --color? --no-color \
    --word-diff? --word-diff-regex: --color-words? --color-moved? --no-renames --find-renames? --find-copies? \
    --find-copies-harder --full-index --binary --abbrev? --diff-filter: --pickaxe-all --pickaxe-regex --text \
    --ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-blank-lines --ignore-cr-at-eol \
    --inter-hunk-context: --function-context --exit-code --quiet --no-ext-diff --no-textconv --ignore-submodules? \
    --submodule? --src-prefix: --dst-prefix: --no-prefix --minimal --patience --histogram --diff-algorithm: \
    --anchored: --indent-heuristic --relative? --cached --staged --merge-base --check --compact-summary --cc \
    --combined-all-paths --no-index --diff-merges: --first-parent -- --ours --theirs --base";

/// Options of every subcommand that walks the history, including those for differences.
macro_rules! diff_and_log {
    () => {
        "-p -u -s -U: -z -M? -C? -B? -D -S: -G: -l: -R -a -b -w -W -t -r -c -m -q -# -i -I: -n: -L: -g -E -F -P -X? \
         --patch-with-raw --cumulative --dirstat-by-file? --stat-width: --stat-name-width: --stat-graph-width: \
         --stat-count: --no-compact-summary --no-full-index --ws-error-highlight: --no-abbrev --line-prefix: \
         --default-prefix --output-indicator-new: --output-indicator-old: --output-indicator-context: \
         --break-rewrites? --irreversible-delete --rename-empty --no-rename-empty --ignore-matching-lines: \
         --no-indent-heuristic --no-color-moved --color-moved-ws: --no-color-moved-ws --no-relative \
         --ita-invisible-in-index --ita-visible-in-index --rotate-to: --skip-to: --find-object: --since-as-filter: \
         --grep-reflog: --basic-regexp --remove-empty --no-min-parents --no-max-parents --exclude-first-parent-only \
         --exclude-hidden: --alternate-refs --single-worktree --ignore-missing --bisect --dense --sparse \
         --simplify-merges --do-walk --no-expand-tabs --show-notes? --no-show-signature --no-graph \
         --show-linear-break? --timestamp --no-mailmap --no-use-mailmap --log-size --dd --remerge-diff \
         --no-diff-merges --max-age: --min-age: --stdin --no-source --objects --objects-edge --disk-usage? --header \
         --no-object-names --creation-factor: --no-dual-color --dual-color --check --text --anchored: --patch \
         --no-patch --unified: --raw --stat? --numstat --shortstat --dirstat? --summary --patch-with-stat --name-only \
         --name-status --color? --no-color --word-diff? --word-diff-regex: --color-words? --color-moved? --no-renames \
         --find-renames? --find-copies? --find-copies-harder --full-index --binary --abbrev? --diff-filter: \
         --pickaxe-all --pickaxe-regex --text --ignore-all-space --ignore-space-change --ignore-space-at-eol \
         --ignore-blank-lines --ignore-cr-at-eol --inter-hunk-context: --function-context --no-ext-diff --no-textconv \
         --ignore-submodules? --submodule? --src-prefix: --dst-prefix: --quiet --no-prefix --minimal --patience \
         --histogram --diff-algorithm: --indent-heuristic --relative? --compact-summary --no-commit-id --cc \
         --combined-all-paths --diff-merges: --oneline --graph --decorate? --no-decorate --decorate-refs: \
         --decorate-refs-exclude: --source --follow --all --branches? --tags? --remotes? --glob: --exclude: --since: \
         --after: --until: --before: --author: --committer: --grep: --invert-grep --all-match --regexp-ignore-case \
         --extended-regexp --fixed-strings --perl-regexp --max-count: --skip: --merges --no-merges --min-parents: \
         --max-parents: --first-parent --reverse --date-order --author-date-order --topo-order \
         --simplify-by-decoration --full-history --ancestry-path? --boundary --left-right --left-only --right-only \
         --cherry --cherry-pick --cherry-mark --walk-reflogs --reflog --format: --pretty? --abbrev-commit \
         --no-abbrev-commit --date: --relative-date --parents --children --no-walk? --encoding: --notes? --no-notes \
         --expand-tabs? --mailmap --use-mailmap --show-pulls --not --count --merge --full-diff --clear-decorations"
    };
}

pub(super) const SPECS: &[Spec] = &[
    git(
        "status",
        "--null --no-column --no-renames --no-ignored --no-show-stash --no-branch --no-short -s -b -v -vv -z -u? \
         --short --branch --porcelain? --long --verbose --untracked-files? --ignored? --ignore-submodules? --column? \
         --ahead-behind --no-ahead-behind --renames --no-renames --find-renames? --show-stash -sb -uno -unormal -uall",
    )
    .examples(
        &[
            "git status",
            "git status -sb",
            "git -C dir status",
            "git -c color.ui=always status",
            "git status --porcelain=v2",
        ],
        &["git -c core.fsmonitor=x status", "git -c color.ui=$x -c $y status", "git --exec-path=/x status"],
    ),
    git("diff", DIFF).examples(
        &[
            "git diff",
            "git diff --cached",
            "git diff HEAD~1 HEAD -- f",
            "git diff main...HEAD --stat",
            "git --no-pager diff -U5",
            "git diff --name-only",
        ],
        &[
            "git diff --output=f",
            "git diff --ext-diff",
            "git diff --outp=f",
            "GIT_EXTERNAL_DIFF=x git diff",
            "git -p diff",
        ],
    ),
    git("log|whatchanged|shortlog|rev-list|reflog show|reflog list|range-diff", diff_and_log!()).examples(
        &[
            "git log",
            "git log --oneline -5",
            "git log -p -1",
            "git log --since='2 weeks ago' --stat",
            "git log -S'DROP TABLE' -- f",
            "git log -n 5 --format='%h %s'",
            "git shortlog -n",
        ],
        &["git log --output=f", "git --config-env=core.pager=X log", "git log --ext-diff"],
    ),
    git("show", diff_and_log!()).examples(
        &["git show HEAD", "git show HEAD:src/rm.rs", "git show --name-only HEAD"],
        &["git show --output=f", "git show --textconv"],
    ),
    git(
        "shortlog",
        "-n -s -e -c -w? -sn -sne -ne --numbered --summary --email --committer --group: --all --no-merges --since: \
         --until: --format:",
    )
    .examples(&["git shortlog -sne"], &["git shortlog --output=f"]),
    git(
        "reflog",
        "-n: -# --all --date: --oneline --format: --pretty? --since: --until: --grep-reflog: --no-abbrev-commit \
         --abbrev-commit --decorate? --no-decorate",
    )
    .none()
    .examples(&["git reflog", "git reflog -10"], &["git reflog expire --all", "git reflog delete HEAD@{1}"]),
    git(
        "branch",
        "-a -r -v -vv -i -q --all --remotes --list --verbose --show-current --contains --no-contains --merged \
         --no-merged --points-at: --sort: --format: --column? --no-column --color? --no-color --abbrev? --no-abbrev \
         --ignore-case --omit-empty -avv -av -rv",
    )
    .operands(Operands::With("--list --contains --no-contains --merged --no-merged --points-at"))
    .examples(
        &[
            "git branch",
            "git branch -a",
            "git branch -vv",
            "git branch --show-current",
            "git branch --merged main",
            "git branch --list 'f/*'",
            "git branch --sort=-committerdate",
        ],
        &[
            "git branch x",
            "git branch -d old",
            "git branch -D x",
            "git branch -m a b",
            "git branch --edit-description",
            "git branch -f a b",
            "git branch -u o/m",
        ],
    ),
    git("branch", "-l").none().examples(&["git branch -l"], &["git branch -l x"]),
    git(
        "tag",
        "--no-column --omit-empty --no-color -l -n? -i --list --contains --no-contains --merged --no-merged \
         --points-at: --sort: --format: --column? --color? --ignore-case",
    )
    .operands(Operands::With("-l --list --contains --no-contains --merged --no-merged --points-at"))
    .examples(
        &["git tag", "git tag -l 'v*'", "git tag --sort=-creatordate"],
        &["git tag v1", "git tag -d v1", "git tag -a v1 -m x", "git tag -s v1"],
    ),
    git("remote", "-v --verbose").none().examples(
        &["git remote", "git remote -v"],
        &["git remote add o u", "git remote set-url o u", "git remote update"],
    ),
    git("remote get-url", "--all --push")
        .asking(question::plain_remote)
        .examples(&["git remote get-url origin"], &["git remote rename a b"]),
    git("remote show", "-n")
        .elsewhere()
        .asking(question::plain_remote)
        .online_but_with("-n")
        .examples(&["git remote show origin"], &["git remote remove o", "git remote show https://x.org/$SECRET"]),
    git("stash list", diff_and_log!())
        .examples(&["git stash list"], &["git stash", "git stash clear", "git stash drop", "git stash pop"]),
    git("stash show", DIFF).examples(&["git stash show -p"], &["git stash apply"]),
    git(
        "blame|annotate",
        "-b -c -l -t -f -n -s -e -w -p -M? -C? -L: --root --show-stats --abbrev? --show-name --show-number \
         --show-email --porcelain --line-porcelain --incremental --date: --since: --color-lines --color-by-age \
         --ignore-rev: --ignore-revs-file: --reverse --first-parent",
    )
    .examples(&["git blame -L 1,5 f", "git blame f"], &["git blame --contents x f"]),
    git(
        "rev-parse",
        "-q --verify --short? --abbrev-ref? --symbolic --symbolic-full-name --show-toplevel --show-prefix --show-cdup \
         --git-dir --git-common-dir --git-path: --absolute-git-dir --is-inside-work-tree --is-inside-git-dir \
         --is-bare-repository --is-shallow-repository --show-superproject-working-tree --all --branches? --tags? \
         --remotes? --quiet --default: --revs-only --no-revs --flags --no-flags --show-object-format? --path-format: \
         --local-env-vars --sq --not --disambiguate: --since: --until: --exclude: --glob:",
    )
    .examples(
        &["git rev-parse HEAD", "git rev-parse --abbrev-ref HEAD", "git rev-parse --show-toplevel"],
        &["git rev-parse --x"],
    ),
    git(
        "describe",
        "--all --tags --contains --abbrev? --always --exact-match --long --match: --exclude: --first-parent --dirty? \
         --broken? --candidates: --debug",
    )
    .examples(&["git describe --tags --always"], &["git describe --x"]),
    git(
        "ls-files",
        "-c -d -m -o -i -s -u -k -z -t -v -f -x: -X: --cached --deleted --modified --others --ignored --stage \
         --unmerged --killed --directory --no-empty-directory --eol --deduplicate --exclude: --exclude-from: \
         --exclude-standard --exclude-per-directory: --error-unmatch --with-tree: --full-name --recurse-submodules \
         --abbrev? --format: --debug",
    )
    .examples(&["git ls-files", "git ls-files -o --exclude-standard", "git ls-files '*.rs'"], &["git ls-files --x"]),
    git(
        "ls-tree",
        "-d -r -t -l -z --long --name-only --name-status --object-only --full-name --full-tree --abbrev? --format:",
    )
    .examples(&["git ls-tree -r HEAD"], &["git ls-tree --x HEAD"]),
    git("ls-remote", "-h -t -q --heads --branches --tags --refs --quiet --exit-code --get-url --sort: --symref")
        .elsewhere()
        .asking(question::plain_remote)
        .online_but_with("--get-url")
        .examples(
            &["git ls-remote --tags origin"],
            &[
                "git ls-remote --upload-pack=x o",
                "git ls-remote ext::sh",
                "git ls-remote --upload-pa=x o",
                "git ls-remote https://x.org/$SECRET",
            ],
        ),
    git(
        "cat-file",
        "-t -s -e -p --batch? --batch-check? --batch-all-objects --buffer --unordered --follow-symlinks \
         --allow-unknown-type",
    )
    .examples(&["git cat-file -p HEAD"], &["git cat-file --textconv HEAD:f", "git cat-file --filters HEAD:f"]),
    git(
        "grep",
        "-a -A: -B: -C: -c -e: -E -f: -F -G -h -H -i -I -l -L -n -o -P -q -p -r -v -w -W -z -m: -# --after-context: \
         --before-context: --context: --count --extended-regexp --fixed-strings --basic-regexp --perl-regexp \
         --ignore-case --files-with-matches --name-only --files-without-match --line-number --column --only-matching \
         --quiet --show-function --function-context --invert-match --word-regexp --null --color? --no-color --break \
         --heading --cached --untracked --no-index --exclude-standard --no-exclude-standard --recurse-submodules \
         --max-depth: --and --or --not --all-match --text --threads: --full-name",
    )
    .examples(
        &["git grep -n foo", "git grep -e a --and -e b"],
        &["git grep -Osh foo", "git grep -O foo", "git grep --open-files-in-pager=sh foo", "git grep --open-files foo"],
    ),
    git("diff-tree|diff-index|diff-files", diff_and_log!())
        .examples(&["git diff-tree -r HEAD"], &["git diff-tree --output=f HEAD"]),
    git(
        "merge-base|name-rev|show-ref|show-branch|for-each-ref|count-objects|check-ignore|check-attr|check-ref-format|\
         check-mailmap|var|verify-pack|patch-id|get-tar-commit-id",
        "-a -q -v -d -s -z -n -l -h -r -H -t --all --octopus --is-ancestor --independent --fork-point --name-only \
         --tags --refs: --heads --branches --head --verify --hash? --abbrev? --dereference --quiet --verbose \
         --human-readable --format: --sort: --count: --contains --no-contains --merged --no-merged --points-at: \
         --no-index --non-matching --stdin --exclude: --ignore-case --branch --normalize --list --more: --topo-order \
         --sha1-name --stable --unstable --exists",
    )
    .examples(
        &[
            "git merge-base main HEAD",
            "git for-each-ref --format='%(refname)'",
            "git check-ignore -v f",
            "git show-ref --tags",
        ],
        &["git for-each-ref --shell --x"],
    ),
    git("symbolic-ref", "-q --short --quiet").operands(Operands::AtMost(1)).examples(
        &["git symbolic-ref --short HEAD"],
        &["git symbolic-ref HEAD refs/heads/x", "git symbolic-ref -d HEAD"],
    ),
    git(
        "worktree list|submodule status|submodule summary|notes list|notes show|bisect log|lfs ls-files|lfs status|\
         lfs env|sparse-checkout list|bundle verify",
        "-v -z --porcelain --verbose --recursive --cached -l -s -a --all --long --size --name-only",
    )
    .examples(
        &["git worktree list", "git submodule status", "git bisect log"],
        &["git worktree remove x", "git worktree add x", "git lfs prune --force"],
    ),
    git(
        "config",
        "-l -z --list --get --get-all --get-regexp --get-urlmatch --global --local --system --worktree --show-origin \
         --show-scope --name-only --null --type: --bool --int --path --includes --no-includes --default: --get-color \
         --get-colorbool",
    )
    .asking(question::one_name)
    .examples(
        &[
            "git config --list",
            "git config user.name",
            "git config --get remote.origin.url",
            "git config --global --list",
        ],
        &["git config user.name x", "git config --unset x", "git config -e", "git config --global alias.x '!id'"],
    ),
    git("cherry", "-v --verbose --abbrev?").examples(&["git cherry -v main"], &["git cherry-pick x"]),
    git("submodule", "--quiet")
        .none()
        .examples(&["git submodule"], &["git submodule foreach ./x", "git submodule update"]),
    git(
        "config get|config list",
        "-z --all --regexp --value: --global --local --system --show-origin --show-scope --name-only --null --default:",
    )
    .examples(&["git config list", "git config get user.name"], &["git config set user.name x"]),
    git(
        "fsck",
        "-v --full --strict --no-progress --no-dangling --dangling --unreachable --connectivity-only --name-objects \
         --no-reflogs --root --tags --cache",
    )
    .examples(&["git fsck --full"], &["git fsck --lost-found"]),
    git("stripspace", "-s -c --strip-comments --comment-lines")
        .none()
        .examples(&["git stripspace < f"], &["git stripspace f"]),
    git("rerere status|rerere diff|rerere remaining", "")
        .none()
        .examples(&["git rerere status"], &["git rerere clear", "git rerere forget f"]),
    git("commit", "--dry-run --short --branch --porcelain --long -v -a -m: --all --message: -z")
        .asking(only_dry)
        .examples(&["git commit --dry-run"], &["git commit -m x", "git commit --dry-run -F f"]),
    git("version", "--build-options").none().examples(&["git version"], &["git version x"]),
    git("help", "-a -g -c --all --guides")
        .examples(&["git help -a", "git help status"], &["git help -w status", "git help -m status"]),
    spec("git", "--version -v --help -h --html-path --man-path --info-path --exec-path")
        .none()
        .examples(&["git --version"], &["git", "git --exec-path=/x"])
        .asking(something),
    git("archive", "-l --list")
        .none()
        .asking(something)
        .examples(&["git archive --list"], &["git archive -o f HEAD", "git archive HEAD"]),
    git("apply", "-v --stat --numstat --summary")
        .asking(only_counts)
        .examples(&["git apply --stat p"], &["git apply p", "git apply --stat --apply p"]),
    git("clean", "-n -d -x -X --dry-run -e: -q")
        .asking(only_dry)
        .examples(&["git clean -n", "git clean -ndx"], &["git clean -f", "git clean -d"]),
    git("add|rm|mv", "-n -v -A -r --dry-run --verbose --all --cached")
        .asking(only_dry)
        .examples(&["git add -n .", "git rm -n -r x"], &["git add .", "git rm x"]),
];

use crate::options::Options;

fn something(options: &Options<'_>) -> Result<(), String> {
    if options.given.is_empty() { Err("a subcommand is missing".into()) } else { Ok(()) }
}

fn only_counts(options: &Options<'_>) -> Result<(), String> {
    if options.has("--stat --numstat --summary") { Ok(()) } else { Err("it changes files".into()) }
}

fn only_dry(options: &Options<'_>) -> Result<(), String> {
    if options.has("-n --dry-run") { Ok(()) } else { Err("it changes something unless it is a dry run".into()) }
}

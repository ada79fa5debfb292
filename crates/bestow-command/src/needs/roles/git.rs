//! The files that `git` reads and writes: operands, paths in a revision, and stored versions of files.

use std::sync::Arc;

use smol_str::{SmolStr, format_smolstr};

use crate::{
    few::Few,
    needs::{
        operand::{Operand, exact, path},
        roles::words::{Words, copied, is_short_for},
    },
    options::{List, is_listed, list},
    values::{Access, Below, Selection},
    word::{Gaps, Known, Signs, Word},
};

/// The use that a subcommand makes of the files of its repository.
#[derive(Clone, Copy, Debug)]
enum Does {
    /// Removes all operands except the last, and writes the last.
    Moves,
    /// Looks at the names of its operands, and at no content.
    Names,
    /// Removes its operands with everything below them.
    Removes,
    /// Writes the given paths with everything below them.
    Writes,
    /// Stores the content of its operands, or of all files, in the index.
    Stores,
    /// Takes files out of the working tree, and shows versions of them on request.
    Stashes,
    /// Searches the content of its operands, or of all files.
    Searches,
    /// Extracts the content of its operands, or of all files.
    Takes,
    /// Shows versions of its operands or of all files.
    Shows(Shown),
}

/// The condition on which a subcommand shows versions of files.
#[derive(Clone, Copy, Debug)]
enum Shown {
    Always,
    /// Unless all options are known to show none, and one of them suppresses what is usually shown.
    Usually,
    /// Unless all options are known to show none.
    OnRequest,
    /// Unless the only option is one of these.
    Except(List<'static>),
    /// With an option that has this letter, or a long option that may be this one.
    With(char, &'static str),
}

/// Returns what a subcommand does with files, and its options that take a value. `behind` are the words after it.
fn use_of(subcommand: &str, behind: &[Word]) -> Option<(Does, List<'static>)> {
    let first = || behind.iter().map(Word::text).find(|text| !text.starts_with('-')).unwrap_or_default();
    Some(match subcommand {
        "check-ignore" | "check-attr" => (Does::Names, list!("")),
        "rm" if is_of_index(subcommand, behind) => (Does::Names, list!("--pathspec-from-file")),
        "reset" if is_of_index(subcommand, behind) => (Does::Names, list!("--pathspec-from-file")),
        "restore" if is_of_index(subcommand, behind) => (Does::Names, list!("-s --source --pathspec-from-file")),
        "mv" => (Does::Moves, list!("")),
        "rm" => (Does::Removes, list!("--pathspec-from-file")),
        "checkout" | "restore" => (Does::Writes, list!("-b -B -s --source --conflict --pathspec-from-file")),
        "grep" => (Does::Searches, GREP),
        "archive" => (Does::Takes, list!("-o --output --format --prefix --remote --exec --mtime")),
        "checkout-index" => (Does::Takes, list!("--prefix --stage")),
        "show" | "diff" => (Does::Shows(Shown::Usually), DIFF),
        "log" | "reflog" | "whatchanged" | "diff-index" | "diff-files" | "diff-tree" => {
            (Does::Shows(Shown::OnRequest), DIFF)
        }
        // With an option, it shows what the option and not what a setting says.
        "stash" if first() == "show" && behind.iter().any(|arg| arg.text().starts_with('-')) => {
            (Does::Shows(Shown::Usually), DIFF)
        }
        "stash" if matches!(first(), "show" | "list") => (Does::Shows(Shown::OnRequest), DIFF),
        "status" => (Does::Shows(Shown::With('v', "--verbose")), list!("")),
        "commit" => (Does::Shows(Shown::With('v', "--verbose")), list!("-m -F -C -c -t --author --date --cleanup")),
        "stash" if matches!(first(), "" | "push" | "save") => (Does::Stashes, list!("-m --message")),
        "stash" => (Does::Shows(Shown::With('p', "--patch")), list!("-m --message")),
        "add" | "stage" => (Does::Stores, list!("--chmod")),
        "reset" => (Does::Shows(Shown::With('p', "--patch")), list!("--chmod")),
        "am" | "rebase" => (Does::Shows(Shown::With('\0', "--show-current-patch")), list!("")),
        "cat-file" => (Does::Shows(Shown::Except(list!("-t -s -e --batch-check"))), list!("")),
        "blame" | "annotate" => (Does::Shows(Shown::Always), list!("-L -S --since --contents --date --ignore-rev")),
        "format-patch" | "range-diff" | "fast-export" | "merge-tree" | "pack-objects" | "diff-pairs" => {
            (Does::Shows(Shown::Always), DIFF)
        }
        _ => return None,
    })
}

/// Returns true if a subcommand with these words changes the index or the history only, and no file of the working
/// tree. An abbreviated option may be another one.
fn is_of_index(subcommand: &str, behind: &[Word]) -> bool {
    let options = || behind.iter().take_while(|arg| arg.text() != "--").filter(|arg| arg.text().starts_with('-'));
    let are_known = |list: List<'static>| options().all(|arg| arg.is_written() && is_listed(list, name_of(arg.text())));
    match subcommand {
        "check-ignore" | "check-attr" => true,
        "add" | "stage" => are_known(list!(
            "-n --dry-run -v --verbose -f --force -i --interactive -p --patch -u --update -A --all -N --intent-to-add \
             --no-ignore-removal --ignore-errors --renormalize --sparse --no-all --ignore-missing --chmod"
        )),
        "rm" => {
            options().any(|arg| arg.text() == "--cached")
                && are_known(list!(
                    "--cached -f --force -n --dry-run -r -q --quiet --ignore-unmatch --sparse -rf -fr -rq -qr"
                ))
        }
        "restore" => {
            options().any(|arg| matches!(arg.text(), "--staged" | "-S"))
                && are_known(list!("-S --staged -q --quiet --progress --no-progress --ignore-unmerged -s --source"))
        }
        "reset" => are_known(list!("-q --quiet --soft --mixed -N --intent-to-add --no-refresh --refresh")),
        _ => false,
    }
}

/// Returns true if a use of `git` writes none of the files that its words may name, besides those in [`named`].
pub(super) fn names_all_writes(rest: &[Word]) -> bool {
    if let Some((at, Does::Removes | Does::Writes | Does::Stashes, _)) = subcommand(rest) {
        // Options before the subcommand may lead to another program.
        return rest.get(..at).is_some_and(is_only_moved);
    }
    let subcommand = rest.iter().position(|arg| !arg.text().starts_with('-'));
    subcommand == Some(0) && rest.split_first().is_some_and(|(name, behind)| is_of_index(name.text(), behind))
}

/// Options with a value of `git grep`.
const GREP: List<'static> = list!("-A -B -C -O -e -f -m --max-count --max-depth --threads");

/// Options with a value of the subcommands that show changes.
const DIFF: List<'static> = list!(
    "-G -I -O -S -U -l -n -L -o --output --since --until --after --before --author --grep --format \
                    --max-count --skip --diff-filter --inter-hunk-context"
);

/// Options that suppress the content of the files.
const NO_PATCH: List<'static> = list!(
    "--stat --numstat --shortstat --dirstat --compact-summary --summary --name-only --name-status --no-patch -s --raw \
     --quiet -q"
);

/// Options that show no content of files, and with which the paths select what is shown.
const NEUTRAL: List<'static> = list!(
    "--oneline --graph --all --branches --tags --remotes --decorate --no-decorate --reverse --follow --first-parent \
     --merges --no-merges --since --until --after --before --author --committer --grep --invert-grep --all-match \
     --regexp-ignore-case -i -E -F -P --fixed-strings --extended-regexp --perl-regexp --max-count --skip --date \
     --format --pretty --abbrev-commit --no-abbrev-commit --abbrev --no-abbrev --date-order --topo-order \
     --author-date-order --left-right --cherry-pick --cherry-mark --left-only --right-only --source \
     --show-signature --notes --no-notes --relative-date --parents --children --full-history --simplify-merges \
     --simplify-by-decoration --ancestry-path --boundary --color --no-color --mailmap --no-mailmap --cached \
     --staged --merge-base --diff-filter --no-renames --find-renames --find-copies -M -C -R -w -b \
     --ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-blank-lines --exit-code --no-ext-diff \
     --minimal --patience --histogram --diff-algorithm --no-textconv -z -r --root --no-commit-id --full-index -n -g \
     --walk-reflogs --stat-width --stat-count --ignore-submodules"
);

/// Options that show content of files, and with which the paths select what is shown. Which files contain a text tells
/// about their content, too.
const PATCH: List<'static> = list!(
    "-S -G --pickaxe-regex -p -u -U -W -c --cc --patch --unified --patch-with-stat --patch-with-raw --word-diff \
     --color-words --function-context --inter-hunk-context --binary --text -a --color-moved --no-prefix \
     --indent-heuristic"
);

/// Options of `git blame` with which the path selects what is shown.
const BLAME: List<'static> = list!(
    "-L -s -e -w -M -C -f -l -t -n -p -b --porcelain --line-porcelain --incremental --show-email --show-name \
     --show-number --root --since --date --first-parent --reverse --color-lines --color-by-age --abbrev"
);

/// Options of these lists whose value may follow in the same word.
const WITH_JOINED_VALUE: [&str; 7] = ["-U", "-S", "-G", "-M", "-C", "-n", "-L"];

/// Options whose value is the next word, if it does not follow in the same word. The others of the lists take none.
const WITH_VALUE: List<'static> = list!(
    "-n -S -G --since --until --after --before --author --committer --grep --max-count --skip --date --diff-filter \
     --diff-algorithm --inter-hunk-context --stat-width --stat-count"
);

/// Returns the files that `git` reads and writes with these words.
pub(super) fn named(rest: &[Word]) -> Vec<Operand> {
    if let Some(without) = without_index(rest).filter(|without| without.certain) {
        return without.named();
    }
    let Some((at, does, values)) = subcommand(rest) else { return Vec::new() };
    let (before, behind) = (rest.get(..at).unwrap_or_default(), rest.get(at + 1..).unwrap_or_default());
    let words = Words::read(behind, values);
    let dashes = behind.iter().position(|arg| arg.text() == "--");
    let told = dashes.and_then(|at| behind.get(at + 1..)).unwrap_or_default();
    let below = |arg: &Word, access, below| path(arg, access, below).map(perhaps);
    // The operands of the others are no revisions with a path.
    let takes_revisions = !matches!(does, Does::Removes | Does::Writes | Does::Stores | Does::Stashes);
    let revisions = words.operands.iter().filter(|_| takes_revisions);
    let mut named: Vec<_> = revisions.filter_map(|arg| in_revision(arg)).collect();
    match does {
        Does::Moves => named.extend(copied("mv", &words, Access::Write)),
        Does::Names => {
            let entry = |arg: &&Word| below(arg, Access::Read, Below::Names);
            named.extend(words.operands.iter().filter_map(entry));
        }
        Does::Removes | Does::Writes => named.extend(written_files(does, &words, before, told)),
        Does::Stores => named.extend(stored_files(&words, before)),
        Does::Stashes => named.extend(stashed_files(&words, before)),
        Does::Searches => named.extend(searched_files(&words, told)),
        Does::Takes => {
            let operands = words.operands.get(1..).unwrap_or_default();
            named.extend(operands.iter().filter_map(|arg| below(arg, Access::Read, Below::Everything)));
            named.extend(below_patterns(operands));
            let all = operands.is_empty() || selects_anywhere(operands);
            named.extend(all.then(|| here(Below::Everything)));
        }
        Does::Shows(shown) => {
            let name = rest.get(at).map_or("", Word::text);
            let selection = match may_show(shown, name, before, behind, &words) {
                // An operand of `show` may be the number of a file that has no name here.
                false if name == "show" && !are_revisions(behind) => {
                    Selection { only_tracked: true, ..Selection::default() }
                }
                false => return named,
                true => shown_files(name, before, behind, told),
            };
            named.extend(words.operands.iter().filter_map(|arg| below(arg, Access::Read, Below::Everything)));
            named.push(here(Below::Versions).restricted_to(&Some(Arc::new(selection))));
        }
    }
    named
}

/// Returns the files that `git checkout`, `restore` and `rm` write or remove.
fn written_files(does: Does, words: &Words<'_>, before: &[Word], told: &[Word]) -> Vec<Operand> {
    let mut named = Vec::new();
    // Without a revision, only files of the index are written or removed.
    let has_revision = words.gives(list!("-s --source"))
        || words.has_long("--source")
        || words.operands.len() > 1 && told.len() < words.operands.len();
    let is_of_index = matches!(does, Does::Removes) || !has_revision;
    let only_tracked = is_of_index && is_only_moved(before);
    let selection = Selection { only_tracked, ..Selection::default() };
    named.extend(selected(Access::Write, &words.operands, &selection, before));
    if asks_for(words, 'p', "--patch") {
        named.push(here(Below::Versions));
    }
    named
}

/// Returns the files that `git add` stores.
fn stored_files(words: &Words<'_>, before: &[Word]) -> Vec<Operand> {
    let mut named = Vec::new();
    let skips_ignored_by_git = !asks_for(words, 'f', "--force") && is_only_moved(before);
    let only_tracked = asks_for(words, 'u', "--update") && !asks_for(words, 'A', "--all");
    let selection = Selection { skips_ignored_by_git, only_tracked, ..Selection::default() };
    named.extend(selected(Access::Read, &words.operands, &selection, before));
    if words.operands.is_empty() && words.gives(list!("-A --all --no-ignore-removal -u --update")) {
        named.push(everywhere(Access::Read, &selection));
    }
    named.extend(asks_for(words, 'p', "--patch").then(|| here(Below::Versions)));
    named
}

/// Returns the files that `git stash` takes away.
fn stashed_files(words: &Words<'_>, before: &[Word]) -> Vec<Operand> {
    let mut named = Vec::new();
    let is_push = words.operands.first().is_some_and(|arg| arg.text() == "push");
    let paths = words.operands.get(1..).filter(|_| is_push).unwrap_or_default();
    let tracked = Selection { only_tracked: is_only_moved(before), ..Selection::default() };
    named.extend(selected(Access::Write, paths, &tracked, before));
    let all = asks_for(words, 'a', "--all");
    if all || asks_for(words, 'u', "--include-untracked") {
        let skips_ignored_by_git = !all && is_only_moved(before);
        let selection = Selection { skips_ignored_by_git, ..Selection::default() };
        named.extend([Access::Read, Access::Write].map(|access| everywhere(access, &selection)));
    }
    named.extend(asks_for(words, 'p', "--patch").then(|| here(Below::Versions)));
    named
}

/// Returns the files that `git grep` reads.
fn searched_files(words: &Words<'_>, told: &[Word]) -> Vec<Operand> {
    let mut named = Vec::new();
    let tracked = !words.has(list!("--untracked --no-index --no-exclude-standard --recurse-submodules"));
    let skipped = usize::from(!words.has(list!("-e -f")));
    let operands = words.operands.get(skipped..).unwrap_or_default();
    // A name without `/` or `.` may be a revision. A revision is searched as a whole.
    let is_path = |arg: &&Word| exact(arg).is_some_and(|text| text.contains(['/', '.', '*', '?', '[']));
    let anywhere = selects_anywhere(operands);
    let all = anywhere || operands.is_empty() || told.is_empty() && !operands.iter().all(is_path);
    // A revision may list other files than the index.
    let tracked = tracked && (operands.is_empty() || !all);
    let selection = tracked.then(|| Arc::new(Selection { only_tracked: true, ..Selection::default() }));
    let searched = operands.iter().filter_map(|arg| path(arg, Access::Read, Below::Everything).map(perhaps));
    let searched = searched.chain(below_patterns(operands)).chain(all.then(|| here(Below::Everything)));
    named.extend(searched.map(|operand| operand.restricted_to(&selection)));
    named.extend(anywhere.then(|| here(Below::Versions)));
    named
}

/// Returns true if an option has this letter, or may be an abbreviation of `long`.
fn asks_for(words: &Words<'_>, letter: char, long: &str) -> bool {
    words.has_letter(letter) || words.has_long(long)
}

/// Returns true if a subcommand with these words may show versions of files. A word that may become an option may
/// become one that shows them. The value of an option counts as an option, too.
fn may_show(shown: Shown, name: &str, before: &[Word], behind: &[Word], words: &Words<'_>) -> bool {
    // A setting may make a subcommand show more.
    let is_setting = |arg: &Word| arg.text().starts_with("-c") || arg.text().starts_with("--c");
    let is_set = || name == "stash" && before.iter().any(is_setting);
    let options = || behind.iter().filter(|arg| arg.may_be_option() || arg.text().starts_with('-'));
    let are_all = |known: &dyn Fn(&str) -> bool| {
        options().all(|arg| arg.text() == "--" || exact(arg).is_some_and(|text| known(&text)))
    };
    match shown {
        Shown::Always => true,
        // The value of an option of another subcommand is often unknown, and no option.
        Shown::With(letter, long) => asks_for(words, letter, long) || name == "status" && !are_all(&|_| true),
        Shown::Except(list) => {
            !options().any(|arg| is_listed(list, name_of(arg.text())))
                || !are_all(&|text| is_listed(list, name_of(text)))
        }
        Shown::OnRequest => is_set() || !are_all(&shows_no_content),
        Shown::Usually => !options().any(|arg| is_listed(NO_PATCH, name_of(arg.text()))) || !are_all(&shows_no_content),
    }
}

/// Returns true for an option that certainly shows no content of files.
fn shows_no_content(option: &str) -> bool {
    is_listed(NO_PATCH, name_of(option)) || is_in(NEUTRAL, option)
}

/// Returns the name of an option, without a value after `=`.
fn name_of(option: &str) -> &str {
    option.split('=').next().unwrap_or(option)
}

/// Returns true if an option, perhaps with a value in the same word, is on the list.
fn is_in(list: List<'static>, option: &str) -> bool {
    let is_count = option.get(1..).is_some_and(|count| count.bytes().all(|byte| byte.is_ascii_digit()));
    let joined = option.get(..2).filter(|name| WITH_JOINED_VALUE.contains(name));
    is_count || is_listed(list, name_of(option)) || joined.is_some_and(|name| is_listed(list, name))
}

/// Returns true if all operands can only be commits.
fn are_revisions(behind: &[Word]) -> bool {
    let operands = behind.iter().take_while(|arg| arg.text() != "--").filter(|arg| !arg.text().starts_with('-'));
    let is_count = |text: &str| text.len() < 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    operands.into_iter().all(|arg| exact(arg).is_some_and(|text| is_a_revision(&text) || is_count(&text)))
}

/// The files that a word of `git` selects.
enum Pathspec {
    /// The file of this name, with its content if it is a directory.
    Path(SmolStr),
    /// Files below this directory.
    Below(SmolStr),
    /// Files anywhere in the repository.
    Anywhere,
}

/// Returns the files that a word selects. `git` itself expands patterns, and a `:` begins a word with another meaning.
fn selected_by(arg: &Word) -> Pathspec {
    let Some(text) = exact(arg) else {
        let pattern = path(arg, Access::Read, Below::Nothing);
        return pattern.map_or(Pathspec::Anywhere, |operand| Pathspec::Below(operand.text));
    };
    if text.starts_with(':') {
        return Pathspec::Anywhere;
    }
    let Some(before) = text.find(['*', '?', '[', '\\']).and_then(|at| text.get(..at)) else {
        return Pathspec::Path(text);
    };
    Pathspec::Below(match before.rfind('/') {
        Some(0) => "/".into(),
        Some(end) => before.get(..end).unwrap_or("/").into(),
        None => ".".into(),
    })
}

/// Returns the files that pathspecs select, as far as a selection does not leave them out.
fn selected(access: Access, operands: &[&Word], selection: &Selection, before: &[Word]) -> Vec<Operand> {
    let restriction = Some(selection).filter(|selection| !selection.is_everything()).cloned().map(Arc::new);
    let has_magic = before.iter().any(|arg| arg.text().ends_with("-pathspecs"));
    let mut named = Vec::new();
    for arg in operands {
        let pathspec = selected_by(arg);
        if has_magic || matches!(pathspec, Pathspec::Anywhere) {
            named.push(everywhere(access, selection));
            continue;
        }
        // A pattern that the shell leaves as it is selects files that are not on the disk.
        let pattern = match pathspec {
            Pathspec::Below(text) => Some(Operand::certain(access, text, Below::Everything)),
            Pathspec::Path(_) | Pathspec::Anywhere => None,
        };
        let both = path(arg, access, Below::Everything).into_iter().chain(pattern);
        named.extend(both.map(|operand| perhaps(operand.restricted_to(&restriction))));
    }
    named
}

/// Returns a use of the whole repository, as far as a selection does not leave something out.
fn everywhere(access: Access, selection: &Selection) -> Operand {
    let selection = Selection { from_top: true, ..selection.clone() };
    perhaps(Operand::certain(access, ".", Below::Everything)).restricted_to(&Some(Arc::new(selection)))
}

/// Returns true if the options before a subcommand only name the directory to work in.
fn is_only_moved(before: &[Word]) -> bool {
    before.is_empty() || directory(before).is_some()
}

/// Returns the directory that options before a subcommand name, if there are no other options.
fn directory(before: &[Word]) -> Option<SmolStr> {
    let mut directory: Option<SmolStr> = None;
    for pair in before.chunks(2) {
        let [option, value] = pair else { return None };
        let named = exact(value).filter(|_| option.text() == "-C" && option.is_exact())?;
        let above = directory.filter(|_| !named.starts_with(['/', '~']));
        directory = Some(above.map_or_else(|| named.clone(), |above| format_smolstr!("{above}/{named}")));
    }
    directory
}

/// Returns the directory to which the first words of `git` certainly lead.
pub(super) fn directory_of(rest: &[Word]) -> Option<SmolStr> {
    directory(rest.get(..subcommand(rest)?.0)?)
}

/// Returns true if a use of `git` may show files that neither an index nor the disk lists: those that were not tracked
/// when they were stashed.
pub(super) fn shows_unlisted(rest: &[Word]) -> bool {
    let Some((at, does, values)) = subcommand(rest) else { return false };
    let (before, behind) = (rest.get(..at).unwrap_or_default(), rest.get(at + 1..).unwrap_or_default());
    let words = Words::read(behind, values);
    let name = rest.get(at).map_or("", Word::text);
    match does {
        Does::Shows(shown) if may_show(shown, name, before, behind, &words) => {}
        Does::Searches | Does::Takes => {}
        Does::Moves | Does::Names | Does::Removes | Does::Writes | Does::Stores | Does::Stashes | Does::Shows(_) => {
            return false;
        }
    }
    if name == "stash" {
        return asks_for(&words, 'u', "--include-untracked") || words.has_long("--only-untracked");
    }
    let texts = || behind.iter().map(Word::text);
    let is_parent = |text: &str| {
        let parents = || text.split('^').skip(1).map(|rest| rest.trim_start_matches('{'));
        parents().any(|rest| rest.starts_with(['@', '!', '-']) || rest.starts_with(|c| ('3'..='9').contains(&c)))
    };
    let walks = matches!(name, "log" | "whatchanged" | "reflog" | "format-patch" | "fast-export" | "pack-objects")
        || words.gives(list!("-m -c --diff-merges --dd --remerge-diff"));
    texts().any(|text| is_parent(text) || walks && !text.starts_with('-') && text.contains("stash"))
}

fn selects_anywhere(operands: &[&Word]) -> bool {
    operands.iter().any(|arg| matches!(selected_by(arg), Pathspec::Anywhere))
}

/// Returns the directories of the patterns among the operands.
fn below_patterns(operands: &[&Word]) -> Vec<Operand> {
    let directory = |arg: &&Word| match selected_by(arg) {
        Pathspec::Below(text) => Some(perhaps(Operand::certain(Access::Read, text, Below::Everything))),
        Pathspec::Path(_) | Pathspec::Anywhere => None,
    };
    operands.iter().filter_map(directory).collect()
}

/// Returns the index of the subcommand, its use of files, and its options that take a value.
fn subcommand(rest: &[Word]) -> Option<(usize, Does, List<'static>)> {
    let mut words = rest.iter().enumerate();
    while let Some((at, word)) = words.next() {
        match word.text() {
            "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path" | "--config-env" => {
                words.next();
            }
            option if option.starts_with('-') => {}
            name => {
                let (does, values) = use_of(name, rest.get(at + 1..).unwrap_or_default())?;
                return Some((at, does, values));
            }
        }
    }
    None
}

/// Returns the file of `revision:path`, relative to the repository or to the working directory.
fn in_revision(arg: &Word) -> Option<Operand> {
    let text = exact(arg).filter(|_| arg.has(Signs::COLON))?;
    let (_, file) = text.split_once(':')?;
    // The text between two colons selects one of several versions.
    let file = file
        .split_once(':')
        .filter(|(stage, _)| matches!(*stage, "0" | "1" | "2" | "3"))
        .map_or(file, |(_, file)| file);
    let file = if file.is_empty() { "." } else { file };
    Some(perhaps(Operand::certain(Access::Read, file, Below::Everything)))
}

/// Returns the file of `revision:path`, as it is stored, without a stage. In other words with a `:`, the text behind it
/// is searched (`:/text`, `^{/text}`), or a time.
fn stored_file(arg: &Word) -> Option<SmolStr> {
    let text = exact(arg)?;
    let (revision, file) = text.split_once(':')?;
    let is_file = !revision.contains('{') && !file.is_empty() && !file.starts_with(['/', '(', '!', '^']);
    let file = ["0:", "1:", "2:", "3:"].iter().find_map(|stage| file.strip_prefix(stage)).unwrap_or(file);
    is_file.then(|| file.into())
}

/// Returns the files whose versions a subcommand shows. `git diff` without a revision compares the files of the index.
/// An operand of some commands may be a path, unless it is the value of an option. An unknown option may show any file.
fn shown_files(name: &str, before: &[Word], behind: &[Word], told: &[Word]) -> Selection {
    let is_known = |arg: &Word| {
        let text = arg.text();
        text == "--"
            || match name {
                "blame" | "annotate" => is_in(BLAME, text),
                "diff" | "log" | "show" | "diff-index" | "diff-files" | "diff-tree" => {
                    shows_no_content(text) || is_in(PATCH, text)
                }
                _ => false,
            }
    };
    let options = behind.iter().take(behind.len() - told.len());
    let mut options = options.filter(|arg| arg.may_be_option() || arg.text().starts_with('-'));
    let all = Selection::default();
    if !options.all(is_known) || before.iter().any(|arg| arg.text().ends_with("-pathspecs")) {
        return all;
    }
    let is_value = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| behind.get(at)).map_or("", Word::text);
        match name {
            "blame" | "annotate" => is_listed(list!("-L --since --date"), before),
            _ => is_listed(WITH_VALUE, before),
        }
    };
    let operands = behind.iter().enumerate().filter(|(at, arg)| !arg.text().starts_with('-') && !is_value(*at));
    let operands: Vec<_> = if told.is_empty() { operands.map(|(_, arg)| arg).collect() } else { told.iter().collect() };
    // Without a commit among the operands, nothing but the stored files that they name is shown.
    let stored: Vec<_> = operands.iter().filter_map(|arg| stored_file(arg)).collect();
    if !stored.is_empty() && stored.len() == operands.len() && told.is_empty() {
        return Selection { paths: stored, ..all };
    }
    let mut paths = Vec::new();
    for arg in &operands {
        match selected_by(arg) {
            Pathspec::Path(_) if stored_file(arg).is_some() => return all,
            Pathspec::Path(text) | Pathspec::Below(text) => paths.push(text),
            Pathspec::Anywhere => return all,
        }
    }
    let others = behind.iter().any(|arg| is_listed(list!("--cached --staged --merge-base"), arg.text()));
    Selection { only_tracked: name == "diff" && !others && operands.is_empty(), paths, ..all }
}

fn here(below: Below) -> Operand {
    perhaps(Operand::certain(Access::Read, ".", below))
}

fn perhaps(operand: Operand) -> Operand {
    Operand { certain: false, ..operand }
}

/// Returns true for a text that can only be a revision.
fn is_a_revision(text: &str) -> bool {
    let name = text.split(['~', '^', '@']).next().unwrap_or(text);
    text == "@" || text.contains("@{") || name == "HEAD" || name.ends_with("_HEAD")
}

/// Returns true if a comparison or a search reads files outside of a repository and `is_unknown` holds for one of them.
pub(super) fn reads_unknown(rest: &[Word], is_unknown: impl Fn(&Word) -> bool) -> bool {
    without_index(rest).is_some_and(|without| {
        // If one operand is a revision, git does not compare files outside of a repository.
        let versions = !without.certain && without.files.iter().any(|arg| is_a_revision(arg.text()));
        let counts = |arg: &Word| !versions || arg.known() == Known::Partly;
        without.files.iter().any(|arg| is_unknown(arg) && counts(arg))
    })
}

/// The operands of a `git` command that compares or searches files outside of a repository.
struct WithoutIndex<'a> {
    files: Few<&'a Word>,
    /// True if the words say so. Otherwise the place of the files decides.
    certain: bool,
    searches: bool,
}

fn without_index(rest: &[Word]) -> Option<WithoutIndex<'_>> {
    let at = rest.iter().position(|arg| matches!(arg.text(), "grep" | "diff"))?;
    let (verb, behind) = rest.get(at..)?.split_first()?;
    let options = behind.iter().take_while(|arg| arg.text() != "--");
    let is_told = |arg: &Word| arg.text().len() > "--no-".len() && is_short_for(arg.text(), "--no-index");
    let is_told = options.into_iter().any(is_told);
    if verb.text() == "grep" {
        let words = Words::read(behind, GREP);
        let skipped = usize::from(!words.has(list!("-e -f")));
        let files = words.operands.iter().copied().skip(skipped).collect();
        return is_told.then_some(WithoutIndex { files, certain: true, searches: true });
    }
    let files = Words::read(behind, list!("-G -I -O -S -U -l")).operands;
    // A word that may become several words may be two names.
    let may_be_two = files.len() == 2 || files.iter().any(|arg| arg.may_split() || arg.is_open());
    let outside = |arg: &&Word| arg.text().is_rooted() || arg.text().split('/').any(|name| name == "..");
    let certain = is_told || files.len() == 2 && files.iter().any(outside);
    (certain || may_be_two).then_some(WithoutIndex { files, certain, searches: false })
}

impl WithoutIndex<'_> {
    fn named(&self) -> Vec<Operand> {
        let mut named: Vec<_> =
            self.files.iter().filter_map(|arg| path(arg, Access::Read, Below::Everything)).collect();
        // Without an index, no filter restricts what a pattern selects.
        let is_path = |arg: &&Word| matches!(selected_by(arg), Pathspec::Path(_));
        if self.searches && (self.files.is_empty() || !self.files.iter().all(is_path)) {
            named.push(here(Below::Everything));
            named.push(here(Below::Versions));
        }
        named
    }
}

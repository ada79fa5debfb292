//! The files that `git` reads and writes: operands, paths in a revision, and stored versions of files.

use std::sync::Arc;

use crate::{
    few::Few,
    needs::{
        operand::{Operand, exact, path},
        roles::words::{Words, copied, is_short_for},
    },
    options::{List, is_listed, list},
    parts::parts,
    values::{Access, Below, Selection},
    word::{Gaps, Known, Signs, Word},
};

/// The use that a subcommand makes of the files of its repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
    /// Removes all operands except the last, and writes the last.
    Moves,
    /// Removes its operands with everything below them.
    Removes,
    /// Writes the given paths with everything below them.
    Writes,
    /// Searches the content of its operands, or of all files.
    Searches,
    /// Extracts the content of its operands, or of all files.
    Takes,
    /// Shows changes in its operands or in all files: always, or only with one of these options.
    Shows(&'static str),
    /// Shows one object, or one line for each version of its operand.
    Names,
}

/// Returns what a subcommand does with files, and its options that take a value.
fn use_of(subcommand: &str) -> Option<(Does, List<'static>)> {
    const PATCHES: Does = Does::Shows("-p -u --patch -L --cc --patch-with-stat --full-diff");
    Some(match subcommand {
        "mv" => (Does::Moves, list!("")),
        "rm" => (Does::Removes, list!("--pathspec-from-file")),
        "checkout" | "restore" => (Does::Writes, list!("-b -B -s --source --conflict --pathspec-from-file")),
        "grep" => (Does::Searches, GREP),
        "archive" => (Does::Takes, list!("-o --output --format --prefix --remote --exec --mtime")),
        "checkout-index" => (Does::Takes, list!("--prefix --stage")),
        "diff" | "show" | "format-patch" => (Does::Shows(""), DIFF),
        "log" | "reflog" | "whatchanged" | "stash" => (PATCHES, DIFF),
        "cat-file" | "blame" | "annotate" => (Does::Names, list!("")),
        _ => return None,
    })
}

/// Options with a value of `git grep`.
const GREP: List<'static> = list!("-A -B -C -O -e -f -m --max-count --max-depth --threads");

/// Options with a value of the subcommands that show changes.
const DIFF: List<'static> = list!(
    "-G -I -O -S -U -l -n -L -o --output --since --until --after --before --author --grep --format \
                    --max-count --skip --diff-filter --inter-hunk-context"
);

/// Options that suppress the content of the files.
const NO_PATCH: &str = "--stat --numstat --shortstat --dirstat --summary --name-only --name-status --no-patch --quiet \
                        --raw --exit-code --oneline";

/// Returns the files that `git` reads and writes with these words.
pub(super) fn named(rest: &[Word]) -> Vec<Operand> {
    if let Some(without) = without_index(rest).filter(|without| without.certain) {
        return without.named();
    }
    let Some((does, values, behind)) = subcommand(rest) else { return Vec::new() };
    let words = Words::read(behind, values);
    let dashes = behind.iter().position(|arg| arg.text() == "--");
    let told = dashes.and_then(|at| behind.get(at + 1..)).unwrap_or_default();
    let below = |arg: &Word, access, below| path(arg, access, below).map(perhaps);
    let mut named: Vec<_> = words.operands.iter().filter_map(|arg| in_revision(arg)).collect();
    match does {
        Does::Moves => named.extend(copied("mv", &words, Access::Write)),
        Does::Removes if words.has(list!("--cached")) => {}
        Does::Removes | Does::Writes => {
            named.extend(words.operands.iter().filter_map(|arg| below(arg, Access::Write, Below::Everything)));
        }
        Does::Searches => {
            let tracked = !words.has(list!("--untracked --no-index --no-exclude-standard --recurse-submodules"));
            let skipped = usize::from(!words.has(list!("-e -f")));
            let operands = words.operands.get(skipped..).unwrap_or_default();
            // A name without `/` or `.` may be a revision. A revision is searched as a whole.
            let is_path = |arg: &&Word| exact(arg).is_some_and(|text| text.contains(['/', '.']));
            let all = operands.is_empty() || told.is_empty() && !operands.iter().all(is_path);
            // A revision may list other files than the index.
            let tracked = tracked && (operands.is_empty() || !all);
            let selection = tracked.then(|| Arc::new(Selection { only_tracked: true, ..Selection::default() }));
            let searched = operands.iter().filter_map(|arg| below(arg, Access::Read, Below::Everything));
            let searched = searched.chain(all.then(|| here(Below::Everything)));
            named.extend(searched.map(|operand| operand.restricted_to(&selection)));
        }
        Does::Takes => {
            let operands = words.operands.get(1..).unwrap_or_default();
            named.extend(operands.iter().filter_map(|arg| below(arg, Access::Read, Below::Everything)));
            named.extend(operands.is_empty().then(|| here(Below::Everything)));
        }
        Does::Shows(with) => {
            let has_one = |options: &'static str| {
                let mut options = parts(options, b' ').filter(|option| !option.is_empty());
                !words.options.is_empty() && options.any(|option| words.has(List::of(option)))
            };
            let asked = has_one(with);
            let is_silent = has_one(NO_PATCH) || words.has(list!("-s -q"));
            if asked || with.is_empty() && !is_silent {
                named.extend(words.operands.iter().filter_map(|arg| below(arg, Access::Read, Below::Everything)));
                let selection = Some(Arc::new(shown_files(rest, behind, &words)));
                // Without a commit among the operands, nothing but the stored files that they name is shown.
                let only_stored = !words.operands.is_empty()
                    && words.operands.iter().all(|arg| is_stored_file(arg))
                    && told.is_empty();
                let shows_all = told.is_empty() && !only_stored;
                named.extend(shows_all.then(|| here(Below::Versions).restricted_to(&selection)));
            }
        }
        Does::Names => {}
    }
    named
}

/// Returns the use of files by the subcommand, its options that take a value, and the words after it.
fn subcommand(rest: &[Word]) -> Option<(Does, List<'static>, &[Word])> {
    let mut words = rest.iter().enumerate();
    while let Some((at, word)) = words.next() {
        match word.text() {
            "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path" | "--config-env" => {
                words.next();
            }
            option if option.starts_with('-') => {}
            name => {
                let (does, values) = use_of(name)?;
                return Some((does, values, rest.get(at + 1..).unwrap_or_default()));
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

/// Returns true for `revision:path`, a file or a directory as it is stored. In other words with a `:`, the text behind
/// it is searched (`:/text`, `^{/text}`), or a time.
fn is_stored_file(arg: &Word) -> bool {
    exact(arg).is_some_and(|text| {
        text.split_once(':').is_some_and(|(revision, file)| {
            !revision.contains('{') && !file.is_empty() && !file.starts_with(['/', '(', '!', '^'])
        })
    })
}

/// Options of `git diff` and similar commands that take no value.
const WITHOUT_VALUE: List<'static> = list!(
    "-p -u -w -b -R -M -C --patch --cached --staged --stat --color --no-color --word-diff --minimal --patience \
     --histogram --ignore-all-space --ignore-space-change --ignore-blank-lines --function-context --no-ext-diff \
     --no-renames --find-renames --cc --oneline --graph --all --follow --reverse --first-parent --no-merges --merges"
);

/// Options of these commands whose value may follow in the same word.
const WITH_JOINED_VALUE: [&str; 5] = ["-U", "-S", "-G", "-M", "-n"];

/// Returns the files whose versions `git diff` and similar commands show. `git diff` without a revision compares the
/// files of the index. An operand of some commands may be a path, unless it is the value of an unknown option.
fn shown_files(rest: &[Word], behind: &[Word], words: &Words<'_>) -> Selection {
    let name = (rest.len() - behind.len()).checked_sub(1).and_then(|at| rest.get(at)).map_or("", Word::text);
    if !matches!(name, "diff" | "log" | "show") {
        return Selection::default();
    }
    // The value of `-U5` stands in the same word.
    let has_value = |option: &str| option.len() > 2 && WITH_JOINED_VALUE.iter().any(|start| option.starts_with(start));
    let is_value = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| behind.get(at)).map_or("", Word::text);
        let is_alone = before.contains('=') || has_value(before) || is_listed(WITHOUT_VALUE, before);
        before.starts_with('-') && !is_alone
    };
    let operands = || behind.iter().enumerate().filter(|(_, arg)| !arg.text().starts_with('-'));
    let paths = operands().filter(|(at, _)| !is_value(*at)).filter_map(|(_, arg)| exact(arg));
    let compares = name == "diff" && !words.has(list!("--cached --staged --merge-base --submodule"));
    Selection { only_tracked: compares && operands().next().is_none(), paths: paths.collect(), ..Selection::default() }
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
        if self.searches && self.files.is_empty() {
            named.push(here(Below::Everything));
        }
        named
    }
}

//! `find` expressions: their tests and actions, and the commands that they run on the results.

use crate::{
    options::{List, is_listed, list},
    programs::Answer,
    word::{Fragment, Gaps, NON_EMPTY, UNKNOWN, Word},
};
use smol_str::format_smolstr;

/// Tests and options without a value.
const BARE: List<'static> = list!(
    "-print -print0 -prune -quit -ls -empty -true -false -daystart -depth -d -follow -mount -xdev \
    -executable -readable -writable -nouser -nogroup -noleaf -warn -nowarn -ignore_readdir_race -noignore_readdir_race \
    -not -a -and -o -or ! ( ) , -L -H -P -x -E -X -s"
);
/// Tests and actions with one value.
const VALUED: List<'static> = list!(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -lname -ilname -type \
    -xtype -size -perm -user -group -uid -gid -inum -samefile -links -newer -anewer -cnewer -newermt -newerat -newerct \
    -newermm -newerBt -mtime -atime -ctime -mmin -amin -cmin -used -fstype -context -maxdepth -mindepth -printf -D -f"
);
/// Actions that run a program, up to `;` or `+`.
const RUNNING: List<'static> = list!("-exec -execdir -ok -okdir");

/// Returns true if a test or an action takes the next word.
pub(crate) fn takes_value(word: &str) -> bool {
    is_listed(VALUED, word)
}

/// Checks that every word of an expression is a test, or an action that only prints.
pub(crate) fn check(rest: &[Word]) -> Answer {
    let mut words = rest.iter().peekable();
    let mut in_expression = false;
    // A glob may match no file and disappear. From there on, values and actions may have changed places.
    let mut may_shift = false;
    while let Some(word) = words.next() {
        let text = word.text();
        if text.starts_with("-O") || is_listed(BARE, text) {
            in_expression |= !matches!(text, "-L" | "-H" | "-P" | "-x" | "-E" | "-X" | "-s");
        } else if is_listed(VALUED, text) {
            in_expression = true;
            let value = words.next().ok_or("a test without its value")?;
            // A match of the glob contains the dot of the pattern. No action contains a dot.
            let names_action = value.is_pattern() && value.may_be_option() && !value.text().contains('.');
            let shifted = may_shift && (value.text().starts_with('-') || value.starts_unknown());
            if value.may_split() || value.is_open() || names_action || shifted {
                return Err("an expansion may turn into an action".into());
            }
            may_shift |= value.is_pattern();
        } else if in_expression || text.starts_with('-') {
            let short: String = text.chars().take(24).filter(|c| !c.is_control()).collect();
            return Err(format!("`{short}` is not a test that only reads").into());
        } else if word.may_be_option() {
            return Err("an expansion may turn into an action".into());
        }
    }
    Ok(())
}

/// A command that an expression runs on the results.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) words: Vec<Word>,
    /// True if it runs in the directory of `find`, and its end is certain.
    pub(crate) is_certain: bool,
    /// True if one command is run on any number of results.
    pub(crate) is_for_many: bool,
}

/// The effects of an expression beside its tests.
#[derive(Debug, Default)]
pub(crate) struct Actions {
    pub(crate) commands: Vec<Run>,
    pub(crate) deletes: bool,
    /// The expression without the commands.
    pub(crate) others: Vec<Word>,
}

/// Returns the effects of an expression. A word that is certainly the value of a test is no action.
pub(crate) fn actions(rest: &[Word]) -> Actions {
    let mut actions = Actions::default();
    let mut words = rest.iter();
    // An expansion may be a test that takes the word after it.
    let mut certain = true;
    while let Some(word) = words.next() {
        certain &= word.is_written();
        if is_listed(RUNNING, word.text()) {
            actions.commands.push(run(word, &mut words));
            continue;
        }
        actions.others.push(word.clone());
        if certain && is_listed(VALUED, word.text()) {
            if let Some(value) = words.next() {
                certain &= !value.may_split() && !value.is_open() && !value.is_pattern();
                actions.others.push(value.clone());
            }
        } else {
            actions.deletes |= word.text() == "-delete";
        }
    }
    actions
}

/// Takes the command after the action `action`, up to its end.
fn run<'w>(action: &Word, words: &mut impl Iterator<Item = &'w Word>) -> Run {
    let mut command: Vec<Word> = Vec::new();
    let end = words.find(|word| {
        let ends = matches!(word.text(), ";" | "+");
        if !ends {
            command.push((*word).clone());
        }
        ends
    });
    let is_for_many = end.is_some_and(|end| end.text() == "+");
    let names_last = command.last().is_some_and(|word| word.text() == "{}");
    let written = command.iter().chain(end).all(Word::is_written);
    let ends = end.is_some() && (!is_for_many || names_last);
    Run { is_certain: action.text() == "-exec" && written && ends, is_for_many, words: command }
}

/// Returns the directories that `find` searches.
pub(crate) fn roots(rest: &[Word]) -> Vec<&Word> {
    let is_root = |word: &&Word| !word.text().starts_with(['-', '(', '!']);
    rest.iter()
        .skip_while(|word| matches!(word.text(), "-L" | "-H" | "-P" | "-x" | "-E" | "-X" | "--"))
        .take_while(is_root)
        .collect()
}

/// Returns true if an expression selects among the files that it finds.
pub(crate) fn is_selective(rest: &[Word]) -> bool {
    const CHOOSING: List<'static> = list!(
        "-name -iname -path -ipath -wholename -regex -iregex -lname -size -perm -user -group -uid \
        -gid -inum -samefile -newer -newermt -mtime -atime -ctime -mmin -amin -cmin -empty -nouser -nogroup -used \
        -maxdepth"
    );
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        if is_listed(CHOOSING, word.text()) {
            let value = words.clone().next().map(Word::text).unwrap_or_default();
            if word.text() == "-maxdepth" || !matches!(value, "*" | ".*" | "/*" | "*/*") {
                return true;
            }
        }
    }
    false
}

/// Returns the arguments of a command that runs on the results: the directories themselves, or a path below them.
pub(crate) fn found(rest: &[Word]) -> Vec<Word> {
    let selective = is_selective(rest);
    let below = |root: &Word| {
        let text = match root.text() {
            // Every file below the root of the disk, or below a home.
            root if selective && (root == "/" || root.fragments().eq([Fragment::Home])) => format!("{root}/**"),
            root if selective => format!("{root}/{NON_EMPTY}"),
            root if root.is_rooted() => format!("{}/**", root.trim_end_matches('/')),
            root => root.to_owned(),
        };
        root.partly(text)
    };
    let roots = roots(rest);
    if roots.is_empty() {
        let text = if selective { format_smolstr!("./{NON_EMPTY}") } else { ".".into() };
        return vec![Word::default().partly(text)];
    }
    roots.into_iter().map(below).collect()
}

/// Returns the results of `fd`. With a pattern that matches every name, these are all files below the given
/// directories.
pub(crate) fn found_by_name(rest: &[Word]) -> Vec<Word> {
    let chooses =
        |word: &Word| ["-e", "--extension", "-g", "-d", "--max-depth"].iter().any(|one| word.text().starts_with(one));
    let stop = |word: &&Word| !matches!(word.text(), "-x" | "-X" | "--exec" | "--exec-batch");
    let own: Vec<&Word> = rest.iter().take_while(stop).collect();
    let everything =
        own.iter().any(|word| matches!(word.text(), "." | "" | ".*" | "^")) && !own.iter().any(|word| chooses(word));
    let roots = own.into_iter().filter(|word| everything && word.text().is_rooted());
    let below = |root: &Word| root.partly(format!("{}/**", root.text().trim_end_matches('/')));
    let found: Vec<Word> = roots.map(below).collect();
    if found.is_empty() {
        return vec![Word::default().partly(format!("./{UNKNOWN}"))];
    }
    found
}

//! Predicates on critical files: removed, moved, overwritten, or opened to everybody.

use crate::{
    critical_paths::{is_critical_outside, is_doomed, is_needed_program, is_system_file, is_vital},
    place::Place,
    predicates::Answer,
    word::Word,
};

fn operands(words: &[Word]) -> Vec<&str> {
    words.iter().map(Word::text).filter(|text| !text.starts_with('-')).collect()
}

/// Returns true for `mv … /dev/null` with a critical source.
pub(crate) fn move_to_nothing(words: &[Word], place: &Place) -> bool {
    let operands = operands(words);
    operands
        .split_last()
        .is_some_and(|(last, moved)| is_null(last, place) && moved.iter().any(|path| is_doomed(path, place)))
}

/// Returns true if the command moves a file of the system. A target of the move does not count.
pub(crate) fn move_of_system_files(words: &[Word], place: &Place) -> bool {
    let operands = operands(words);
    let moved = match words.iter().any(|word| word.text() == "-t" || word.text().starts_with("--target")) {
        true => operands.as_slice(),
        false => operands.split_last().map(|(_, moved)| moved).unwrap_or_default(),
    };
    let whole_drive = |path: &str| path.trim_matches('/').is_empty();
    // Users mount disks there and work on them.
    let worked_on = |path: &str| ["/mnt/", "/media/", "/Volumes/"].iter().any(|top| path.starts_with(top));
    let goes = |path: &&str| {
        !whole_drive(path) && !worked_on(path) && (is_critical_outside(path, place) || is_system_file(path, place))
    };
    moved.iter().any(goes)
}

/// Returns the operands without unknown words that may expand to no word.
fn known_operands(words: &[Word]) -> Vec<&str> {
    let known = words.iter().filter(|word| !word.is_wild() || word.text().contains("**"));
    known.map(Word::text).filter(|text| !text.starts_with('-')).collect()
}

/// Returns the targets of a copy, link or stream: the last operand and the values of `of=`.
fn written<'a>(words: &'a [Word]) -> impl Iterator<Item = &'a str> {
    let operands = known_operands(words);
    let last = operands.len().saturating_sub(1);
    let assigned = operands.clone().into_iter().filter_map(|word| word.strip_prefix("of="));
    let with_last: Vec<&'a str> = operands.into_iter().skip(last).chain(assigned).collect();
    with_last.into_iter()
}

pub(crate) fn vital_target(words: &[Word], place: &Place) -> bool {
    written(words).any(|path| is_vital(path, place) || is_needed_program(path))
}

/// Returns true if `-o`, `-O` or their long forms name a file that the system needs to start.
pub(crate) fn vital_output(words: &[Word], place: &Place) -> bool {
    const LONG: &[&str] = &["--output", "--output-document"];
    let mut before = "";
    words.iter().map(Word::text).any(|text| {
        let option = std::mem::replace(&mut before, text);
        let short = |text: &str| text.starts_with('-') && !text.starts_with("--") && text.ends_with(['o', 'O']);
        let joined = text.strip_prefix('-').and_then(|rest| rest.strip_prefix(['o', 'O']));
        let valued = text.split_once('=').filter(|(name, _)| LONG.contains(name)).map(|(_, value)| value);
        let apart = (short(option) || LONG.contains(&option)).then_some(text);
        [joined, valued, apart].into_iter().flatten().any(|path| is_vital(path, place) || is_needed_program(path))
    })
}

pub(crate) fn empty_source(words: &[Word], place: &Place) -> bool {
    let empty =
        |word: &Word| matches!(word.text().trim_start_matches("if="), "/dev/null" | "/dev/zero" | "/dev/urandom");
    words.iter().any(empty) && written(words).any(|path| is_system_file(path, place))
}

pub(crate) fn edit_of_vital_file(words: &[Word], place: &Place) -> bool {
    let short = |text: &str| text.starts_with('-') && !text.starts_with("--") && text.contains('i');
    let in_place = words.iter().any(|word| short(word.text()) || word.text().starts_with("--in-place"));
    in_place && operands(words).iter().any(|path| is_vital(path, place))
}

pub(crate) fn set_user_id(words: &[Word], place: &Place) -> bool {
    let lends = |word: &Word| {
        let mode = word.text();
        let digits =
            mode.len() == 4 && mode.starts_with(['2', '4', '6']) && mode.bytes().all(|byte| byte.is_ascii_digit());
        digits || (mode.contains(['+', '=']) && mode.ends_with('s') && mode.len() <= 6)
    };
    words.iter().any(lends) && operands(words).iter().any(|path| is_system_file(path, place))
}

fn is_null(path: &str, _: &Place) -> bool {
    path == "/dev/null"
}

/// Returns true if the mode permits all users to write. The mode is the first operand, but an unknown word before it
/// may expand to no word.
pub(crate) fn mode_for_everybody(words: &[Word], place: &Place) -> bool {
    let mut operands = words.iter().filter(|word| !word.text().starts_with('-') || word.text().len() == 1);
    let unknown = |word: &&Word| word.is_wild() || word.is_expanded();
    let modes = operands.by_ref().take_while(unknown).map(Word::text).collect::<Vec<_>>();
    let first = words.iter().filter(|word| !word.text().starts_with('-')).find(|word| !unknown(word));
    modes.into_iter().chain(first.map(Word::text)).any(|mode| world_writable(mode, place))
}

/// Returns true if a mode permits all users to read, write and execute: `777`, `0777`, `a+rwx`, `o=rwx`.
fn world_writable(mode: &str, _: &Place) -> bool {
    let digits = mode.bytes().all(|byte| (b'0'..=b'7').contains(&byte)) && matches!(mode.len(), 3..=5);
    if digits {
        return mode.ends_with("777");
    }
    mode.split(',').any(|part| {
        let Some(at) = part.find(['+', '=']) else { return false };
        let (who, rights) = (part.get(..at).unwrap_or_default(), part.get(at + 1..).unwrap_or_default());
        let everybody = who.contains('a') || (who.contains('o') && who.bytes().all(|byte| b"ugo".contains(&byte)));
        everybody && ["r", "w", "x"].iter().all(|right| rights.to_ascii_lowercase().contains(right))
    })
}

pub(crate) fn absent_path(words: &[Word], place: &Place) -> bool {
    let fields = words.iter().flat_map(|word| word.text().split_whitespace());
    let paths = fields.filter_map(|field| field.strip_prefix("path=").or_else(|| field.strip_prefix("dest=")));
    paths.into_iter().any(|path| is_doomed(path, place))
}

pub(crate) fn whole_drive(words: &[Word], place: &Place) -> bool {
    words.iter().any(|word| word.text().as_bytes().get(1) == Some(&b':') && is_doomed(word.text(), place))
}

/// Returns true if `dd` copies bytes to a target other than its output and `/dev/null`, or if its target is unknown.
pub(crate) fn target_of_bytes(words: &[Word], _: &Place) -> bool {
    let is_nothing = |word: &Word| word.is_exact() && word.text() == "of=/dev/null";
    let names = |name: &str| words.iter().any(|word| word.text().contains(name) && !is_nothing(word));
    names("of=") || names("if=") && words.iter().any(|word| word.may_split() || word.may_be_option())
}

/// Accepts the words of `dd` without a target, or with the target `/dev/null`.
pub(crate) fn bytes_to_output(rest: &[Word]) -> Answer {
    const NAMES: &[&str] = &[
        "if", "bs", "ibs", "obs", "cbs", "count", "skip", "seek", "iseek", "oseek", "conv", "status", "iflag", "oflag",
    ];
    let is_harmless = |word: &Word| {
        let Some((name, value)) = word.text().split_once('=') else { return false };
        let whole = !word.may_split() && !word.is_pattern() && !word.may_be_option();
        whole && (NAMES.contains(&name) || name == "of" && word.is_exact() && value == "/dev/null")
    };
    if rest.iter().all(is_harmless) { Ok(()) } else { Err("it writes its target".into()) }
}

//! Words as operands that may be paths.

use std::sync::Arc;

use smol_str::SmolStr;

use crate::{
    values::{Access, Below, Selection, paths_in_file_url},
    word::{Gaps, Known, Signs, Word},
};

/// One word of a command as a path, before the directory of the line is put in front of it.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub(crate) access: Access,
    pub(crate) text: SmolStr,
    pub(crate) pattern: Option<SmolStr>,
    pub(crate) below: Below,
    /// The files below the path, if some are left out.
    pub(crate) selection: Option<Arc<Selection>>,
    pub(crate) certain: bool,
}

impl Operand {
    /// Creates an operand for a path that a program certainly uses in this way.
    pub(crate) fn certain(access: Access, text: impl Into<SmolStr>, below: Below) -> Operand {
        Operand { access, text: text.into(), pattern: None, below, selection: None, certain: true }
    }

    /// Restricts the use of a directory to these files.
    pub(crate) fn restricted_to(self, selection: &Option<Arc<Selection>>) -> Operand {
        Operand { selection: selection.clone(), ..self }
    }
}

/// Returns the word as a path that a program certainly uses in this way.
pub(crate) fn path(arg: &Word, access: Access, below: Below) -> Option<Operand> {
    if let Some(text) = exact(arg) {
        return Some(Operand::certain(access, text, below));
    }
    // The value of a variable is a pattern if the variable was set to a pattern.
    let is_held = arg.is_expanded() && arg.known() != Known::Fully && !arg.has_gap();
    let is_pattern = arg.is_pattern() || is_held;
    let (above, pattern) = is_pattern.then(|| around_pattern(arg.text()))??;
    Some(Operand { pattern: Some(pattern), ..Operand::certain(access, above, below) })
}

/// Splits a pattern into the directory before its first pattern character, and the pattern after this directory.
pub(crate) fn around_pattern(text: &str) -> Option<(SmolStr, SmolStr)> {
    let signs = |c: char| matches!(c, '*' | '?' | '[' | '(' | '{' | '\\');
    let before = text.find(signs).and_then(|at| text.get(..at))?;
    // A pattern with an unknown part matches names that nobody knows.
    if text.has_unknown() {
        return None;
    }
    let (above, rest) = match before.rfind('/') {
        Some(0) => ("/", text.get(1..)),
        Some(at) => (before.get(..at)?, text.get(at + 1..)),
        None => (".", Some(text)),
    };
    Some((above.into(), rest?.into()))
}

/// Returns the word if every character is known. It may start with the home directory.
pub(crate) fn exact(arg: &Word) -> Option<SmolStr> {
    if arg.is_exact() && !arg.is_open() && !arg.has_gap() {
        return Some(arg.shared_text());
    }
    let home = arg.is_of_environment() && arg.text().after_home().is_some();
    let inner = arg.text().after_home().unwrap_or(arg.text());
    // A word without a blank is still one word after splitting.
    let is_one = !arg.may_split() || !arg.text().is_empty() && !inner.contains(char::is_whitespace);
    // The working directory of the shell is part of the environment. It is known as `.`.
    let here = arg.is_of_environment() && (arg.text() == "." || arg.text().starts_with("./"));
    let whole = (arg.known() == Known::Fully || home || here)
        && !arg.is_pattern()
        && is_one
        && !arg.is_open()
        && !inner.has_gap();
    whole.then(|| arg.shared_text())
}

/// Returns the text of a word that is known. A pattern that matches no file stays as it is written.
pub(crate) fn as_written(arg: &Word) -> Option<SmolStr> {
    let is_pattern = arg.is_pattern() && arg.known() == Known::Fully && !arg.may_split();
    exact(arg).or_else(|| is_pattern.then(|| arg.shared_text()))
}

/// Returns the word as an operand that may be a path. A pattern stays a pattern.
pub(crate) fn word(arg: &Word, access: Access) -> Option<Operand> {
    let mut operand = path(arg, access, Below::Nothing)?;
    operand.certain = false;
    Some(operand)
}

/// Returns true if the word may be a path that is unknown.
pub(crate) fn is_unknown_path(arg: &Word) -> bool {
    let is_option = arg.text().starts_with('-') && !arg.is_open();
    !is_option && path(arg, Access::Read, Below::Nothing).is_none() && !is_pipe(arg)
}

/// Returns true for a process substitution, which is a pipe.
pub(crate) fn is_pipe(arg: &Word) -> bool {
    arg.text().contains("/dev/fd/63")
}

/// The limit of parts of a word that are each taken for a path.
const MAX_PARTS: usize = 64;

/// The signs that separate the parts of a word: a name and its value, the items of a list, a name before a file.
const SEPARATORS: [char; 3] = ['=', ',', '@'];

/// Calls `add` with everything in a word that may be a path: the word itself, the value of an option, each part between
/// the signs that separate names, values and items of lists, and the file of a `file:` URL. A word with more parts than
/// are named may be any path.
pub(crate) fn each_word(arg: &Word, access: Access, mut add: impl FnMut(Operand)) {
    each_written(arg, access, |operand| {
        for text in paths_in_file_url(&operand.text) {
            add(Operand { text: text.into(), ..operand.clone() });
        }
        add(operand);
    });
}

fn each_written(arg: &Word, access: Access, mut add: impl FnMut(Operand)) {
    let is_option = arg.text().starts_with('-');
    let has_parts = arg.has(Signs::EQUALS.or(Signs::AT)) || arg.text().contains(',');
    if is_option && !has_parts && arg.is_written() && (arg.text().len() == 2 || arg.text().starts_with("--")) {
        return;
    }
    let Some(whole) = word(arg, access) else { return };
    if whole.pattern.is_some() || !is_option && !has_parts {
        return add(whole);
    }
    let uncertain = |text: &str| Operand { certain: false, ..Operand::certain(access, text, Below::Nothing) };
    let mut rest = MAX_PARTS;
    each_part(arg, &whole.text, &mut |text| {
        if !text.is_empty() {
            if rest > 0 {
                add(uncertain(text));
            }
            rest = rest.saturating_sub(1);
        }
    });
    if rest == 0 {
        add(Operand { below: Below::Everything, ..uncertain("/") });
    }
}

/// Calls `add` with each text in an option, or in a word with parts, that may be a path.
fn each_part(arg: &Word, text: &str, add: &mut dyn FnMut(&str)) {
    let is_option = text.starts_with('-');
    if !is_option {
        add(text);
    }
    let assigned = if arg.has(Signs::EQUALS) { text.split_once('=') } else { None };
    let value = assigned.map(|(_, value)| value);
    value.into_iter().for_each(&mut *add);
    let joined = if is_option && !text.starts_with("--") { text.get(2..) } else { None };
    joined.into_iter().for_each(&mut *add);
    // A letter before the one with the value, as in `-nf/etc/x`.
    let rooted =
        joined.and_then(|joined| joined.find(['/', '.', '~']).filter(|at| *at > 0).and_then(|at| joined.get(at..)));
    rooted.into_iter().for_each(&mut *add);
    let listed = value.or(joined).unwrap_or(text);
    if listed.contains(SEPARATORS) {
        listed.split(SEPARATORS).for_each(&mut *add);
    }
    // The value of a name in a list may contain the signs: `a=b=c`, `a@b`.
    if let Some((_, behind)) = listed.split_once(['=', '@']) {
        add(behind);
    }
}

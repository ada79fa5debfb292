//! Options that change the directory of a program. The program resolves relative words in this directory.

use smol_str::{SmolStr, format_smolstr};

use crate::{
    needs::operand::{Operand, exact},
    word::{Gaps, Signs, Word},
};

/// Options that take a directory to work in.
const OPTIONS: [&str; 8] =
    ["-C", "--directory", "--chdir", "--cwd", "--dir", "--prefix", "--work-tree", "--working-directory"];

/// The limit of directories that the options of one program may name.
const MAX_TOLD: usize = 64;

/// Returns the directories that the options name, each by itself and joined to the one before. Returns `None` if there
/// are too many.
pub(super) fn told(rest: &[Word]) -> Option<Vec<SmolStr>> {
    let mut all: Vec<SmolStr> = Vec::new();
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let Some(directory) = value(word, &mut words) else { continue };
        if all.len() >= MAX_TOLD {
            return None;
        }
        let joined = all.last().filter(|_| !directory.is_rooted());
        let joined = joined.map(|before| format_smolstr!("{before}/{directory}"));
        all.push(directory);
        all.extend(joined);
    }
    Some(all)
}

/// Returns the directory that the option or the next word names.
fn value<'a>(word: &Word, behind: &mut impl Iterator<Item = &'a Word>) -> Option<SmolStr> {
    let text = word.text();
    // No other short option names a directory.
    if !text.starts_with("--") && !text.starts_with("-C") {
        return None;
    }
    if OPTIONS.contains(&text) {
        return exact(behind.next()?);
    }
    let assigned = if word.has(Signs::EQUALS) { text.split_once('=') } else { None };
    let joined = assigned.filter(|(option, _)| OPTIONS.contains(option)).map(|(_, value)| value);
    let joined = joined.or_else(|| text.strip_prefix("-C"));
    joined.filter(|directory| !directory.is_empty() && exact(word).is_some()).map(SmolStr::from)
}

/// Returns the operand relative to `directory`, or `None` if the operand is not relative.
pub(super) fn below(directory: &SmolStr, operand: &Operand) -> Option<Operand> {
    let is_relative = !operand.text.is_rooted() && !operand.text.starts_with('~');
    is_relative.then(|| Operand { text: format_smolstr!("{directory}/{}", operand.text), ..operand.clone() })
}

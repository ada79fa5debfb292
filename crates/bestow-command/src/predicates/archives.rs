//! Predicates on archives and documents: the words must only list or print.

use crate::{
    options::Options,
    predicates::Answer,
    word::{Gaps, Word},
};

/// Accepts plain file names. `identify '|program'` runs a program, `identify ephemeral:file` removes the file, and the
/// script `file.avs` may load libraries.
pub(crate) fn image_files(options: &Options<'_>) -> Answer {
    let inputs = options.given.iter().filter(|(name, _)| name == "-i").filter_map(|(_, value)| value.as_deref());
    let mut named = options.operands.iter().map(|arg| arg.text()).chain(inputs);
    let is_script = |name: &str| name.to_ascii_lowercase().ends_with(".avs");
    let reads_otherwise = |name: &str| name.contains(['|', ':', '@']) || name.starts_with('-') || is_script(name);
    let odd = named.any(|name| reads_otherwise(name) || name.has_unknown());
    if odd { Err("a file name that says how to read it".into()) } else { Ok(()) }
}

/// Refuses a first word without a dash, which is a bundle of options in the old style of `tar`.
pub(crate) fn tar_options(options: &Options<'_>) -> Answer {
    if options.first_operand == Some(0) { Err("a bundle of options without a dash".into()) } else { Ok(()) }
}

pub(crate) fn archive_listing(options: &Options<'_>) -> Answer {
    tar_options(options)?;
    let remote = options.values.iter().any(|value| may_be_remote(value));
    if options.has("-t --list -tf -tvf -tzf -tzvf -tjf") && !remote {
        Ok(())
    } else {
        Err("it does not only list".into())
    }
}

/// Returns true for an option after the old bundle of letters that only selects members.
fn chooses(word: &str) -> bool {
    matches!(word, "--wildcards" | "--no-wildcards" | "--no-anchored" | "--anchored")
        || ["--exclude=", "--strip-components="].iter().any(|start| word.starts_with(start))
}

/// Returns true for a word that may be `host:file`, which a remote shell would fetch. An unknown word counts unless it
/// starts with `/` or `.`.
fn may_be_remote(word: &Word) -> bool {
    let local = word.text().starts_with(['/', '.']);
    word.text().contains(':') || (word.is_wild() && !local)
}

/// Accepts a listing in the old style of `tar`, where the first word is a bundle of letters without a dash.
pub(crate) fn tar_letters(rest: &[Word]) -> Answer {
    match rest.split_first() {
        Some((letters, rest))
            if letters.is_exact()
                && (letters.text().contains('t') || (letters.text().contains('x') && letters.text().contains('O')))
                && letters.text().bytes().all(|letter| b"tvzjJfaxO".contains(&letter))
                && !rest.iter().any(|word| {
                    (word.text().starts_with('-') && !chooses(word.text()))
                        || may_be_remote(word)
                        || word.may_be_option()
                }) =>
        {
            Ok(())
        }
        _ => Err("it does not only list".into()),
    }
}

/// Accepts `ar t archive members`.
pub(crate) fn ar_letters(rest: &[Word]) -> Answer {
    match rest.split_first() {
        Some((letters, rest))
            if letters.is_exact()
                && letters.text().trim_start_matches('-').starts_with('t')
                && letters.text().trim_start_matches('-').bytes().all(|letter| b"tvO".contains(&letter))
                && !rest.iter().any(|word| word.text().starts_with(['-', '@']) || word.may_be_option()) =>
        {
            Ok(())
        }
        _ => Err("it does not only list".into()),
    }
}

/// Accepts `jar tf archive members`.
pub(crate) fn jar_letters(rest: &[Word]) -> Answer {
    match rest.split_first() {
        Some((letters, rest))
            if letters.is_exact()
                && letters.text().trim_start_matches('-').starts_with('t')
                && letters.text().trim_start_matches('-').bytes().all(|letter| b"tvf".contains(&letter))
                && !rest.iter().any(|word| word.text().starts_with(['-', '@']) || word.may_be_option()) =>
        {
            Ok(())
        }
        _ => Err("it does not only list".into()),
    }
}

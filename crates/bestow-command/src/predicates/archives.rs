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
    let mut formats =
        options.given.iter().filter(|(name, _)| name == "-format").filter_map(|(_, value)| value.as_deref());
    if formats.any(|format| format.contains(['[', '@']) || format.has_unknown()) {
        return Err("a format that may compute something, or name a file".into());
    }
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
                    (word.text().starts_with('-') && word.text() != "-" && !chooses(word.text()))
                        || may_be_remote(word)
                        || word.may_be_option()
                }) =>
        {
            Ok(())
        }
        _ => Err("it does not only list".into()),
    }
}

/// Accepts an archive in the old style of `tar` that goes to the output or nowhere. Of the letters, only `f` takes a
/// value, which is the next word.
pub(crate) fn tar_letters_of_output(rest: &[Word]) -> Answer {
    let [letters, archive, rest @ ..] = rest else { return Err("it writes an archive".into()) };
    let (text, mut rest) = (letters.text(), rest.iter());
    let packs =
        text.contains('c') && text.matches('f').count() == 1 && text.bytes().all(|one| b"cfvzjJh".contains(&one));
    let goes_nowhere = archive.is_exact() && matches!(archive.text(), "-" | "/dev/null");
    while let Some(word) = rest.next() {
        let is_directory = word.text() == "-C";
        let named = if is_directory { rest.next().filter(|named| !named.may_split()) } else { Some(word) };
        let is_listed = |word: &Word| !word.text().starts_with('-') || chooses(word.text());
        if !named.is_some_and(|named| is_listed(named) && !named.may_be_option()) {
            return Err("an option that is not on the list".into());
        }
    }
    if letters.is_exact() && packs && goes_nowhere { Ok(()) } else { Err("it writes an archive".into()) }
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

/// Accepts `jar tf archive members` and `jar --list --file archive members`. A word with `@` names a file of options.
pub(crate) fn jar_letters(rest: &[Word]) -> Answer {
    let Some((first, rest)) = rest.split_first() else { return Err("it does not only list".into()) };
    let letters = first.text().trim_start_matches('-');
    let is_long = first.text() == "--list";
    let lists = is_long || letters.starts_with('t') && letters.bytes().all(|letter| b"tvf".contains(&letter));
    let chooses = |text: &str| is_long && (matches!(text, "--file" | "--verbose") || text.starts_with("--file="));
    let is_plain =
        |word: &Word| !word.may_be_option() && (!word.text().starts_with(['-', '@']) || chooses(word.text()));
    if first.is_exact() && lists && rest.iter().all(is_plain) { Ok(()) } else { Err("it does not only list".into()) }
}

//! Predicates on the words of package managers and formatters.

use crate::{
    options::Options,
    predicates::{Answer, when},
    word::{Gaps, Known, Word},
};

/// Requires a check without changes. In `cargo fmt -- --check`, the words after the dashes belong to `rustfmt`.
pub(crate) fn cargo_fmt_words(options: &Options<'_>) -> Answer {
    let handed_on = options.operands.iter().all(|word| matches!(word.text(), "--check" | "-l" | "--edition=2021"));
    let checks = options.has("--check") || options.operands.iter().any(|word| word.text() == "--check");
    if handed_on && checks { Ok(()) } else { Err("it rewrites files".into()) }
}

pub(crate) fn rpm_query(options: &Options<'_>) -> Answer {
    // The format `%{NAME:expand}` expands the text of a package, including commands. Several formats are joined.
    let mut formats = options.given.iter().filter(|(name, _)| matches!(name.as_str(), "--qf" | "--queryformat"));
    let format = formats.next().and_then(|(_, format)| format.as_deref()).unwrap_or_default();
    let expands = format.has_unknown() || format.contains("expand");
    when(!expands && formats.next().is_none(), "a format that may run a macro")?;
    // Macros in the name of a file are expanded too. The path that `which` prints is that of a program.
    let is_path = |word: &Word| {
        word.known() == Known::Form && word.content().is_some_and(|path| path.starts_with("/usr/local/bin/"))
    };
    let is_name = |word: &Word| !word.text().contains('%') && (word.is_exact() || is_path(word));
    when(options.operands.iter().all(|word| is_name(word)), "a name that may contain a macro")?;
    if options.has("-q --query -qa -qi -ql -qf -qpl -qR --qa --qi --version") {
        Ok(())
    } else {
        Err("it does not only query".into())
    }
}

/// Accepts names of formulas. `brew` evaluates a file with a formula, and a text that defines one.
pub(crate) fn formula_names(options: &Options<'_>) -> Answer {
    let named = |byte: u8| byte.is_ascii_alphanumeric() || b"@+._/-".contains(&byte);
    let is_name = |word: &&Word| {
        let lower = word.text().to_ascii_lowercase();
        let is_file = lower.starts_with(['.', '/']) || [".rb", ".json", ".gz"].iter().any(|end| lower.ends_with(end));
        word.is_exact() && lower.bytes().all(named) && !is_file
    };
    when(options.operands.iter().all(is_name), "a formula in a file or a text is code")
}

//! Predicates on the words of package managers and formatters.

use crate::{options::Options, predicates::Answer, word::Gaps};

/// Requires a check without changes. In `cargo fmt -- --check`, the words after the dashes belong to `rustfmt`.
pub(crate) fn cargo_fmt_words(options: &Options<'_>) -> Answer {
    let handed_on = options.operands.iter().all(|word| matches!(word.text(), "--check" | "-l" | "--edition=2021"));
    let checks = options.has("--check") || options.operands.iter().any(|word| word.text() == "--check");
    if handed_on && checks { Ok(()) } else { Err("it rewrites files".into()) }
}

pub(crate) fn rpm_query(options: &Options<'_>) -> Answer {
    // The format `%{NAME:expand}` expands the text of a package, including commands.
    if options.value("--qf --queryformat").is_some_and(|format| format.has_unknown() || format.contains("expand")) {
        return Err("a format that may run a macro".into());
    }
    if options.has("-q --query -qa -qi -ql -qf -qpl -qR --qa --qi --version") {
        Ok(())
    } else {
        Err("it does not only query".into())
    }
}

//! Predicates on the words of package managers and formatters.

use crate::{
    options::Options,
    predicates::{Answer, when},
    word::Gaps,
};

pub(crate) fn simulation(options: &Options<'_>) -> Answer {
    // After a switch, such a word may turn the switch off.
    const SAYS: &[&str] = &["no", "false", "without", "off", "disable", "yes", "true", "with", "on", "enable"];
    let says = |word: &str| SAYS.contains(&word) || word.starts_with(|c: char| c.is_ascii_digit());
    let switched = options.operands.iter().any(|operand| operand.is_wild() || says(operand.text()));
    if options.has("-s --simulate --dry-run --just-print --recon --no-act") && !switched {
        Ok(())
    } else {
        Err("it changes what is installed".into())
    }
}

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

pub(crate) fn formatter_check(options: &Options<'_>) -> Answer {
    if options.has("-c") && options.has("--check") {
        return Err("`-c` has two meanings".into());
    }
    when(options.has("--check --diff --check-only --version"), "it does not only report")
}

//! Settings of `git` before a subcommand.

use smol_str::SmolStr;

/// Settings of `git` that only change its output, by their full names or by a prefix that ends in a dot.
const HARMLESS_SETTINGS: &[&str] = &[
    "advice.",
    "blame.",
    "branch.sort",
    "color.",
    "column.",
    "core.abbrev",
    "core.commitgraph",
    "core.preloadindex",
    "core.quotepath",
    "diff.algorithm",
    "diff.colormoved",
    "diff.colormovedws",
    "diff.context",
    "diff.ignoresubmodules",
    "diff.indentheuristic",
    "diff.interhunkcontext",
    "diff.mnemonicprefix",
    "diff.noprefix",
    "diff.relative",
    "diff.renamelimit",
    "diff.renames",
    "diff.submodule",
    "diff.suppressblankempty",
    "diff.wserrorhighlight",
    "format.pretty",
    "grep.",
    "i18n.logoutputencoding",
    "log.abbrevcommit",
    "log.date",
    "log.decorate",
    "log.follow",
    "log.mailmap",
    "log.showroot",
    "status.",
    "tag.sort",
    "versionsort.",
];

/// Returns true if a global option of `git` has no other effect than on its output. For `-c name=value` the setting
/// must be harmless. `-R file:x` of `hg` is no path, so that nobody knows what it obeys. Every other option before the
/// subcommand is on its list already.
pub(super) fn is_harmless_global((name, value): &(SmolStr, Option<SmolStr>)) -> bool {
    if name == "-R" && value.as_deref().is_some_and(|value| value.contains(':')) {
        return false;
    }
    let Some(setting) = value.as_deref().filter(|_| name == "-c") else { return true };
    let (key, value) = setting.split_once('=').unwrap_or((setting, "true"));
    let key = key.to_ascii_lowercase();
    let plain = |c: char| c.is_ascii_graphic() || c == ' ';
    let known = |known: &&str| key == **known || (known.ends_with('.') && key.starts_with(*known));
    let quiet = match key.as_str() {
        "core.pager" => matches!(value, "" | "cat"),
        "core.fsmonitor" => value == "false",
        _ => key.starts_with("pager.") && matches!(value, "false" | "cat"),
    };
    setting.chars().all(plain) && (quiet || HARMLESS_SETTINGS.iter().any(known) && !checks_signatures(value))
}

/// Returns true for a format or an order that looks at signatures. `git` runs the program of the setting `gpg.program`
/// to check them.
fn checks_signatures(value: &str) -> bool {
    let placeholder = |text: &str| text.strip_prefix(['+', '-', ' ']).unwrap_or(text).starts_with('G');
    value.contains("signature") || value.split('%').skip(1).any(placeholder)
}

//! The words that a wrapper keeps for itself, before the command that it runs.

use crate::{
    options::{List, Options, Reading, list},
    programs::Program,
    word::Word,
};

/// The options of `env`.
pub(crate) const ENV_FLAGS: List<'static> =
    list!("-i -0 -v - -u: -C: -S: --ignore-environment --null --unset: --chdir: --split-string: --debug");
/// The options of `xargs`.
pub(crate) const XARGS_FLAGS: List<'static> = list!(
    "-0 -r -t -p -x -o -n: -L: -P: -I: -i? -J: -R: -s: -d: -E: -a: --null --no-run-if-empty \
    --verbose --max-args: --max-procs: --max-lines? --replace? --delimiter: --arg-file: --exit --open-tty --max-chars:"
);

/// Returns true if `name` runs another program with its words, so that the words are evaluated as an invocation of that
/// program.
pub(crate) fn wraps(name: &str, known: &Program) -> bool {
    matches!(name, "env" | "xargs" | "gxargs" | "fd" | "fdfind") || known.wraps.is_some()
}

/// Returns the number of words that a wrapper keeps for itself. The words behind them are a command, which is evaluated
/// by itself. Returns all words if the command is not found.
pub(crate) fn own_words(name: &str, known: &Program, rest: &[Word]) -> usize {
    let (flags, operands) = match name {
        "env" => (ENV_FLAGS, 0),
        "xargs" | "gxargs" => (XARGS_FLAGS, 0),
        _ => match known.wraps {
            Some(wraps) => (wraps.flags, wraps.operands),
            None => return rest.len(),
        },
    };
    let reading = Reading { flags, stop_at_operand: true, inert: true };
    let Ok(options) = Options::read(rest, reading) else { return rest.len() };
    if options.has("-S --split-string") {
        return rest.len();
    }
    let Some(start) = options.first_operand else { return rest.len() };
    let is_set = |word: &&Word| name == "env" && word.text().contains('=');
    let set = rest.get(start..).unwrap_or_default().iter().take_while(is_set).count();
    start + operands + set
}

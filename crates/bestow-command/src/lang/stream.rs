//! The programs of `sed` and `awk` on a command line.

use crate::{
    options::{List, Options, Reading, list},
    word::Word,
};

const SED: List<'static> = list!(
    "-n -r -E -s -u -z -i? -l: -e: -f: --expression: --file: --in-place? --line-length: --quiet --silent \
                   --regexp-extended --separate --unbuffered --null-data --posix --debug --sandbox --follow-symlinks"
);
const AWK: List<'static> = list!(
    "-F: -v: -f: -e: -l: -i: --field-separator: --assign: --file: --source: --load: --include: \
    --re-interval --posix --traditional --lint? --csv -b -c -n -O -r -s -S -N -P"
);

/// Returns the words that hold a program: the values of `-e`, or otherwise the first operand. If an option is not
/// listed, every word that is not an option is returned.
pub(crate) fn scripts(name: &str, rest: &[Word]) -> Vec<Word> {
    let flags = if name == "sed" { SED } else { AWK };
    let reading = Reading { flags, stop_at_operand: name != "sed", inert: true };
    let Ok(options) = Options::read(rest, reading) else {
        return rest.iter().filter(|word| !word.text().starts_with('-')).cloned().collect();
    };
    let span = rest.first().map(|word| word.span()).unwrap_or_default();
    let is_given = |name: &str| matches!(name, "-e" | "--expression" | "--source");
    let is_named = |name: &str| matches!(name, "-f" | "--file");
    let values = options.given.iter().filter(|(name, _)| is_given(name)).filter_map(|(_, value)| value.clone());
    if options.given.iter().any(|(name, _)| is_given(name) || is_named(name)) {
        return values.map(|text| Word::literal(text, span)).collect();
    }
    options.operands.first().map(|script| (*script).clone()).into_iter().collect()
}

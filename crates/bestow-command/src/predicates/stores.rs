//! Predicates on stored data: keys, references, manifests, containers.

use super::{Answer, when};
use crate::{
    options::Options,
    place::Place,
    word::{Gaps, Word},
};

/// Commands of a store that only read.
const READING: &str = "\
    PING ECHO TIME INFO DBSIZE LASTSAVE GET MGET GETRANGE STRLEN EXISTS TYPE TTL PTTL KEYS SCAN LLEN \
    LRANGE LINDEX HGET HMGET HGETALL HKEYS HVALS HLEN HEXISTS HSCAN SCARD SMEMBERS SISMEMBER SSCAN ZCARD \
    ZRANGE ZSCORE ZCOUNT ZSCAN XLEN XRANGE XINFO BITCOUNT ROLE";

/// Accepts the commands of a store that only read. A module or a script can give none of these names another meaning.
pub(crate) fn store_reading(options: &Options<'_>) -> Answer {
    const INNER: &[(&str, &str)] = &[
        ("MEMORY", "USAGE"),
        ("MEMORY", "STATS"),
        ("OBJECT", "ENCODING"),
        ("SLOWLOG", "GET"),
        ("CLIENT", "LIST"),
        ("CLUSTER", "INFO"),
        ("CLUSTER", "NODES"),
        ("COMMAND", "COUNT"),
    ];
    let is = |word: &Word, wanted: &str| word.text().eq_ignore_ascii_case(wanted);
    let reads = match options.operands.as_slice() {
        [] => options.has("--scan"),
        _ if options.has("--scan") => false,
        [group, inner, ..] if INNER.iter().any(|(one, two)| is(group, one) && is(inner, two)) => true,
        [command, ..] => READING.split(' ').any(|reading| is(command, reading)),
    };
    when(reads, "it may change what is stored")
}

/// Returns true for `del` and `unlink` with keys that another command lists.
pub(crate) fn unknown_keys(words: &[Word], _: &Place) -> bool {
    let deletes = |word: &Word| ["del", "unlink"].iter().any(|verb| word.text().eq_ignore_ascii_case(verb));
    let at = words.iter().position(deletes);
    at.and_then(|at| words.get(at..)).is_some_and(|keys| keys.iter().any(|key| key.is_open() || key.has_output()))
}

/// Returns true if the command ends with `reset`, `drop`, `drop -f`, `down -all` or `down --all`.
pub(crate) fn migration_of_everything(words: &[Word], _: &Place) -> bool {
    let last: Vec<&str> = words.iter().rev().filter(|word| !word.is_wild()).take(2).map(Word::text).collect();
    matches!(last.as_slice(), ["reset" | "drop", ..] | ["-all" | "--all", "down"] | ["-f", "drop"])
}

/// Returns true unless the words certainly ask for a dry run: `--dry-run=client`, or `--dry-run=server`.
pub(crate) fn no_dry_run(words: &[Word], _: &Place) -> bool {
    const BARE: &[&str] =
        &["-A", "-R", "--all", "--all-namespaces", "--force", "--ignore-not-found", "--now", "--recursive"];
    let end = words.iter().position(|word| word.text() == "--").unwrap_or(words.len());
    let before_end = words.get(..end).unwrap_or(words);
    let is_dry = |word: &Word| word.is_exact() && matches!(word.text(), "--dry-run=client" | "--dry-run=server");
    let doubtful = |word: &Word| word.may_be_option() || word.text().starts_with("--dry-run") && !is_dry(word);
    // An option before it may take it as its value.
    let takes =
        |word: &Word| word.text().starts_with('-') && !word.text().contains('=') && !BARE.contains(&word.text());
    let taken = before_end.windows(2).any(|pair| matches!(pair, [option, value] if takes(option) && is_dry(value)));
    taken || before_end.iter().any(doubtful) || !before_end.iter().any(is_dry)
}

/// Returns true if the manifests come from a kustomization or from a path that is not a YAML or JSON file. Such a
/// source may describe several objects that the command does not name.
pub(crate) fn directory_of_manifests(words: &[Word], place: &Place) -> bool {
    if !no_dry_run(words, place) {
        return false;
    }
    let mut words = words.iter().map(Word::text);
    while let Some(word) = words.next() {
        let named = match word {
            "-k" | "--kustomize" => return true,
            "-f" | "--filename" => words.next(),
            _ if word.starts_with("--kustomize=") => return true,
            _ => word.strip_prefix("--filename=").or_else(|| word.strip_prefix("-f")),
        };
        let file = |name: &str| [".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end));
        if named.is_some_and(|name| !file(name) && !name.is_empty() && !name.has_optional()) {
            return true;
        }
    }
    false
}

/// Returns true for `--all`, or for a forced removal of operands that another command lists.
pub(crate) fn all_containers(words: &[Word], _: &Place) -> bool {
    let all =
        |text: &str| matches!(text, "--all" | "-a") || (text.starts_with("-f") && text.contains('a') && text.len() < 5);
    let listed = words.iter().any(|word| word.is_open() || (word.has_output() && word.may_split()));
    words.iter().any(|word| all(word.text()))
        || listed && words.iter().any(|word| word.text().starts_with("-f") || word.text() == "--force")
}

/// Returns true for `-rm -r` and `-rmr`: options of a command that is itself written as an option.
pub(crate) fn removal_in_store(words: &[Word], _: &Place) -> bool {
    let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.text()));
    has(&["-rmr"]) || (has(&["-rm"]) && has(&["-r", "-R", "-skipTrash"]))
}

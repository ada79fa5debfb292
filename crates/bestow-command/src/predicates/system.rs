//! Predicates on the words of programs of the system.

use crate::{
    options::Options,
    predicates::{Answer, when},
    word::Word,
};

/// Accepts `git config name`, which reads. `git config name value` writes.
pub(crate) fn one_setting(options: &Options<'_>) -> Answer {
    let verb = options
        .operands
        .first()
        .is_some_and(|word| matches!(word.text(), "edit" | "set" | "unset" | "rename-section" | "remove-section"));
    if verb {
        return Err("it changes the configuration".into());
    }
    let one = matches!(options.operands.as_slice(), [name] if !name.may_split() && !name.is_pattern());
    let asks = options.has("-l --list --get --get-all --get-regexp --get-urlmatch") && options.operands.len() <= 2;
    if one || asks { Ok(()) } else { Err("it sets what it names".into()) }
}

/// Accepts words of `ps`, which has three styles of options. No option writes. Without a dash, `e` shows the
/// environment of every process, which may contain secrets.
pub(crate) fn ps_words(rest: &[Word]) -> Answer {
    when(!rest.iter().any(|word| word.text().contains("--pdeathsig")), "an option that is not on the list")?;
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let is_unknown = !word.is_written() && !word.is_number();
        let shows =
            if word.text().starts_with('-') { is_bsd(word.text()) } else { word.text().contains('e') || is_unknown };
        when(!shows, "it shows the environment of processes")?;
        if ps_takes_the_next(word.text()) {
            words.next();
        }
    }
    Ok(())
}

/// Returns true for `-auxe`, whose letters count as if there were no dash, since `xe` is no user. Also returns true for
/// `-E`, which shows the environment on some systems.
fn is_bsd(text: &str) -> bool {
    let letters = text.get(1..).filter(|letters| !letters.starts_with('-')).unwrap_or_default();
    let flags = letters.find(PS_VALUES).map_or(letters, |at| letters.get(..at).unwrap_or_default());
    flags.contains('E')
        || letters.split_once(['u', 'U']).is_some_and(|(_, user)| user.starts_with('x') && text.contains('e'))
}

/// Returns true if the value of the last option in this word of `ps` is the next word.
fn ps_takes_the_next(text: &str) -> bool {
    if text.starts_with("--") {
        return PS_LONG.split(' ').any(|option| option == text);
    }
    let (letters, values) = match text.strip_prefix('-') {
        Some(letters) => (letters, PS_VALUES.as_slice()),
        None => (text, PS_BSD_VALUES.as_slice()),
    };
    // The first letter with a value takes the rest of the word, if there is any.
    letters.find(values).is_some_and(|at| at + 1 == letters.len())
}

/// Letters after a dash that take a value.
const PS_VALUES: [char; 11] = ['o', 'O', 'p', 'q', 'u', 'U', 'g', 'G', 'C', 't', 's'];

/// Letters without a dash that take a value.
const PS_BSD_VALUES: [char; 6] = ['o', 'O', 'p', 'q', 'U', 'k'];

/// Long options that take a value.
const PS_LONG: &str = "--sort --format --pid --ppid --quick-pid --sid --group --Group --user --User --tty --cols \
                       --columns --width --rows --lines";

/// Returns true for `hg identify somewhere`, which contacts another repository.
pub(crate) fn hg_identify(rest: &[Word]) -> bool {
    let mut operands = rest.iter().map(Word::text).filter(|word| !word.starts_with('-'));
    operands.any(|word| matches!(word, "identify" | "id")) && operands.next().is_some()
}

/// Accepts operands and values that `openssl` only reads. The options that write files are not listed. A name with a
/// colon may be a library that holds a key, which `openssl` loads. A password may come from another source.
pub(crate) fn openssl_words(options: &Options<'_>) -> Answer {
    let password = |word: &Word| word.text().starts_with("pass:") || word.text().starts_with("env:");
    let names = options.values.iter().filter(|value| !password(value)).chain(&options.operands);
    if names.into_iter().any(|name| name.text().contains(':') || name.is_wild()) {
        return Err("a key may be in a library that is loaded".into());
    }
    let odd = options.given.iter().any(|(name, value)| {
        name == "-passin"
            && value.as_deref().is_some_and(|value| !value.starts_with("pass:") && !value.starts_with("env:"))
    });
    if odd { Err("a password from somewhere else".into()) } else { Ok(()) }
}

pub(crate) fn ip_words(options: &Options<'_>) -> Answer {
    const OBJECTS: &[&str] = &[
        "a",
        "addr",
        "address",
        "l",
        "link",
        "r",
        "route",
        "n",
        "neigh",
        "neighbor",
        "neighbour",
        "ru",
        "rule",
        "maddr",
        "maddress",
        "tunnel",
        "netns",
    ];
    let words: Vec<&str> = options.operands.iter().map(|arg| arg.text()).collect();
    match words.as_slice() {
        [object] if OBJECTS.contains(object) => Ok(()),
        // For the object `link`, `s` means `set`.
        ["a" | "addr" | "address" | "r" | "route" | "n" | "neigh", "s", ..] => Ok(()),
        [object, verb, ..] if OBJECTS.contains(object) && matches!(*verb, "show" | "list" | "ls" | "get" | "lst") => {
            Ok(())
        }
        _ => Err("it may change the network".into()),
    }
}

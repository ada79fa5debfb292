//! Lists of options, and the search for one of them.

use super::{Takes, short};
use crate::hash;

/// A list of options, separated by blanks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List<'l> {
    text: &'l str,
    /// The places of the entries in the text, each by the hash of its name and increased by one. Empty for a list that
    /// is searched entry by entry.
    slots: &'l [u16],
    letters: Option<&'l Letters>,
}

/// The options of one letter in a list, each as a bit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Letters {
    all: u128,
    /// Those that take no value.
    plain: u128,
    /// True if the list has the entry `=`.
    apart: bool,
}

/// Returns the list of options in a text that is known when the program is built.
macro_rules! list {
    ($text:expr) => {{
        const LIST: &str = $text;
        const SLOTS: [u16; crate::options::slots(LIST)] = crate::options::index(LIST);
        const LETTERS: crate::options::Letters = crate::options::letters(LIST);
        crate::options::List::indexed(LIST, &SLOTS, &LETTERS)
    }};
}

pub(crate) use list;

impl<'l> List<'l> {
    /// Creates a list that is searched entry by entry.
    pub(crate) const fn of(text: &'l str) -> Self {
        List { text, slots: &[], letters: None }
    }

    /// Creates a list with its [`index`].
    pub(crate) const fn indexed(text: &'l str, slots: &'l [u16], letters: &'l Letters) -> Self {
        List { text, slots, letters: Some(letters) }
    }

    pub(crate) fn text(self) -> &'l str {
        self.text
    }

    pub(crate) fn is_empty(self) -> bool {
        self.text.is_empty()
    }

    /// Returns true if the program joins neither short options nor an option and its value.
    pub(super) fn is_apart(self) -> bool {
        self.letters.map_or_else(|| self.find("=").is_some(), |letters| letters.apart)
    }

    /// Returns what the option of this letter takes, if it is on the list.
    pub(super) fn find_letter(self, letter: char) -> Option<Takes<'l>> {
        let plain = u8::try_from(letter).ok().and_then(|letter| self.by_letter(letter));
        plain.unwrap_or_else(|| self.find(&short(letter)))
    }

    /// Returns what the option of this letter takes, if it is on the list. The outer `None` stands for an option whose
    /// entry must be read.
    fn by_letter(self, letter: u8) -> Option<Option<Takes<'l>>> {
        let letters = self.letters.filter(|_| letter.is_ascii() && !ends_name(letter))?;
        match (letters.all >> letter & 1, letters.plain >> letter & 1) {
            (0, _) => Some(None),
            (_, 1) => Some(Some(Takes::Nothing)),
            _ => None,
        }
    }

    /// Returns what the option takes, if it is on the list.
    pub(super) fn find(self, name: &str) -> Option<Takes<'l>> {
        if let [b'-', letter] = name.as_bytes()
            && let Some(found) = self.by_letter(*letter)
        {
            return found;
        }
        let Some(last) = self.slots.len().checked_sub(1) else { return self.search(name) };
        let mut hash = hash::NOTHING;
        for byte in name.bytes() {
            if byte.is_ascii_whitespace() {
                return None;
            }
            if ends_name(byte) {
                // The name of no entry has such a sign, but it may look like a name and its sign.
                return self.search(name);
            }
            hash = hash::add(hash, byte);
        }
        let mut slot = hash::mixed(hash);
        loop {
            let at = usize::from(*self.slots.get(slot & last)?).checked_sub(1)?;
            let behind = self.text.get(at..).and_then(|rest| rest.strip_prefix(name));
            let found = behind.and_then(|behind| takes(entry_end(behind)));
            if found.is_some() {
                return found;
            }
            slot += 1;
        }
    }

    fn search(self, name: &str) -> Option<Takes<'l>> {
        let mut entries = self.text.split(|c: char| c.is_ascii_whitespace()).filter(|entry| !entry.is_empty());
        entries.find_map(|entry| takes(entry.strip_prefix(name)?))
    }
}

/// Returns the end of an entry: the text up to the next blank.
fn entry_end(list: &str) -> &str {
    let end = list.bytes().position(|byte| byte.is_ascii_whitespace());
    end.and_then(|end| list.get(..end)).unwrap_or(list)
}

/// Returns what an option takes whose entry has this text behind its name.
fn takes(rest: &str) -> Option<Takes<'_>> {
    match rest.as_bytes() {
        [] => Some(Takes::Nothing),
        [b':', b'-'] => Some(Takes::Anything),
        [b':', ..] => rest.get(1..).map(Takes::Value),
        [b'?'] => Some(Takes::Maybe("")),
        [b'?', b':', ..] => rest.get(2..).map(Takes::Maybe),
        _ => None,
    }
}

/// Returns true for a byte behind the name of an entry: a sign that tells what it takes, or a blank.
const fn ends_name(byte: u8) -> bool {
    matches!(byte, b':' | b'?') || byte.is_ascii_whitespace()
}

/// Returns the number of slots for the entries of a list. It is a power of two, and some slots stay free.
pub(crate) const fn slots(list: &str) -> usize {
    let (mut entries, mut rest) = (1, list.as_bytes());
    while let [byte, behind @ ..] = rest {
        entries += byte.is_ascii_whitespace() as usize;
        rest = behind;
    }
    (2_usize * entries).next_power_of_two()
}

/// Returns the index of a list.
pub(crate) const fn index<const SLOTS: usize>(list: &str) -> [u16; SLOTS] {
    let mut slots = [0; SLOTS];
    let (mut at, mut rest, mut begins) = (1, list.as_bytes(), true);
    while let [byte, behind @ ..] = rest {
        if begins && !byte.is_ascii_whitespace() {
            take(&mut slots, hash::hash(name(rest)), at);
        }
        begins = byte.is_ascii_whitespace();
        at += 1;
        rest = behind;
    }
    slots
}

/// Returns the options of one letter in a list. Of several entries with one name, the first one counts.
pub(crate) const fn letters(list: &str) -> Letters {
    let mut letters = Letters { all: 0, plain: 0, apart: false };
    let (mut rest, mut begins) = (list.as_bytes(), true);
    while let [byte, behind @ ..] = rest {
        if begins
            && let [b'-', letter] = name(rest)
            && letter.is_ascii()
            && letters.all >> *letter & 1 == 0
        {
            let (_, takes) = rest.split_at(2);
            letters.all |= (is_entry_end(takes) as u128) << *letter;
            let is_plain = matches!(takes, [] | [b' ' | b'\t' | b'\n' | b'\r' | 0xc, ..]);
            letters.plain |= (is_plain as u128) << *letter;
        }
        if begins && let [b'='] = name(rest) {
            let (_, takes) = rest.split_at(1);
            letters.apart |= is_entry_end(takes);
        }
        begins = byte.is_ascii_whitespace();
        rest = behind;
    }
    letters
}

/// Returns true if an entry may have this text behind its name.
const fn is_entry_end(takes: &[u8]) -> bool {
    match takes {
        [] | [b':', ..] | [b'?'] | [b'?', b':', ..] => true,
        [b'?', byte, ..] | [byte, ..] => byte.is_ascii_whitespace(),
    }
}

/// Returns the name of the entry at the beginning of a list.
const fn name(list: &[u8]) -> &[u8] {
    let mut rest = list;
    while let [byte, behind @ ..] = rest {
        if ends_name(*byte) {
            break;
        }
        rest = behind;
    }
    list.split_at(list.len() - rest.len()).0
}

/// Puts `value` into the first free slot from `slot` on.
const fn take(slots: &mut [u16], slot: usize, value: u16) {
    let (_, behind) = slots.split_at_mut(slot % slots.len());
    match behind {
        [free @ 0, ..] => *free = value,
        _ => take(slots, slot + 1, value),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The slots of the lists of these tests.
    const SLOTS: usize = 64;

    fn indexed(list: &str, name: &str) -> Option<String> {
        let slots = index::<SLOTS>(list);
        let letters = letters(list);
        let list = List::indexed(list, &slots, &letters);
        let found = list.find(name);
        assert_eq!(list.is_apart(), List::of(list.text()).is_apart());
        if let Some(letter) = name.strip_prefix('-').filter(|name| name.chars().count() == 1) {
            assert_eq!(letter.chars().next().and_then(|letter| list.find_letter(letter)), found);
        }
        found.map(|takes| format!("{takes:?}"))
    }

    fn slowly(list: &str, name: &str) -> Option<String> {
        List::of(list).find(name).map(|takes| format!("{takes:?}"))
    }

    #[test]
    fn an_option_is_no_other_that_it_is_a_part_of() {
        let list = list!("-a -n: --sort?:name|size --sorted --color? -# =");
        for list in [list, List::of(list.text())] {
            assert_eq!(list.find("--sort"), Some(Takes::Maybe("name|size")));
            assert_eq!(list.find("--sorted"), Some(Takes::Nothing));
            assert_eq!(list.find("--color"), Some(Takes::Maybe("")));
            assert_eq!(list.find("-n"), Some(Takes::Value("")));
            assert_eq!(list.find("="), Some(Takes::Nothing));
            for none in ["-s", "--colo", "-", "--", "-a -n", "sort", "-c"] {
                assert_eq!(list.find(none), None, "{none}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: crate::property_cases::cases(2000), ..ProptestConfig::default() })]

        #[test]
        fn an_entry_is_found_as_if_they_were_looked_at_one_by_one(
            list in "[-a?:=| \t]{0,40}", name in "[-a?:= ]{1,4}"
        ) {
            prop_assert_eq!(indexed(&list, &name), slowly(&list, &name));
        }

        #[test]
        fn one_that_is_on_a_list_is_found(list in "(-[ab]{1,2}(\\?|:|\\?:a)? ){1,8}", name in "-[ab]{1,2}") {
            prop_assert_eq!(indexed(&list, &name), slowly(&list, &name));
        }
    }
}

//! Letters that pass for others: found by the script each belongs to.

/// The scripts whose letters look like one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    Latin,
    Greek,
    Cyrillic,
    Armenian,
    Georgian,
    Cherokee,
    Coptic,
    Lisu,
}

/// The script of a letter, if it is one that has lookalikes in others. Ranges of Unicode's `Scripts.txt`.
fn script(c: char) -> Option<Script> {
    Some(match c {
        'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2b8}' => Script::Latin,
        '\u{1d00}'..='\u{1d25}' | '\u{1d6b}'..='\u{1d77}' | '\u{1d79}'..='\u{1dbe}' => Script::Latin,
        '\u{1e00}'..='\u{1eff}' | '\u{2c60}'..='\u{2c7f}' | '\u{a722}'..='\u{a7ff}' => Script::Latin,
        '\u{ab30}'..='\u{ab64}' => Script::Latin,
        '\u{370}'..='\u{3e1}' | '\u{3f0}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Script::Greek,
        '\u{400}'..='\u{52f}' | '\u{1c80}'..='\u{1c8f}' | '\u{2de0}'..='\u{2dff}' => Script::Cyrillic,
        '\u{a640}'..='\u{a69f}' => Script::Cyrillic,
        '\u{531}'..='\u{58a}' => Script::Armenian,
        '\u{10a0}'..='\u{10ff}' | '\u{1c90}'..='\u{1cbf}' | '\u{2d00}'..='\u{2d2f}' => Script::Georgian,
        '\u{13a0}'..='\u{13ff}' | '\u{ab70}'..='\u{abbf}' => Script::Cherokee,
        '\u{3e2}'..='\u{3ef}' | '\u{2c80}'..='\u{2cff}' => Script::Coptic,
        '\u{a4d0}'..='\u{a4ff}' => Script::Lisu,
        _ => return None,
    })
}

/// Characters that look like an ASCII one in every font: wide and mathematical letters, other slashes, dots, quotation
/// marks, backticks and spaces.
pub(super) fn is_disguised(c: char) -> bool {
    matches!(c,
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
        | '\u{2ba}' | '\u{2ee}' | '\u{2f5}' | '\u{2f6}' | '\u{5f4}' | '\u{1cd3}' | '\u{201c}'..='\u{201f}' | '\u{2033}'
        | '\u{2036}' | '\u{275d}' | '\u{275e}' | '\u{3003}' | '\u{301d}'..='\u{301f}' | '\u{2cb}' | '\u{2f4}' | '\u{1fef}'
        | '\u{2035}' | '\u{2024}' | '\u{2044}' | '\u{2215}' | '\u{2216}' | '\u{29f5}' | '\u{29f8}' | '\u{29f9}' | '\u{2236}'
        | '\u{ff01}'..='\u{ff5e}' | '\u{fe68}' | '\u{1d400}'..='\u{1d7ff}')
}

/// Letters of other scripts that are drawn as a Latin letter is.
fn passes_for_latin(c: char) -> bool {
    "авеорсухіјѕһԁԛԝАВЕКМНОРСТУХІЈЅԌԚԜαονρυικΑΒΕΖΗΙΚΜΝΟΡΤΥΧϲϹոսօհցзЅ".contains(c)
}

/// Whether a word may be taken for another one: it mixes scripts that look alike; or, where Latin letters stand
/// `beside` it in the text, all its letters are ones that pass for Latin.
pub(super) fn is_mixed(word: &str, beside: bool) -> bool {
    let mut scripts = word.chars().filter_map(script);
    let Some(first) = scripts.next() else { return false };
    if scripts.any(|other| other != first) {
        return true;
    }
    let is_long = word.chars().nth(1).is_some();
    first != Script::Latin && beside && is_long && word.chars().all(passes_for_latin)
}

/// Whether a letter of a mixed word is shown as it is: the Latin ones that are on every keyboard are.
pub(super) fn is_plain(c: char) -> bool {
    c.is_ascii() || script(c).is_none_or(|script| script == Script::Latin)
}

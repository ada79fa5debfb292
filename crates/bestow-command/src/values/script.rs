//! Detection of letters that look like letters of another script.

/// The scripts with letters that look alike.
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

/// Returns the script of a letter, if the script has lookalikes in other scripts. The ranges are from Unicode's
/// `Scripts.txt`.
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

/// Returns true for characters that look like an ASCII character in every font: wide and mathematical letters, other
/// slashes, dots, quotation marks, backticks and spaces.
pub(super) fn is_disguised(c: char) -> bool {
    matches!(c,
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
        | '\u{2ba}' | '\u{2ee}' | '\u{2f5}' | '\u{2f6}' | '\u{5f4}' | '\u{1cd3}' | '\u{201c}'..='\u{201f}'
        | '\u{2033}' | '\u{2036}' | '\u{275d}' | '\u{275e}' | '\u{3003}' | '\u{301d}'..='\u{301f}' | '\u{2cb}'
        | '\u{2f4}' | '\u{1fef}' | '\u{2035}' | '\u{2024}' | '\u{2044}' | '\u{2215}' | '\u{2216}' | '\u{29f5}'
        | '\u{29f8}' | '\u{29f9}' | '\u{2236}' | '\u{ff01}'..='\u{ff5e}' | '\u{fe68}' | '\u{1d400}'..='\u{1d7ff}')
}

/// Returns true for letters of other scripts that look like a Latin letter.
fn passes_for_latin(c: char) -> bool {
    "авеорсухіјѕһԁԛԝАВЕКМНОРСТУХІЈЅԌԚԜαονρυικΑΒΕΖΗΙΚΜΝΟΡΤΥΧϲϹոսօհցзЅ".contains(c)
}

/// Returns true if a word can be mistaken for another one. It mixes scripts that look alike. Or all its letters look
/// Latin, and the text has Latin letters `beside` it.
pub(super) fn is_mixed(word: &str, beside: bool) -> bool {
    let mut scripts = word.chars().filter_map(script);
    let Some(first) = scripts.next() else { return false };
    if scripts.any(|other| other != first) {
        return true;
    }
    let is_long = word.chars().nth(1).is_some();
    first != Script::Latin && beside && is_long && word.chars().all(passes_for_latin)
}

/// Returns true if a letter of a mixed word is shown unescaped. That is true for ASCII letters, letters of the Latin
/// script, and letters without lookalikes.
pub(super) fn is_plain(c: char) -> bool {
    c.is_ascii() || script(c).is_none_or(|script| script == Script::Latin)
}

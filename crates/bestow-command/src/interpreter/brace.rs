//! Brace expansion: `{a,b}`, `{1..9}`, nested and side by side.

use crate::syntax::tree::Piece;

/// The limit of words that one word may become.
const MAX_WORDS: usize = 256;
/// The longest sequence that is expanded.
const MAX_SEQUENCE: i64 = 63;
/// The limit of pieces in all these words together.
const MAX_PIECES: usize = 1 << 15;

/// The limit of braces that are examined. Each one requires a scan of the rest of the word.
const MAX_BRACES: usize = 64;

/// The result of expanding a word with braces.
#[derive(Debug)]
pub(super) struct Expansion {
    pub(super) words: Vec<Vec<Piece>>,
    /// True if no part was left out.
    pub(super) complete: bool,
    /// True if a brace has alternatives. Only some shells expand them.
    pub(super) expands: bool,
}

/// Returns true if the braces of a text, if there are any, have no alternatives.
pub(super) fn is_one_word(text: &str) -> bool {
    !text.contains(',') && !text.contains("..") && text.matches('{').count() <= MAX_BRACES
}

/// Expands the braces in `pieces`. Returns `None` if there is no brace.
pub(super) fn expand(pieces: &[Piece]) -> Option<Expansion> {
    let braces = |piece: &Piece| {
        if let Piece::Bare(text) = piece { text.bytes().filter(|byte| *byte == b'{').count() } else { 0 }
    };
    let count: usize = pieces.iter().map(braces).sum();
    if count == 0 {
        return None;
    }
    if count > MAX_BRACES {
        return Some(Expansion { words: vec![pieces.to_vec()], complete: false, expands: true });
    }
    let atoms: Vec<Piece> = pieces.iter().flat_map(split).collect();
    let mut expansion = Expansion { words: vec![Vec::new()], complete: true, expands: false };
    append(&atoms, &mut expansion, 0);
    Some(expansion)
}

/// Splits text outside quotes into characters, because each may be a brace.
fn split(piece: &Piece) -> Vec<Piece> {
    match piece {
        Piece::Bare(text) => text.chars().map(|c| Piece::Bare(c.into())).collect(),
        Piece::Element | Piece::Quoted(_) | Piece::Glob(_) | Piece::Tilde(_) | Piece::Parameter(_) => {
            vec![piece.clone()]
        }
        Piece::Command { .. } | Piece::Process(_) | Piece::Arithmetic(_) => vec![piece.clone()],
    }
}

fn is(piece: &Piece, wanted: &str) -> bool {
    matches!(piece, Piece::Bare(text) if text == wanted)
}

/// Appends the expansions of `atoms` to every word.
fn append(atoms: &[Piece], expansion: &mut Expansion, depth: usize) {
    let mut at = 0;
    while let Some(atom) = atoms.get(at) {
        // Deeper nesting is not expanded.
        expansion.complete &= depth < 16 || !is(atom, "{");
        let found = if is(atom, "{") && depth < 16 { alternatives(atoms, at) } else { None };
        match found {
            Some((parts, end))
                if expansion.words.len() * parts.len() <= MAX_WORDS
                    && expansion.words.len() * parts.len() * atoms.len() <= MAX_PIECES =>
            {
                expansion.expands = true;
                let before = std::mem::take(&mut expansion.words);
                let mut grown = Vec::new();
                for part in parts {
                    expansion.words.clone_from(&before);
                    append(&part, expansion, depth + 1);
                    grown.append(&mut expansion.words);
                }
                expansion.words = grown;
                at = end;
            }
            found => {
                expansion.complete &= found.is_none();
                expansion.words.iter_mut().for_each(|word| word.push(atom.clone()));
                at += 1;
            }
        }
    }
}

/// Returns the alternatives of the brace that opens at `open`, and the index after its end.
fn alternatives(atoms: &[Piece], open: usize) -> Option<(Vec<Vec<Piece>>, usize)> {
    let mut parts = vec![Vec::new()];
    let mut depth = 0_usize;
    for (at, atom) in atoms.iter().enumerate().skip(open + 1) {
        if depth == 0 && is(atom, "}") {
            if parts.len() == 1 {
                parts = sequence(parts.first()?)?;
            }
            return Some((parts, at + 1));
        }
        if depth == 0 && is(atom, ",") {
            parts.push(Vec::new());
            continue;
        }
        depth = if is(atom, "{") { depth + 1 } else { depth - usize::from(is(atom, "}")) };
        parts.last_mut()?.push(atom.clone());
    }
    None
}

/// Expands `1..9` or `a..e`.
fn sequence(atoms: &[Piece]) -> Option<Vec<Vec<Piece>>> {
    let text = atoms.iter().map(|atom| if let Piece::Bare(text) = atom { Some(text.as_str()) } else { None });
    let text: String = text.collect::<Option<_>>()?;
    let mut ends = text.split("..");
    let (first, last) = (ends.next()?, ends.next()?);
    let numbers = first.parse::<i64>().ok().zip(last.parse::<i64>().ok());
    let letters = single(first).zip(single(last)).map(|(first, last)| (i64::from(first), i64::from(last)));
    let (low, high) = numbers.or(letters)?;
    let (low, high) = (low.min(high), low.max(high));
    let high = high.min(low.saturating_add(MAX_SEQUENCE));
    let write = |value: i64| match numbers {
        Some(_) => Some(value.to_string()),
        None => u8::try_from(value).ok().map(|byte| char::from(byte).to_string()),
    };
    (low..=high).map(|value| write(value).map(|text| vec![Piece::Bare(text.into())])).collect()
}

fn single(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [byte] if byte.is_ascii_alphabetic() => Some(*byte),
        _ => None,
    }
}

//! One pass over a path: is it folded, and what are the fingerprints of the directories above it?
//!
//! Eight bytes at a time, since a check does this and little else. The fingerprint of a prefix is the state
//! after its whole words, mixed with the rest; so every prefix costs one multiplication, wherever it ends.
//! A fingerprint only says where to look: the bytes are compared before anything is believed.

/// A path is not in folded form (or not a path), so that a slower reader has to look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Odd;

/// One of the paths above a path, or the path itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prefix {
    /// How many bytes of the text it is.
    pub(super) len: usize,
    /// How many components it has.
    pub(super) depth: u32,
    /// What it hashes to.
    pub(super) hash: u32,
}

/// Longer texts are left to the slow reader, which counts characters.
const MAX_LEN: usize = 4096;
const ONES: u64 = 0x0101_0101_0101_0101;
const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
const HIGH: u64 = 0x8080_8080_8080_8080;
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
const END: u64 = 0xd6e8_feb8_6659_fd93;

/// Shows `visit` every directory above `text`, from the top, and `text` itself; the root `/` is not shown.
///
/// `visit` may be called before it turns out that the text is odd; then its findings mean nothing.
pub(super) fn prefixes(seed: u64, text: &[u8], visit: impl FnMut(Prefix)) -> Result<(), Odd> {
    let ends_in_slash = text.len() > 1 && text.last() == Some(&b'/');
    if text.first() != Some(&b'/') || text.len() > MAX_LEN || ends_in_slash || walk(seed, text, visit) != 0 {
        return Err(Odd);
    }
    Ok(())
}

/// The same for a path that was parsed: what is odd about it is legal.
pub(super) fn legal_prefixes(seed: u64, path: &[u8], visit: impl FnMut(Prefix)) {
    walk(seed, path, visit);
}

/// The fingerprint of a whole path that was parsed, as [`legal_prefixes`] would show it last; `/` has none.
pub(super) fn fingerprint(seed: u64, path: &[u8]) -> Option<Prefix> {
    let mut last = None;
    walk(seed, path, |prefix| last = Some(prefix));
    last
}

/// Not 0 if there is something odd about `text`.
fn walk(seed: u64, text: &[u8], mut visit: impl FnMut(Prefix)) -> u64 {
    if text.len() < 2 {
        return 0;
    }
    let (mut state, mut depth, mut start) = (seed, 0, 0);
    let (mut after_slash, mut odd) = (0, 0);
    let words = text.chunks_exact(8);
    // Filled up with a letter, which is neither control, slash nor dot.
    let mut rest = [b'a'; 8];
    rest.iter_mut().zip(words.remainder()).for_each(|(to, from)| *to = *from);
    let whole = words.map(|word| word.try_into().map_or(0, u64::from_le_bytes));
    for word in whole.chain([u64::from_le_bytes(rest)]) {
        let slashes = equal_to(word, b'/');
        let follows = (slashes << 8) | after_slash;
        after_slash = slashes >> 56;
        odd |= below_space(word) | (slashes & follows);
        let dots = equal_to(word, b'.') & follows;
        if dots != 0 {
            odd |= u64::from(starts_dot_component(text, start, dots));
        }
        let mut left = slashes;
        while left != 0 {
            let place = left.trailing_zeros() / 8;
            left &= left - 1;
            let len = start + place as usize;
            if len > 0 {
                depth += 1;
                visit(Prefix { len, depth, hash: finish(state, word, place) });
            }
        }
        if start + 8 > text.len() {
            visit(Prefix { len: text.len(), depth: depth + 1, hash: finish(state, word, (text.len() - start) as u32) });
        }
        state = fold(state ^ word, MIX);
        start += 8;
    }
    odd
}

/// The high bit of every byte of `word` that is `byte`; exact, no byte disturbs its neighbour.
fn equal_to(word: u64, byte: u8) -> u64 {
    let zero_where_equal = word ^ (ONES * u64::from(byte));
    !(((zero_where_equal & LOW) + LOW) | zero_where_equal) & HIGH
}

/// The high bit of every byte of `word` that is less than a space.
fn below_space(word: u64) -> u64 {
    !(((word & LOW) + ONES * 0x60) | word) & HIGH
}

/// Whether one of the marked dots begins a component `.`, or one that begins with `..`.
fn starts_dot_component(text: &[u8], start: usize, mut dots: u64) -> bool {
    while dots != 0 {
        let place = start + (dots.trailing_zeros() / 8) as usize;
        dots &= dots - 1;
        if matches!(text.get(place + 1), None | Some(b'/' | b'.')) {
            return true;
        }
    }
    false
}

/// Mixes the first `place` bytes of `word` into `state` and spreads the result.
fn finish(state: u64, word: u64, place: u32) -> u32 {
    let kept = if place == 0 { 0 } else { word & (u64::MAX >> (64 - 8 * place.min(8))) };
    (fold(state ^ kept, END) >> 32) as u32
}

fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    (product as u64) ^ ((product >> 64) as u64)
}

#[cfg(test)]
mod tests;

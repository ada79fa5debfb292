//! A single pass over a path. It checks that the path is canonical and computes the fingerprints of its ancestors.
//!
//! The pass reads eight bytes at a time, because it dominates the cost of a check. The fingerprint of a prefix is the
//! state after its whole words, mixed with the remaining bytes. Each prefix therefore costs one multiplication,
//! wherever it ends. A fingerprint only selects candidates: the bytes are always compared as well.

/// An error for a text that is not a path in canonical form. A slower reader has to examine it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Odd;

/// An ancestor of a path, or the path itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prefix {
    /// The number of bytes of the prefix.
    pub(super) len: usize,
    /// The number of components.
    pub(super) depth: u32,
    /// The fingerprint.
    pub(super) hash: u32,
}

/// The maximum length in bytes. Longer texts go to the slow reader, which counts characters.
const MAX_LEN: usize = 4096;
const ONES: u64 = 0x0101_0101_0101_0101;
const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
const HIGH: u64 = 0x8080_8080_8080_8080;
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
const END: u64 = 0xd6e8_feb8_6659_fd93;

/// The depths to search: bit `d` stands for `d` components, the last bit for all deeper ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Depths(u32);

impl Depths {
    #[cfg(all(test, feature = "property-tests"))]
    pub(super) const ALL: Depths = Depths(u32::MAX);

    pub(super) fn of(depth: u32) -> Depths {
        Depths(1 << depth.min(31))
    }

    #[inline]
    pub(super) fn and(self, other: Depths) -> Depths {
        Depths(self.0 | other.0)
    }

    #[inline]
    pub(super) fn include(self, depth: u32) -> bool {
        self.0 & (1 << depth.min(31)) != 0
    }
}

/// Calls `visit` for the ancestors of `text`, from the top, and for `text` itself, if their depth is in `depths`. The
/// root `/` is left out.
///
/// `visit` may be called before the text turns out to be odd. Its results are then meaningless.
#[inline]
pub(super) fn prefixes(seed: u64, text: &[u8], depths: Depths, visit: impl FnMut(Prefix)) -> Result<(), Odd> {
    let ends_in_slash = text.len() > 1 && text.last() == Some(&b'/');
    if text.first() != Some(&b'/') || text.len() > MAX_LEN || ends_in_slash || walk(seed, text, depths, visit) != 0 {
        return Err(Odd);
    }
    Ok(())
}

/// Calls `visit` like [`prefixes`], for a path that was parsed. All its content is legal.
pub(super) fn legal_prefixes(seed: u64, path: &[u8], depths: Depths, visit: impl FnMut(Prefix)) {
    walk(seed, path, depths, visit);
}

/// Returns the fingerprint of a whole parsed path, as [`legal_prefixes`] would visit it last. `/` has none.
pub(super) fn fingerprint(seed: u64, path: &[u8]) -> Option<Prefix> {
    let mut last = None;
    walk(seed, path, Depths(u32::MAX), |prefix| last = Some(prefix));
    last
}

/// Walks over `text` and returns a value other than 0 if the text is not canonical.
#[inline]
fn walk(seed: u64, text: &[u8], depths: Depths, visit: impl FnMut(Prefix)) -> u64 {
    if text.len() < 2 {
        return 0;
    }
    let mut walk = Walk { text, depths, visit, state: seed, depth: 0, after_slash: 0, odd: 0 };
    let (words, rest) = text.as_chunks::<8>();
    let mut start = 0;
    for word in words {
        let word = u64::from_le_bytes(*word);
        walk.step(word, start);
        walk.state = fold(walk.state ^ word, MIX);
        start = start.wrapping_add(8);
    }
    // The last word is filled up with a letter, which is neither a control character nor a slash nor a dot. The
    // remaining bytes never enter the state: they are mixed in where a prefix ends.
    let mut last = [b'a'; 8];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let last = u64::from_le_bytes(last);
    walk.step(last, start);
    walk.show(last, start, rest.len() as u32);
    walk.odd
}

struct Walk<'t, V> {
    text: &'t [u8],
    depths: Depths,
    visit: V,
    /// The hash state of all words before this one.
    state: u64,
    depth: u32,
    /// The high bit of the lowest byte is set if the previous word ended in a slash.
    after_slash: u64,
    odd: u64,
}

impl<V: FnMut(Prefix)> Walk<'_, V> {
    #[inline(always)]
    fn step(&mut self, word: u64, start: usize) {
        let slashes = equal_to(word, b'/');
        let follows = (slashes << 8) | self.after_slash;
        self.after_slash = slashes >> 56;
        self.odd |= below_space(word) | (slashes & follows);
        let dots = equal_to(word, b'.') & follows;
        if dots != 0 {
            self.odd |= u64::from(starts_dot_component(self.text, start, dots));
        }
        // The leading slash of a path ends no prefix.
        let mut left = if start == 0 { slashes & slashes.wrapping_sub(1) } else { slashes };
        while left != 0 {
            self.show(word, start, left.trailing_zeros() / 8);
            left &= left.wrapping_sub(1);
        }
    }

    /// Visits the prefix that ends `place` bytes into `word`.
    #[inline(always)]
    fn show(&mut self, word: u64, start: usize, place: u32) {
        self.depth = self.depth.wrapping_add(1);
        if self.depths.include(self.depth) {
            let hash = finish(self.state, word, place);
            (self.visit)(Prefix { len: start.wrapping_add(place as usize), depth: self.depth, hash });
        }
    }
}

/// Returns the high bit of every byte of `word` that equals `byte`. The result is exact: no byte affects its neighbour.
#[inline]
fn equal_to(word: u64, byte: u8) -> u64 {
    let zero_where_equal = word ^ ONES.wrapping_mul(u64::from(byte));
    !((zero_where_equal & LOW).wrapping_add(LOW) | zero_where_equal) & HIGH
}

/// Returns the high bit of every byte of `word` that is less than a space.
#[inline]
fn below_space(word: u64) -> u64 {
    !((word & LOW).wrapping_add(ONES * 0x60) | word) & HIGH
}

/// Returns true if one of the marked dots begins a component `.` or a component that begins with `..`.
fn starts_dot_component(text: &[u8], start: usize, mut dots: u64) -> bool {
    while dots != 0 {
        let place = start + (dots.trailing_zeros() / 8) as usize;
        dots &= dots.wrapping_sub(1);
        if matches!(text.get(place + 1), None | Some(b'/' | b'.')) {
            return true;
        }
    }
    false
}

/// Mixes the first `place` bytes (0 to 7) of `word` into `state` and spreads the result.
#[inline]
fn finish(state: u64, word: u64, place: u32) -> u32 {
    let kept = word & ((1 << (8 * (place & 7))) - 1);
    (fold(state ^ kept, END) >> 32) as u32
}

#[inline]
fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left).wrapping_mul(u128::from(right));
    (product as u64) ^ ((product >> 64) as u64)
}

#[cfg(test)]
#[cfg(feature = "property-tests")]
mod tests;

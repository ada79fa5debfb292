//! A table from directories to small numbers in one byte slice: first the slots, then the texts.

use super::walk::{Depths, Prefix, fingerprint};

/// The size of a slot in bytes: fingerprint (4), offset of its text (4), length of its text (2), number (2).
const SLOT: usize = 12;

/// The data about the table that is not in its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    /// The number of slots.
    slots: u32,
    /// The depths of its roots.
    pub(super) depths: Depths,
}

/// Builds the table of `roots`. A number must not be 0, because 0 marks an empty slot. `/` cannot be a root here.
pub(super) fn build(seed: u64, roots: &[(&str, u16)]) -> (Shape, Vec<u8>) {
    let mut shape = Shape { slots: slots_for(roots.len()), depths: Depths::default() };
    let texts = roots.iter().map(|(text, _)| text.len()).sum::<usize>();
    let mut bytes = Vec::with_capacity(shape.slots as usize * SLOT + texts);
    bytes.resize(shape.slots as usize * SLOT, 0);
    let (slots, mut start) = (bytes.as_chunks_mut().0, 0);
    for (text, number) in roots {
        let Some(prefix) = fingerprint(seed, text.as_bytes()) else { continue };
        shape.depths = shape.depths.and(Depths::of(prefix.depth));
        place(slots, slot(prefix, start, *number));
        start += text.len();
    }
    // The texts follow in the order of their placement. A root that could not be placed has no text either.
    roots.iter().filter(|(text, _)| text.len() > 1).for_each(|(text, _)| bytes.extend_from_slice(text.as_bytes()));
    (shape, bytes)
}

/// Writes the table with one additional root into `longer`. The root must not be in the table. Only the new root is
/// hashed.
pub(super) fn extend(
    shape: Shape,
    bytes: &[u8],
    prefix: Prefix,
    text: &str,
    number: u16,
    longer: &mut Vec<u8>,
) -> Option<Shape> {
    let (slots, texts) = bytes.split_at_checked(shape.slots as usize * SLOT)?;
    let taken = slots.as_chunks::<SLOT>().0.iter().filter(|slot| !is_empty(slot));
    let more = slots_for(taken.clone().count() + 1);
    longer.clear();
    longer.resize(more as usize * SLOT, 0);
    let empty = longer.as_chunks_mut().0;
    taken.for_each(|slot| place(empty, *slot));
    place(empty, slot(prefix, texts.len(), number));
    longer.extend_from_slice(texts);
    longer.extend_from_slice(text.as_bytes());
    Some(Shape { slots: more, depths: shape.depths.and(Depths::of(prefix.depth)) })
}

/// Returns the number of slots: a third more than roots. A search for a missing root ends at the first empty slot, and
/// the memory use stays small.
fn slots_for(roots: usize) -> u32 {
    if roots == 0 { 0 } else { u32::try_from(roots + roots / 3 + 1).unwrap_or(u32::MAX) }
}

fn slot(prefix: Prefix, start: usize, number: u16) -> [u8; SLOT] {
    let [h0, h1, h2, h3] = prefix.hash.to_le_bytes();
    let [s0, s1, s2, s3] = u32::try_from(start).unwrap_or(u32::MAX).to_le_bytes();
    let [l0, l1] = u16::try_from(prefix.len).unwrap_or(u16::MAX).to_le_bytes();
    let [n0, n1] = number.to_le_bytes();
    [h0, h1, h2, h3, s0, s1, s2, s3, l0, l1, n0, n1]
}

fn is_empty(slot: &[u8; SLOT]) -> bool {
    matches!(slot, [.., 0, 0])
}

/// Puts a slot into its place. There is always an empty one.
fn place(slots: &mut [[u8; SLOT]], new: [u8; SLOT]) {
    let [h0, h1, h2, h3, ..] = new;
    let count = slots.len() as u32;
    let mut index = first_slot(u32::from_le_bytes([h0, h1, h2, h3]), count);
    while let Some(slot) = slots.get_mut(index) {
        if is_empty(slot) {
            *slot = new;
            return;
        }
        index = next_slot(index, count);
    }
}

/// Returns the number of the root that equals `text` up to `prefix`, if there is one.
#[inline]
pub(super) fn find(shape: Shape, bytes: &[u8], text: &[u8], prefix: Prefix) -> Option<u16> {
    if !shape.depths.include(prefix.depth) {
        return None;
    }
    let (slots, texts) = bytes.split_at_checked(shape.slots as usize * SLOT)?;
    let slots = slots.as_chunks::<SLOT>().0;
    let mut index = first_slot(prefix.hash, shape.slots);
    // The search ends at an empty slot at the latest. There is always one.
    loop {
        let [h0, h1, h2, h3, s0, s1, s2, s3, l0, l1, n0, n1] = *slots.get(index)?;
        let number = u16::from_le_bytes([n0, n1]);
        if u32::from_le_bytes([h0, h1, h2, h3]) == prefix.hash
            && usize::from(u16::from_le_bytes([l0, l1])) == prefix.len
        {
            let from = texts.get(u32::from_le_bytes([s0, s1, s2, s3]) as usize..)?;
            if from.get(..prefix.len)? == text.get(..prefix.len)? && number != 0 {
                return Some(number);
            }
        }
        if number == 0 {
            return None;
        }
        index = next_slot(index, shape.slots);
    }
}

/// Maps the upper bits of a hash to a slot without a division.
#[inline]
fn first_slot(hash: u32, slots: u32) -> usize {
    ((u64::from(hash) * u64::from(slots)) >> 32) as usize
}

#[inline]
fn next_slot(index: usize, slots: u32) -> usize {
    if index + 1 == slots as usize { 0 } else { index + 1 }
}

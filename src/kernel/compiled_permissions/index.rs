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
    let taken = slots.as_chunks::<SLOT>().0;
    let needed = count(taken) + 1;
    // The table may have more slots than necessary, because roots were removed.
    let more = if needed + needed / 3 < shape.slots as usize { shape.slots } else { slots_for(needed) };
    longer.clear();
    if more == shape.slots {
        longer.extend_from_slice(slots);
    } else {
        longer.resize(more as usize * SLOT, 0);
        taken.iter().filter(|slot| !is_empty(slot)).for_each(|slot| place(longer.as_chunks_mut().0, *slot));
    }
    place(longer.as_chunks_mut().0, slot(prefix, texts.len(), number));
    longer.extend_from_slice(texts);
    longer.extend_from_slice(text.as_bytes());
    Some(Shape { slots: more, depths: shape.depths.and(Depths::of(prefix.depth)) })
}

/// Writes the table without the root `text` into `shorter`. Returns none if the root is not in the table. The shape
/// may keep the depth of the root until the table shrinks: a check then looks for a root more than it has to.
pub(super) fn without(shape: Shape, bytes: &[u8], prefix: Prefix, text: &str, shorter: &mut Vec<u8>) -> Option<Shape> {
    let (index, _) = locate(shape, bytes, text.as_bytes(), prefix)?;
    let (slots, texts) = bytes.split_at_checked(shape.slots as usize * SLOT)?;
    let slots = slots.as_chunks::<SLOT>().0;
    let (start, len) = span(slots.get(index)?);
    let fewer = slots_for(count(slots) - 1);
    let mut shape = shape;
    shorter.clear();
    // A table shrinks when half of it would do, so that a root that comes and goes changes one slot.
    if fewer > shape.slots / 2 {
        shorter.extend_from_slice(slots.as_flattened());
        take_out(shorter.as_chunks_mut().0, index);
    } else {
        shape = Shape { slots: fewer, depths: Depths::default() };
        shorter.resize(fewer as usize * SLOT, 0);
        let left = slots.iter().enumerate().filter(|(other, slot)| *other != index && !is_empty(slot));
        for (_, slot) in left {
            let (start, len) = span(slot);
            shape.depths = shape.depths.and(Depths::of(depth(texts.get(start..start + len)?)));
            place(shorter.as_chunks_mut().0, *slot);
        }
    }
    shorter.as_chunks_mut().0.iter_mut().for_each(|slot| move_text(slot, start, len));
    shorter.extend_from_slice(texts.get(..start)?);
    shorter.extend_from_slice(texts.get(start + len..)?);
    Some(shape)
}

/// Writes the table with another number for the root `text` into `changed`. Returns none if the root is not in the
/// table.
pub(super) fn renumber(
    shape: Shape,
    bytes: &[u8],
    prefix: Prefix,
    text: &str,
    number: u16,
    changed: &mut Vec<u8>,
) -> Option<Shape> {
    let (index, _) = locate(shape, bytes, text.as_bytes(), prefix)?;
    changed.clear();
    changed.extend_from_slice(bytes);
    let [.., n0, n1] = changed.as_chunks_mut::<SLOT>().0.get_mut(index)?;
    [*n0, *n1] = number.to_le_bytes();
    Some(shape)
}

/// Returns the number of slots: at least a third more than roots. A search for a missing root ends at the first empty
/// slot. The number grows in steps of up to a quarter, so that most new roots need no other table.
fn slots_for(roots: usize) -> u32 {
    let step = (roots / 4).max(1).next_power_of_two();
    let slots = (roots + roots / 3 + 1).next_multiple_of(step);
    if roots == 0 { 0 } else { u32::try_from(slots).unwrap_or(u32::MAX) }
}

/// Returns the number of bytes before the texts.
#[cfg(all(test, feature = "property-tests"))]
pub(super) fn table_len(shape: Shape) -> usize {
    shape.slots as usize * SLOT
}

/// Returns the start and the length of the text of a slot.
fn span(slot: &[u8; SLOT]) -> (usize, usize) {
    let [_, _, _, _, _, _, _, _, l0, l1, _, _] = *slot;
    (start_of(slot), usize::from(u16::from_le_bytes([l0, l1])))
}

fn start_of(slot: &[u8; SLOT]) -> usize {
    let [_, _, _, _, s0, s1, s2, s3, ..] = *slot;
    u32::from_le_bytes([s0, s1, s2, s3]) as usize
}

/// Returns the depth of the root `text`.
fn depth(text: &[u8]) -> u32 {
    u32::try_from(memchr::memchr_iter(b'/', text).count()).unwrap_or(u32::MAX)
}

/// Returns the number of roots.
fn count(slots: &[[u8; SLOT]]) -> usize {
    slots.iter().map(|slot| usize::from(!is_empty(slot))).sum()
}

/// Moves the text of a slot to the front, if a text of `len` bytes at `start` before it is removed.
fn move_text(slot: &mut [u8; SLOT], start: usize, len: usize) {
    let own = start_of(slot);
    if own > start {
        let moved = u32::try_from(own.saturating_sub(len)).unwrap_or(u32::MAX);
        let [_, _, _, _, s0, s1, s2, s3, ..] = slot;
        [*s0, *s1, *s2, *s3] = moved.to_le_bytes();
    }
}

/// Empties the slot at `hole`. Slots behind it move up, so that each search still finds its slot before an empty one.
fn take_out(slots: &mut [[u8; SLOT]], mut hole: usize) {
    let count = slots.len();
    let distance = |from: usize, to: usize| if from <= to { to - from } else { to + count - from };
    let mut empty =
        |index: usize, with: [u8; SLOT]| slots.get_mut(index).map_or([0; SLOT], |slot| std::mem::replace(slot, with));
    empty(hole, [0; SLOT]);
    let mut index = hole;
    loop {
        index = next_slot(index, count as u32);
        let slot = empty(index, [0; SLOT]);
        if is_empty(&slot) {
            return;
        }
        let [h0, h1, h2, h3, ..] = slot;
        let home = first_slot(u32::from_le_bytes([h0, h1, h2, h3]), count as u32);
        if distance(home, index) >= distance(hole, index) {
            empty(hole, slot);
            hole = index;
        } else {
            empty(index, slot);
        }
    }
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
    locate(shape, bytes, text, prefix).map(|(_, number)| number)
}

/// Returns the slot and the number of the root that equals `text` up to `prefix`, if there is one.
#[inline(always)]
fn locate(shape: Shape, bytes: &[u8], text: &[u8], prefix: Prefix) -> Option<(usize, u16)> {
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
                return Some((index, number));
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

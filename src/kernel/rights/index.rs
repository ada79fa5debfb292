//! A table from directories to small numbers, laid out in one run of bytes: slots first, then the texts.

use super::walk::{Prefix, fingerprint};

/// Bytes of one slot: fingerprint (4), where the text starts (4), its length (2), the number (2).
const SLOT: usize = 12;

/// What the table needs to know besides its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    /// How many slots.
    slots: u32,
    /// Bit `d`: some root has `d` components; the last bit stands for all deeper ones.
    depths: u64,
}

/// Lays out `roots`; a number must not be 0, which marks an empty slot. `/` cannot be a root here.
pub(super) fn build(seed: u64, roots: &[(&str, u16)]) -> (Shape, Vec<u8>) {
    // A third more slots than roots: a miss ends at the first empty one, and memory counts too.
    let slots = if roots.is_empty() { 0 } else { roots.len() + roots.len() / 3 + 1 };
    let mut shape = Shape { slots: u32::try_from(slots).unwrap_or(u32::MAX), depths: 0 };
    let texts = roots.iter().map(|(text, _)| text.len()).sum::<usize>();
    let mut bytes = Vec::with_capacity(slots * SLOT + texts);
    bytes.resize(slots * SLOT, 0);
    for (text, number) in roots {
        let Some(prefix) = fingerprint(seed, text.as_bytes()) else { continue };
        shape.depths |= depth_bit(prefix.depth);
        let at = bytes.len();
        bytes.extend_from_slice(text.as_bytes());
        place(&mut bytes, shape.slots, prefix, at, *number);
    }
    (shape, bytes)
}

fn place(bytes: &mut [u8], slots: u32, prefix: Prefix, at: usize, number: u16) {
    let mut index = first_slot(prefix.hash, slots);
    for _ in 0..slots {
        let Some(slot) = bytes.get_mut(index * SLOT..(index + 1) * SLOT) else { return };
        if slot.ends_with(&[0, 0]) {
            let fields = prefix.hash.to_le_bytes().into_iter();
            let fields = fields.chain(u32::try_from(at).unwrap_or(u32::MAX).to_le_bytes());
            let fields = fields.chain(u16::try_from(prefix.len).unwrap_or(u16::MAX).to_le_bytes());
            let fields = fields.chain(number.to_le_bytes());
            slot.iter_mut().zip(fields).for_each(|(to, from)| *to = from);
            return;
        }
        index = next_slot(index, slots);
    }
}

/// The number of the root that `text` up to `prefix` is, if it is one.
pub(super) fn find(shape: Shape, bytes: &[u8], text: &[u8], prefix: Prefix) -> Option<u16> {
    if shape.depths & depth_bit(prefix.depth) == 0 {
        return None;
    }
    let mut index = first_slot(prefix.hash, shape.slots);
    // Bounded, though an empty slot always comes first: a table must not be able to hang whoever asks.
    for _ in 0..shape.slots {
        let slot: &[u8; SLOT] = bytes.get(index * SLOT..)?.first_chunk()?;
        let [h0, h1, h2, h3, s0, s1, s2, s3, l0, l1, n0, n1] = *slot;
        let number = u16::from_le_bytes([n0, n1]);
        if number == 0 {
            return None;
        }
        if u32::from_le_bytes([h0, h1, h2, h3]) == prefix.hash
            && usize::from(u16::from_le_bytes([l0, l1])) == prefix.len
        {
            let start = u32::from_le_bytes([s0, s1, s2, s3]) as usize;
            if bytes.get(start..start + prefix.len) == text.get(..prefix.len) {
                return Some(number);
            }
        }
        index = next_slot(index, shape.slots);
    }
    None
}

fn depth_bit(depth: u32) -> u64 {
    1 << depth.min(63)
}

/// The upper bits spread over the slots; no division.
fn first_slot(hash: u32, slots: u32) -> usize {
    ((u64::from(hash) * u64::from(slots)) >> 32) as usize
}

fn next_slot(index: usize, slots: u32) -> usize {
    if index + 1 == slots as usize { 0 } else { index + 1 }
}

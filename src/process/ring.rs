//! The latest output of a process, in a buffer of bounded size. Offsets count from its first byte.

use std::collections::VecDeque;

/// A piece of output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chunk {
    /// The offset of the first byte, counted from the first byte that the process wrote.
    pub from: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The number of requested bytes before `from` that are no longer kept.
    pub dropped: u64,
    /// The offset of the next piece.
    pub next: u64,
    /// True if no output follows, unless the process is restarted.
    pub is_end: bool,
}

/// The latest bytes of one stream.
#[derive(Debug)]
pub(super) struct Ring {
    bytes: VecDeque<u8>,
    most: usize,
    /// The total number of bytes written.
    written: u64,
}

impl Ring {
    pub(super) fn new(most: usize) -> Ring {
        Ring { bytes: VecDeque::new(), most, written: 0 }
    }

    pub(super) fn push(&mut self, piece: &[u8]) {
        self.written = self.written.saturating_add(len(piece.len()));
        let kept = piece.get(piece.len().saturating_sub(self.most)..).unwrap_or_default();
        let too_many = (self.bytes.len() + kept.len()).saturating_sub(self.most);
        self.bytes.drain(..too_many.min(self.bytes.len()));
        self.bytes.extend(kept);
    }

    /// Returns the total number of bytes written.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Returns at most `most` bytes from `from` on. An offset beyond the end counts as the end.
    pub(super) fn read(&self, from: u64, most: usize) -> Chunk {
        let first = self.written - len(self.bytes.len());
        let begin = from.clamp(first, self.written);
        let skipped = usize::try_from(begin - first).unwrap_or(usize::MAX);
        let bytes: Vec<u8> = self.bytes.iter().skip(skipped).take(most).copied().collect();
        let next = begin + len(bytes.len());
        Chunk { from: begin, bytes, dropped: first.saturating_sub(from), next, is_end: false }
    }
}

fn len(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_dropped_is_said_and_offsets_go_on() {
        let mut ring = Ring::new(4);
        ring.push(b"ab");
        assert_eq!(ring.read(0, 9), Chunk { from: 0, bytes: b"ab".to_vec(), dropped: 0, next: 2, is_end: false });
        ring.push(b"cdefgh");
        assert_eq!(ring.read(2, 3), Chunk { from: 4, bytes: b"efg".to_vec(), dropped: 2, next: 7, is_end: false });
        assert_eq!(ring.read(7, 9).bytes, b"h");
        assert_eq!(ring.read(99, 9), Chunk { from: 8, bytes: vec![], dropped: 0, next: 8, is_end: false });
        ring.push(b"");
        assert_eq!((ring.bytes.len(), ring.written()), (4, 8));
    }

    #[test]
    fn a_ring_without_room_keeps_nothing_and_counts() {
        let mut ring = Ring::new(0);
        ring.push(b"abc");
        assert_eq!(ring.read(0, 9), Chunk { from: 3, bytes: vec![], dropped: 3, next: 3, is_end: false });
    }
}

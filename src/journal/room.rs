//! The space on the disk that the open segment owns. Other processes can fill the disk at any moment, and the segment
//! still has room for steps that take permissions away.

use std::io;

use super::files::{RESERVED, is_full};
use crate::ports::DiskFile;

/// The most bytes by which the owned space grows at once.
const STEP: u64 = 1 << 20;

/// The owned space of the open segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// The space up to this number of bytes belongs to the segment.
    owned: u64,
    step: u64,
    /// False if the disk cannot give space to a file ahead of time.
    is_supported: bool,
}

impl Room {
    /// Returns the room of a segment of `bytes` bytes that goes on until it has `limit` bytes.
    pub(super) fn of(bytes: u64, limit: u64) -> Room {
        Room { owned: bytes, step: STEP.min(limit), is_supported: true }
    }

    /// Owns the space for `bytes` bytes and the reserve after them.
    ///
    /// # Errors
    ///
    /// Fails if the disk has not enough room.
    pub(super) fn own_with_reserve(&mut self, file: &mut dyn DiskFile, bytes: u64) -> io::Result<()> {
        let wanted = bytes.saturating_add(RESERVED);
        if self.has(wanted) {
            return Ok(());
        }
        // A few large steps are quicker. On a disk that is nearly full, the wanted space alone may still fit.
        match self.own(file, wanted.saturating_add(self.step)) {
            Err(why) if is_full(&why) => self.own(file, wanted),
            done => done,
        }
    }

    /// Owns the space for `bytes` bytes.
    ///
    /// # Errors
    ///
    /// Fails if the disk has not enough room.
    pub(super) fn own(&mut self, file: &mut dyn DiskFile, bytes: u64) -> io::Result<()> {
        if self.has(bytes) {
            return Ok(());
        }
        loop {
            match file.allocate(bytes) {
                Ok(()) => self.owned = bytes,
                Err(why) if why.kind() == io::ErrorKind::Interrupted => continue,
                Err(why) if why.kind() == io::ErrorKind::Unsupported => self.is_supported = false,
                Err(why) => return Err(why),
            }
            return Ok(());
        }
    }

    /// Returns true if the segment has the space for `bytes` bytes, as far as that can be known.
    fn has(self, bytes: u64) -> bool {
        !self.is_supported || bytes <= self.owned
    }

    /// Remembers that the file was truncated to `bytes` bytes. That frees the space after them.
    pub(super) fn truncated(&mut self, bytes: u64) {
        self.owned = self.owned.min(bytes);
    }
}

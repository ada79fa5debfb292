//! Reads files that somebody else may have put there.

use std::{
    fs::OpenOptions,
    io::{self, Read},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use rustix::fs::OFlags;

/// Reads a regular file of at most `max_bytes` bytes.
///
/// A directory, a named pipe, a socket or a device is never read, so the call does not wait for another process.
///
/// # Errors
///
/// An I/O error if the file cannot be opened or read, [`InvalidInput`](io::ErrorKind::InvalidInput) if it is no regular
/// file, and [`FileTooLarge`](io::ErrorKind::FileTooLarge) if it is longer.
pub fn read_regular_file(path: impl AsRef<Path>, max_bytes: u64) -> io::Result<Vec<u8>> {
    // Without O_NONBLOCK, opening a named pipe waits for a writer.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= max_bytes) {
        return Ok(bytes);
    }
    Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is longer than {max_bytes} bytes")))
}

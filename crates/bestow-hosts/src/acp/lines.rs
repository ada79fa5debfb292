//! Lines of bytes, with a limit on what is kept of one.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// The bytes that are read at once.
const AT_ONCE: usize = 64 << 10;

/// A source of lines.
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    longest: usize,
    /// The line, with its end. The last one may have none.
    pub(super) line: Vec<u8>,
}

/// The kind of the bytes that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Line,
    /// The beginning of a line that is longer than the limit. The rest is not read yet.
    Beginning,
    /// There are no more bytes.
    End,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R, longest: usize) -> Lines<R> {
        Lines { reader: BufReader::with_capacity(AT_ONCE, reader), longest, line: Vec::new() }
    }

    /// Reads the next line.
    pub(super) async fn next(&mut self) -> io::Result<Found> {
        self.line.clear();
        // One long line does not keep its memory.
        self.line.shrink_to(AT_ONCE);
        loop {
            let some = self.reader.fill_buf().await?;
            if some.is_empty() {
                return Ok(if self.line.is_empty() { Found::End } else { Found::Line });
            }
            let (part, ends) = up_to_end(some);
            self.line.extend_from_slice(part);
            let read = part.len();
            self.reader.consume(read);
            if ends {
                return Ok(Found::Line);
            }
            if self.line.len() > self.longest {
                return Ok(Found::Beginning);
            }
        }
    }

    /// Reads the rest of a line, and keeps nothing of it.
    pub(super) async fn pass_over_rest(&mut self) -> io::Result<()> {
        loop {
            let some = self.reader.fill_buf().await?;
            let (part, ends) = up_to_end(some);
            let read = part.len();
            self.reader.consume(read);
            if ends || read == 0 {
                return Ok(());
            }
        }
    }
}

/// Returns the bytes up to the end of the line, and true if it is among them.
fn up_to_end(bytes: &[u8]) -> (&[u8], bool) {
    let end = bytes.iter().position(|byte| *byte == b'\n');
    end.and_then(|end| bytes.get(..=end)).map_or((bytes, false), |line| (line, true))
}

//! Lines from bytes: bounded, and no matter what the bytes are.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// How many times the length of a line may be skipped before the line counts as endless.
const ENDLESS: usize = 64;

/// One line, without its line break.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "what can be wrong with a line must be met")]
pub enum Line {
    /// A text.
    Text(String),
    /// More bytes than allowed. The rest of the line is passed over.
    TooLong,
    /// Bytes that are not UTF-8.
    NotUtf8,
    /// A line so long that its end is not waited for.
    Endless,
}

/// Reads lines of a bounded length. The last one needs no line break.
#[derive(Debug)]
pub struct Lines<R> {
    reader: BufReader<R>,
    max: usize,
    line: Vec<u8>,
    /// How much of a line that is too long was passed over; 0 while a line is read.
    skipped: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Lines of at most `max` bytes each.
    pub fn new(reader: R, max: usize) -> Lines<R> {
        Lines { reader: BufReader::new(reader), max, line: Vec::new(), skipped: 0 }
    }

    /// The next line; `None` when there is none.
    ///
    /// # Errors
    ///
    /// When the bytes cannot be read.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing: what was read so far is kept.
    pub async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let bytes = self.reader.fill_buf().await?;
            if bytes.is_empty() {
                return Ok((!self.line.is_empty()).then(|| self.take()));
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let part = end.unwrap_or(bytes.len());
            let used = end.map_or(part, |end| end + 1);
            if self.skipped > 0 {
                self.reader.consume(used);
                self.skipped = if end.is_some() { 0 } else { self.skipped.saturating_add(part) };
                if self.skipped > self.max.saturating_mul(ENDLESS) {
                    return Ok(Some(Line::Endless));
                }
                continue;
            }
            let too_long = self.line.len() + part > self.max;
            if too_long {
                self.line.clear();
                self.skipped = if end.is_some() { 0 } else { part.max(1) };
            } else {
                self.line.extend(bytes.iter().take(part));
            }
            self.reader.consume(used);
            if too_long {
                return Ok(Some(Line::TooLong));
            }
            if end.is_some() {
                return Ok(Some(self.take()));
            }
        }
    }

    fn take(&mut self) -> Line {
        String::from_utf8(std::mem::take(&mut self.line)).map_or(Line::NotUtf8, Line::Text)
    }
}

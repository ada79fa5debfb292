//! A reader that splits bytes into lines of bounded length. It accepts any bytes.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// The factor over the maximum line length at which a skipped line counts as endless.
const ENDLESS: usize = 64;

/// One line, without its line break.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "what can be wrong with a line must be met")]
pub enum Line {
    /// A text.
    Text(String),
    /// A line with more bytes than allowed. Its rest is skipped.
    TooLong,
    /// A line that is not UTF-8.
    NotUtf8,
    /// A line of more than 64 times the allowed length. It counts as endless.
    Endless,
}

/// Reads lines of a bounded length. The last line needs no line break.
#[derive(Debug)]
pub struct Lines<R> {
    reader: BufReader<R>,
    max: usize,
    line: Vec<u8>,
    /// The number of bytes skipped so far of a line that is too long; 0 while a line is read.
    skipped: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Creates a reader for lines of at most `max` bytes each.
    pub fn new(reader: R, max: usize) -> Lines<R> {
        Lines { reader: BufReader::new(reader), max, line: Vec::new(), skipped: 0 }
    }

    /// Returns the next line; `None` at the end of the input.
    ///
    /// # Errors
    ///
    /// An I/O error if the bytes cannot be read.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing: the bytes read so far are kept.
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

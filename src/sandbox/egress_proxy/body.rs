//! The body of one forwarded request. The proxy forwards exactly this body, so that nothing behind it reaches the host.

use std::io::{self, BufRead, ErrorKind};

use httparse::Status;

/// The longest line of a chunked body, in bytes.
const LONGEST_LINE: u64 = 4096;

/// The most lines behind the last chunk.
const MOST_TRAILERS: usize = 64;

/// The form of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// A body of this many bytes. Without a length there is none.
    Length(Option<u64>),
    Chunked,
}

impl Body {
    /// Returns the header that announces this body, with the end of its line.
    pub(super) fn header(self) -> String {
        match self {
            Body::Length(None) => String::new(),
            Body::Length(Some(length)) => format!("Content-Length: {length}\r\n"),
            Body::Chunked => "Transfer-Encoding: chunked\r\n".to_owned(),
        }
    }

    /// Passes the body on. Chunks are written anew, without extensions and trailers.
    pub(super) fn pass_on(
        self,
        from: &mut impl BufRead,
        mut put: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        if let Body::Length(length) = self {
            return copy(from, length.unwrap_or(0), &mut put);
        }
        loop {
            let line = line(from)?;
            let size = match httparse::parse_chunk_size(&line) {
                Ok(Status::Complete((length, size))) if length == line.len() => size,
                Ok(_) | Err(_) => return Err(ErrorKind::InvalidData.into()),
            };
            put(format!("{size:x}\r\n").as_bytes())?;
            if size == 0 {
                break;
            }
            copy(from, size, &mut put)?;
            if self::line(from)? != b"\r\n" {
                return Err(ErrorKind::InvalidData.into());
            }
            put(b"\r\n")?;
        }
        for _ in 0..MOST_TRAILERS {
            if line(from)? == b"\r\n" {
                return put(b"\r\n");
            }
        }
        Err(ErrorKind::InvalidData.into())
    }
}

fn copy(from: &mut impl BufRead, mut length: u64, put: &mut impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    while length > 0 {
        let part = from.fill_buf()?;
        let part = part.get(..usize::try_from(length).unwrap_or(usize::MAX).min(part.len())).unwrap_or_default();
        if part.is_empty() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        put(part)?;
        let taken = part.len();
        from.consume(taken);
        length = length.saturating_sub(u64::try_from(taken).unwrap_or(u64::MAX));
    }
    Ok(())
}

/// Reads a line with its end. A line without `\r\n` is an error.
fn line(from: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    io::Read::take(&mut *from, LONGEST_LINE).read_until(b'\n', &mut line)?;
    if line.ends_with(b"\r\n") { Ok(line) } else { Err(ErrorKind::InvalidData.into()) }
}

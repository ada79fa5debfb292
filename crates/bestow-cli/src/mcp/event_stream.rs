//! Server-sent events: the messages in a stream of text.

/// The longest event, in bytes.
const LONGEST: usize = 4 << 20;

/// The part of a stream that was not read yet.
#[derive(Debug, Default)]
pub(super) struct EventStream {
    rest: Vec<u8>,
    data: Vec<u8>,
}

impl EventStream {
    /// Adds bytes of the stream. Returns the data of the events that are complete, or none if one is too long.
    pub(super) fn add(&mut self, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
        self.rest.extend_from_slice(bytes);
        let mut complete = Vec::new();
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            let line = line.strip_suffix(b"\n").unwrap_or(&line);
            complete.extend(self.line(line.strip_suffix(b"\r").unwrap_or(line)));
        }
        (self.rest.len() + self.data.len() <= LONGEST).then_some(complete)
    }

    /// Reads one line. An empty one completes an event.
    fn line(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        if line.is_empty() {
            return Some(std::mem::take(&mut self.data)).filter(|data| !data.is_empty());
        }
        let data = line.strip_prefix(b"data:")?;
        if !self.data.is_empty() {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
        None
    }
}

#[cfg(test)]
mod tests {
    use super::EventStream;

    #[test]
    fn an_event_in_pieces_is_one_event_and_comments_are_none() {
        let text = b": hello\r\nid: 1\r\ndata: {\"a\":\ndata: 1}\r\n\r\n\n:\n\ndata:{}\n\n";
        for size in 1..text.len() {
            let mut stream = EventStream::default();
            let read: Vec<_> = text.chunks(size).flat_map(|chunk| stream.add(chunk).unwrap()).collect();
            assert_eq!(read, [&b"{\"a\":\n1}"[..], b"{}"], "{size}");
        }
    }

    #[test]
    fn an_event_without_an_end_is_refused() {
        let mut stream = EventStream::default();
        let chunk = vec![b'x'; 1 << 20];
        assert_eq!((0..5).map(|_| stream.add(&chunk).is_some()).collect::<Vec<_>>(), [true, true, true, true, false]);
    }
}

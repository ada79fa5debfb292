//! A WebSocket of a client that costs little: it reads what a server sends, and sends short texts.

use std::{net::SocketAddr, time::Instant};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// The opcode of a text.
const TEXT: u8 = 1;

/// An open WebSocket.
pub(crate) struct Socket {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// The part of the buffer that is not read yet.
    unread: std::ops::Range<usize>,
}

impl Socket {
    pub(crate) async fn open(address: SocketAddr, path: &str, token: &str) -> Socket {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let handshake = format!(
            "GET {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\nconnection: upgrade\r\n\
             upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        );
        stream.write_all(handshake.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
        Socket { stream, buffer: vec![0; 8 << 10], unread: 0..0 }
    }

    /// Sends a text. Its mask is zero.
    pub(crate) async fn say(&mut self, text: &str) {
        let length = u16::try_from(text.len()).unwrap();
        let mut frame = vec![0x80 | TEXT, 0x80 | 126];
        frame.extend(length.to_be_bytes());
        frame.extend([0; 4]);
        frame.extend(text.as_bytes());
        self.stream.write_all(&frame).await.unwrap();
    }

    /// Returns the next text, and the time when it arrived. Other frames are passed over.
    pub(crate) async fn next(&mut self) -> (Instant, &[u8]) {
        loop {
            if let Some((kind, payload)) = frame(&self.buffer[self.unread.clone()]) {
                let begin = self.unread.start + payload.start;
                self.unread.start += payload.end;
                if kind == TEXT {
                    return (Instant::now(), &self.buffer[begin..self.unread.start]);
                }
                assert_ne!(kind, 8, "the server closed the socket");
            } else {
                self.buffer.copy_within(self.unread.clone(), 0);
                self.unread = 0..self.unread.len();
                let read = self.stream.read(&mut self.buffer[self.unread.end..]).await.unwrap();
                assert_ne!(read, 0, "the server closed the connection");
                self.unread.end += read;
            }
        }
    }

    /// Returns the next text of a type, and the time when it arrived. Others are passed over.
    pub(crate) async fn next_of(&mut self, kind: &str) -> (Instant, serde_json::Value) {
        loop {
            let (at, text) = self.next().await;
            let value: serde_json::Value = serde_json::from_slice(text).unwrap();
            if value["type"] == kind {
                return (at, value);
            }
            assert_ne!(value["type"], "error", "{value}");
        }
    }
}

/// Returns the opcode and the place of the payload, if a whole frame is there. A server does not mask.
fn frame(bytes: &[u8]) -> Option<(u8, std::ops::Range<usize>)> {
    let (&[first, short], rest) = bytes.split_first_chunk::<2>()?;
    let (begin, length) = match short {
        126 => (4, usize::from(u16::from_be_bytes(*rest.first_chunk()?))),
        127 => panic!("a frame is longer than the buffer"),
        short => (2, usize::from(short)),
    };
    (bytes.len() >= begin + length).then_some((first & 0x0f, begin..begin + length))
}

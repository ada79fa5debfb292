//! A WebSocket whose bytes a test writes and reads itself.

use std::{io, net::SocketAddr};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};

/// The kinds of frames.
pub(crate) const CONTINUATION: u8 = 0;
pub(crate) const TEXT: u8 = 1;
pub(crate) const BINARY: u8 = 2;
pub(crate) const CLOSE: u8 = 8;
pub(crate) const PING: u8 = 9;
pub(crate) const PONG: u8 = 10;

/// The bit of the last frame of a message.
const LAST: u8 = 0x80;

/// The bit of a payload that is masked. The key is zero, so the payload is as it was.
const MASKED: u8 = 0x80;

/// Returns the bytes of a whole message in one frame.
pub(crate) fn whole(kind: u8, payload: &[u8]) -> Vec<u8> {
    [head(LAST | kind, payload.len() as u64), payload.to_vec()].concat()
}

/// Returns the bytes of a frame after which its message goes on.
pub(crate) fn part(kind: u8, payload: &[u8]) -> Vec<u8> {
    [head(kind, payload.len() as u64), payload.to_vec()].concat()
}

/// Returns the head of a frame with this first byte, and the length that it announces.
pub(crate) fn head(first: u8, length: u64) -> Vec<u8> {
    let mut head = vec![first];
    match length {
        0..=125 => head.push(MASKED | length as u8),
        126..=0xFFFF => {
            head.push(MASKED | 126);
            head.extend((length as u16).to_be_bytes());
        }
        _ => {
            head.push(MASKED | 127);
            head.extend(length.to_be_bytes());
        }
    }
    head.extend([0; 4]);
    head
}

/// A frame of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) payload: Vec<u8>,
}

impl Frame {
    /// Returns the code of a frame that closes.
    pub(crate) fn code(&self) -> u16 {
        u16::from_be_bytes([self.payload[0], self.payload[1]])
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.payload).unwrap()
    }
}

/// A WebSocket. It answers nothing by itself.
pub(crate) struct RawSocket(pub(crate) TcpStream);

impl RawSocket {
    pub(crate) async fn open(address: SocketAddr, path: &str, token: &str) -> RawSocket {
        RawSocket::over(TcpStream::connect(address).await.unwrap(), path, token).await
    }

    /// Opens a socket that holds only a few KiB which its client does not read.
    pub(crate) async fn narrow(address: SocketAddr, path: &str, token: &str) -> RawSocket {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4 << 10).unwrap();
        RawSocket::over(socket.connect(address).await.unwrap(), path, token).await
    }

    async fn over(mut stream: TcpStream, path: &str, token: &str) -> RawSocket {
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\nconnection: upgrade\r\n\
             upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
            stream.peer_addr().unwrap()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
        RawSocket(stream)
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes).await
    }

    /// Returns the next frame, or none if the server has ended the connection.
    pub(crate) async fn frame(&mut self) -> Option<Frame> {
        let mut head = [0; 2];
        self.0.read_exact(&mut head).await.ok()?;
        let length = match head[1] {
            126 => self.0.read_u16().await.ok()?.into(),
            127 => self.0.read_u64().await.ok()?,
            short => short.into(),
        };
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        self.0.read_exact(&mut payload).await.ok()?;
        Some(Frame { kind: head[0] & 0x0F, payload })
    }

    /// Returns the next frame of a kind. Others are passed over.
    pub(crate) async fn frame_of(&mut self, kind: u8) -> Option<Frame> {
        loop {
            let frame = self.frame().await?;
            if frame.kind == kind {
                return Some(frame);
            }
        }
    }

    /// Reads until the server ends the connection. Returns the code with which it closed, if it said one.
    pub(crate) async fn end(&mut self) -> Option<u16> {
        let mut code = None;
        while let Some(frame) = self.frame().await {
            if frame.kind == CLOSE && frame.payload.len() >= 2 {
                code = Some(frame.code());
            }
        }
        code
    }

    /// Shows that the server still reads and answers this socket.
    pub(crate) async fn is_usable(&mut self, mark: &[u8]) -> bool {
        if self.write(&whole(PING, mark)).await.is_err() {
            return false;
        }
        while let Some(pong) = self.frame_of(PONG).await {
            if pong.payload == mark {
                return true;
            }
        }
        false
    }
}

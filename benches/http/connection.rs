//! A keep-alive connection of a client that costs little: it knows the length of a reply of the same kind.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Returns the bytes of a request.
pub(crate) fn post(path: &str, token: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// A connection on which one request follows the other.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Connection {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Connection { stream, buffer: vec![0; 64 << 10] }
    }

    /// Sends a request, and returns the body of the reply.
    pub(crate) async fn call(&mut self, request: &[u8]) -> &[u8] {
        self.stream.write_all(request).await.unwrap();
        let mut read = 0;
        loop {
            let more = self.stream.read(&mut self.buffer[read..]).await.unwrap();
            assert_ne!(more, 0, "the server closed the connection");
            read += more;
            if let Some(body) = whole(&self.buffer[..read]) {
                return &self.buffer[body..read];
            }
        }
    }
}

/// Returns the begin of the body, if the reply is there as a whole.
fn whole(reply: &[u8]) -> Option<usize> {
    assert!(reply.len() < 12 || reply.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(reply));
    let head = reply.windows(4).position(|end| end == b"\r\n\r\n")?;
    let name = b"content-length: ";
    let at = reply[..head].windows(name.len()).position(|found| found.eq_ignore_ascii_case(name)).unwrap() + name.len();
    let digits = reply[at..].iter().take_while(|digit| digit.is_ascii_digit());
    let length = digits.fold(0, |length, digit| length * 10 + usize::from(digit - b'0'));
    let body = head + 4;
    (reply.len() >= body + length).then_some(body)
}

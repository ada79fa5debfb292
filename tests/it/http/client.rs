//! A client that sends what a test says, byte by byte.

use std::net::SocketAddr;

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{self, Message, client::IntoClientRequest, http::HeaderValue},
};

/// The time after which a frame counts as missing.
const LONGEST_WAIT: std::time::Duration = std::time::Duration::from_secs(60);

/// A reply of the server. A body that is not JSON is null.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) json: Value,
    pub(crate) body: String,
}

impl Reply {
    fn new(status: u16, head: &str, body: &str) -> Reply {
        let json = serde_json::from_str(body).unwrap_or(Value::Null);
        Reply { status, head: head.to_lowercase(), json, body: body.to_owned() }
    }
}

/// Sends one request, and reads the whole reply.
pub(crate) async fn call(address: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = if body.is_empty() { String::new() } else { format!("content-length: {}\r\n", body.len()) };
    let text =
        format!("{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}{length}\r\n{body}");
    raw(address, text.as_bytes()).await.expect("a reply")
}

/// Sends one request to a server that may be gone. Returns none without a whole reply.
pub(crate) async fn whole_call(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Option<Reply> {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let text = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.ok()?;
    stream.write_all(text.as_bytes()).await.ok()?;
    let mut read = Vec::new();
    stream.read_to_end(&mut read).await.ok()?;
    let text = String::from_utf8(read).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let reply = Reply::new(status, head, body);
    let length = reply.head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let is_whole = status == 204 || length.is_some_and(|length| length.parse() == Ok(body.len()));
    is_whole.then_some(reply)
}

/// Sends bytes, and reads until the server closes. Returns none if the server closes without a reply.
pub(crate) async fn raw(address: SocketAddr, bytes: &[u8]) -> Option<Reply> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The server may refuse a request before it has read all of it.
    let _ = stream.write_all(bytes).await;
    let mut read = Vec::new();
    let _ = stream.read_to_end(&mut read).await;
    let text = String::from_utf8(read).unwrap();
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Some(Reply::new(status, head, body))
}

/// A stream of server-sent events. It is read as it comes.
pub(crate) struct Events(BufReader<TcpStream>);

impl Events {
    /// Opens a stream. Returns the reply if the server refuses it.
    pub(crate) async fn open(address: SocketAddr, path: &str, headers: &[(&str, &str)]) -> Result<Events, Reply> {
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let mut stream = BufReader::new(TcpStream::connect(address).await.unwrap());
        // The body of this version is not in chunks.
        let text = format!("GET {path} HTTP/1.0\r\nhost: {address}\r\n{headers}\r\n");
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(stream.read_line(&mut head).await.unwrap(), 0, "a whole head");
        }
        if head.starts_with("HTTP/1.0 200") || head.starts_with("HTTP/1.1 200") {
            assert!(head.to_lowercase().contains("content-type: text/event-stream"), "{head}");
            return Ok(Events(stream));
        }
        let (mut body, status) = (String::new(), head.split(' ').nth(1).unwrap().parse().unwrap());
        stream.read_to_string(&mut body).await.unwrap();
        Err(Reply::new(status, &head, &body))
    }

    /// Returns the fields of the next event, or none at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<(String, Value)> {
        let (mut id, mut data) = (String::new(), None);
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).await.ok()? == 0 {
                return None;
            }
            match (line.trim_end(), &data) {
                ("", Some(_)) => return Some((id, data.unwrap())),
                (line, _) => {
                    if let Some(value) = line.strip_prefix("id: ") {
                        id = value.to_owned();
                    }
                    if let Some(value) = line.strip_prefix("data: ") {
                        data = Some(serde_json::from_str(value).unwrap());
                    }
                }
            }
        }
    }
}

/// A WebSocket.
pub(crate) struct Socket(WebSocketStream<TcpStream>);

impl Socket {
    /// Opens a socket. Returns the status code if the server refuses it.
    pub(crate) async fn open(address: SocketAddr, path: &str, headers: &[(&'static str, &str)]) -> Result<Socket, u16> {
        let stream = TcpStream::connect(address).await.unwrap();
        let mut request = format!("ws://{address}{path}").into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, HeaderValue::from_str(value).unwrap());
        }
        match client_async(request, stream).await {
            Ok((socket, _)) => Ok(Socket(socket)),
            Err(tungstenite::Error::Http(reply)) => Err(reply.status().as_u16()),
            Err(why) => panic!("{why}"),
        }
    }

    /// Opens a socket of a server that may be gone.
    pub(crate) async fn opened(address: SocketAddr, path: &str, headers: &[(&'static str, &str)]) -> Option<Socket> {
        let stream = TcpStream::connect(address).await.ok()?;
        let mut request = format!("ws://{address}{path}").into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, HeaderValue::from_str(value).unwrap());
        }
        client_async(request, stream).await.ok().map(|(socket, _)| Socket(socket))
    }

    pub(crate) async fn say(&mut self, text: &str) {
        self.0.send(Message::text(text.to_owned())).await.unwrap();
    }

    pub(crate) async fn send(&mut self, message: Message) -> Result<(), tungstenite::Error> {
        self.0.send(message).await
    }

    /// Returns the next frame with JSON. Returns the code if the server closes the socket. A frame that never comes
    /// fails the test.
    pub(crate) async fn next(&mut self) -> Result<Value, u16> {
        tokio::time::timeout(LONGEST_WAIT, self.following()).await.expect("no frame arrives")
    }

    async fn following(&mut self) -> Result<Value, u16> {
        loop {
            match self.0.next().await {
                Some(Ok(Message::Text(text))) => return Ok(serde_json::from_str(&text).unwrap()),
                Some(Ok(Message::Close(frame))) => return Err(frame.map_or(1005, |frame| frame.code.into())),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Err(1006),
            }
        }
    }

    /// Returns the next frame of a type. Others are passed over.
    pub(crate) async fn next_of(&mut self, kind: &str) -> Value {
        loop {
            let frame = self.next().await.expect("an open socket");
            if frame["type"] == kind {
                return frame["data"].clone();
            }
        }
    }
}

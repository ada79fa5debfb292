//! Messages as lines of JSON, over any two streams.

use std::{io, pin::Pin};

use bestow::text::StrictJson;
use rmcp::{
    RoleServer,
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::Transport,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    sync::mpsc,
    task::JoinHandle,
};

/// The longest line, in bytes. It is the longest body that the HTTP server reads.
pub const LONGEST_LINE: usize = 1 << 20;

/// The lines that wait for the client to read them.
const QUEUE: usize = 64;

/// The code of JSON-RPC for a text that is not JSON.
const PARSE_ERROR: i32 = -32_700;

/// The code of JSON-RPC for JSON that is no message.
const INVALID_REQUEST: i32 = -32_600;

/// The transport of a server over standard input and output, or over any other two streams.
///
/// A line that is too long, that is not JSON, in which a key comes twice, or that is no message is answered with an
/// error that says so, and does not end the connection.
#[derive(Debug)]
pub struct Lines {
    read: Reader,
    speaker: Option<Speaker>,
    writer: Option<JoinHandle<()>>,
    /// An error that the client does not have yet.
    untold: Option<Vec<u8>>,
    /// True once a request has arrived. A notification before the first request means nothing.
    has_begun: bool,
}

/// The way in which messages reach the client of [`Lines`].
#[derive(Clone, Debug)]
pub struct Speaker(mpsc::Sender<Vec<u8>>);

impl Speaker {
    /// Sends a message as one line.
    ///
    /// # Errors
    ///
    /// The client is gone, or the message is not JSON.
    pub async fn say(&self, message: &impl serde::Serialize) -> io::Result<()> {
        let line = line_of(message)?;
        self.0.send(line).await.map_err(|_| gone())
    }
}

impl Lines {
    /// Reads messages from `read` and writes them to `write`. It belongs to a Tokio runtime.
    pub fn new(read: impl AsyncRead + Send + 'static, write: impl AsyncWrite + Send + 'static) -> Lines {
        let (queue, lines) = mpsc::channel(QUEUE);
        let writer = tokio::spawn(written(Box::pin(write), lines));
        let (read, speaker) = (Reader::new(read), Speaker(queue));
        Lines { read, speaker: Some(speaker), writer: Some(writer), untold: None, has_begun: false }
    }

    /// Returns the way to the client. None once the transport is closed.
    pub fn speaker(&self) -> Option<Speaker> {
        self.speaker.clone()
    }

    /// Returns the next object. Returns none at the end.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            self.tell().await?;
            match object_in(&self.read.next().await?) {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(answer) => self.untold = line_of(&answer).ok(),
            }
        }
    }

    /// Waits until the client has everything that was said, and ends. Every [`Speaker`] is gone before that.
    ///
    /// # Errors
    ///
    /// The lines could not be written.
    pub async fn end(&mut self) -> io::Result<()> {
        self.speaker = None;
        match self.writer.take() {
            Some(writer) => writer.await.map_err(io::Error::other),
            None => Ok(()),
        }
    }

    /// Returns the message in an object, or the answer to an object that is no message.
    fn understood(&mut self, value: Value) -> Result<Option<ClientJsonRpcMessage>, Value> {
        let is_request = value.get("id").is_some() && value.get("method").is_some();
        if !is_request && !self.has_begun {
            return Ok(None);
        }
        let method = value.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
        let (id, why) = (id_of(&value), what_is_wrong(&value));
        match serde_json::from_value(value) {
            Ok(message) => {
                self.has_begun |= is_request;
                Ok(Some(message))
            }
            // A notification that the protocol does not have is passed over.
            Err(_) if !is_request && method.starts_with("notifications/") => Ok(None),
            Err(_) => Err(error(id, INVALID_REQUEST, &why)),
        }
    }

    /// Tells the client the error that it does not have yet.
    async fn tell(&mut self) -> Option<()> {
        if self.untold.is_some() {
            let place = self.speaker.as_ref()?.0.reserve().await.ok()?;
            if let Some(line) = self.untold.take() {
                place.send(line);
            }
        }
        Some(())
    }
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let speaker = self.speaker();
        async move { speaker.ok_or_else(gone)?.say(&message).await }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let value = self.next().await?;
            match self.understood(value) {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(answer) => self.untold = line_of(&answer).ok(),
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.end().await
    }
}

fn gone() -> io::Error {
    io::Error::from(io::ErrorKind::NotConnected)
}

/// Writes lines until the last sender is gone, or until nobody reads them.
async fn written(mut write: Pin<Box<dyn AsyncWrite + Send>>, mut lines: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = lines.recv().await {
        let told = async {
            write.write_all(&line).await?;
            write.flush().await
        };
        if told.await.is_err() {
            return;
        }
    }
}

fn line_of(message: &impl serde::Serialize) -> Result<Vec<u8>, io::Error> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// A line that arrived.
enum Line {
    Whole(Vec<u8>),
    TooLong,
}

/// Reads lines of limited length.
struct Reader {
    read: Pin<Box<dyn AsyncBufRead + Send>>,
    /// The line so far.
    line: Vec<u8>,
    /// True while the rest of a line that is too long is passed over.
    is_passing_over: bool,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Reader({} bytes)", self.line.len())
    }
}

impl Reader {
    fn new(read: impl AsyncRead + Send + 'static) -> Reader {
        Reader { read: Box::pin(BufReader::new(read)), line: Vec::new(), is_passing_over: false }
    }

    /// Returns the next line, or none at the end. A line without its end is none.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing.
    async fn next(&mut self) -> Option<Line> {
        loop {
            let available = self.read.fill_buf().await.ok()?;
            if available.is_empty() {
                return None;
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let used = end.map_or(available.len(), |end| end + 1);
            if !self.is_passing_over {
                self.line.extend_from_slice(available.get(..used).unwrap_or_default());
            }
            self.read.as_mut().consume(used);
            if self.line.len() > LONGEST_LINE + 1 {
                self.is_passing_over = true;
                self.line = Vec::new();
            }
            if end.is_some() {
                let mut line = std::mem::take(&mut self.line);
                line.truncate(line.trim_ascii_end().len());
                let is_too_long = std::mem::take(&mut self.is_passing_over);
                return Some(if is_too_long { Line::TooLong } else { Line::Whole(line) });
            }
        }
    }
}

/// Returns the object in a line, or the answer to a line without one.
fn object_in(line: &Line) -> Result<Option<Value>, Value> {
    let text = match line {
        Line::TooLong => return Err(too_long()),
        Line::Whole(text) if text.trim_ascii().is_empty() => return Ok(None),
        Line::Whole(text) => text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text),
    };
    match StrictJson::read(text) {
        Ok(StrictJson(value)) if value.is_object() => Ok(Some(value)),
        Ok(StrictJson(value)) => Err(error(Value::Null, INVALID_REQUEST, &what_is_wrong(&value))),
        Err(why) => Err(error(Value::Null, PARSE_ERROR, &format!("the line is not valid JSON: {why}"))),
    }
}

fn too_long() -> Value {
    let why = format!("the line is longer than {LONGEST_LINE} bytes, which is the limit");
    error(Value::Null, INVALID_REQUEST, &why)
}

/// Returns the id in a message that is not understood.
fn id_of(message: &Value) -> Value {
    message.get("id").filter(|id| id.is_string() || id.is_i64() || id.is_u64()).cloned().unwrap_or_default()
}

/// Describes a message that is not understood.
fn what_is_wrong(message: &Value) -> String {
    let is_batch = message.is_array();
    let version = message.get("jsonrpc").and_then(Value::as_str);
    let why = match (is_batch, message.is_object(), version, message.get("method")) {
        (true, ..) => "a batch: send each message as a line of its own",
        (_, false, ..) => "not an object",
        (_, _, Some("2.0"), Some(Value::String(_))) => {
            "a request or notification with other fields than the protocol has"
        }
        (_, _, Some("2.0"), _) => "without `method`, and no answer to a request of this server",
        _ => "without `\"jsonrpc\":\"2.0\"`",
    };
    format!("the line is no message of the Model Context Protocol: it is {why}")
}

fn error(id: Value, code: i32, why: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": why } })
}

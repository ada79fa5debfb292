//! One request to `/mcp` of a server, and the messages of its reply.

use std::str;

use bestow::text::StrictJson;
use bestow_mcp::Speaker;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Request, Response, StatusCode,
    body::{Bytes, Incoming},
    client::conn::http1,
    header,
};
use hyper_util::rt::TokioIo;
use serde_json::Value;

use super::{event_stream::EventStream, message::Call};
use crate::remote::{MOST_HEADERS, Server, connect};

/// The path of the protocol.
const PATH: &str = "/mcp";

/// The longest reply that is no stream, in bytes.
const LONGEST: usize = 4 << 20;

/// Sends a request to the server, and says every message of the reply but the last to the client. Returns the last one,
/// which is the answer.
pub(super) async fn ask(server: &Server, call: &Call, agreed: Option<&str>, client: &Speaker) -> Result<Value, String> {
    let reply = send(server, call, agreed).await?;
    let kind = reply.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if reply.status() == StatusCode::OK && kind.starts_with("text/event-stream") {
        return streamed(reply.into_body(), call, client).await;
    }
    let status = reply.status();
    let body = Limited::new(reply.into_body(), LONGEST).collect().await;
    let body = body.map_err(|why| format!("the reply did not arrive whole: {why}"))?.to_bytes();
    let message = serde_json::from_slice(&body).map(|StrictJson(message)| message);
    match message {
        Ok(message) if is_answer(&message, call) => Ok(message),
        // The server explains why it does not answer.
        Ok(message) => Err(explained(&message).unwrap_or_else(|| format!("the server replied with status {status}"))),
        Err(_) => Err(match str::from_utf8(&body) {
            Ok(text) if !text.trim().is_empty() => {
                format!("the server replied with status {status}: {}", text.chars().take(200).collect::<String>())
            }
            _ => format!("the server replied with status {status}"),
        }),
    }
}

async fn send(server: &Server, call: &Call, agreed: Option<&str>) -> Result<Response<Incoming>, String> {
    let stream = connect(server).await?;
    let mut request = Request::post(format!("{}{PATH}", server.prefix))
        .header(header::HOST, &server.authority)
        .header(header::AUTHORIZATION, &server.authorization)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json, text/event-stream")
        .header(header::CONNECTION, "close");
    for (name, value) in call.headers(agreed) {
        request = request.header(name, value);
    }
    let request = request.body(Full::new(Bytes::from(call.whole.to_string()))).map_err(|why| why.to_string())?;
    let mut client = http1::Builder::new();
    client.max_headers(MOST_HEADERS);
    let (mut sender, connection) = client.handshake(TokioIo::new(stream)).await.map_err(|why| why.to_string())?;
    // The connection does the reading and writing. It ends with the reply, or when nobody waits for the reply.
    tokio::spawn(connection);
    sender.send_request(request).await.map_err(|why| format!("no reply: {why}"))
}

/// Says the messages of a stream to the client, until the answer.
async fn streamed(mut body: Incoming, call: &Call, client: &Speaker) -> Result<Value, String> {
    let mut events = EventStream::default();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|why| format!("the reply did not arrive whole: {why}"))?;
        let Ok(bytes) = frame.into_data() else { continue };
        for event in events.add(&bytes).ok_or("a message of the server is too long")? {
            let StrictJson(message) =
                serde_json::from_slice(&event).map_err(|why| format!("a message of the server is not JSON: {why}"))?;
            if is_answer(&message, call) {
                return Ok(message);
            }
            client.say(&message).await.map_err(|why| why.to_string())?;
        }
    }
    Err("the reply ended without an answer".to_owned())
}

/// Returns true if a message is the answer to a request.
fn is_answer(message: &Value, call: &Call) -> bool {
    let is_end = message.get("result").is_some() || message.get("error").is_some();
    is_end && message.get("jsonrpc").is_some() && message.get("id") == Some(&call.id)
}

/// Returns the explanation in a reply that is no answer: that of the server, or that of the protocol without an id.
fn explained(message: &Value) -> Option<String> {
    let detail = message.get("detail").or_else(|| message.pointer("/error/message"));
    detail.and_then(Value::as_str).map(str::to_owned)
}

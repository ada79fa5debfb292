//! One request to a server: no redirect is followed, no proxy is used, and no answer is longer than its limit.

use std::time::Duration;

use bestow::text::StrictJson;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{Request, StatusCode, body::Bytes, client::conn::http1, header, http::request::Builder};
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::{
    connect::{MOST_HEADERS, connect},
    settings::Server,
};

/// The longest body of a reply, in bytes. An input in it is at most as long as the longest question.
const LONGEST: usize = 2 << 20;

/// The reply of a server, whatever it means.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
}

impl Reply {
    /// Returns the value in the reply. Only a reply with status 200 has one.
    pub(crate) fn understood<T: DeserializeOwned>(&self) -> Result<T, String> {
        let told: Result<StrictJson, _> = serde_json::from_slice(&self.body);
        if self.status != StatusCode::OK {
            let detail = told.ok().and_then(|StrictJson(told)| Some(told.get("detail")?.as_str()?.to_owned()));
            return Err(detail.unwrap_or_else(|| format!("it replied with status {}", self.status)));
        }
        let wrong = |why: serde_json::Error| format!("its reply is not an answer: {why}");
        let StrictJson(value) = told.map_err(wrong)?;
        serde_json::from_value(value).map_err(wrong)
    }
}

/// The time in which a server replies, besides the time for which it is asked to wait.
const PATIENCE: Duration = Duration::from_secs(10);

/// Reads a path of the server.
pub(crate) async fn get(server: &Server, path: &str) -> Result<Reply, String> {
    in_time(Duration::ZERO, send(server, Request::get(format!("{}{path}", server.prefix)), String::new())).await
}

/// Sends a body to a path of the server, which waits for this time before it replies.
pub(crate) async fn post(server: &Server, path: &str, body: String, wait: Duration) -> Result<Reply, String> {
    let request = Request::post(format!("{}{path}", server.prefix)).header(header::CONTENT_TYPE, "application/json");
    in_time(wait, send(server, request, body)).await
}

async fn in_time(wait: Duration, reply: impl Future<Output = Result<Reply, String>>) -> Result<Reply, String> {
    let late = |_| "it does not reply in time".to_owned();
    timeout(wait.saturating_add(PATIENCE), reply).await.map_err(late)?
}

async fn send(server: &Server, request: Builder, body: String) -> Result<Reply, String> {
    let stream = connect(server).await?;
    let request = request
        .header(header::HOST, &server.authority)
        .header(header::AUTHORIZATION, &server.authorization)
        .header(header::CONNECTION, "close")
        .body(Full::new(Bytes::from(body)))
        .map_err(|why| why.to_string())?;
    let mut client = http1::Builder::new();
    client.max_headers(MOST_HEADERS);
    let (mut sender, connection) = client.handshake(TokioIo::new(stream)).await.map_err(|why| why.to_string())?;
    // The connection does the reading and writing. It ends with the runtime.
    tokio::spawn(connection);
    let reply = sender.send_request(request).await.map_err(|why| format!("no reply: {why}"))?;
    let status = reply.status();
    let read = Limited::new(reply.into_body(), LONGEST).collect().await;
    let body = read.map_err(|why| format!("the reply did not arrive whole: {why}"))?;
    Ok(Reply { status, body: body.to_bytes() })
}

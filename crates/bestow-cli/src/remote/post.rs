//! One request to a server: no redirect is followed, no proxy is used, and no answer is longer than its limit.

use http_body_util::{BodyExt, Full, Limited};
use hyper::{Request, StatusCode, body::Bytes, client::conn::http1, header};
use hyper_util::rt::TokioIo;

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

/// Sends a body to a path of the server.
pub(crate) async fn post(server: &Server, path: &str, body: String) -> Result<Reply, String> {
    let stream = connect(server).await?;
    let request = Request::post(format!("{}{path}", server.prefix))
        .header(header::HOST, &server.authority)
        .header(header::AUTHORIZATION, &server.authorization)
        .header(header::CONTENT_TYPE, "application/json")
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
